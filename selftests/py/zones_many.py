#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Many prefixes: every client is in the zone that its own prefix says.

zones_many.py CLI LB FARM

The configuration is that of zones.sh: client n is in zone odd or even, up to 2000.
"""
import random
import sys

from admin import Admin
from packet import UDP, unpacked
from verdict import ok, run, same
from view import lookup
from wire import Pkt, Wire, backend, client

WIRE = Wire(*sys.argv[1:4])
ADMIN = Admin()
VIPS = {4: "10.9.9.40", 6: "fd00:9::40"}


def first(family, n, src=None):
    return Pkt("udp", src or client(family, n), VIPS[family], 2000, 53)


def clients():
    """Packets of clients go to their zone's backend"""
    for family in (4, 6):
        some = random.sample([n for n in range(1, 2001) if n != 255], 300)
        got = WIRE.places([first(family, n) for n in some])
        same(f"IPv{family}: 300 of 2000 clients reach the backend of their zone", got,
             [backend(family, 1 if n % 2 else 2) for n in some])


def lookups():
    """A lookup says which zone"""
    wrong = []
    for family in (4, 6):
        for n in random.sample(range(1, 2001), 50):
            said = lookup(ADMIN, first(family, n), UDP)
            if (said.get("ZONE"), said.get("ZONAL")) != ("odd" if n % 2 else "even", "within"):
                wrong.append((family, n, said))
    for n in random.sample(range(1000), 50):
        src = f"100.64.{n >> 4}.{((n & 15) << 4) + n % 16}"
        said = lookup(ADMIN, first(4, 0, src), UDP)
        if said.get("ZONE") != "far" or unpacked(said["BACKEND"]["ADDR"]) != backend(4, 3):
            wrong.append((src, said))
    same("150 lookups name the zone", wrong, [])


def edges():
    """The first and the last address of everything"""
    for src, zone in (("0.0.0.0", "all"), ("10.1.16.0", "all"), ("10.1.23.209", "all"),
                      ("10.1.23.208", "even"), ("100.63.255.255", "all"), ("100.64.0.0", "far"),
                      ("100.64.62.127", "far"), ("100.64.62.128", "all"),
                      ("255.255.255.255", "all")):
        same(f"{src} is in {zone}", lookup(ADMIN, first(4, 0, src), UDP).get("ZONE"), zone)
    for src, zone in (("::", ""), ("fd00:1:1::", ""), ("fd00:1:1::1", "odd"),
                      ("fd00:1:1::7d0", "even"), ("fd00:1:1::7d1", ""),
                      ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "")):
        same(f"{src} is in {zone or 'none'}", lookup(ADMIN, first(6, 0, src), UDP).get("ZONE"),
             zone)


def wire_clean():
    """what must never be seen"""
    ok(f"nothing was seen that must not be ({WIRE.sent} packets)", not WIRE.wrong,
       WIRE.wrong[:10])


run(clients, lookups, edges, wire_clean)
