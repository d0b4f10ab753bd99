#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What a health checker reports: stored, in force at once, and in nobody's way."""
import time

from netlink_lab import backend, clear, rule, services, usual, TCP
from verdict import ok, run, same
from weirnl import H, U8, U32, Refused, Weir, ip

UP, DOWN = 1, 2
VALID, MISSING = (H.consts["WEIR_WEIGHT_STATE_" + s] for s in ("VALID", "MISSING"))
PROBE = ("PROBE_PASSED", "PROBE_RUN", "PROBE_TEXT")


def checked():
    """Service web with a health-check that was there before its backends."""
    weir = clear()
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web", "SERVICE": {"HEALTH_CHECK": "http weights"}})
    weir.do("RULE_ADD", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.10", TCP, 80)})
    for addr in ("10.2.0.11", "10.2.0.12"):
        weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend(addr)})
    weir.do("TXN_COMMIT")
    return weir


def found(addr, service="web", **values):
    """One report, as a pair: they may be repeated."""
    return ("REPORT", {"SERVICE_NAME": service, "BACKEND": backend(addr, **values)})


def probe(passed, run_, text):
    return {"PROBE_PASSED": U8(passed), "PROBE_RUN": U32(run_), "PROBE_TEXT": text}


def backends(weir):
    return [m["BACKEND"] for m in weir.config() if "BACKEND" in m]


def values(weir, *names):
    return [tuple(b.get(n) for n in names) for b in backends(weir)]


def refusal(weir, *reports):
    try:
        weir.do("REPORT", list(reports))
        return "", ""
    except Refused as refused:
        return refused.name, refused.message


def test_store():
    """results and what was found"""
    weir = checked()
    same("unchecked they are down and say nothing", values(weir, "CHECK", "HEALTHY", *PROBE),
         [(0, 0, None, None, None)] * 2)
    before = weir.generation()
    weir.do("REPORT", [found("10.2.0.11", CHECK=U8(UP), WEIGHT_STATE=U8(VALID), REPORTED=U32(7),
                             **probe(1, 2, "HTTP 200")),
                       found("10.2.0.12", CHECK=U8(DOWN), WEIGHT_STATE=U8(MISSING),
                             **probe(0, 3, "connection refused"))])
    same("two reports of one message are one generation", weir.generation(), before + 1)
    same("what is in force", values(weir, "CHECK", "HEALTHY", "WEIGHT_STATE", "REPORTED"),
         [(UP, 1, VALID, 7), (DOWN, 0, MISSING, None)])
    same("what was found", values(weir, *PROBE),
         [(1, 2, "HTTP 200"), (0, 3, "connection refused")])
    ok("and when", all(b["PROBE_AGE"] < 60 for b in backends(weir)), values(weir, "PROBE_AGE"))
    before = weir.generation()
    weir.do("REPORT", [found("10.2.0.11", CHECK=U8(UP), **probe(1, 3, "HTTP 200"))])
    same("what changes no result makes no generation", weir.generation(), before)
    same("but is stored", values(weir, *PROBE)[0], (1, 3, "HTTP 200"))
    weir.do("REPORT", [found("10.2.0.11", WEIGHT_STATE=U8(0))])
    same("no weight any more", values(weir, "WEIGHT_STATE", "REPORTED")[0], (0, None))
    weir.do("REPORT", [found("10.2.0.11", **probe(0, 1, ""))])
    same("one failure is no result yet, and a text may be empty",
         values(weir, "CHECK", *PROBE)[0], (UP, 0, 1, ""))
    weir.do("REPORT", [found("10.2.0.11", CHECK=U8(0))])
    same("a result can be taken back", values(weir, "CHECK", "HEALTHY", *PROBE)[0],
         (0, 0, 0, 1, ""))
    time.sleep(2.1)
    ok("it grows old", backends(weir)[0]["PROBE_AGE"] >= 2, backends(weir)[0]["PROBE_AGE"])


def test_passed_over():
    """what is not there"""
    weir = checked()
    before = weir.generation()
    weir.do("REPORT", [found("10.2.0.99", CHECK=U8(UP)), found("10.2.0.11", "nowhere", CHECK=U8(UP)),
                       found("2001:db8::1", CHECK=U8(UP))])
    same("is passed over", weir.generation(), before)
    weir.do("REPORT", [found("10.2.0.99", CHECK=U8(UP)), found("10.2.0.11", CHECK=U8(UP))])
    same("and the others count", values(weir, "HEALTHY"), [(1,), (0,)])
    weir.do("REPORT", [])
    ok("no report at all is none", True)
    weir = usual()
    before = weir.generation()
    weir.do("REPORT", [found("10.2.0.11", CHECK=U8(DOWN), **probe(0, 1, "late"))])
    same("without a health-check nobody is asked",
         (weir.generation(), values(weir, "CHECK", "PROBE_TEXT")[0]), (before, (0, None)))


def test_refused():
    """what makes no sense is refused whole"""
    weir = checked()
    before = weir.generation()
    good = found("10.2.0.11", CHECK=U8(UP), **probe(1, 1, "first"))
    for what, bad, code, words in (
            ("another word than auto, up, down", found("10.2.0.12", CHECK=U8(3)), "ERANGE", "check 3"),
            ("a weight of 1001", found("10.2.0.12", REPORTED=U32(1001)), "ERANGE", "1001"),
            ("valid without a weight", found("10.2.0.12", WEIGHT_STATE=U8(VALID)), "EINVAL", "REPORTED"),
            ("passed twice", found("10.2.0.12", PROBE_PASSED=U8(2)), "EINVAL", "PROBE_PASSED 2"),
            ("a text of 64 bytes", found("10.2.0.12", **probe(1, 1, "x" * 64)), "ERANGE", "at most 63"),
            ("an escape", found("10.2.0.12", **probe(1, 1, "a\x1b[31m")), "EINVAL", "byte 1 is 0x1b"),
            ("a letter that is not ASCII", found("10.2.0.12", **probe(1, 1, "\u00e9")), "EINVAL", "0xc3"),
            ("a text without a result", found("10.2.0.12", PROBE_TEXT="x"), "EINVAL", "PROBE_PASSED"),
            ("no address", ("REPORT", {"SERVICE_NAME": "web", "BACKEND": {"CHECK": U8(1)}}), "EINVAL", "ADDR"),
            ("no backend", ("REPORT", {"SERVICE_NAME": "web"}), "EINVAL", "BACKEND"),
            ("no service", ("REPORT", {"BACKEND": backend("10.2.0.12")}), "EINVAL", "SERVICE_NAME"),
            ("a port", found("10.2.0.12", PORT=b"\x50\0"), "EINVAL", "")):
        name, message = refusal(weir, good, bad)
        ok(f"{what}: {code}", name == code and words in message and (message or not words),
           f"{name}: {message}")
    same("nothing of all that was stored", (weir.generation(), values(weir, "CHECK", "PROBE_TEXT")),
         (before, [(0, None)] * 2))


def test_transactions():
    """an open transaction"""
    weir, other = checked(), Weir()
    weir.do("TXN_BEGIN")
    weir.do("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11", WEIGHT=U32(5))})
    other.do("REPORT", [found("10.2.0.11", CHECK=U8(UP), REPORTED=U32(3)), found("10.2.0.12", CHECK=U8(UP))])
    same("a report is in force at once", values(other, "HEALTHY"), [(1,), (1,)])
    weir.do("REPORT", [found("10.2.0.12", CHECK=U8(DOWN))])
    same("one of the same socket too", values(other, "HEALTHY"), [(1,), (0,)])
    weir.do("TXN_COMMIT")
    same("the transaction stays valid and overwrites no result",
         values(weir, "WEIGHT", "CHECK", "REPORTED"), [(5, UP, 3), (1, DOWN, None)])
    weir.do("TXN_BEGIN", {"REPLACE": True})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web", "SERVICE": {"HEALTH_CHECK": "http weights"}})
    weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    other.do("REPORT", [found("10.2.0.11", CHECK=U8(DOWN), REPORTED=U32(4), **probe(0, 2, "HTTP 500"))])
    weir.do("TXN_COMMIT")
    same("nor does one that starts from nothing", values(weir, "CHECK", "REPORTED", "PROBE_TEXT"),
         [(DOWN, 4, "HTTP 500")])
    weir.do("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11", CHECK=U8(0))})
    same("a change may take a result back", values(weir, "CHECK"), [(0,)])
    before = weir.generation()
    other.do("REPORT", [found("10.2.0.11", CHECK=U8(UP))])
    weir.do("TXN_BEGIN", {"GENERATION": U32(before)})
    weir.do("TXN_ABORT")
    ok("a generation that only results are newer than is good to begin from", weir.generation() == before + 1)
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "more"})
    other.do("REPORT", [found("10.2.0.11", CHECK=U8(DOWN))])
    for generation, good in ((before, False), (before + 1, False), (before + 2, True), (before + 3, True),
                             (before + 4, False)):
        try:
            weir.do("TXN_BEGIN", {"GENERATION": U32(generation)})
            weir.do("TXN_ABORT")
            taken = True
        except Refused as refused:
            taken = refused.name != "ESTALE"
        same(f"generation {generation - before} after a change in 2: {'good' if good else 'stale'}", taken, good)


def test_line():
    """results live as long as the line"""
    weir = checked()
    weir.do("REPORT", [found("10.2.0.11", CHECK=U8(DOWN), REPORTED=U32(9)), found("10.2.0.12", CHECK=U8(UP))])
    weir.do("REPORT", [found("10.2.0.11", **probe(0, 3, "HTTP 503"))])
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"HEALTH_CHECK": "tcp port 81"}})
    same("another line: they stay until it says otherwise", values(weir, "CHECK"), [(DOWN,), (UP,)])
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"HEALTH_CHECK": ""}})
    same("no line: none", values(weir, "CHECK", "REPORTED", "WEIGHT_STATE", "HEALTHY"),
         [(0, None, 0, 1)] * 2)
    same("nor anything that was found", values(weir, "PROBE_TEXT"), [(None,)] * 2)
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"HEALTH_CHECK": "tcp"}})
    same("a line again: who was there is up", values(weir, "HEALTHY"), [(1,), (1,)])


def test_events():
    """listeners hear of results"""
    weir, listener = checked(), Weir()
    listener.listen()
    weir.do("REPORT", [found("10.2.0.11", CHECK=U8(UP), **probe(1, 2, "HTTP 200"))])
    change = listener.event()["CHANGE"][0]
    same("of one that changed", (change["SERVICE_NAME"], change["BACKEND"]["ADDR"], change["BACKEND"]["CHECK"],
                                 change["BACKEND"]["PROBE_TEXT"]), ("web", ip("10.2.0.11"), UP, "HTTP 200"))
    weir.do("REPORT", [found("10.2.0.11", CHECK=U8(UP), **probe(1, 3, "HTTP 200"))])
    same("of one that did not, nothing", listener.event(0.5), None)


def test_many():
    """many reports in a message"""
    weir = clear()
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "big", "SERVICE": {"HEALTH_CHECK": "tcp"}})
    addrs = [f"10.3.{i // 250}.{i % 250 + 1}" for i in range(400)]
    for addr in addrs:
        weir.do("BACKEND_ADD", {"SERVICE_NAME": "big", "BACKEND": backend(addr)})
    weir.do("TXN_COMMIT")
    before = weir.generation()
    weir.do("REPORT", [found(a, "big", CHECK=U8(UP), **probe(1, 1, "connected")) for a in addrs])
    same("all in one generation", (weir.generation(), values(weir, "HEALTHY", "PROBE_TEXT")),
         (before + 1, [(1, "connected")] * len(addrs)))
    same("services", services(weir), ["big"])
    weir.do("REPORT", [found(addrs[0], "big", CHECK=U8(DOWN)), found(addrs[0], "big", CHECK=U8(UP)),
                       found(addrs[1], "big", CHECK=U8(UP)), found(addrs[1], "big", CHECK=U8(DOWN))])
    got = {b["ADDR"]: b["CHECK"] for b in backends(weir)}
    same("of two reports of one backend the second counts", (got[ip(addrs[0])], got[ip(addrs[1])]), (UP, DOWN))


run(test_store, test_passed_over, test_refused, test_transactions, test_line, test_events, test_many)
