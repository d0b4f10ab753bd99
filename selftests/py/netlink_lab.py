# SPDX-License-Identifier: GPL-2.0
"""What the netlink_*.py programs share: configurations, and one that starts from nothing."""
from weirnl import U8, Weir, ip, ports

TCP, UDP, SCTP, ICMP, AH, GRE, ANY = 1, 2, 3, 4, 6, 7, 0


def rule(vip, proto, *numbers):
    out = {"VIP": ip(vip), "PROTO": U8(proto)}
    return {**out, "PORTS": ports(*numbers)} if numbers else out


def backend(addr, **values):
    return {"ADDR": ip(addr), **values}


def clear():
    """No service, whatever there was."""
    weir = Weir()
    weir.do("TXN_BEGIN", {"REPLACE": True})
    weir.do("TXN_COMMIT")
    return weir


def usual():
    """Service web: one rule, two groups, three backends."""
    weir = clear()
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web"})
    weir.do("RULE_ADD", {"SERVICE_NAME": "web", "RULE": rule("203.0.113.10", TCP, 443, 80)})
    for group in ("west", "east"):
        weir.do("GROUP_ADD", {"SERVICE_NAME": "web", "GROUP": {"NAME": group}})
    for addr, group in (("10.2.0.12", "east"), ("10.2.0.11", "default"), ("10.2.0.13", "west")):
        weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend(addr, GROUP=group)})
    weir.do("TXN_COMMIT")
    return weir


def with_direct():
    """The usual service, and one that is forwarded directly."""
    weir = usual()
    weir.do("TXN_BEGIN")
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "direct", "SERVICE": {"FORWARD": U8(1)}})
    weir.do("RULE_ADD", {"SERVICE_NAME": "direct", "RULE": rule("203.0.113.20", TCP, 80)})
    for addr in ("10.2.0.11", "10.2.0.12"):
        weir.do("BACKEND_ADD", {"SERVICE_NAME": "direct", "BACKEND": backend(addr)})
    weir.do("TXN_COMMIT")
    return weir


def services(weir):
    """Names in the order of the dump."""
    return [m["SERVICE_NAME"] for m in weir.config() if "SERVICE" in m]


def state(weir):
    """The whole configuration and its generation, as one value to compare."""
    return weir.generation(), repr(weir.config())
