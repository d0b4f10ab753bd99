#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Every refusal has a sentence that names object and value, and changes nothing.

A row is a command, its attributes, the errno and words that the message must have.
"""
from netlink_lab import AH, GRE, ICMP, TCP, backend, rule, state, usual
from verdict import note, ok, run, same
from weirnl import U8, U16, U32, Refused, Weir, ip, ports

LONG = "x" * 32
V6 = ip("2001:db8::10")
CLASH = rule("203.0.113.10", TCP, 443)


def service(**options):
    return {"SERVICE_NAME": "web", "SERVICE": options}


def of_web(**nest):
    return {"SERVICE_NAME": "web", **nest}


def packet(**fields):
    return {"PACKET": {"SRC": ip("10.1.0.1"), "DST": ip("203.0.113.10"), "PROTO": U8(6), **fields}}


def zone4(addr, length):
    """A record of a zone: an IPv4 prefix."""
    return bytes([96 + length]) + bytes(10) + b"\xff\xff" + ip(addr)


NAMES = [
    ("SERVICE_ADD", {}, "EINVAL", "SERVICE_NAME", "missing"),
    ("SERVICE_ADD", {"SERVICE_NAME": ""}, "EINVAL", 'service ""', "1 to 31"),
    ("SERVICE_ADD", {"SERVICE_NAME": "we b"}, "EINVAL", 'service "we b"'),
    ("SERVICE_ADD", {"SERVICE_NAME": LONG}, "EINVAL", LONG, "1 to 31"),
    ("SERVICE_ADD", {"SERVICE_NAME": "y" * 4000}, "EINVAL", "y" * 40 + '"...', "1 to 31"),
    ("SERVICE_ADD", {"SERVICE_NAME": b"caf\xc3\xa9\0"}, "EINVAL", 'service "caf??"'),
    ("SERVICE_ADD", {"SERVICE_NAME": b"a\nb\0"}, "EINVAL", 'service "a?b"'),
    ("SERVICE_ADD", {"SERVICE_NAME": b"a\0b\0"}, "EINVAL", 'service "a?b"'),
    ("SERVICE_ADD", {"SERVICE_NAME": "a/b"}, "EINVAL", "a/b"),
    ("SERVICE_ADD", {"SERVICE_NAME": "web"}, "EEXIST", "service web", "service set"),
    ("SERVICE_SET", {"SERVICE_NAME": "web"}, "EINVAL", "SERVICE", "missing"),
    ("SERVICE_SET", {"SERVICE_NAME": "nosuch", "SERVICE": {}}, "ENOENT", "service nosuch"),
    ("SERVICE_DEL", {}, "EINVAL", "SERVICE_NAME", "missing"),
    ("SERVICE_DEL", {"SERVICE_NAME": "nosuch"}, "ENOENT", "service nosuch"),
]

OPTIONS = [
    ("SERVICE_SET", service(AFFINITY=U8(5)), "ERANGE", "service web", "affinity 5", "0 to 4"),
    ("SERVICE_SET", service(TRACKING=U8(2)), "ERANGE", "tracking 2"),
    ("SERVICE_SET", service(TRACKING=U8(1), PERSISTENCE=U8(2)), "EINVAL", "service web",
     "always-persist", "per-session"),
    ("SERVICE_SET", service(TRACKING=U8(1), IDLE_TIMEOUT=U32(601)), "EINVAL", "idle-timeout 601"),
    ("SERVICE_SET", service(AFFINITY=U8(3), IDLE_TIMEOUT=U32(601)), "EINVAL", "idle-timeout 601"),
    ("SERVICE_SET", service(PERSISTENCE=U8(3)), "ERANGE", "persistence 3"),
    ("SERVICE_SET", service(IDLE_TIMEOUT=U32(59)), "ERANGE", "idle-timeout 59", "60"),
    ("SERVICE_SET", service(IDLE_TIMEOUT=U32(601)), "EINVAL", "idle-timeout 601", "60 to 600"),
    ("SERVICE_SET", service(IDLE_TIMEOUT=U32(57601)), "ERANGE", "idle-timeout 57601", "57600"),
    ("SERVICE_SET", service(IDLE_TIMEOUT=U32(2**32 - 1)), "ERANGE", "idle-timeout 4294967295"),
    ("SERVICE_SET", service(DRAIN_TIMEOUT=U32(3601)), "ERANGE", "drain-timeout 3601", "3600"),
    ("SERVICE_SET", service(SPILL_RATIO=U32(1000001)), "ERANGE", "spill-ratio 1000001"),
    ("SERVICE_SET", service(DRAIN_ON_FAILOVER=U8(2)), "ERANGE", "drain-on-failover 2"),
    ("SERVICE_SET", service(ZONAL_AFFINITY=U8(3)), "ERANGE", "zonal-affinity 3"),
    ("SERVICE_SET", service(FAILOVER_RATIO=U32(1000001)), "ERANGE", "failover-ratio 1000001"),
    ("SERVICE_SET", service(DROP_IF_UNHEALTHY=U8(2)), "ERANGE", "drop-if-unhealthy 2"),
    ("SERVICE_SET", service(LOCALITY=U8(200)), "ERANGE", "locality 200"),
    ("SERVICE_SET", service(FORWARD=U8(2)), "ERANGE", "forward 2"),
    ("SERVICE_SET", service(WHEN_EMPTY=U8(2)), "ERANGE", "when-empty 2"),
    ("SERVICE_SET", service(HAIRPIN=U8(2)), "ERANGE", "hairpin 2"),
    ("SERVICE_SET", service(TABLE_SIZE=U32(1000)), "ERANGE", "table-size 1000", "prime"),
    ("SERVICE_SET", service(TABLE_SIZE=U32(655379)), "ERANGE", "table-size 655379", "655373"),
    ("SERVICE_SET", service(TABLE_SIZE=U32(29)), "EINVAL", "table-size 29", "30"),
    ("SERVICE_SET", service(HEALTH_CHECK="z" * 1025), "ERANGE", "health-check", "1025", "1024"),
    ("SERVICE_SET", service(HEALTH_CHECK="http\nport 1"), "EINVAL", "health-check", "byte 4", "0x0a"),
    ("SERVICE_SET", service(HEALTH_CHECK=b"a\0b\0"), "EINVAL", "health-check", "byte 1"),
    ("SERVICE_ADD", {"SERVICE_NAME": "new", "SERVICE": {"HAIRPIN": U8(2)}}, "ERANGE",
     "service new: hairpin 2"),
]

RULES = [
    ("RULE_ADD", of_web(), "EINVAL", "service web", "RULE", "missing"),
    ("RULE_ADD", of_web(RULE={}), "EINVAL", "service web: rule", "VIP", "missing"),
    ("RULE_ADD", of_web(RULE={"VIP": ip("203.0.113.1")}), "EINVAL", "203.0.113.1", "protocol"),
    ("RULE_ADD", of_web(RULE={"VIP": b"12345", "PROTO": U8(1)}), "EINVAL", "5 bytes", "IPv4"),
    ("RULE_ADD", of_web(RULE=rule("0.0.0.0", TCP, 80)), "EINVAL", "rule 0.0.0.0"),
    ("RULE_ADD", of_web(RULE=rule("224.0.0.9", TCP, 80)), "EINVAL", "rule 224.0.0.9"),
    ("RULE_ADD", of_web(RULE=rule("255.255.255.255", TCP, 80)), "EINVAL", "255.255.255.255"),
    ("RULE_ADD", of_web(RULE=rule("ff02::1", TCP, 80)), "EINVAL", "rule ff02::1"),
    ("RULE_ADD", of_web(RULE=rule("::ffff:10.0.0.1", TCP, 80)), "EINVAL", "10.0.0.1"),
    ("RULE_ADD", of_web(RULE={**rule("203.0.113.1", TCP), "PLEN": U8(33)}), "ERANGE",
     "203.0.113.1", "prefix length 33", "32"),
    ("RULE_ADD", of_web(RULE={**rule("203.0.113.0", 0), "PLEN": U8(24)}), "EINVAL",
     "203.0.113.0/24", "forward direct"),
    ("RULE_ADD", of_web(RULE={**rule("203.0.113.1", 0), "PLEN": U8(24)}), "EINVAL",
     "203.0.113.1/24", "behind the length"),
    ("RULE_ADD", of_web(RULE={**rule("2001:db8::1", TCP), "PLEN": U8(129)}), "ERANGE", "129", "128"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.1", 8)), "ERANGE", "203.0.113.1", "protocol word 8"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.1", AH)), "EINVAL", "203.0.113.1", "AH",
     "forward direct"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.1", ICMP, 80)), "EINVAL", "203.0.113.1", "icmp"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.1", GRE, 80)), "EINVAL", "203.0.113.1", "gre"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.1", 0, 80)), "EINVAL", "203.0.113.1", "any"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.1", TCP, 0, 1)), "ERANGE", "203.0.113.1", "port 0"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.1", TCP, 7, 9, 7)), "EINVAL", "port 7", "twice"),
    ("RULE_ADD", of_web(RULE={**rule("203.0.113.1", TCP), "PORTS": b"123"}), "EINVAL", "3 bytes"),
    ("RULE_ADD", of_web(RULE={**rule("203.0.113.1", TCP), "PORTS": ports(*range(1, 1026))}),
     "ERANGE", "1025 ports", "1024"),
    ("RULE_ADD", of_web(RULE=rule("203.0.113.10", TCP, 80, 443)), "EEXIST", "203.0.113.10", "tcp"),
    ("RULE_ADD", of_web(RULE=CLASH), "EEXIST", "203.0.113.10"),
    ("RULE_ADD", of_web(RULE=rule("2001:db8::10", TCP, 80)), "EINVAL", "2001:db8::10", "family"),
    ("RULE_ADD", {"SERVICE_NAME": "nosuch", "RULE": rule("203.0.113.1", TCP)}, "ENOENT",
     "service nosuch"),
    ("RULE_DEL", of_web(), "EINVAL", "RULE", "missing"),
    ("RULE_DEL", of_web(RULE=rule("203.0.113.10", TCP, 80)), "ENOENT", "203.0.113.10 tcp"),
    ("RULE_DEL", of_web(RULE=rule("203.0.113.11", TCP, 80, 443)), "ENOENT", "203.0.113.11"),
]

MEMBERS = [
    ("GROUP_ADD", of_web(), "EINVAL", "GROUP", "missing"),
    ("GROUP_ADD", of_web(GROUP={}), "EINVAL", "service web: group", "name", "missing"),
    ("GROUP_ADD", of_web(GROUP={"NAME": "a b"}), "EINVAL", 'group "a b"'),
    ("GROUP_ADD", of_web(GROUP={"NAME": "east"}), "EEXIST", "group east"),
    ("GROUP_ADD", of_web(GROUP={"NAME": "n", "ZONE": "a b"}), "EINVAL", 'zone "a b"'),
    ("GROUP_ADD", of_web(GROUP={"NAME": "n", "FAILOVER": U8(2)}), "ERANGE", "failover 2"),
    ("GROUP_SET", of_web(GROUP={"NAME": "nosuch"}), "ENOENT", "group nosuch", "group add"),
    ("GROUP_DEL", of_web(GROUP={"NAME": "nosuch"}), "ENOENT", "group nosuch"),
    ("GROUP_DEL", of_web(GROUP={"NAME": "default"}), "ENOENT", "group default"),
    ("BACKEND_ADD", of_web(), "EINVAL", "service web", "BACKEND", "missing"),
    ("BACKEND_ADD", of_web(BACKEND={}), "EINVAL", "ADDR", "missing"),
    ("BACKEND_ADD", of_web(BACKEND={"GROUP": "east"}), "EINVAL", "ADDR", "missing"),
    ("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.11")), "EEXIST", "10.2.0.11", "backend set"),
    ("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.9", GROUP="nosuch")), "ENOENT", "group nosuch"),
    ("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.9", GROUP="a b")), "EINVAL", 'group "a b"'),
    ("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.9", WEIGHT=U32(1001))), "ERANGE", "weight 1001"),
    ("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.9", WEIGHT=U32(65537))), "ERANGE", "weight 65537"),
    ("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.9", HEALTH=U8(3))), "ERANGE", "10.2.0.9",
     "health 3"),
    ("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.9", CHECK=U8(9))), "ERANGE", "check 9"),
    ("BACKEND_ADD", of_web(BACKEND=backend("2001:db8::1")), "EINVAL", "2001:db8::1", "family"),
    ("BACKEND_ADD", of_web(BACKEND=backend("224.0.0.1")), "EINVAL", "backend 224.0.0.1"),
    ("BACKEND_ADD", of_web(BACKEND={"ADDR": bytes(5)}), "EINVAL", "backend", "5 bytes"),
    ("BACKEND_ADD", {"SERVICE_NAME": "nosuch", "BACKEND": backend("10.2.0.1")}, "ENOENT", "nosuch"),
    ("BACKEND_SET", of_web(BACKEND={}), "EINVAL", "ADDR or GROUP", "missing"),
    ("BACKEND_SET", of_web(BACKEND=backend("10.2.0.99", HEALTH=U8(1))), "ENOENT", "10.2.0.99"),
    ("BACKEND_SET", of_web(BACKEND={"ADDR": V6, "HEALTH": U8(1)}), "ENOENT", "2001:db8::10"),
    ("BACKEND_SET", of_web(BACKEND=backend("10.2.0.11", GROUP="nosuch")), "ENOENT", "group nosuch"),
    ("BACKEND_SET", of_web(BACKEND=backend("10.2.0.11", REPORTED=U32(1001))), "ERANGE",
     "10.2.0.11", "reported weight 1001"),
    ("BACKEND_SET", of_web(BACKEND=backend("10.2.0.11", WEIGHT_STATE=U8(5))), "ERANGE",
     "weight-state 5"),
    ("BACKEND_SET", of_web(BACKEND=backend("10.2.0.11", WEIGHT_STATE=U8(1))), "EINVAL",
     "weight-state valid", "REPORTED"),
    ("BACKEND_SET", of_web(BACKEND={"GROUP": "nosuch", "HEALTH": U8(1)}), "ENOENT", "group nosuch"),
    ("BACKEND_SET", of_web(BACKEND={"GROUP": "east", "HEALTH": U8(7)}), "ERANGE", "group east",
     "health 7"),
    ("BACKEND_DEL", of_web(BACKEND={}), "EINVAL", "ADDR or GROUP", "missing"),
    ("BACKEND_DEL", of_web(BACKEND=backend("10.2.0.12", GROUP="east")), "EINVAL", "ADDR and GROUP"),
    ("BACKEND_DEL", of_web(BACKEND=backend("10.2.0.99"), NOW=True), "ENOENT", "10.2.0.99"),
    ("BACKEND_DEL", of_web(BACKEND={"GROUP": "nosuch"}), "ENOENT", "group nosuch"),
]

OTHERS = [
    ("ZONE_ADD", {}, "EINVAL", "ZONE", "missing"),
    ("ZONE_ADD", {"ZONE": {}}, "EINVAL", "zone", "name", "missing"),
    ("ZONE_ADD", {"ZONE": {"NAME": "a b"}}, "EINVAL", 'zone "a b"'),
    ("ZONE_ADD", {"ZONE": {"NAME": "a"}}, "EINVAL", "PREFIXES", "missing"),
    ("ZONE_ADD", {"ZONE": {"NAME": "a", "PREFIXES": bytes(18)}}, "EINVAL", "zone a", "18 bytes"),
    ("ZONE_ADD", {"ZONE": {"NAME": "a", "PREFIXES": b"\x81" + bytes(16)}}, "ERANGE", "zone a",
     "prefix length 129"),
    ("ZONE_ADD", {"ZONE": {"NAME": "a", "PREFIXES": zone4("10.1.0.1", 16)}}, "EINVAL", "zone a",
     "10.1.0.1/16", "bits"),
    ("ZONE_ADD", {"ZONE": {"NAME": "a", "PREFIXES": zone4("10.1.0.0", 16) * 2}}, "EEXIST",
     "zone a", "10.1.0.0/16", "already"),
    ("ZONE_DEL", {"ZONE": {"NAME": "nosuch"}}, "ENOENT", "zone nosuch", "weir show"),
    ("TXN_COMMIT", {}, "ENOENT", "transaction", "begin"),
    ("TXN_ABORT", {}, "ENOENT", "transaction", "begin"),
    ("TXN_BEGIN", {"GENERATION": U32(4000000000)}, "ESTALE", "generation 4000000000"),
    ("LOOKUP", {}, "EINVAL", "PACKET", "missing"),
    ("LOOKUP", {"PACKET": {}}, "EINVAL", "packet", "source", "missing"),
    ("LOOKUP", {"PACKET": {"SRC": ip("10.1.0.1")}}, "EINVAL", "destination", "missing"),
    ("LOOKUP", {"PACKET": {"SRC": ip("10.1.0.1"), "DST": ip("10.1.0.2")}}, "EINVAL", "protocol",
     "missing"),
    ("LOOKUP", packet(SRC=bytes(7)), "EINVAL", "packet: source", "7 bytes"),
    ("LOOKUP", packet(DST=V6), "EINVAL", "IPv4 source", "IPv6 destination"),
    ("LOOKUP", packet(PROTO=U8(47), DPORT=U16(80)), "EINVAL", "protocol 47", "ports"),
    ("LOOKUP", packet(PROTO=U8(17), SYN=True), "EINVAL", "SYN", "protocol 17"),
    ("FLOW_FLUSH", {"SERVICE_NAME": "nosuch"}, "ENOENT", "service nosuch"),
    ("FLOW_FLUSH", {"BACKEND": {}}, "EINVAL", "ADDR", "missing"),
    ("FLOW_FLUSH", {"BACKEND": {"ADDR": bytes(9)}}, "EINVAL", "backend", "9 bytes"),
]

DUMPS = [
    ("CONFIG_GET", {"SERVICE_NAME": "nosuch"}, "ENOENT", "service nosuch"),
    ("CONFIG_GET", {"SERVICE_NAME": "we b"}, "EINVAL", 'service "we b"'),
    ("FLOW_GET", {"SERVICE_NAME": "nosuch"}, "ENOENT", "service nosuch"),
    ("FLOW_GET", {"BACKEND": {}}, "EINVAL", "ADDR", "missing"),
    ("FLOW_GET", {"BACKEND": {"ADDR": bytes(6)}}, "EINVAL", "backend", "6 bytes"),
]


def describe(cmd, attrs):
    text = repr(attrs)
    return f"{cmd} {text if len(text) < 90 else text[:87] + '...'}"


def judge(row, send):
    cmd, attrs, error, *words = row
    try:
        send(cmd, attrs)
        ok(f"{describe(cmd, attrs)}: refused", False, "it was taken")
        return
    except Refused as refused:
        missing = [w for w in words if w not in refused.message]
        ok(f"{describe(cmd, attrs)}: {error}",
           refused.name == error and refused.message and not missing,
           f"got:  {refused}\nwant: {error} with {words}")
        if len(refused.message) > 170:
            note(f"{len(refused.message)} bytes: {refused.message}")


def rows(title, table, send):
    """Each row alone; after all of them nothing has changed."""
    before = state(Weir())
    for row in table:
        judge(row, send)
    same(f"{title}: nothing has changed", state(Weir()), before)


def test_single():
    """refusals of single changes"""
    weir = usual()
    for title, table in (("names", NAMES), ("options", OPTIONS), ("rules", RULES),
                         ("members", MEMBERS), ("others", OTHERS)):
        rows(title, table, weir.do)
    rows("dumps", DUMPS, weir.dump)


def test_staged():
    """what is refused in a transaction leaves it as it was"""
    weir = usual()
    weir.do("TXN_BEGIN")
    weir.do("BACKEND_ADD", of_web(BACKEND=backend("10.2.0.14")))
    # These are refused only at the commit: they are about the whole.
    late = {"idle-timeout 601", "table-size 29", "always-persist", "forward direct"}
    staged = 0
    for row in NAMES + OPTIONS + RULES + MEMBERS:
        if late & set(row[3:]) or row[0] == "RULE_ADD" and row[1].get("RULE") == CLASH:
            continue
        try:
            weir.do(row[0], row[1])
            ok(f"{describe(row[0], row[1])}: refused when staged", False, "it was taken")
        except Refused as refused:
            staged += refused.name == row[2]
    ok("refusals are the same when staged", staged > 90, f"{staged} of them")
    answer = weir.one("TXN_COMMIT")
    same("only what was good is committed",
         [(c["KIND"], c["SERVICE_NAME"], c.get("BACKEND", {}).get("ADDR")) for c in answer["CHANGE"]],
         [(0, "web", ip("10.2.0.14"))])


def test_pointers():
    """a refusal points at the attribute"""
    weir = usual()
    # 16 header, 4 genl header, 8 "web", 4 nest: the nested attribute begins at 32.
    for cmd, attrs, at in (("SERVICE_SET", service(HAIRPIN=U8(9)), 32),
                           ("BACKEND_SET", of_web(BACKEND=backend("10.2.0.11", HEALTH=U8(9))), 40),
                           ("SERVICE_ADD", {"SERVICE_NAME": "we b"}, 20)):
        try:
            weir.do(cmd, attrs)
        except Refused as refused:
            same(f"{cmd}: the offset of the wrong attribute", refused.offset, at)


run(test_single, test_staged, test_pointers)
