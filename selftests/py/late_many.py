#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Thousands of flows end at once, and each of their backends still answers.

late_many.py CLI LB FARM FAMILY
"""
import sys

from admin import Admin, rule, since
from verdict import ok, run, same
from wire import Pkt, Wire, backend, build, client, reply, vip

FAMILY = int(sys.argv[4])
CLIENTS, PORTS = 100, 50
WIRE = Wire(*sys.argv[1:4])
ADMIN = Admin()
VIP = vip(FAMILY)
ARRIVED = []


def begin():
    """flows to both backends"""
    ADMIN.begin(replace=True)
    ADMIN.add_service("many", [rule(VIP, "udp", 53)], [backend(FAMILY, n) for n in (1, 2)])
    ADMIN.commit()
    for port in range(PORTS):
        ARRIVED.extend(WIRE.deliver([Pkt("udp", client(FAMILY, 1 + n), VIP, 3000 + port, 53)
                                     for n in range(CLIENTS)]))
    ok(f"IPv{FAMILY}: {CLIENTS * PORTS} datagrams of as many flows arrive", all(ARRIVED))


def end(what, change):
    """All flows end by that change, answers come, and none of them is heard."""
    before = ADMIN.reasons()
    change()
    heard = []
    for at in range(0, len(ARRIVED), 500):
        heard += WIRE.answer([reply(one) for one in ARRIVED[at:at + 500] if one])
    same(f"IPv{FAMILY}: {what}: no late answer is heard", len(heard), 0)
    got = since(before, ADMIN.reasons())
    ok(f"IPv{FAMILY}: {what}: each of them is counted",
       sum(got.get(name, 0) for name in ("late-answer", "ended")) == len(ARRIVED), got)


def flushed():
    """late answers of flushed flows"""
    end("flushed", ADMIN.flush)


def removed():
    """late answers of a removed service"""
    ARRIVED.clear()
    begin()
    end("service removed", lambda: ADMIN.del_service("many"))


def own():
    """what the same backends say to others"""
    ADMIN.add_service("other", [rule(vip(FAMILY, 8), "udp", 53)], [backend(FAMILY, 1)])
    one = Pkt("udp", backend(FAMILY, 1), client(FAMILY, CLIENTS + 9), 53, 3000)
    ok(f"IPv{FAMILY}: a datagram of a backend's own to another client passes",
       len(WIRE.answer(build(one, WIRE.new_tag()))) == 1)


run(begin, flushed, removed, own)
