#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What removes a tracking entry, and what an unhealthy backend keeps: semantics 1.7 and 1.8.

tracking_life.py CLI LB FARM FAMILY

Tables lifetime (apart from its timers, which are in tracking_idle.py) and persistence in
tables/tracking.tbl.
"""
import sys

import tables
from grid import ISN, TRIED, Grid
from verdict import run, same
from weirnl import U8, H
from wire import Pkt, Wire, reply

FAMILY = int(sys.argv[4])
TIMES = 3               # clients of each kind in each service
TABLE = tables.read()
WIRE = Wire(*sys.argv[1:4])
GRID = Grid(WIRE, FAMILY)
OLD = GRID.backends[2]


def event(name):
    """The row of table lifetime, as "yes next-packet" or "no -"."""
    row = [r for r in TABLE["lifetime"] if r["event"] == name][0]
    return f"{row['removed']} {row['when']}"


say, places, judge = GRID.say, GRID.places, GRID.judge


def flows(cells=None, kinds=TRIED):
    return GRID.flows(TIMES, cells, kinds)


def pinned():
    return GRID.pinned(TIMES)


# 1.7 ---------------------------------------------------------------------------------------

def unhealthy_and_back():
    """A flap with no packet in between removes nothing"""
    assert event("unhealthy-and-back") == "no -"
    GRID.set(persistence="never-persist")
    mine, _, pins = pinned()
    GRID.unhealthy(*GRID.backends[:2])
    GRID.healthy()
    judge("an entry outlives a flap with no packet in between", mine, places(mine), pins)


def unhealthy():
    """The next packet removes the entry if the backend is still unhealthy"""
    assert event("unhealthy") == "yes next-packet"
    mine, _, pins = pinned()
    GRID.unhealthy(*GRID.backends[:2])
    got = places(mine)
    say("unhealthy, no persistence: every flow leaves with its next packet",
        not set(got) & {None, *GRID.backends[:2]}, set(got))
    GRID.healthy()
    judge("after that the new entry counts, also when the old backend is healthy again",
          mine, places(mine), got)
    say("the test could tell", set(got) != set(pins))


def nobody_healthy():
    """With nobody healthy an entry stays with its backend: it is as good as any (decision 17)"""
    mine, _, pins = pinned()
    GRID.unhealthy(*GRID.backends)
    judge("with nobody healthy an entry stays", mine, places(mine), pins)
    GRID.healthy()
    GRID.set(persistence="default-for-protocol")


def removed():
    """Removal counts from the command on, even if the backend comes back before a packet"""
    assert event("backend-removed") == "yes at-command"
    mine, fresh, pins = pinned()
    for back in (False, True):
        for addr in GRID.backends[:2]:
            GRID.admin.begin()
            for cell in GRID.cells:
                if back:
                    GRID.admin.add_backend(cell.name, addr)
                else:
                    GRID.admin.del_backend(cell.name, addr)
            GRID.admin.commit()
        if not back:
            left = [len(GRID.admin.flows(c.name)) + len(GRID.admin.sessions(c.name))
                    for c in GRID.cells]
            same(f"IPv{FAMILY}: removed: no entry is shown any more", left, [0] * len(left))
    judge("an entry ends with the command that removes its backend", mine, places(mine), fresh)
    say("the test could tell", set(fresh) != set(pins))


class Closing:
    """A TCP connection that is closed in one of two ways."""

    def __init__(self, cell, how):
        self.cell, self.how, self.kind = cell, how, "tcp"
        self.packet = Pkt("tcp", GRID.fresh_client(), cell.vip, 3000, 80)
        self.at = None

    def seg(self, flags, seq, ack=ISN + 1):
        return self.packet.but(flags=flags, seq=seq, ack=ack)


def close_all(mine):
    """Through the states of conntrack to TIME_WAIT, or by the backend's RST to CLOSE."""
    for one, got in zip(mine, WIRE.deliver([c.packet for c in mine])):
        one.at = got
    WIRE.answer([reply(c.at, flags="SA", seq=ISN) for c in mine])
    WIRE.deliver([c.seg("A", 1001) for c in mine])
    fins = [c for c in mine if c.how == "fin"]
    WIRE.deliver([c.seg("FA", 1001) for c in fins])
    WIRE.answer([reply(c.at, flags="FA", seq=ISN + 1, ack=1002) for c in fins])
    WIRE.deliver([c.seg("A", 1002, ISN + 2) for c in fins])
    WIRE.answer([reply(c.at, flags="RA", seq=ISN + 1, ack=1001) for c in mine if c.how == "rst"])


def closed():
    """FIN and RST remove nothing: a late segment still follows the entry"""
    assert event("fin") == event("rst") == "no -"
    mine = [Closing(cell, how) for cell in GRID.cells for how in ("fin", "rst")
            for _ in range(TIMES)]
    fresh = GRID.learn([c.packet for c in mine])
    pins = GRID.pins(fresh)
    GRID.at(pins, lambda some: close_all([mine[i] for i in some]))
    got = WIRE.places([c.seg("A", 1002 if c.how == "fin" else 1001,
                             ISN + 2 if c.how == "fin" else ISN + 1) for c in mine])
    for how in ("fin", "rst"):
        some = [i for i, c in enumerate(mine) if c.how == how]
        judge(f"an entry outlives {how.upper()}", [mine[i] for i in some],
              [got[i] for i in some], [pins[i] for i in some])


# 1.8 ---------------------------------------------------------------------------------------

def cell_word(option, cell, kind):
    row = [r for r in TABLE["persistence"] if r["option"] == option and r["protocol"] == kind][0]
    return row[tables.column_of({"tracking": cell.tracking, "affinity": cell.affinity})]


def set_option(option):
    """Sets it where it can be; the other services have to refuse it."""
    out, number = [], H.consts["WEIR_PERSISTENCE_" + option.upper().replace("-", "_")]
    for cell in GRID.cells:
        words = {cell_word(option, cell, k) for k in TRIED}
        change = {"SERVICE_NAME": cell.name, "SERVICE": {"PERSISTENCE": U8(number)}}
        message = GRID.admin.says("SERVICE_SET", change)
        if words == {"refused"}:
            say(f"{cell.title}: {option} is refused: {message}",
                message and "per-session" in message and cell.name in message)
        else:
            say(f"{cell.title}: {option} can be set", message is None, message)
            out.append(cell)
    return out


def persistence(option):
    def test():
        GRID.admin.flush()
        cells = set_option(option)
        GRID.healthy(OLD)
        mine = flows(cells)
        assert set(places(mine)) == {OLD}
        GRID.unhealthy(OLD)
        got = places(mine)
        for cell in cells:
            for kind in TRIED:
                word = cell_word(option, cell, kind)
                here = [g for f, g in zip(mine, got) if f.cell is cell and f.kind == kind]
                right = set(here) == {OLD} if word == "persist" else \
                    OLD not in here and None not in here
                say(f"{cell.title}: {option}: {kind}: "
                    f"{'persists' if word == 'persist' else 'does not persist'}", right, here)
        GRID.healthy()
        same(f"IPv{FAMILY}: {option}: healthy again, every flow stays where it is",
             places(mine), got)
    test.__doc__ = f"persistence {option}"
    return test


def rows():
    """the tables are complete"""
    same("every protocol has its row", [(r["option"], r["protocol"]) for r in TABLE["persistence"]],
         [(o, k) for o in ("default-for-protocol", "never-persist", "always-persist")
          for k in ("tcp", "sctp", "udp", "udp-fragmented", "icmp", "esp", "gre")])
    same("every event is tried", [r["event"] for r in TABLE["lifetime"]],
         ["idle-timeout", "fin", "rst", "unhealthy", "unhealthy-and-back", "backend-removed"])


def wire_clean():
    """what must never be seen"""
    same(f"IPv{FAMILY}: nothing was seen that must not be ({WIRE.sent} packets)",
         WIRE.wrong[:10], [])


GRID.set_up()
run(rows, unhealthy_and_back, unhealthy, nobody_healthy, removed, closed,
    *map(persistence, ("default-for-protocol", "never-persist", "always-persist")), wire_clean)
