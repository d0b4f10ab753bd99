#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Weights: shares of slots and of flows, what a change moves, and who decides (semantics 4).

weights.py CLI LB FARM FAMILY
"""
import subprocess
import sys

from admin import Admin, rule, since
from verdict import note, ok, run, same
from view import view
from weirnl import U8, U32, ip
from wire import Pkt, Wire, backend, client, vip

FAMILY = int(sys.argv[4])
NAME = f"w{FAMILY}"
VIP = vip(FAMILY, 30)
B = [backend(FAMILY, n) for n in range(1, 6)]
WEIGHTED = ("weighted-maglev", "weighted-rendezvous")
WIRE = Wire(*sys.argv[1:4])
ADMIN = Admin()


def say(name, condition, detail=""):
    return ok(f"IPv{FAMILY}: {name}", condition, detail)


def equal(name, got, want):
    return same(f"IPv{FAMILY}: {name}", got, want)


def tuples(number, first=2000):
    """First packets of UDP flows of fifty clients."""
    return [Pkt("udp", client(FAMILY, 1 + i % 50), VIP, first + i // 50, 53)
            for i in range(number)]


TUPLES = tuples(800)


def service(locality, weights=(1, 1, 1, 1, 1), **options):
    ADMIN.begin(replace=True)
    ADMIN.add_service(NAME, [rule(VIP)], locality=locality, **options)
    for addr, weight in zip(B, weights):
        ADMIN.add_backend(NAME, addr, weight=weight)
    ADMIN.commit()
    ADMIN.flush(NAME)


def shown():
    """(weighting, digest, {address: slots})"""
    state, backends, _ = view(ADMIN, NAME)
    return state.get("WEIGHTING"), state.get("DIGEST"), \
        {addr: one["SLOTS"] for addr, one in backends.items()}


def places(packets=None):
    """Where first packets go, with no entry in the tables before and after."""
    ADMIN.flush(NAME)
    got = WIRE.places(packets or TUPLES)
    ADMIN.flush(NAME)
    return got


def moves(before, after):
    """(how many left the backend B[0], how many came to it, moves among the others)"""
    left = came = others = 0
    for was, now in zip(before, after):
        if was != now:
            left += was == B[0]
            came += now == B[0]
            others += B[0] not in (was, now)
    return left, came, others


# Shares -----------------------------------------------------------------------------------

def near(slots, weights, sigmas):
    """Are the shares those of the weights?  None: as exact as whole slots can be, but for two."""
    size, total = sum(slots.values()), sum(weights)
    for addr, weight in zip(B, weights):
        part = weight / total
        loose = sigmas * (size * part * (1 - part)) ** 0.5 if sigmas else 3
        if abs(slots[addr] - size * part) > loose:
            return False
    return True


def shares():
    """Slots are shared by weight, whatever the scale"""
    digests = set()
    for locality in WEIGHTED:
        sigmas = 5 if "rendezvous" in locality else None
        service(locality, (1, 10, 1, 10, 5))
        weighting, digest, slots = shown()
        equal(f"{locality}: weights are in use", weighting, "on")
        say(f"{locality}: slots are shared by weight", near(slots, (1, 10, 1, 10, 5), sigmas),
            slots)
        for addr, weight in zip(B, (100, 1000, 100, 1000, 500)):
            ADMIN.set_backend(NAME, addr, weight=weight)
        equal(f"{locality}: a hundred times the weight is the same table", shown()[1:],
              (digest, slots))
        digests.add(digest)
        service(locality, (7, 7, 7, 7, 7))
        seven = shown()[1]
        service(locality)
        equal(f"{locality}: all 7 is all 1", shown()[1], seven)
        say(f"{locality}: shares are equal then", near(shown()[2], [1] * 5, sigmas), shown()[2])
    say("the two kinds give two tables", len(digests) == 2)


def unweighted():
    """Kinds that know no weights do not look at them"""
    for locality in ("maglev", "rendezvous"):
        service(locality)
        plain = shown()
        service(locality, (1, 10, 0, 1000, 5))
        equal(f"{locality}: weights mean nothing", shown(), plain)
        equal(f"{locality}: and that is shown", plain[0], "off")
    service("rendezvous")
    first = shown()[1]
    ADMIN.set_service(NAME, locality="weighted-rendezvous")
    equal("rendezvous with equal weights is rendezvous", shown()[1], first)


def traffic():
    """Flows are shared as the slots are"""
    for locality in WEIGHTED + ("rendezvous",):
        service(locality, (1, 10, 0, 10, 5))
        slots, many = shown()[2], tuples(2000)
        got = places(many)
        say(f"{locality}: every flow arrived", None not in got)
        size = sum(slots.values())
        for addr in B:
            part = slots[addr] / size
            want, loose = 2000 * part, 5 * (2000 * part * (1 - part)) ** 0.5
            say(f"{locality}: {addr} has its share of 2000 flows",
                abs(got.count(addr) - want) <= loose, f"{got.count(addr)}, not {want:.0f}")


# Changes ----------------------------------------------------------------------------------

def reweighed():
    """A changed weight moves what it must"""
    for locality in WEIGHTED:
        exact = "rendezvous" in locality
        service(locality, (10, 10, 10, 10, 10))
        before = places()
        ADMIN.set_backend(NAME, B[0], weight=5)
        less = places()
        left, came, others = moves(before, less)
        note(f"{locality}: 10 to 5 of 50: {left} left it, {came} came, {others} others moved")
        # It has 1/5 of the flows, 1/9 afterwards: of 160 flows 71 leave.
        say(f"{locality}: half the weight: about half of its flows leave", 40 <= left <= 105, left)
        if exact:
            equal(f"{locality}: and nothing else moves", (came, others), (0, 0))
        else:
            say(f"{locality}: and little else moves", came + others <= 120, (came, others))
        ADMIN.set_backend(NAME, B[0], weight=20)
        left, came, others = moves(before, places())
        # From 1/5 to 1/3: of 800 flows 107 come.
        say(f"{locality}: twice the weight: flows come to it", 65 <= came <= 155, came)
        if exact:
            equal(f"{locality}: and none from it, or among others", (left, others), (0, 0))
        else:
            say(f"{locality}: and few go elsewhere", left + others <= 120, (left, others))
        ADMIN.set_backend(NAME, B[0], weight=10)
        equal(f"{locality}: the old weight is the old table", places(), before)


def fewer():
    """A backend that goes takes only its own flows along, in rendezvous exactly"""
    for locality in ("rendezvous", "maglev") + WEIGHTED:
        service(locality, (10, 20, 5, 10, 1))
        before = places()
        for how in ("down", "removed"):
            if how == "down":
                ADMIN.health(NAME, B[0], "down")
            else:
                ADMIN.health(NAME, B[0], "up")
                ADMIN.del_backend(NAME, B[0])
            after = places()
            left, came, others = moves(before, after)
            equal(f"{locality}: one {how}: all of its flows leave", (left, came),
                  (before.count(B[0]), 0))
            if "rendezvous" in locality:
                equal(f"{locality}: one {how}: no other flow moves", others, 0)
            else:
                say(f"{locality}: one {how}: few others move", others <= len(before) * 0.1, others)
        ADMIN.add_backend(NAME, B[0], weight=10)
        equal(f"{locality}: back again: the first table", places(), before)


def same_again():
    """The weight that it has is no change"""
    service("weighted-maglev", (3, 1, 1, 1, 1))
    before = ADMIN.generation(), shown()
    ADMIN.set_backend(NAME, B[0], weight=3)
    equal("the same weight again: neither generation nor table", (ADMIN.generation(), shown()),
          before)


# Zero -------------------------------------------------------------------------------------

def flows(kind, number, first):
    more = {"flags": "PA", "ack": 5000, "data": b"data"} if kind == "tcp" else {}
    return [Pkt(kind, client(FAMILY, first + i), VIP, 3000, 80, **more) for i in range(number)]


def zero():
    """Weight 0: nothing new, but what exists stays (decision 8)"""
    for locality in WEIGHTED:
        service(locality, (10, 10, 10, 10, 10))
        mine = flows("tcp", 40, 100) + flows("udp", 40, 100)
        had = WIRE.places(mine)
        ADMIN.set_backend(NAME, B[0], weight=0)
        equal(f"{locality}: weight 0: no slot", shown()[2][B[0]], 0)
        say(f"{locality}: weight 0: it had flows", had.count(B[0]) > 0)
        equal(f"{locality}: weight 0: flows stay", WIRE.places(mine), had)
        say(f"{locality}: weight 0: no new ones", B[0] not in WIRE.places(tuples(200, 4000)))
        equal(f"{locality}: weight 0: it is still a member",
              [view(ADMIN, NAME)[0][k] for k in ("N_BACKENDS", "N_HEALTHY")], [5, 5])


def zero_session():
    """Weight 0 keeps sessions, and so the new connections of their clients"""
    service("weighted-maglev", (10, 10, 10, 10, 10), affinity="client-ip", tracking="per-session")
    had = WIRE.places([Pkt("tcp", client(FAMILY, 300 + i), VIP, 3000, 80) for i in range(40)])
    ADMIN.set_backend(NAME, B[0], weight=0)
    say("a backend with sessions turns to weight 0", had.count(B[0]) > 0)
    equal("sessions stay, new connections included",
          WIRE.places([Pkt("tcp", client(FAMILY, 300 + i), VIP, 3001, 80) for i in range(40)]),
          had)
    got = WIRE.places([Pkt("tcp", client(FAMILY, 400 + i), VIP, 3000, 80) for i in range(40)])
    say("new clients go elsewhere", not {B[0], None} & set(got), set(got))


def all_zero():
    """All zero among the eligible is equal"""
    for locality in WEIGHTED:
        service(locality)
        ones = shown()[1:]
        service(locality, (0, 0, 0, 0, 0))
        equal(f"{locality}: all 0 is shown", shown()[0], "zero")
        equal(f"{locality}: all 0 is all 1", shown()[1:], ones)
        service(locality, (0, 0, 0, 5, 5))
        equal(f"{locality}: some are not", shown()[0], "on")
        for addr in B[3:]:
            ADMIN.health(NAME, addr, "down")
        equal(f"{locality}: all healthy ones weigh 0", shown()[0], "zero")
        equal(f"{locality}: so they share", set(places(TUPLES[:200])), set(B[:3]))


def zero_counts():
    """Weight 0 is a healthy member for the failover ratio"""
    service("weighted-maglev", (0, 5, 1), failover_ratio=500000)
    ADMIN.begin()
    ADMIN.add_group(NAME, "spare", failover=1)
    ADMIN.set_backend(NAME, B[2], group="spare")
    ADMIN.commit()
    ADMIN.health(NAME, B[1], "down")
    equal("one of two primaries is healthy, with weight 0: no failover",
          view(ADMIN, NAME)[0]["ROLE"], "primary")
    equal("it gets everything", set(places(TUPLES[:40])), {B[0]})


# Reports ----------------------------------------------------------------------------------

def reported():
    """A service whose checker has reported 1, 2, 3, 4, 5, beside the operator's 9, 9, 9, 9, 1."""
    service("weighted-maglev", (9, 9, 9, 9, 1), health_check="http weights")
    for n, addr in enumerate(B):
        ADMIN.report(NAME, addr, check="up", weight=n + 1, state="valid")


def reports():
    """Reports rule while the health-check line says weights"""
    service("weighted-maglev", (1, 2, 3, 4, 5))
    want = shown()
    service("weighted-maglev", (9, 9, 9, 9, 1))
    configured = shown()

    service("weighted-maglev", (9, 9, 9, 9, 1), health_check="http weights")
    for addr in B:
        ADMIN.report(NAME, addr, check="up")
    equal("before any report the configured weights rule", shown(), configured)
    reported()
    equal("reports rule", shown(), want)
    backends = view(ADMIN, NAME)[1]
    equal("both weights are shown", [(b["WEIGHT"], b["REPORTED"], b["WEIGHT_STATE"])
                                     for _, b in sorted(backends.items())],
          [(9, 1, "valid"), (9, 2, "valid"), (9, 3, "valid"), (9, 4, "valid"), (1, 5, "valid")])
    text = subprocess.run(["weir", "save"], capture_output=True, check=True, text=True).stdout
    equal("save prints the configured ones",
          [line.split()[-1] for line in text.splitlines() if "backend " in line],
          ["9", "9", "9", "9", B[4]])
    ADMIN.set_backend(NAME, B[0], weight=1000)
    equal("the operator's number means nothing meanwhile", shown(), want)
    ADMIN.set_backend(NAME, B[0], weight=9)

    for addr in B:
        ADMIN.report(NAME, addr, state="unavailable")
    equal("unavailable: the last valid ones rule", shown(), want)
    ADMIN.set_service(NAME, health_check="http")
    equal("without the word weights the configured ones rule", shown(), configured)
    ADMIN.set_service(NAME, health_check="http path /weights host weights")
    equal("a value is not the word", shown(), configured)
    ADMIN.set_service(NAME, health_check="http path /weights weights interval 9")
    equal("with the word the reports are still there", shown(), want)
    ADMIN.set_service(NAME, locality="maglev")
    equal("a kind that knows no weights does not look at reports", shown()[0], "off")


def spoilt():
    """One missing or invalid report makes the whole service equal"""
    service("weighted-maglev")
    plain = shown()[1:]
    for state in ("missing", "invalid"):
        reported()
        weighted = shown()
        ADMIN.report(NAME, B[4], state=state)
        equal(f"{state}: so it is shown", shown()[0], "reports")
        equal(f"{state}: all are equal", shown()[1:], plain)
        say(f"{state}: in traffic, too", set(places(TUPLES[:200])) == set(B))
        ADMIN.report(NAME, B[4], check="down")
        equal(f"{state}: of an unhealthy one: the same", shown()[0], "reports")
        ADMIN.report(NAME, B[4], check="up", weight=5, state="valid")
        equal(f"{state}: a valid one mends it", shown(), weighted)
        ADMIN.report(NAME, B[4], state=state)
        ADMIN.set_service(NAME, drain_timeout=600)
        ADMIN.del_backend(NAME, B[4])
        equal(f"{state}: of one that drains: it does not count", shown()[0], "on")
        ADMIN.del_backend(NAME, B[4], now=True)


def reported_zero():
    """A reported 0 is a 0"""
    reported()
    ADMIN.report(NAME, B[0], weight=0, state="valid")
    equal("a reported 0: no slot", shown()[2][B[0]], 0)
    for addr in B:
        ADMIN.report(NAME, addr, weight=0, state="valid")
    equal("all report 0: equal", shown()[0], "zero")
    say("all of them are used", set(places(TUPLES[:200])) == set(B))


def refused():
    """What is no weight is refused, with the range"""
    service("weighted-maglev")
    before = ADMIN.generation()
    for key, value in (("WEIGHT", U32(1001)), ("REPORTED", U32(1001)), ("WEIGHT_STATE", U8(9))):
        message = ADMIN.says("BACKEND_SET", {"SERVICE_NAME": NAME,
                                             "BACKEND": {"ADDR": ip(B[0]), key: value}})
        say(f"{key} out of range is refused: {message}", message and B[0] in message and
            (key == "WEIGHT_STATE" or "1000" in message))
    equal("nothing was changed", ADMIN.generation(), before)


def wire_clean():
    """what must never be seen"""
    equal(f"nothing was seen that must not be ({WIRE.sent} packets)", WIRE.wrong[:10], [])
    equal("nothing was dropped", since(REASONS, ADMIN.reasons()), {})


REASONS = ADMIN.reasons()
run(shares, unweighted, traffic, reweighed, fewer, same_again, zero, zero_session, all_zero,
    zero_counts, reports, spoilt, reported_zero, refused, wire_clean)
