#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""No memory: each allocation of each command fails once. What was there stays, or the command
is carried out whole; nothing in between. Needs a kernel with fault injection."""
import errno
import os

from netlink_lab import TCP, backend, rule, usual, with_direct
from verdict import note, ok, run
from weirnl import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, U8, U16, U32, Refused, Weir, ip

DEBUGFS = "/sys/kernel/debug"
FAILSLAB = DEBUGFS + "/failslab"
WEB = {"SERVICE_NAME": "web"}
EXPECTED = (errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN)


def start():
    """The usual service, with a health-check: else nobody may report."""
    weir = with_direct()
    weir.do("SERVICE_SET", {**WEB, "SERVICE": {"HEALTH_CHECK": "http"}})
    return weir


def many():
    """A transaction that is put together without faults."""
    weir = Weir()
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "new", "SERVICE": {"HEALTH_CHECK": "http"}})
    weir.do("RULE_ADD", {"SERVICE_NAME": "new", "RULE": rule("203.0.113.30", TCP, 80, 81)})
    weir.do("GROUP_ADD", {"SERVICE_NAME": "new", "GROUP": {"NAME": "g"}})
    weir.do("BACKEND_ADD", {"SERVICE_NAME": "new", "BACKEND": backend("10.2.0.21", GROUP="g")})
    weir.do("BACKEND_DEL", {**WEB, "BACKEND": backend("10.2.0.11")})
    return weir


COMMANDS = [
    ("SERVICE_ADD", {"SERVICE_NAME": "new", "SERVICE": {"HEALTH_CHECK": "http"}}, Weir),
    ("SERVICE_SET", {**WEB, "SERVICE": {"HEALTH_CHECK": "tcp", "IDLE_TIMEOUT": U32(60)}}, Weir),
    ("SERVICE_DEL", WEB, Weir),
    ("RULE_ADD", {**WEB, "RULE": rule("203.0.113.11", TCP, 1, 2)}, Weir),
    ("RULE_DEL", {**WEB, "RULE": rule("203.0.113.10", TCP, 80, 443)}, Weir),
    ("GROUP_ADD", {**WEB, "GROUP": {"NAME": "new"}}, Weir),
    ("GROUP_DEL", {**WEB, "GROUP": {"NAME": "east"}}, Weir),
    ("BACKEND_ADD", {**WEB, "BACKEND": backend("10.2.0.14")}, Weir),
    ("BACKEND_SET", {**WEB, "BACKEND": {"GROUP": "east", "HEALTH": U8(2)}}, Weir),
    ("BACKEND_DEL", {**WEB, "BACKEND": backend("10.2.0.12")}, Weir),
    ("REPORT", {"REPORT": {**WEB, "BACKEND": backend("10.2.0.11", CHECK=U8(2), PROBE_PASSED=U8(0))}},
     Weir),
    ("PIN", {"SERVICE_NAME": "direct", "BACKEND": backend("10.2.0.11"), "PIN": {
        "VIP": ip("203.0.113.20"), "SPORT": U16(1000), "DPORT": U16(80), "LIFE": U32(600)}}, Weir),
    ("TXN_BEGIN", {}, Weir),
    ("TXN_COMMIT", {}, many),
    ("TXN_COMMIT", {"DRY_RUN": True}, many),
    ("TXN_COMMIT", {"HASH_KEY": bytes(16)}, many),
    ("INFO_GET", {}, Weir),
    ("LOOKUP", {"PACKET": {"SRC": ip("10.1.0.1"), "DST": ip("203.0.113.10"), "PROTO": U8(6)}}, Weir),
    ("FLOW_FLUSH", {}, Weir),
    ("CONFIG_GET", {"WITH_FLOWS": True}, Weir),
    ("FLOW_GET", {}, Weir),
    ("COUNTER_GET", {}, Weir),
]
DUMPS = ("CONFIG_GET", "FLOW_GET", "COUNTER_GET")


def set_up():
    if not os.path.isdir(FAILSLAB):
        os.system(f"mount -t debugfs none {DEBUGFS}")
    for name, value in (("ignore-gfp-wait", "N"), ("probability", "0"), ("verbose", "0")):
        with open(f"{FAILSLAB}/{name}", "w") as file:
            file.write(value)


def configuration(weir):
    """What is configured, without generations and without what probes found."""
    out = [{k: v for k, v in m.items() if k != "GENERATION"} for m in weir.config()]
    for message in out:
        for name in [n for n in message.get("BACKEND", {}) if n.startswith("PROBE_")]:
            del message["BACKEND"][name]
    return repr(out)


def attempt(weir, cmd, attrs, nth):
    """(was the fault injected, how the command ended)."""
    flags = NLM_F_REQUEST | (NLM_F_DUMP if cmd in DUMPS else NLM_F_ACK)
    fault = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    ended = "done"
    try:
        os.write(fault, str(nth).encode())
        seq = weir.put(cmd, attrs, flags=flags)
        left = int(os.pread(fault, 20, 0))
        os.write(fault, b"0")
        weir.sock.settimeout(5)
        weir.answers(seq)
    except (Refused, OSError) as error:
        left = int(os.pread(fault, 20, 0))
        os.write(fault, b"0")
        ended = "silence" if isinstance(error, TimeoutError) else error.errno
    finally:
        os.close(fault)
    return left == 0, ended


def each_allocation(cmd, attrs, prepare):
    """Fails the first, the second, ... allocation of the command, until it has no more."""
    start()
    weir = prepare()
    ended = attempt(weir, cmd, attrs, 0)[1]
    whole = configuration(Weir())
    weir.close()
    # The command must be one that works; and one that goes wrong does so each time.
    wrong = [] if ended == "done" else [f"without a fault: ended with {ended}"]
    ends, nth = {}, 0
    while nth < 2000 and len(wrong) < 10:
        nth += 1
        before = configuration(start())
        weir = prepare()
        injected, ended = attempt(weir, cmd, attrs, nth)
        after = configuration(Weir())
        weir.close()
        if not injected:
            break
        ends[ended] = ends.get(ended, 0) + 1
        if ended not in ("done", *EXPECTED):
            wrong.append(f"{nth}: ended with {ended}")
        if ended == errno.ENOMEM and after != before:
            wrong.append(f"{nth}: refused, but something has changed")
        if ended == "done" and after != whole:
            wrong.append(f"{nth}: carried out, but not whole")
        # What is said about the acknowledgement, which comes last, says neither.
        if after not in (before, whole):
            wrong.append(f"{nth}: neither nothing nor all of it")
    note(f"{cmd}: {nth - 1} allocations failed in turn: {ends}")
    ok(f"{cmd} {sorted(attrs)}: no memory, no harm", nth > 1 and not wrong, wrong)


def test_all():
    """allocations that fail"""
    set_up()
    for cmd, attrs, prepare in COMMANDS:
        each_allocation(cmd, attrs, prepare)
    weir = usual()
    ok("afterwards all is well", len(weir.config()) == 7)


run(test_all)
