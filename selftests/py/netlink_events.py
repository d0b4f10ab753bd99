#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Events: each change once, in order, with the generation that made it."""
import errno
import os
import socket

from netlink_lab import TCP, backend, clear, rule, services, usual
from verdict import note, ok, run, same
from weirnl import U8, U32, Weir, ip

ADDED, CHANGED, REMOVED = range(3)
FINAL = "zzz"


def listener():
    weir = Weir()
    weir.listen()
    return weir


def drain(ear, weir):
    """Events up to that of a last change that is made here: none is still on its way."""
    weir.do("SERVICE_ADD", {"SERVICE_NAME": FINAL})
    got = []
    while True:
        event = ear.event()
        if event is None or event["CHANGE"][0]["SERVICE_NAME"] == FINAL:
            weir.do("SERVICE_DEL", {"SERVICE_NAME": FINAL})
            assert event, "the last event does not come"
            ear.event()
            return got
        got.append(event)


def short(events):
    """(kind, service, object) of each."""
    out = []
    for event in events:
        change = event["CHANGE"][0]
        kinds = [k for k in ("RULE", "GROUP", "BACKEND") if k in change]
        out.append((change["KIND"], change["SERVICE_NAME"], *kinds))
    return out


def test_single():
    """events of single changes"""
    weir, ear = clear(), listener()
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web"})
    weir.do("RULE_ADD", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.10", TCP, 80)})
    weir.do("GROUP_ADD", {"SERVICE_NAME": "web", "GROUP": {"NAME": "east"}})
    weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11", GROUP="east")})
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"IDLE_TIMEOUT": U32(60)}})
    weir.do("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": {"GROUP": "east", "CHECK": U8(2)}})
    weir.do("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {"IDLE_TIMEOUT": U32(60)}})
    weir.do("RULE_DEL", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.10", TCP, 80)})
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    weir.do("GROUP_DEL", {"SERVICE_NAME": "web", "GROUP": {"NAME": "east"}})
    weir.do("SERVICE_DEL", {"SERVICE_NAME": "web"})
    now = weir.generation()
    got = drain(ear, weir)
    same("one for each change, none for none", short(got), [
        (ADDED, "web"), (ADDED, "web", "RULE"), (ADDED, "web", "GROUP"), (ADDED, "web", "BACKEND"),
        (CHANGED, "web"), (CHANGED, "web", "BACKEND"), (REMOVED, "web", "RULE"),
        (REMOVED, "web", "BACKEND"), (REMOVED, "web", "GROUP"), (REMOVED, "web")])
    same("with the generations they made", [e["GENERATION"] for e in got], list(range(now - 9, now + 1)))
    same("a changed backend with its values",
         [got[5]["CHANGE"][0]["BACKEND"][k] for k in ("ADDR", "CHECK", "GROUP")],
         [ip("10.2.0.11"), 2, "east"])
    ok("configured values only", "HEALTHY" not in got[5]["CHANGE"][0]["BACKEND"])


def test_commit():
    """events of a transaction"""
    weir, ear, other = usual(), listener(), listener()
    weir.do("TXN_BEGIN")
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.14")})
    weir.do("TXN_COMMIT", {"DRY_RUN": True})
    weir.do("TXN_BEGIN")
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    weir.do("TXN_ABORT")
    same("none for a dry run, none for an abort", drain(ear, weir), [])
    weir.do("TXN_BEGIN")
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")})
    weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.14")})
    answer = weir.one("TXN_COMMIT")
    got = drain(ear, weir)
    same("those of the commit", sorted(short(got)),
         [(ADDED, "web", "BACKEND"), (REMOVED, "web", "BACKEND")])
    same("all with its generation", {e["GENERATION"] for e in got}, {answer["GENERATION"]})
    same("the answer lists the same", answer["CHANGE"], [e["CHANGE"][0] for e in got])
    ok("every listener gets them", any(e["CHANGE"] == got[0]["CHANGE"] for e in
                                       (other.event() for _ in range(4))))


def test_state():
    """an event comes when the change is in force"""
    weir, ear = clear(), listener()
    late = 0
    for i in range(50):
        if not os.fork():
            Weir().do("SERVICE_ADD", {"SERVICE_NAME": f"s{i}"})
            os._exit(0)
        event = ear.event()
        late += f"s{i}" not in services(weir) or weir.generation() < event["GENERATION"]
        os.wait()
    same("50 times it was there to read", late, 0)


def test_overrun():
    """a listener that does not read is told that it missed some"""
    weir, ear = clear(), listener()
    ear.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    weir.do("TXN_BEGIN")
    for i in range(600):
        weir.do("SERVICE_ADD", {"SERVICE_NAME": f"s{i}"})
    same("the commit does not mind", weir.one("TXN_COMMIT")["N_ADDED"], 600)
    seen, missed = 0, False
    ear.sock.setblocking(False)
    while True:
        try:
            ear.receive()
            seen += 1
        except BlockingIOError:
            break
        except OSError as error:
            missed = missed or error.errno == errno.ENOBUFS
    note(f"{seen} of 600 were read")
    ok("ENOBUFS for the listener", missed and seen < 600, f"{seen} {missed}")
    weir.do("SERVICE_DEL", {"SERVICE_NAME": "s0"})
    got = ear.event()
    ok("it goes on hearing later ones", got and short([got]) == [(REMOVED, "s0")], got)
    clear()


def test_many():
    """a big commit with a listener that has room"""
    weir, ear = clear(), listener()
    ear.sock.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    weir.do("TXN_BEGIN")
    for i in range(600):
        weir.do("SERVICE_ADD", {"SERVICE_NAME": f"s{i:03}"})
        weir.do("BACKEND_ADD", {"SERVICE_NAME": f"s{i:03}", "BACKEND": backend("10.2.0.11")})
    answer = weir.one("TXN_COMMIT")
    got = drain(ear, weir)
    same("1200 events, none twice, none missing", len({repr(e["CHANGE"]) for e in got}), 1200)
    same("all of one generation", {e["GENERATION"] for e in got}, {answer["GENERATION"]})
    clear()


run(test_single, test_commit, test_state, test_overrun, test_many)
