#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Who may do what: everybody reads configuration and counters, CAP_NET_ADMIN of the
namespace's owner writes, sees the hash key, and sees connections."""
import ctypes
import os

from netlink_lab import TCP, backend, rule, services, state, usual
from verdict import ok, run, same
from weirnl import U8, U16, U32, Refused, Weir, ip

NOBODY = 65534
CLONE_NEWUSER, CLONE_NEWNET, PR_SET_DUMPABLE = 0x10000000, 0x40000000, 4
LIBC = ctypes.CDLL(None, use_errno=True)
PACKET = {"PACKET": {"SRC": ip("10.1.0.1"), "DST": ip("203.0.113.10"), "PROTO": U8(6)}}

WRITES = [
    ("SERVICE_ADD", {"SERVICE_NAME": "evil"}), ("SERVICE_SET", {"SERVICE_NAME": "web", "SERVICE": {}}),
    ("SERVICE_DEL", {"SERVICE_NAME": "web"}),
    ("RULE_ADD", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.66", TCP)}),
    ("RULE_DEL", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.10", TCP, 80, 443)}),
    ("GROUP_ADD", {"SERVICE_NAME": "web", "GROUP": {"NAME": "evil"}}),
    ("GROUP_SET", {"SERVICE_NAME": "web", "GROUP": {"NAME": "east"}}),
    ("GROUP_DEL", {"SERVICE_NAME": "web", "GROUP": {"NAME": "east"}}),
    ("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend("10.6.6.6")}),
    ("BACKEND_SET", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11", HEALTH=U8(2))}),
    ("BACKEND_DEL", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11")}),
    ("ZONE_ADD", {"ZONE": {"NAME": "a"}}), ("ZONE_DEL", {"ZONE": {"NAME": "a"}}),
    ("TXN_BEGIN", {}), ("TXN_COMMIT", {}), ("TXN_ABORT", {}), ("FLOW_FLUSH", {}), ("LOOKUP", PACKET),
    ("REPORT", {"REPORT": {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11", CHECK=U8(2))}}),
    ("PIN", {"SERVICE_NAME": "web", "BACKEND": backend("10.2.0.11"), "PIN": {
        "VIP": ip("203.0.113.10"), "SPORT": U16(1), "DPORT": U16(80), "LIFE": U32(1)}}),
]


def in_child(function):
    """Runs it in a process of its own and returns the lines that it printed."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(writer, repr(function()).encode())
        except Exception as error:
            os.write(writer, repr(f"{type(error).__name__}: {error}").encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        text = pipe.read().decode()
    os.waitpid(pid, 0)
    return eval(text)  # of our own repr()


def drop():
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def errors(weir):
    out = {}
    for cmd, attrs in WRITES:
        try:
            weir.do(cmd, attrs)
            out[cmd] = "taken"
        except Refused as refused:
            out[cmd] = refused.name
    try:
        weir.dump("FLOW_GET")
        out["FLOW_GET"] = "taken"
    except Refused as refused:
        out["FLOW_GET"] = refused.name
    return out


DENIED = {**{cmd: "EPERM" for cmd, _ in WRITES}, "FLOW_GET": "EPERM"}


def test_nobody():
    """a user without capabilities"""
    before = state(usual())

    def reads():
        drop()
        weir = Weir()
        info = weir.one("INFO_GET")
        return services(weir), "HASH_KEY" in info, info["GENERATION"], len(weir.dump("COUNTER_GET")) > 5

    def listens():
        drop()
        weir = Weir()
        weir.listen()
        return "listens"

    def writes():
        drop()
        return errors(Weir())

    def inherits():
        weir = Weir()
        drop()
        return errors(weir), "HASH_KEY" in weir.one("INFO_GET")

    same("reads configuration and counters, but not the key", in_child(reads),
         (["web"], False, before[0], True))
    same("may listen", in_child(listens), "listens")
    same("may change nothing, and see no connections", in_child(writes), DENIED)
    same("not even with a socket that root has opened", in_child(inherits), (DENIED, False))
    ok("root sees the key", "HASH_KEY" in Weir().one("INFO_GET"))
    same("nothing has changed", state(Weir()), before)


def become_owner(namespaces):
    """Nobody becomes root of a user namespace, and of what else is new."""
    drop()
    # Who changed its user id does not own its files in /proc, unless it is dumpable.
    LIBC.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    if LIBC.unshare(CLONE_NEWUSER | namespaces):
        raise OSError(ctypes.get_errno(), "unshare")
    one = f"0 {NOBODY} 1"
    for name, text in (("setgroups", "deny"), ("uid_map", one), ("gid_map", one)):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def test_owner():
    """the owner of a network namespace"""
    before = state(usual())

    def owns():
        become_owner(CLONE_NEWNET)
        weir = Weir()
        weir.do("SERVICE_ADD", {"SERVICE_NAME": "mine"})
        weir.do("RULE_ADD", {"SERVICE_NAME": "mine", "RULE": rule("203.0.113.10", TCP, 80)})
        weir.do("BACKEND_ADD", {"SERVICE_NAME": "mine", "BACKEND": backend("10.2.0.11")})
        return services(weir), "HASH_KEY" in weir.one("INFO_GET"), weir.dump("FLOW_GET")

    def trespasses():
        """Root of a user namespace, in the network namespace of the host."""
        weir = Weir()
        become_owner(0)
        return errors(Weir()), errors(weir)

    same("configures it, and sees the key", in_child(owns), (["mine"], True, []))
    same("but no other one", in_child(trespasses), (DENIED, DENIED))
    same("nothing has changed here", state(Weir()), before)


run(test_nobody, test_owner)
