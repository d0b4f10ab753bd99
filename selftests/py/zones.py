#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Zonal affinity: who gets what, table by table (semantics 3.2 to 3.6).

zones.py CLI LB FARM FAMILY

Clients are in zone a, in b, in c, where no backend is, or in none.  What is judged is the set
of backends that the new flows of each reach.
"""
import sys

from admin import Admin, prefixes, rule, since
from packet import UDP
from verdict import ok, run, same
from view import lookup, view
from wire import Pkt, Wire, backend, client, vip

FAMILY = int(sys.argv[4])
NAME = f"z{FAMILY}"
VIP, VIP2 = vip(FAMILY, 50), vip(FAMILY, 51)
WIRE = Wire(*sys.argv[1:4])
ADMIN = Admin()
CLIENTS = {"a": 256, "b": 512, "c": 768, "none": 0}     # the first one's number, less one
NUMBER = {backend(FAMILY, n): n for n in range(1, 11)}
TWO = {"east": ("a", 0, (1, 2)), "west": ("b", 0, (3, 4))}
SPARES = {**TWO, "east2": ("a", 1, (5,)), "west2": ("b", 1, (6,))}
ALL = [1, 2, 3, 4]


def say(name, condition, detail=""):
    return ok(f"IPv{FAMILY}: {name}", condition, detail)


def equal(name, got, want):
    return same(f"IPv{FAMILY}: {name}", got, want)


def block(zone):
    """The prefix that holds the clients of a zone."""
    return f"{client(FAMILY, CLIENTS[zone])}/{24 if FAMILY == 4 else 120}"


def host(zone, n):
    """Client n of a zone, as a prefix."""
    return f"{client(FAMILY, CLIENTS[zone] + n)}/{32 if FAMILY == 4 else 128}"


def service(groups, **options):
    """Just this service; groups: {name: (zone, failover, numbers of backends)}"""
    ADMIN.begin(replace=True)
    for zone in "abc":
        ADMIN.add_zone(zone, block(zone))
    ADMIN.add_service(NAME, [rule(VIP)], **options)
    for group, (zone, failover, numbers) in groups.items():
        ADMIN.add_group(NAME, group, zone=zone, failover=failover)
        for n in numbers:
            ADMIN.add_backend(NAME, backend(FAMILY, n), group=group)
    ADMIN.commit()
    ADMIN.flush(NAME)


def down(*numbers):
    """These are unhealthy and all others healthy."""
    ADMIN.begin()
    for addr in view(ADMIN, NAME)[1]:
        ADMIN.health(NAME, addr, "down" if NUMBER[addr] in numbers else "up")
    ADMIN.commit()


def first(zone, i, kind="udp", port=2000, to=VIP):
    """First packets of ten clients: number i of many."""
    more = {"flags": "PA", "ack": 5000, "data": b"data"} if kind == "tcp" else {}
    return Pkt(kind, client(FAMILY, CLIENTS[zone] + 1 + i % 10), to, port + i // 10, 53, **more)


def sets(each=60, to=VIP):
    """{where clients are: numbers of the backends that their new flows reach}"""
    packets = [(zone, first(zone, i, to=to)) for zone in CLIENTS for i in range(each)]
    ADMIN.flush()
    out = {zone: set() for zone in CLIENTS}
    for (zone, _), place in zip(packets, WIRE.places([p for _, p in packets])):
        out[zone].add(NUMBER.get(place, 0))
    ADMIN.flush()
    return {zone: sorted(numbers) for zone, numbers in out.items()}


def expect(name, a, b, rest, each=60):
    """rest: of clients in zone c and in none; no zone decides there."""
    equal(name, sets(each), {"a": a, "b": b, "c": rest, "none": rest})


def why(name, a, b):
    """Reason and numbers that the kernel shows for each zone: configured, healthy, eligible."""
    zones = view(ADMIN, NAME)[2]
    equal(f"{name}: so it is shown",
          {zone: (one["REASON"], one["N_CONFIGURED"], one["N_HEALTHY"], one["N_ELIGIBLE"])
           for zone, one in zones.items()}, {"a": a, "b": b})


# 3.2 to 3.5 -------------------------------------------------------------------------------

def disabled():
    """Zones of groups mean nothing by themselves"""
    service(TWO)
    expect("disabled", ALL, ALL, ALL)
    equal("disabled: no zone is shown", view(ADMIN, NAME)[2], {})


def stay():
    """Table 3.3"""
    service(TWO, zonal_affinity="stay-within-zone")
    expect("stay: all healthy", [1, 2], [3, 4], ALL)
    why("stay: all healthy", ("within", 2, 2, 2), ("within", 2, 2, 2))
    down(1)
    expect("stay: one of zone a is healthy", [2], [3, 4], [2, 3, 4])
    down(1, 2)
    expect("stay: none of zone a is: its unhealthy ones", [1, 2], [3, 4], [3, 4])
    why("stay: none of zone a is", ("unhealthy", 2, 0, 2), ("within", 2, 2, 2))
    down(1, 2, 3, 4)
    expect("stay: nobody is healthy: those in the zone", [1, 2], [3, 4], ALL)


def spill():
    """Table 3.4"""
    service(TWO, zonal_affinity="spill-cross-zone")
    expect("spill 0: all healthy", [1, 2], [3, 4], ALL)
    down(1)
    expect("spill 0: one of zone a is healthy", [2], [3, 4], [2, 3, 4])
    down(1, 2)
    expect("spill 0: none of zone a is: the others", [3, 4], [3, 4], [3, 4])
    why("spill 0: none of zone a is", ("spill", 2, 0, 2), ("within", 2, 2, 2))
    down(1, 2, 3, 4)
    expect("spill 0: nobody is healthy: everybody", ALL, ALL, ALL)
    why("spill 0: nobody is healthy", ("nobody", 2, 0, 4), ("nobody", 2, 0, 4))


def spill_ratio():
    """Table 3.5"""
    service(TWO, zonal_affinity="spill-cross-zone", spill_ratio=500000)
    down(1)
    expect("spill 0.5: half of zone a is healthy: enough", [2], [3, 4], [2, 3, 4])
    ADMIN.set_service(NAME, spill_ratio=500001)
    expect("spill 0.500001: half is too little: everybody, the own zone too",
           [2, 3, 4], [3, 4], [2, 3, 4])
    ADMIN.set_service(NAME, spill_ratio=1000000)
    expect("spill 1.0: one unhealthy one spills", [2, 3, 4], [3, 4], [2, 3, 4])
    down()
    expect("spill 1.0: all healthy", [1, 2], [3, 4], ALL)
    down(1, 2, 3, 4)
    expect("spill 1.0: nobody is healthy", ALL, ALL, ALL)


def example():
    """The documented example, 3.6"""
    service({"east": ("a", 0, range(1, 6)), "west": ("b", 0, range(6, 11))},
            zonal_affinity="spill-cross-zone", spill_ratio=800000)
    down(6, 7)
    eight = [1, 2, 3, 4, 5, 8, 9, 10]
    expect("3.6: 5 of 5 and 3 of 5 healthy, ratio 0.8", [1, 2, 3, 4, 5], eight, eight, 200)
    why("3.6", ("within", 5, 5, 5), ("spill", 5, 3, 8))
    down(6)
    expect("3.6: 4 of 5 is enough", [1, 2, 3, 4, 5], [7, 8, 9, 10],
           [1, 2, 3, 4, 5, 7, 8, 9, 10], 200)


# With failover ----------------------------------------------------------------------------

def failover_stay():
    """The role in use decides who counts in a zone"""
    service(SPARES, zonal_affinity="stay-within-zone", failover_ratio=750000)
    expect("failover, stay: primaries", [1, 2], [3, 4], ALL)
    down(1)
    expect("failover, stay: 3 of 4", [2], [3, 4], [2, 3, 4])
    down(1, 2)
    expect("failover, stay: 2 of 4: failover members in each zone", [5], [6], [5, 6])
    why("failover, stay: 2 of 4", ("within", 1, 1, 1), ("within", 1, 1, 1))
    down(2, 3, 4, 5)
    expect("failover, stay: an unhealthy failover member in the zone, though a primary there is "
           "healthy", [5], [6], [6])
    ADMIN.set_service(NAME, failover_ratio=0)
    down(1, 2)
    expect("ratio 0, stay: unhealthy primaries in the zone", [1, 2], [3, 4], [3, 4])
    down(1, 2, 3, 4, 5, 6)
    expect("failover, stay: nobody is healthy: primaries in the zone", [1, 2], [3, 4], ALL)


def failover_spill():
    """The same with spilling"""
    service(SPARES, zonal_affinity="spill-cross-zone", failover_ratio=750000)
    down(1, 2)
    expect("failover, spill: failover members in each zone", [5], [6], [5, 6])
    down(1, 2, 5)
    expect("failover, spill: none there: those elsewhere", [6], [6], [6])
    down(1, 2, 3, 4, 5, 6)
    expect("failover, spill: nobody is healthy: all primaries", ALL, ALL, ALL)


def no_match():
    """A zone full of the other role is no match"""
    service({**TWO, "west2": ("b", 1, (6,))}, zonal_affinity="stay-within-zone",
            failover_ratio=1000000)
    down(4)
    expect("failover members in zone b only: clients in a go there", [6], [6], [6])
    why("failover members in zone b only", ("no-match", 0, 0, 1), ("within", 1, 1, 1))


def empty():
    """An empty set has nothing to refine"""
    service(SPARES, zonal_affinity="stay-within-zone", drop_if_unhealthy=1)
    down(1, 2, 3, 4, 5, 6)
    before = ADMIN.reasons()
    equal("nobody is healthy, drop-if-unhealthy: nothing arrives", sets(10),
          {zone: [0] for zone in CLIENTS})
    equal("and it is counted", since(before, ADMIN.reasons()), {"no-eligible-backend": 40})


# Clients ----------------------------------------------------------------------------------

def reached(zone, n, number=40):
    """Where new flows of one client go."""
    ADMIN.flush()
    got = WIRE.places([Pkt("udp", client(FAMILY, CLIENTS[zone] + n), VIP, 5000 + i, 53)
                       for i in range(number)])
    ADMIN.flush()
    return sorted({NUMBER.get(place, 0) for place in got})


def longest():
    """The longest prefix wins, whatever came first"""
    service(TWO, zonal_affinity="stay-within-zone")
    ADMIN.add_zone("b", host("a", 5))
    equal("a client of b in the midst of a", [reached("a", n) for n in (4, 5, 6)],
          [[1, 2], [3, 4], [1, 2]])
    ADMIN.del_zone("b", host("a", 5))
    equal("and not any more", reached("a", 5), [1, 2])
    inner = f"{client(FAMILY, CLIENTS['b'] + 16)}/{28 if FAMILY == 4 else 124}"
    ADMIN.begin()
    ADMIN.add_zone("a", inner)
    ADMIN.add_zone("b", host("b", 20))
    ADMIN.commit()
    equal("three prefixes in one another", [reached("b", n) for n in (15, 16, 19, 20, 21, 32)],
          [[3, 4], [1, 2], [1, 2], [3, 4], [1, 2], [3, 4]])


def lookups():
    """A lookup names the client's zone and what it means"""
    service(TWO, zonal_affinity="stay-within-zone")
    got = {}
    for zone in CLIENTS:
        said = lookup(ADMIN, first(zone, 0), UDP)
        got[zone] = said.get("ZONE"), said.get("ZONAL"), said["N_ELIGIBLE"]
    equal("what lookups say", got, {"a": ("a", "within", 2), "b": ("b", "within", 2),
                                    "c": ("c", "no-match", 4), "none": ("", "no-match", 4)})
    ADMIN.set_service(NAME, zonal_affinity="disabled")
    equal("where zones mean nothing none is named",
          lookup(ADMIN, first("a", 0), UDP).get("ZONE"), None)


# What exists ------------------------------------------------------------------------------

def some_flows():
    return [first(zone, i, kind) for zone in CLIENTS for kind in ("udp", "tcp")
            for i in range(20)]


def untouched():
    """Changes of zones are for new flows only"""
    service(TWO, zonal_affinity="stay-within-zone")
    mine = some_flows()
    had = WIRE.places(mine)
    say("flows are up", None not in had)
    ADMIN.begin()
    ADMIN.del_zone("a", block("a"))
    ADMIN.add_zone("b", block("a"))
    ADMIN.commit()
    equal("clients change their zone: flows stay", WIRE.places(mine), had)
    new = WIRE.places([first("a", i, port=6000) for i in range(40)])
    equal("new ones follow", {NUMBER.get(place) for place in new}, {3, 4})
    ADMIN.del_zone("b")
    equal("a zone goes: flows stay", WIRE.places(mine), had)
    ADMIN.set_group(NAME, "east", zone="c")
    equal("a group changes its zone: flows stay", WIRE.places(mine), had)
    new = WIRE.places([first("c", i, port=6000) for i in range(40)])
    equal("new ones of that zone follow", {NUMBER.get(place) for place in new}, {1, 2})
    ADMIN.set_service(NAME, zonal_affinity="disabled")
    equal("zonal affinity goes: flows stay", WIRE.places(mine), had)
    ADMIN.set_service(NAME, zonal_affinity="spill-cross-zone", spill_ratio=1000000)
    equal("spilling comes: flows stay", WIRE.places(mine), had)


def no_better():
    """Decision 17: an unhealthy backend is left only where there is a better one"""
    service(TWO, zonal_affinity="stay-within-zone", persistence="never-persist")
    mine = some_flows()
    # While 1 is the only healthy one of its zone, so that fresh selection would give another
    # place to some of them.
    down(2)
    had = WIRE.places(mine)
    down(1, 2)
    got = WIRE.places(mine)
    own = {first("a", i).src for i in range(10)}
    inside = [(was, now) for p, was, now in zip(mine, had, got) if p.src in own]
    rest = [(NUMBER[was], NUMBER.get(now)) for p, was, now in zip(mine, had, got)
            if p.src not in own]
    say("clients of zone a stay with its unhealthy backends",
        all(was == now for was, now in inside), inside)
    say("others leave them", all(now in (3, 4) for _, now in rest), rest)
    say("but not healthy ones", all(was == now for was, now in rest if was > 2), rest)
    say("the test could tell", any(was < 3 for was, _ in rest))


def sessions():
    """A session outlives what happens to zones, too"""
    service(TWO, zonal_affinity="stay-within-zone", affinity="client-ip", tracking="per-session")
    mine = [first("a", i) for i in range(10)]
    had = WIRE.places(mine)
    equal("sessions are made within the zone", {NUMBER.get(p) for p in had} - {1, 2}, set())
    ADMIN.begin()
    ADMIN.del_zone("a", block("a"))
    ADMIN.add_zone("b", block("a"))
    ADMIN.commit()
    equal("their clients change the zone: new flows stay with the session",
          WIRE.places([first("a", i, port=7000) for i in range(10)]), had)


def others():
    """A service without zonal affinity, on the same backends, is not affected"""
    service(TWO, zonal_affinity="stay-within-zone")
    ADMIN.begin()
    ADMIN.add_service(NAME + "b", [rule(VIP2)], [backend(FAMILY, n) for n in ALL])
    ADMIN.commit()
    equal("the one with it", sets(), {"a": [1, 2], "b": [3, 4], "c": ALL, "none": ALL})
    equal("the one without", sets(to=VIP2), {zone: ALL for zone in CLIENTS})


def no_zones():
    """Zones go, and groups keep the name"""
    service(TWO, zonal_affinity="stay-within-zone")
    ADMIN.del_zone("a")
    expect("zone a is gone: its clients are in none", ALL, [3, 4], ALL)
    ADMIN.begin()
    ADMIN.del_zone("b")
    ADMIN.del_zone("c")
    ADMIN.commit()
    expect("all zones are gone", ALL, ALL, ALL)
    ADMIN.add_zone("a", block("a"))
    expect("zone a is back", [1, 2], ALL, ALL)


def refused():
    """What is wrong is refused, and says so"""
    service(TWO)
    before = ADMIN.generation()
    bad = bytearray(prefixes(block("a")))
    bad[-1] |= 1                # a bit behind the length
    for what, cmd, zone, word in (
            ("a zone that is not there", "ZONE_DEL", {"NAME": "nowhere"}, "nowhere"),
            ("a prefix of another zone", "ZONE_ADD",
             {"NAME": "c", "PREFIXES": prefixes(block("a"))}, "zone c"),
            ("a prefix that it does not have", "ZONE_DEL",
             {"NAME": "a", "PREFIXES": prefixes(block("b"))}, "zone a"),
            ("bits behind the length", "ZONE_ADD", {"NAME": "d", "PREFIXES": bytes(bad)},
             "zone d"),
            ("a length of 129", "ZONE_ADD", {"NAME": "d", "PREFIXES": b"\x81" + bytes(16)},
             "zone d"),
            ("half a record", "ZONE_ADD", {"NAME": "d", "PREFIXES": bytes(20)}, "zone d"),
            ("no prefix", "ZONE_ADD", {"NAME": "d"}, "zone"),
            ("no name", "ZONE_ADD", {"PREFIXES": prefixes(block("a"))}, "zone"),
            ("a name with a blank", "ZONE_ADD",
             {"NAME": "d d", "PREFIXES": prefixes(host("none", 1))}, "zone")):
        message = ADMIN.says(cmd, {"ZONE": zone})
        say(f"{what} is refused: {message}", message and word in message)
    equal("nothing was changed", ADMIN.generation(), before)


def wire_clean():
    """what must never be seen"""
    equal(f"nothing was seen that must not be ({WIRE.sent} packets)", WIRE.wrong[:10], [])


run(disabled, stay, spill, spill_ratio, example, failover_stay, failover_spill, no_match, empty,
    longest, lookups, untouched, no_better, sessions, others, no_zones, refused, wire_clean)
