#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Connections that are pinned to a backend: what is taken and refused, how many there may be,
and how they end. What becomes of packets, via.sh looks at."""
import struct
import subprocess
import time

from netlink_lab import TCP, backend, rule, state, with_direct
from verdict import ok, run, same
from weirnl import H, NLM_F_ACK, NLM_F_REQUEST, U8, U16, U32, Refused, Weir, encode, ip

MOST = 65536
VIP, LOCAL, SHARED, V6 = "203.0.113.20", "203.0.113.21", "203.0.113.22", "2001:db8::20"


def pin(sport=1000, dport=80, vip=VIP, addr="10.2.0.11", service="direct", life=600, **change):
    """A good one, but for what the caller says; None takes a field away."""
    fields = {"VIP": ip(vip), "SPORT": U16(sport), "DPORT": U16(dport), "LIFE": U32(life), **change}
    return {"SERVICE_NAME": service, "BACKEND": backend(addr),
            "PIN": {k: v for k, v in fields.items() if v is not None}}


def begin():
    """Services of all kinds: direct with an IPv6 twin, one with a prefix only, and a shared VIP."""
    subprocess.run(["ip", "addr", "replace", LOCAL + "/32", "dev", "lo"], check=True)
    weir = with_direct()
    weir.do("TXN_BEGIN")
    for vip in (LOCAL, SHARED):
        weir.do("RULE_ADD", {"SERVICE_NAME": "direct", "RULE": rule(vip, TCP, 80)})
    weir.do("RULE_ADD", {"SERVICE_NAME": "web", "RULE": rule(SHARED, TCP, 81)})
    for name, vip, addr in (("direct6", V6, "2001:db8:1::1"), ("hop", "", "10.2.0.13")):
        weir.do("SERVICE_ADD", {"SERVICE_NAME": name, "SERVICE": {"FORWARD": U8(1)}})
        weir.do("RULE_ADD", {"SERVICE_NAME": name, "RULE": rule(vip, TCP, 80) if vip else
                             {**rule("10.3.0.0", 0), "PLEN": U8(16)}})
        weir.do("BACKEND_ADD", {"SERVICE_NAME": name, "BACKEND": backend(addr)})
    weir.do("TXN_COMMIT")
    return weir


def refusal(weir, attrs):
    try:
        weir.do("PIN", attrs)
        return "taken", ""
    except Refused as refused:
        return refused.name, refused.message


def without(attrs, key):
    return {k: v for k, v in attrs.items() if k != key}


REFUSALS = [
    ("no service", without(pin(), "SERVICE_NAME"), "EINVAL", "SERVICE_NAME"),
    ("no backend", without(pin(), "BACKEND"), "EINVAL", "BACKEND"),
    ("no address", {**pin(), "BACKEND": {}}, "EINVAL", "ADDR"),
    ("no connection", without(pin(), "PIN"), "EINVAL", "PIN"),
    ("no VIP", pin(VIP=None), "EINVAL", "pin: VIP is missing"),
    ("no source port", pin(SPORT=None), "EINVAL", "pin: SPORT is missing"),
    ("no destination port", pin(DPORT=None), "EINVAL", "pin: DPORT is missing"),
    ("no life", pin(LIFE=None), "EINVAL", "pin: LIFE is missing"),
    ("an address of five bytes", pin(VIP=bytes(5)), "EINVAL", "pin: VIP", "5 bytes"),
    ("source port 0", pin(sport=0), "ERANGE", "pin: SPORT 0", "1 to 65535"),
    ("destination port 0", pin(dport=0), "ERANGE", "pin: DPORT 0", "1 to 65535"),
    ("a life of nothing", pin(life=0), "ERANGE", "pin: LIFE 0", "1 to 600"),
    ("a life of 601 s", pin(life=601), "ERANGE", "pin: LIFE 601", "1 to 600"),
    ("a service that is not there", pin(service="nosuch"), "ENOENT", "service nosuch", "weir show"),
    ("a service of nat mode", pin(service="web", vip="203.0.113.10"), "EINVAL", "service web",
     "forward nat", "forward direct"),
    ("a backend that is not there", pin(addr="10.2.0.99"), "ENOENT", "service direct: backend 10.2.0.99"),
    ("a backend of the other family", pin(addr="2001:db8:1::1"), "ENOENT", "backend 2001:db8:1::1"),
    ("another VIP", pin(vip="203.0.113.10"), "ENOENT", "service direct: pin: VIP 203.0.113.10"),
    ("a VIP of the other family", pin(vip=V6), "ENOENT", "VIP 2001:db8::20"),
    ("an address under a prefix", pin(service="hop", addr="10.2.0.13", vip="10.3.0.1"), "ENOENT",
     "service hop: pin: VIP 10.3.0.1"),
    ("an address of this router", pin(vip=LOCAL), "EADDRINUSE", "VIP " + LOCAL, "ip addr del"),
    ("a port of nat mode", pin(vip=SHARED, dport=81), "EINVAL", "DPORT 81", "VIP " + SHARED),
    ("a port that nat mode drops", pin(vip=SHARED, dport=82), "EINVAL", "DPORT 82", "forward direct"),
]


def test_refused():
    """refusals"""
    weir = begin()
    for what, attrs, code, *words in REFUSALS:
        name, message = refusal(weir, attrs)
        ok(f"{what}: {code}", name == code and all(w in message for w in words) and len(message) < 170,
           f"{name}: {message}")


def test_taken():
    """what is good"""
    weir = begin()
    before = state(weir)
    for what, attrs in (("a port with a rule", pin()), ("one without", pin(dport=8080)),
                        ("the greatest numbers", pin(sport=65535, dport=65535, life=600)),
                        ("again", pin()), ("for another backend", pin(addr="10.2.0.12")),
                        ("a port of direct mode at a shared address", pin(vip=SHARED)),
                        ("IPv6", pin(service="direct6", vip=V6, addr="2001:db8:1::1"))):
        same(f"{what} is taken", refusal(weir, attrs), ("taken", ""))
    weir.do("TXN_BEGIN")
    same("in a transaction too", refusal(weir, pin()), ("taken", ""))
    weir.do("TXN_ABORT")
    same("it is no change", state(weir), before)
    weir.do("BACKEND_SET", {"SERVICE_NAME": "direct", "BACKEND": backend("10.2.0.11", HEALTH=U8(2), WEIGHT=U32(0))})
    same("a backend that is down, of no weight", refusal(weir, pin()), ("taken", ""))
    weir.do("SERVICE_SET", {"SERVICE_NAME": "direct", "SERVICE": {"DRAIN_TIMEOUT": U32(60)}})
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "direct", "BACKEND": backend("10.2.0.11")})
    same("one that drains", refusal(weir, pin()), ("taken", ""))
    weir.do("BACKEND_DEL", {"SERVICE_NAME": "direct", "BACKEND": backend("10.2.0.11"), "NOW": True})
    same("one that is gone is refused", refusal(weir, pin())[0], "ENOENT")
    weir.close()


def fill(weir, number):
    """So many, quickly: many in a datagram, of which the last is acknowledged."""
    body = struct.pack("=BBH", H.consts["WEIR_CMD_PIN"], 1, 0) + encode(pin(0x1111, 0x2222))
    at, to = body.index(U16(0x1111)), body.index(U16(0x2222))
    for first in range(0, number, 256):
        last, out = min(first + 256, number) - 1, []
        for n in range(first, last + 1):
            flags = NLM_F_REQUEST | (NLM_F_ACK if n == last else 0)
            out.append(struct.pack("=IHHII", 16 + len(body), weir.family, flags, n, 0) + body[:at] +
                       U16(n % 60000 + 1) + body[at + 2:to] + U16(1 + n // 60000) + body[to + 2:])
        weir.sock.send(b"".join(out))
        if (error := weir.receive().error()) != 0:
            raise error


def await_taken(weir, attrs):
    """How it is answered, at the latest after a while."""
    deadline = time.monotonic() + 60
    while (answer := refusal(weir, attrs)) != ("taken", "") and time.monotonic() < deadline:
        time.sleep(0.05)
    return answer


def test_many():
    """the most there may be"""
    weir, other = begin(), Weir()
    fill(weir, MOST)
    name, message = refusal(other, pin(dport=9))
    ok(f"one more than {MOST}: ENOSPC", name == "ENOSPC" and str(MOST) in message, f"{name}: {message}")
    same("one that takes the place of another is taken", refusal(other, pin(7, 1)), ("taken", ""))
    same("and no longer belongs to the first socket: it stays alone", refusal(other, pin(dport=9))[0], "ENOSPC")
    weir.close()
    # The kernel may be closing it yet.
    same("those of a socket end with it", await_taken(other, pin(dport=9)), ("taken", ""))
    fill(other, MOST - 1)
    same("one place is left, dport 9 has it", refusal(other, pin(dport=10))[0], "ENOSPC")
    same("a short one", refusal(other, pin(7, 1, life=1)), ("taken", ""))
    same("makes room when its time is over", await_taken(other, pin(dport=10)), ("taken", ""))
    other.close()


def test_reused():
    """what stays behind a service"""
    weir = begin()
    same("a pin", refusal(weir, pin()), ("taken", ""))
    weir.do("SERVICE_DEL", {"SERVICE_NAME": "direct"})
    same("its service is gone", refusal(weir, pin())[0], "ENOENT")
    weir = begin()
    same("and another one of that name", refusal(weir, pin()), ("taken", ""))
    ok("a command of its own", H.consts["WEIR_CMD_PIN"] in weir.ops)


run(test_refused, test_taken, test_many, test_reused)
