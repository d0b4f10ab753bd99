#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What failover, draining and weights do to tracking entries: the rest of semantics 1.7.

tracking_roles.py CLI LB FARM FAMILY

Table roles in tables/tracking.tbl, for every tracking mode, affinity and protocol.  As in
tracking_life.py entries are made at a backend that fresh selection would not give.
"""
import os
import sys
import time

import tables
from grid import Grid
from verdict import run, same
from wire import Wire

FAMILY = int(sys.argv[4])
TIMES = 2               # clients of each kind in each service
DRAIN = 3 * int(os.environ.get("WEIR_PATIENCE", "1"))     # seconds
TABLE = tables.read()


def event(name):
    """The row of table roles, as "yes next-packet" or "no -"."""
    row = [r for r in TABLE["roles"] if r["event"] == name][0]
    return f"{row['removed']} {row['when']}"


class Roles(Grid):
    """The services of the grid, each with four primaries and four failover members.

    The ratio is 1.0: one unhealthy primary is a flip, and three healthy ones are not in use.
    """

    def set_up(self, replace=True, **options):
        super().set_up(replace, failover_ratio=1000000, **options)
        self.admin.begin()
        for cell in self.cells:
            self.admin.add_group(cell.name, "spare", failover=1)
            for addr in self.backends[4:]:
                self.admin.set_backend(cell.name, addr, group="spare")
        self.admin.commit()

    def all_be(self, word):
        for cell in self.cells:
            for group in ("default", "spare"):
                self.admin.health(cell.name, None, word, group)

    def set_health(self, before, word, addrs):
        self.admin.begin()
        self.all_be(before)
        for cell in self.cells:
            for addr in addrs:
                self.admin.health(cell.name, addr, word)
        self.admin.commit()

    def healthy(self, *addrs):
        self.set_health("down" if addrs else "up", "up", addrs)

    def unhealthy(self, *addrs):
        self.set_health("up", "down", addrs)

    def each(self, verb, addrs, **more):
        """A verb of Admin for these backends of every service, as one transaction."""
        self.admin.begin()
        for cell in self.cells:
            for addr in addrs:
                getattr(self.admin, verb)(cell.name, addr, **more)
        self.admin.commit()


WIRE = Wire(*sys.argv[1:4])
GRID = Roles(WIRE, FAMILY)
PINS, SICK, SPARE = GRID.backends[:2], GRID.backends[3], GRID.backends[4:]


say, places, judge = GRID.say, GRID.places, GRID.judge


def flows():
    return GRID.flows(TIMES)


def pinned():
    return GRID.pinned(TIMES)


def drain_on():
    """Over a flip entries stay as long as drain-on-failover is on"""
    assert event("flip-drain-on") == event("flip-back-drain-on") == "no -"
    GRID.set(drain_on_failover=1)
    mine, _, pins = pinned()
    GRID.unhealthy(SICK)
    say("the failover members are in use", set(places(flows())) <= set(SPARE))
    judge("stays over a flip", mine, places(mine), pins)
    new = flows()
    had = places(new)
    GRID.healthy()
    judge("stays with a failover member over the flip back", new, places(new), had)
    judge("is still where it was after both", mine, places(mine), pins)


def drain_off():
    """Without, entries leave with their next packet"""
    assert event("flip-drain-off") == "yes next-packet"
    assert event("flip-and-back") == "no -"
    GRID.set(drain_on_failover=0)
    mine, fresh, pins = pinned()
    GRID.unhealthy(SICK)
    GRID.healthy()
    judge("a flip and its reverse with no packet in between move nothing", mine, places(mine),
          pins)
    GRID.unhealthy(SICK)
    judge("leaves a healthy backend whose role is not in use", mine, places(mine),
          [set(SPARE)] * len(mine))
    GRID.healthy()
    judge("goes where fresh selection leads at the flip back", mine, places(mine), fresh)
    say("the test could tell", set(fresh) != set(pins))
    GRID.set(drain_on_failover=1)


def draining():
    """A backend that drains keeps what it has, and gets nothing new"""
    assert event("removed-draining") == event("added-while-draining") == "no -"
    GRID.set(drain_timeout=600)
    mine, fresh, pins = pinned()
    GRID.each("del_backend", PINS)
    judge("stays on a draining backend", mine, places(mine), pins)
    say("draining backends get nothing new", not {None, *PINS} & set(places(flows())))
    GRID.each("add_backend", PINS)
    judge("stays when it is added again", mine, places(mine), pins)
    GRID.each("del_backend", PINS)
    GRID.each("del_backend", PINS, now=True)
    GRID.each("add_backend", PINS)
    judge("ends when draining is ended now", mine, places(mine), fresh)


def deadline():
    """At the deadline entries end, whatever was sent until then"""
    assert event("deadline") == "yes at-deadline"
    GRID.set(drain_timeout=DRAIN)
    mine, _, pins = pinned()
    GRID.each("del_backend", PINS)
    over = time.monotonic() + DRAIN + 0.3
    judge("stays until the deadline", mine, places(mine), pins)
    while time.monotonic() < over:
        places(mine[::9])
        time.sleep(0.2)
    judge("leaves at the deadline", mine, places(mine),
          [set(GRID.backends) - set(PINS)] * len(mine))
    GRID.each("add_backend", PINS)


def draining_unhealthy():
    """An unhealthy backend that drains keeps nothing"""
    assert event("draining-unhealthy") == "yes next-packet"
    GRID.set(drain_timeout=600)
    mine, _, pins = pinned()
    GRID.unhealthy(*PINS)
    # With the ratio of 1.0 these two are a flip.  New flows are elsewhere anyway.
    GRID.each("del_backend", PINS)
    judge("leaves an unhealthy backend that drains", mine, places(mine),
          [set(GRID.backends) - set(PINS)] * len(mine))
    say("the test could tell", set(pins) <= set(PINS))
    GRID.each("del_backend", PINS, now=True)
    GRID.each("add_backend", PINS)
    GRID.healthy()


def weights():
    """Changed weights move new flows only"""
    assert event("weight-change") == "no -"
    GRID.set(locality="weighted-maglev")
    mine, _, pins = pinned()
    GRID.each("set_backend", PINS, weight=0)
    say("they get nothing new", not {None, *PINS} & set(places(flows())))
    judge("stays at a backend whose weight turns to 0", mine, places(mine), pins)
    GRID.each("set_backend", PINS, weight=1)
    GRID.set(locality="rendezvous")
    judge("stays when the table is filled in another way", mine, places(mine), pins)


def rows():
    """the table is complete"""
    same("every event is tried", [r["event"] for r in TABLE["roles"]],
         ["flip-drain-on", "flip-back-drain-on", "flip-drain-off", "flip-and-back",
          "removed-draining", "added-while-draining", "deadline", "draining-unhealthy",
          "weight-change"])


def wire_clean():
    """what must never be seen"""
    same(f"IPv{FAMILY}: nothing was seen that must not be ({WIRE.sent} packets)",
         WIRE.wrong[:10], [])


GRID.set_up()
run(rows, drain_on, drain_off, draining, deadline, draining_unhealthy, weights, wire_clean)
