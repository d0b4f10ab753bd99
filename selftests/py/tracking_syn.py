#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Which TCP segments force a new connection: semantics 1.2, and decisions 2, 3, 6 and 22.

tracking_syn.py CLI LB FARM FAMILY

Table syn in tables/tracking.tbl, and what follows from it.  Connections are brought to a state
at a backend which fresh selection would not give; then one segment comes.  Where it arrives
tells whether the table was consulted.
"""
import sys

import tables
from admin import since
from conntrack import Conntrack, key_of
from grid import Grid
from packet import unpacked
from verdict import ok, run, same
from wire import DIRECT, Pkt, Wire, reply

FAMILY = int(sys.argv[4])
TIMES = 3               # connections of each kind in each service
ISN = 5000              # of the backends
TABLE = tables.read()
WIRE = Wire(*sys.argv[1:4])
GRID = Grid(WIRE, FAMILY)
CONNTRACK = Conntrack()
LOOSE = "/proc/sys/net/netfilter/nf_conntrack_tcp_loose"
FAST = "/proc/sys/net/weir/fast_path"


def say(name, condition, detail=""):
    ok(f"IPv{FAMILY}: {name}", condition, detail)


class Kind:
    """A state of a connection, the segment that comes then, and where it has to go in a
    service where a SYN is new, and in one where it is looked up: "new", "old" or "lost"."""

    def __init__(self, name, state, segment, new, lookup):
        self.name, self.state, self.segment, self.new, self.lookup = \
            name, state, segment, new, lookup


def seg(flags, **more):
    return {"flags": flags, **more}


def invalid_or(new):
    """Conntrack calls it invalid; direct mode has no conntrack."""
    return (new, "old") if DIRECT else ("lost", "lost")


KINDS = (
    Kind("a SYN on an established connection", "established", seg("S", seq=90000), "new", "old"),
    Kind("a SYN on a connection that was picked up", "mid-stream", seg("S", seq=90000),
         "new", "old"),
    Kind("a SYN that carries data", "established", seg("S", seq=90000, data=b"early"),
         "new", "old"),
    Kind("a SYN that asks for ECN", "established", seg("SEC", seq=90000), "new", "old"),
    Kind("a SYN with another sequence number while half-open", "syn-sent", seg("S", seq=90000),
         "new", "old"),
    Kind("the same after the backend's SYN+ACK", "syn-recv", seg("S", seq=90000), "new", "old"),
    Kind("a SYN of a closed connection", "reset", seg("S", seq=90000), "new", "old"),
    Kind("a retransmitted SYN", "syn-sent", seg("S"), "old", "old"),
    Kind("a SYN retransmitted after the backend's SYN+ACK", "syn-recv", seg("S"), "old", "old"),
    Kind("a SYN+ACK of a client that opens at the same time", "syn-sent2",
         seg("SA", ack=ISN + 1), "old", "old"),
    Kind("a SYN+ACK that answers nothing", "established", seg("SA", seq=90000, ack=9),
         *invalid_or("old")),
    Kind("SYN and FIN", "established", seg("SF", seq=90000), *invalid_or("new")),
    Kind("SYN and RST", "established", seg("SR", seq=90000), *invalid_or("old")),
    Kind("an ACK", "established", seg("A", seq=1001, ack=ISN + 1), "old", "old"),
    Kind("data", "established", seg("PA", seq=1001, ack=ISN + 1, data=b"data"), "old", "old"),
    Kind("a FIN", "established", seg("FA", seq=1001, ack=ISN + 1), "old", "old"),
    Kind("a RST", "established", seg("R", seq=1001), "old", "old"),
    Kind("a segment without a connection", "none", seg("PA", seq=1, ack=1, data=b"data"),
         "new", "new"),
)


class Conn:
    def __init__(self, cell, kind):
        self.cell, self.kind = cell, kind
        self.syn = Pkt("tcp", GRID.fresh_client(), cell.vip, 3000, 80)
        self.at = None          # the first arrival
        row = cell.row(TABLE["syn"])
        assert row["other"] == "lookup", row
        self.want = kind.new if row["SYN"] == "new" else kind.lookup

    def first(self):
        if self.kind.state == "mid-stream":
            return self.syn.but(flags="PA", ack=ISN + 1, data=b"data")
        return self.syn

    def segment(self):
        return self.syn.but(**self.kind.segment)


def establish(conns, places):
    """Brings them to their states; places[i] is where conns[i] has to be."""
    for one, got, place in zip(conns, WIRE.deliver([c.first() for c in conns]), places):
        assert got and got.to == place, f"{one.syn} reached {got}, not {place}"
        one.at = got
    answered = [c for c in conns if c.kind.state in ("syn-recv", "established", "reset")]
    WIRE.answer([reply(c.at, flags="SA", seq=ISN) for c in answered] +
                [reply(c.at, flags="S", seq=ISN, ack=0) for c in conns
                 if c.kind.state == "syn-sent2"])
    WIRE.deliver([c.syn.but(flags="A", seq=1001, ack=ISN + 1) for c in answered
                  if c.kind.state != "syn-recv"])
    WIRE.answer([reply(c.at, flags="RA", seq=ISN + 1, ack=1001) for c in conns
                 if c.kind.state == "reset"])


def prepare(conns):
    """Brings each to its state, at a backend that fresh selection would not give."""
    fresh = GRID.learn([c.syn for c in conns])
    pins = GRID.pins(fresh)

    def act(mine):
        mine = [i for i in mine if conns[i].kind.state != "none"]
        establish([conns[i] for i in mine], [pins[i] for i in mine])

    GRID.at(pins, act)
    return fresh, pins


def table():
    """Table syn"""
    conns = [Conn(cell, kind) for cell in GRID.cells for kind in KINDS for _ in range(TIMES)]
    fresh, pins = prepare(conns)
    before = GRID.admin.reasons()
    got = WIRE.deliver([c.segment() for c in conns])
    lost = since(before, GRID.admin.reasons())
    for cell in GRID.cells:
        for kind in KINDS:
            wrong = []
            for i, one in enumerate(conns):
                if one.cell is cell and one.kind is kind:
                    place = got[i] and got[i].to
                    want = {"new": fresh[i], "old": pins[i], "lost": None}[one.want]
                    if place != want:
                        wrong.append(f"{one.segment()} reached {place}, not {want}; it was at "
                                     f"{pins[i]}, fresh selection gives {fresh[i]}")
            want = {"new": "is selected anew", "old": "stays", "lost": "is dropped"}
            word = kind.new if cell.row(TABLE["syn"])["SYN"] == "new" else kind.lookup
            say(f"{cell.title}: {kind.name} {want[word]}", not wrong, "\n".join(wrong[:3]))
    same(f"IPv{FAMILY}: what was dropped was INVALID, and nothing else was", lost,
         {} if DIRECT else {"invalid": sum(c.want == "lost" for c in conns)})
    if DIRECT:      # nothing was dropped, and answers are none of the router's business
        return
    unharmed(conns, pins)
    late_answers([(c, g) for c, g in zip(conns, got) if c.want == "new" and c.at])


def unharmed(conns, pins):
    """Segments that were dropped changed nothing"""
    mine = [i for i, c in enumerate(conns) if c.want == "lost"]
    got = WIRE.places([conns[i].syn.but(flags="A", seq=1001, ack=ISN + 1) for i in mine])
    say("a connection goes on after a segment that was dropped",
        got == [pins[i] for i in mine], list(zip(got, (pins[i] for i in mine))))


def late_answers(moved):
    """What the old backend still says never reaches the client; the new one is heard"""
    ports = {(c.syn.src, c.syn.dst) for c, _ in moved}
    before = GRID.admin.reasons()
    late = []
    for one, _ in moved:
        late += [reply(one.at, flags="SA", seq=ISN, ack=1001),
                 reply(one.at, flags="PA", seq=ISN + 1, ack=1001, data=b"late")]
    heard = [g for g in WIRE.answer(late) if (g.to, g.by) in ports]
    say(f"late answers of the old backends reach no client ({len(late)})", not heard, heard[:5])
    same(f"IPv{FAMILY}: and are counted", since(before, GRID.admin.reasons()),
         {"late-answer": len(late)})
    wanted = [(c, g) for c, g in moved if g]
    heard = [g for g in WIRE.answer([reply(g, flags="SA", seq=70000) for _, g in wanted])
             if (g.to, g.by) in ports and (g.sport, g.dport) == (80, 3000)]
    say("the new backends' answers come from the VIP",
        len(heard) == len(wanted), f"{len(heard)} of {len(wanted)}")


def entries_kept():
    """A SYN that selects the same backend keeps the entry"""
    states = [Kind("", state, seg("S", seq=seq), "old", "old")
              for state in ("syn-sent", "established", "mid-stream") for seq in (1000, 90000)]
    GRID.admin.flush()
    GRID.healthy(GRID.backends[2])
    conns = [Conn(cell, kind) for cell in GRID.cells for kind in states]
    establish(conns, [GRID.backends[2]] * len(conns))
    before = entries(conns)
    got = WIRE.places([c.segment() for c in conns])
    after = entries(conns)
    say("with an unchanged set a SYN reaches the same backend",
        set(got) == {GRID.backends[2]}, got)
    say("and the entries are kept", before == after, [p for p in zip(before, after) if p[0] != p[1]])
    GRID.healthy()


def entries(conns):
    """What tells these connections' entries from others."""
    if not DIRECT:
        found = CONNTRACK.entries(FAMILY)
        return [found[key_of(c.syn)].id for c in conns]
    found = {(s["SERVICE_NAME"], unpacked(s["SRC"])): s["BACKEND"] for s in GRID.admin.sessions()}
    return [found[c.cell.name, c.syn.src] for c in conns]


def another_port():
    """A SYN from another port of the client"""
    kind = Kind("", "established", seg("S", sport=3001), "new", "old")
    conns = [Conn(cell, kind) for cell in GRID.cells for _ in range(TIMES)]
    fresh = GRID.learn([c.segment() for c in conns])
    pins = GRID.pins(fresh)
    GRID.at(pins, lambda mine: establish([conns[i] for i in mine], [pins[i] for i in mine]))
    got = WIRE.places([c.segment() for c in conns])
    for cell in GRID.cells:
        mine = [i for i, c in enumerate(conns) if c.cell is cell]
        want = [fresh[i] if conns[i].want == "new" else pins[i] for i in mine]
        say(f"{cell.title}: a SYN from another port of the client "
            f"{'is selected anew' if conns[mine[0]].want == 'new' else 'follows the session'}",
            [got[i] for i in mine] == want, f"got {[got[i] for i in mine]}, want {want}")


def second_syn():
    """An entry that took a second SYN knows that one's retransmission"""
    kind = Kind("", "syn-sent", seg("S", seq=90000), "old", "old")
    conns = [Conn(cell, kind) for cell in GRID.cells for _ in range(TIMES)]
    fresh = GRID.learn([c.syn for c in conns])
    pins = GRID.pins(fresh)

    def act(mine):
        establish([conns[i] for i in mine], [pins[i] for i in mine])
        WIRE.deliver([conns[i].segment() for i in mine])

    GRID.at(pins, act)
    got = WIRE.places([c.segment() for c in conns])
    for cell in GRID.cells:
        mine = [i for i, c in enumerate(conns) if c.cell is cell]
        say(f"{cell.title}: the second of two SYNs, retransmitted, stays",
            [got[i] for i in mine] == [pins[i] for i in mine], [got[i] for i in mine])


def gone_meanwhile():
    """A retransmitted SYN whose backend may no longer be used"""
    kind = Kind("", "syn-sent", seg("S"), "new", "new")
    for name, leave, back in (
            ("is unhealthy", lambda a: GRID.unhealthy(a), lambda a: GRID.healthy()),
            ("was removed", lambda a: [GRID.admin.del_backend(c.name, a) for c in GRID.cells],
             lambda a: [GRID.admin.add_backend(c.name, a) for c in GRID.cells])):
        GRID.admin.flush()
        GRID.healthy(GRID.backends[2])
        conns = [Conn(cell, kind) for cell in GRID.cells for _ in range(TIMES)]
        establish(conns, [GRID.backends[2]] * len(conns))
        GRID.healthy()
        leave(GRID.backends[2])
        got = WIRE.places([c.segment() for c in conns])
        for cell in GRID.cells:
            mine = [g for c, g in zip(conns, got) if c.cell is cell]
            say(f"{cell.title}: a retransmitted SYN leaves a backend that {name}",
                GRID.backends[2] not in mine and None not in mine, mine)
        back(GRID.backends[2])


def write(name, value):
    """a new value of a sysctl; returns the old one"""
    with open(name, "r+", encoding="ascii") as file:
        old = file.read()
        file.seek(0)
        file.write(value)
    return old


def strict():
    """With tcp_loose=0 a segment without a connection is answered by a RST from the VIP"""
    # Whether a segment is in the window is asked on the long way only.
    before = [write(name, "0") for name in (LOOSE, FAST)]
    try:
        strict_segments()
    finally:
        for name, value in zip((LOOSE, FAST), before):
            write(name, value)


def strict_segments():
    GRID.admin.flush()
    kind = Kind("", "established", seg("PA", seq=1001, ack=ISN + 1, data=b"data"), "old", "old")
    conns = [Conn(cell, kind) for cell in GRID.cells[::4]]
    WIRE.heard()
    for one in conns:
        stray = one.syn.but(flags="PA", seq=777, ack=888, data=b"data")
        before = GRID.admin.reasons()
        same(f"IPv{FAMILY}: {one.cell.title}: tcp_loose=0: it reaches no backend",
             WIRE.places([stray]), [None])
        heard = WIRE.heard()
        same(f"IPv{FAMILY}: {one.cell.title}: tcp_loose=0: one RST from the VIP, with the number "
             "that was acknowledged",
             [(g.by, g.to, g.sport, g.dport, g.whole["flags"], g.whole["seq"], g.whole["sum_ok"])
              for g in heard], [(one.cell.vip, one.syn.src, 80, 3000, "R", 888, True)])
        same(f"IPv{FAMILY}: {one.cell.title}: tcp_loose=0: it is counted once",
             since(before, GRID.admin.reasons()), {"not-picked-up": 1})
        same(f"IPv{FAMILY}: {one.cell.title}: tcp_loose=0: a RST gets no answer",
             (WIRE.places([stray.but(flags="R")]), WIRE.heard()), ([None], []))
        GRID.healthy(GRID.backends[2])
        establish([one], [GRID.backends[2]])
        WIRE.heard()
        same(f"IPv{FAMILY}: {one.cell.title}: tcp_loose=0: nor does a segment out of the window of "
             "a connection", (WIRE.places([stray.but(seq=900000000)]), WIRE.heard()),
             ([None], []))
        same(f"IPv{FAMILY}: {one.cell.title}: tcp_loose=0: the connection goes on",
             WIRE.places([one.segment()]), [GRID.backends[2]])
        GRID.healthy()


def wire_clean():
    """what must never be seen"""
    same(f"IPv{FAMILY}: nothing was seen that must not be ({WIRE.sent} packets)",
         WIRE.wrong[:10], [])


GRID.set_up()
run(table, entries_kept, another_port, second_syn, gone_meanwhile,
    *([] if DIRECT else [strict]), wire_clean)
