#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""How long entries live: semantics 1.6, the idle row of 1.7, decisions 13 and 16.

tracking_idle.py CLI LB FARM

Tables idle-timeout, half-open and lifetime in tables/tracking.tbl, for IPv4 and IPv6 at once,
since a minute has to pass; the other checks are made meanwhile.
"""
import sys
import time

import tables
from conntrack import Conntrack, key_of
from grid import Grid
from verdict import ok, run, same
from weirnl import U8, U32, H, ip
from wire import DIRECT, KINDS, Pkt, Wire, reply

ISN = 5000
IDLE = 60               # of the services whose entries are waited for
SLACK = 12              # seconds that may pass until a lifetime is read
TABLE = tables.read()
WIRE = Wire(*sys.argv[1:4])
GRIDS = {family: Grid(WIRE, family) for family in (4, 6)}
CONNTRACK = Conntrack()
TRIED = tuple(k for k in KINDS if k not in ("ah", "udp-fragmented"))
# What happens to an entry after half of its time: nothing, a packet, or an answer.
CARE = ("left alone", "used", "answered")


def fields(cell, kind):
    row = cell.row(TABLE["key"])
    return row[kind]


# 1.7: idle timeout --------------------------------------------------------------------------

class Aging:
    def __init__(self, cell, kind, care):
        flags = {"flags": "PA", "ack": ISN, "data": b"data"} if kind == "tcp" else {}
        self.cell, self.kind, self.care, self.at = cell, kind, care, None
        self.packet = Pkt(kind, GRIDS[cell.family].fresh_client(), cell.vip, 3000, 80, **flags)

    @property
    def survives(self):
        """Any packet keeps a flow (decision 16), only incoming ones a session, and whatever
        there is in direct mode."""
        if self.care == "answered":
            return not DIRECT and fields(self.cell, self.kind) == "5"
        return self.care == "used"


class Wait:
    """The entries that grow old while the other checks are made."""

    def __init__(self):
        self.mine, self.fresh, self.pins = [], [], []
        self.began = 0.0

    def begin(self, family):
        grid = GRIDS[family]
        mine = [Aging(cell, kind, care) for cell in grid.cells for kind in TRIED
                for care in CARE for _ in range(2)]
        fresh = grid.learn([a.packet for a in mine])
        pins = grid.pins(fresh)

        def act(some):
            # twice: from the second packet on a datagram's entry has its full time
            for _ in range(2):
                got = WIRE.deliver([mine[i].packet for i in some])
            for i, one in zip(some, got):
                assert one and one.to == pins[i], f"{mine[i].packet} reached {one}"
                mine[i].at = one

        grid.at(pins, act)
        self.mine += mine
        self.fresh += fresh
        self.pins += pins

    def half(self):
        """Half of the time is over."""
        used = [i for i, a in enumerate(self.mine) if a.care == "used"]
        got = WIRE.places([self.mine[i].packet for i in used])
        ok("in time every entry is there", got == [self.pins[i] for i in used])
        WIRE.answer([reply(a.at, flags="A", ack=1004) for a in self.mine
                     if a.care == "answered"])

    def end(self):
        got = WIRE.places([a.packet for a in self.mine])
        for care in CARE:
            for kind in TRIED:
                for cell in GRIDS[4].cells + GRIDS[6].cells:
                    self.judge(cell, kind, care, got)

    def judge(self, cell, kind, care, got):
        here = [i for i, a in enumerate(self.mine)
                if a.cell is cell and a.kind == kind and a.care == care]
        lives = self.mine[here[0]].survives
        want = [(self.pins if lives else self.fresh)[i] for i in here]
        ok(f"IPv{cell.family}: {cell.title}: {kind}: an entry {care} "
           f"{'is still there' if lives else 'is gone'} after {IDLE} s",
           [got[i] for i in here] == want,
           f"arrived at {[got[i] for i in here]}, want {want}")


WAIT = Wait()


def nap(until):
    left = WAIT.began + until - time.monotonic()
    if left > 0:
        time.sleep(left)


def begin():
    """entries that grow old"""
    GRIDS[4].set_up(idle_timeout=IDLE)
    GRIDS[6].set_up(replace=False, idle_timeout=IDLE)
    for family in GRIDS:
        WAIT.begin(family)
    WAIT.began = time.monotonic()


def half():
    """half of the idle-timeout"""
    took = time.monotonic() - WAIT.began
    ok("the other checks took less than half of the time", took < IDLE / 2 + 20, f"{took} s")
    nap(IDLE / 2)
    WAIT.half()


def end():
    """the whole idle-timeout"""
    nap(IDLE + 3)
    took = time.monotonic() - WAIT.began
    ok("what was used at half-time is not too old", took < IDLE * 1.5 - 5, f"{took} s")
    WAIT.end()


# Decision 13 --------------------------------------------------------------------------------

class Probe:
    """A flow that is brought to one state of conntrack."""

    def __init__(self, grid, cell, row):
        self.cell, self.row, self.at = cell, row, None
        self.packet = Pkt(row["protocol"], grid.fresh_client(), cell.vip, 3000, 80)

    def steps(self):
        """What is sent, in turn: segments of the client, and answers."""
        state = self.row["state"]
        tcp = ["S", "<SA", "A", "F", "<A", "<F", "A2"]
        number = {"syn-sent": 1, "syn-recv": 2, "established": 3, "fin-wait": 4, "close-wait": 5,
                  "last-ack": 6, "time-wait": 7}
        if state in number:
            return tcp[:number[state]]
        return {"close": ["S", "<SA", "A", "<R"], "first": ["."], "init": ["."],
                "second": [".", "."], "answered": [".", "<."], "cookie-wait": [".", "<."]}[state]

    def send(self, word):
        one = self.packet
        return {"S": one, "A": one.but(flags="A", seq=1001, ack=ISN + 1),
                "F": one.but(flags="FA", seq=1001, ack=ISN + 1),
                "A2": one.but(flags="A", seq=1002, ack=ISN + 2), ".": one}[word]

    def answer(self, word):
        flags, seq, ack = {"<SA": ("SA", ISN, 1001), "<A": ("A", ISN + 1, 1002),
                           "<F": ("FA", ISN + 1, 1002), "<R": ("RA", ISN + 1, 1001),
                           "<.": ("", 0, 0)}[word]
        return reply(self.at, flags=flags, seq=seq, ack=ack)

    def want(self, kernel, idle):
        fewer = self.cell.tracking == "per-session" and \
            fields(self.cell, self.row["protocol"]) != "5"
        word = self.row["session" if fewer else "five-fields"]
        return {"min": min(kernel, idle), "idle": idle}[word]


def bring(probes):
    for turn in range(7):
        now = [(p, p.steps()[turn]) for p in probes if turn < len(p.steps())]
        sends = [(p, w) for p, w in now if w[0] != "<"]
        for (one, _), got in zip(sends, WIRE.deliver([p.send(w) for p, w in sends])):
            one.at = one.at or got
        WIRE.answer([p.answer(w) for p, w in now if w[0] == "<"])


def kernel_timeout(name, family):
    """The kernel's, which nobody can read in time if it is 3 s: such are made 30."""
    if family == 6:
        name = name.replace("icmp_", "icmpv6_")
    path = f"/proc/sys/net/netfilter/nf_conntrack_{name}"
    with open(path, encoding="ascii") as file:
        seconds = int(file.read())
    if seconds >= 2 * SLACK:
        return seconds
    with open(path, "w", encoding="ascii") as file:
        file.write("30")
    time.sleep(1)       # weir looks four times a second
    return 30


def half_open(family, idle):
    def test():
        grid = GRIDS[family]
        probes = [Probe(grid, cell, row) for cell in grid.cells for row in TABLE["half-open"]]
        kernels = [kernel_timeout(row["kernel-timeout"], family) for row in TABLE["half-open"]]
        bring(probes)
        entries = CONNTRACK.entries(family)
        shown = {}
        for cell in grid.cells:
            for one in grid.admin.flows(cell.name):
                shown[one["SRC"], one["PROTO"]] = one["EXPIRES"]
        for row, kernel in zip(TABLE["half-open"], kernels):
            wrong = []
            for one in (p for p in probes if p.row is row):
                entry, want = entries.get(key_of(one.packet)), one.want(kernel, idle)
                tool = shown.get((ip(one.packet.src), key_of(one.packet)[2]))
                state = "closed" if row["state"] == "init" else row["state"]
                if not entry or not want - SLACK <= entry.left <= want or \
                        tool is None or abs(tool - entry.left) > SLACK or \
                        entry.state not in ("", state):
                    wrong.append(f"{one.cell.title}: {entry and (entry.state, entry.left)}, "
                                 f"weir shows {tool}; want {want}")
            ok(f"IPv{family}: idle-timeout {idle}: {row['protocol']} {row['state']}: entries live "
               "as they have to", not wrong, "\n".join(wrong))
    test.__doc__ = f"half-open lifetimes, IPv{family}, idle-timeout {idle}"
    return test


# 1.6 ---------------------------------------------------------------------------------------

def limits():
    """Table idle-timeout"""
    admin = GRIDS[4].admin
    for row in TABLE["idle-timeout"]:
        options = {name.upper(): U8(H.consts[f"WEIR_{name}_{row[name.lower()]}".upper()
                                             .replace("-", "_")])
                   for name in ("tracking", "affinity")}
        title = f"{row['tracking']}, {row['affinity']}"
        admin.do("SERVICE_ADD", {"SERVICE_NAME": "limits", "SERVICE": options})
        for word, step in (("least", -1), ("most", 1)):
            limit = int(row[word])
            said = admin.says("SERVICE_SET", idle(limit))
            ok(f"{title}: idle-timeout {limit} can be set", said is None, said)
            said = admin.says("SERVICE_SET", idle(limit + step)) or ""
            ok(f"{title}: {limit + step} is refused, with the range: {said}",
               "limits" in said and str(limit + step) in said and row["least"] in said
               and row["most"] in said)
        if row["most"] == "600":
            ok(f"{title}: the refusal says what the range depends on",
               "tracking" in said and "affinity" in said, said)
        admin.del_service("limits")
    too_long_for_others(admin)


def idle(seconds):
    return {"SERVICE_NAME": "limits", "SERVICE": {"IDLE_TIMEOUT": U32(seconds)}}


def too_long_for_others(admin):
    """The combination counts: a long idle-timeout forbids what it does not go with."""
    admin.add_service("limits", tracking="per-session", affinity="client-ip", idle_timeout=57600)
    for nest, word in (({"TRACKING": U8(0)}, "tracking per-connection"),
                       ({"AFFINITY": U8(0)}, "affinity none")):
        said = admin.says("SERVICE_SET", {"SERVICE_NAME": "limits", "SERVICE": nest}) or ""
        ok(f"with an idle-timeout of 57600 {word} is refused: {said}",
           "57600" in said and "600" in said.replace("57600", ""))
    admin.del_service("limits")


def wire_clean():
    """what must never be seen"""
    same(f"nothing was seen that must not be ({WIRE.sent} packets)", WIRE.wrong[:10], [])


def by_default():
    """services that do not say how long"""
    GRIDS[4].set_up()
    GRIDS[6].set_up(replace=False)


DEFAULT = {int(row["default"]) for row in TABLE["idle-timeout"]}
assert DEFAULT == {600}
if DIRECT:      # the rest is about conntrack's entries, or the same for both modes
    run(begin, half, end, wire_clean)
run(begin, limits, half_open(4, IDLE), half_open(6, IDLE), half, end, by_default,
    half_open(4, 600), half_open(6, 600), wire_clean)
