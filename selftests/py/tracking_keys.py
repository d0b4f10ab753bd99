#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Which fields select a backend, and which name a tracking entry: semantics 1.3 and 1.4.

tracking_keys.py CLI LB FARM FAMILY

Tables selection, key and fields in tables/tracking.tbl.  One field at a time is varied:

selection   with no entry in the tables.  A field that is in the key changes the backend within
            a dozen values; one that is not never does.
key         an entry is made at a backend that fresh selection would not give.  A packet that
            differs in one field reaches that backend if the field is not in the key, and
            exactly what fresh selection gives if it is.
"""
import sys

import tables
from admin import Admin, rule, since
from conntrack import Conntrack
from verdict import note, ok, run, same
from wire import CUT, DIRECT, MEETS, PROTO, Pkt, Wire, backend, client, vip

FAMILY = int(sys.argv[4])
VALUES = 12             # of each field for selection
FEWER = 6               # for the key
FIELDS = ("same", "source", "source-port", "protocol", "destination", "destination-port",
          "anything-else")
PORTS = ("tcp", "udp", "udp-fragmented", "sctp")
# Another protocol whose keys have as many fields in every row of both tables.
PARTNER = {"tcp": "udp", "udp": "tcp", "udp-fragmented": "sctp", "icmp": "sctp", "sctp": "icmp",
           "esp": "gre", "gre": "esp"}
KINDS = tuple(PARTNER)
BACKENDS = [backend(FAMILY, n) for n in range(1, 9)]
TABLE = tables.read()
WIRE = Wire(*sys.argv[1:4])
ADMIN = Admin()
CONNTRACK = Conntrack()


def in_key(tuple_, field):
    if field == "same":
        return False
    row = [r for r in TABLE["fields"] if r["tuple"] == tuple_][0]
    return row[field] == "yes"


class Series:
    """One kind of packet with one field varied, from a client (or clients) of its own."""

    first_client = 1

    def __init__(self, kind, field):
        self.kind, self.field = kind, field
        self.client = Series.first_client
        Series.first_client += VALUES if field in ("source", "protocol") else 1
        self.base = Pkt(kind, client(FAMILY, self.client), vip(FAMILY, 1), self.ident(0), 80)

    def ident(self, n):
        """The field that every protocol has in the place of a source port."""
        return {"gre": 0x88b5, "esp": 0x100}.get(self.kind, 2000) + n

    def packet(self, n):
        """The packet with the n-th value of the field; value 0 is that of the base."""
        if self.field == "source" or self.field == "protocol":
            return self.base.but(src=client(FAMILY, self.client + n))
        if self.field == "source-port":
            return self.base.but(sport=2000 + n)
        if self.field == "destination":
            return self.base.but(dst=vip(FAMILY, 1 + n), note=MEETS)
        if self.field == "destination-port":
            return self.base.but(dport=80 + n)
        if self.field == "anything-else":
            more = {} if self.kind in PORTS else {"sport": self.ident(n)}
            return self.base.but(ttl=64 + n, seq=1000 + n, data=bytes(n), **more)
        return self.base.but()

    def partner(self, n):
        """The same in the other protocol."""
        return self.packet(n).but(kind=PARTNER[self.kind])


def all_series():
    out = []
    for kind in KINDS:
        for field in FIELDS:
            if kind in PORTS or not field.endswith("-port"):
                out.append(Series(kind, field))
    return out


SERIES = all_series()


def service(affinity, tracking):
    ADMIN.begin(replace=True)
    ADMIN.add_service("keys", [rule(vip(FAMILY, n)) for n in range(1, VALUES + 1)], BACKENDS,
                      affinity=affinity, tracking=tracking)
    ADMIN.commit()
    ADMIN.flush()


def healthy(*addrs):
    ADMIN.begin()
    ADMIN.health("keys", None, "down" if addrs else "up")
    for addr in addrs:
        ADMIN.health("keys", addr, "up")
    ADMIN.commit()


def learn():
    """For each series the backends that fresh selection gives: of the packets, of partners."""
    packets, partners = {s: [] for s in SERIES}, {s: [] for s in SERIES}
    for n in range(VALUES):
        ADMIN.flush()
        sent = [(s, s.packet(n)) for s in SERIES]
        sent += [(s, s.partner(n)) for s in SERIES if s.field == "protocol"]
        for at, place in enumerate(WIRE.places([p for _, p in sent])):
            (packets if at < len(SERIES) else partners)[sent[at][0]].append(place)
    ADMIN.flush()
    return packets, partners


def selection_cell(series, tuple_, got, partners):
    """Names what is wrong with one field, or None."""
    if None in got or None in partners:
        return f"{series.field}: not every packet reached a backend: {got} {partners}"
    if series.field == "protocol":
        varies = got != partners
    else:
        varies = len(set(got)) > 1
    if varies != in_key(tuple_, series.field):
        return f"{series.field}: {'changes' if varies else 'never changes'} the backend: " \
               f"{sorted(set(got + partners))}"
    return None


def judge(name, kind, tuple_, wrong):
    wrong = [w for w in wrong if w]
    ok(f"IPv{FAMILY}: {name}: {kind}: {tuple_} fields", not wrong, "\n".join(wrong))


def selection(row, fresh):
    packets, partners = fresh
    for kind in KINDS:
        judge(f"selection, {row['affinity']}", kind, row[kind],
              [selection_cell(s, row[kind], packets[s], partners[s])
               for s in SERIES if s.kind == kind])


def probes(fresh):
    """(series, base packet, probe, what fresh selection gives the probe)."""
    packets, partners = fresh
    for s in SERIES:
        if s.field == "protocol":
            for n in range(FEWER):
                yield s, s.packet(n), s.partner(n), partners[s][n]
        else:
            for n in range(0 if s.field == "same" else 1, FEWER + 1):
                yield s, s.packet(0), s.packet(n), packets[s][n]


def mid_stream(one):
    """TCP as in an established connection: a SYN would have rules of its own."""
    return one.but(flags="A", ack=7000) if one.kind == "tcp" else one


def probe_all(plan):
    """Where each probe arrives.

    Flows without ports that differ in their VIP only cannot be told apart behind translation,
    and the later one is lost: these probes go one by one, each without the flow before it. The
    tracking entry of such a protocol is not conntrack's.
    """
    alone = [i for i, (s, _, _, _) in enumerate(plan)
             if s.field == "destination" and s.kind in ("esp", "gre")]
    got = [None] * len(plan)
    rest = [i for i in range(len(plan)) if i not in alone]
    for i, place in zip(rest, WIRE.places([mid_stream(plan[i][2]) for i in rest])):
        got[i] = place
    turns = {}
    for i in alone:
        turns.setdefault(plan[i][2].dst, []).append(i)
    for turn in turns.values():
        CONNTRACK.flush()
        for i, place in zip(turn, WIRE.places([plan[i][2] for i in turn])):
            got[i] = place
    return got


def key_row(row, fresh):
    plan = list(probes(fresh))
    pins = {}
    # All probes of one series share a base packet, except those that vary the protocol.
    for at, (s, _, _, new) in enumerate(plan):
        pins.setdefault((s, at if s.field == "protocol" else 0),
                        BACKENDS[new == BACKENDS[0]])
    pin_of = [pins[s, at if s.field == "protocol" else 0]
              for at, (s, _, _, _) in enumerate(plan)]
    for addr in BACKENDS[:2]:
        healthy(addr)
        bases = {(p.src, p.kind): p for (_, p, _, _), pin in zip(plan, pin_of) if pin == addr}
        got = WIRE.places([mid_stream(p) for p in bases.values()])
        if set(got) - {addr}:
            note(f"base packets went to {set(got)}, not {addr}")
    healthy()
    got = probe_all(plan)
    wrong, told = {k: [] for k in KINDS}, {}
    for (s, _, probe, new), pin, place in zip(plan, pin_of, got):
        fresh_wanted = in_key(row[s.kind], s.field)
        if new != pin:
            told[s] = told.get(s, 0) + 1
        if place != (new if fresh_wanted else pin):
            wrong[s.kind].append(f"{s.field}: {probe} reached {place}; the entry has {pin}, "
                                 f"fresh selection gives {new}")
    for kind in KINDS:
        dull = [f"{s.field}: no probe could tell" for s in SERIES
                if s.kind == kind and not told.get(s)]
        judge(f"tracking key, {row['tracking']}, {row['affinity']}", kind, row[kind],
              (wrong[kind] + dull)[:6])


def affinity_rows(affinity):
    def test():
        row = [r for r in TABLE["selection"] if r["affinity"] == affinity][0]
        service(affinity, "per-connection")
        fresh = learn()
        selection(row, fresh)
        for tracking in tables.TRACKINGS:
            service(affinity, tracking)
            key_row([r for r in TABLE["key"] if r["affinity"] == affinity and
                     r["tracking"] == tracking][0], fresh)
    test.__doc__ = f"affinity {affinity}"
    return test


def equal_affinities():
    """none and client-ip-port-proto select alike"""
    got = []
    for affinity in tables.FIVE:
        service(affinity, "per-connection")
        got.append(learn())
    ok(f"IPv{FAMILY}: none selects as client-ip-port-proto does", got[0] == got[1])


def whole_and_fragments():
    """A flow keeps its backend whether its datagrams come whole or not (decision 10)"""
    service("none", "per-connection")
    one = Pkt("udp", client(FAMILY, 4000), vip(FAMILY, 1), 2000)
    cut = one.but(kind="udp-fragmented")
    new = [one, cut, one.but(sport=2001), cut.but(sport=2001)]
    fresh = []
    for packet in new:
        fresh += WIRE.places([packet])
        ADMIN.flush()
    pin = [b for b in BACKENDS if b not in fresh][0]
    healthy(pin)
    WIRE.places([one])
    healthy()
    same(f"IPv{FAMILY}: whole first: the fragmented one follows", WIRE.places([cut, one]),
         [pin, pin])
    ADMIN.flush()
    healthy(pin)
    WIRE.places([cut])
    healthy()
    same(f"IPv{FAMILY}: fragmented first: the whole one follows", WIRE.places([one, cut]),
         [pin, pin])
    same(f"IPv{FAMILY}: another port: whole it is new, fragmented it has the entry of three fields",
         WIRE.places([new[2], new[3].but(sport=2002)]), [fresh[2], pin])


def ah_dropped():
    """AH is dropped and counted"""
    service("none", "per-connection")
    before = ADMIN.reasons()
    same(f"IPv{FAMILY}: AH reaches no backend",
         WIRE.places([Pkt("ah", client(FAMILY, 4001), vip(FAMILY, 1))]), [None])
    same(f"IPv{FAMILY}: AH is dropped and counted", since(before, ADMIN.reasons()), {"ah": 1})


def meeting():
    """Two VIPs meet at one backend"""
    service("none", "per-connection")
    healthy(BACKENDS[0])
    for kind in ("esp", "gre"):
        one = Pkt(kind, client(FAMILY, 4002), vip(FAMILY, 1))
        before = ADMIN.reasons()
        same(f"IPv{FAMILY}: {kind}: a second flow that only its VIP tells apart is lost",
             WIRE.places([one, one.but(dst=vip(FAMILY, 2)), one]),
             [BACKENDS[0], None, BACKENDS[0]])
        same(f"IPv{FAMILY}: {kind}: and counted", since(before, ADMIN.reasons()),
             {"tuple-clash": 1})
    for kind in PORTS:
        one = Pkt(kind, client(FAMILY, 4002), vip(FAMILY, 1), note=MEETS)
        same(f"IPv{FAMILY}: {kind}: with ports both are served",
             WIRE.places([one, one.but(dst=vip(FAMILY, 2)), one]), [BACKENDS[0]] * 3)


def wire_clean():
    """what must never be seen"""
    same(f"IPv{FAMILY}: nothing was seen that must not be ({WIRE.sent} packets)",
         WIRE.wrong[:10], [])


def complete():
    """the tables are complete"""
    same("every affinity has its row", [r["affinity"] for r in TABLE["selection"]],
         list(tables.AFFINITIES))
    same("every pair of tracking and affinity has its row",
         [(r["tracking"], r["affinity"]) for r in TABLE["key"]],
         [(t, a) for t in tables.TRACKINGS for a in tables.AFFINITIES])
    same("every protocol is tried", [c for c in TABLE["selection"][0] if c != "affinity"],
         list(KINDS) + ["ah"])
    assert set(KINDS) <= set(PROTO) | {"icmp"}


def direct_fragments():
    """In direct mode every fragment goes by three fields, whole datagrams by five"""
    service("none", "per-connection")
    one = Pkt("udp", client(FAMILY, 4000), vip(FAMILY, 1), 2000)
    cut = [one.but(kind="udp-fragmented", sport=2000 + n) for n in range(8)]
    same(f"IPv{FAMILY}: fragmented ones of a client are at one backend", len(set(WIRE.places(cut))), 1)
    ok(f"IPv{FAMILY}: whole ones are spread", len(set(WIRE.places([one.but(sport=2000 + n)
                                                                  for n in range(8)]))) > 1)


def direct_reassembly():
    """TCP and SCTP fragments are put together first (decision 10)"""
    service("none", "per-connection")
    for kind, more in (("tcp", {"flags": "A", "ack": 7000, "data": bytes(40)}), ("sctp", {})):
        whole = [Pkt(kind, client(FAMILY, 4100 + n), vip(FAMILY, 1), 2000 + n, **more) for n in range(24)]
        fresh = WIRE.places(whole)
        ADMIN.flush()
        same(f"IPv{FAMILY}: {kind}: in fragments it goes where it goes whole",
             WIRE.places([one.but(note=CUT) for one in whole]), fresh)
        ok(f"IPv{FAMILY}: {kind}: which is not all one", len(set(fresh)) > 2, set(fresh))


def ah_forwarded():
    """AH passes, since nothing is changed"""
    service("none", "per-connection")
    got = WIRE.places([Pkt("ah", client(FAMILY, 4001 + n // 4), vip(FAMILY, 1), 300 + n) for n in range(64)])
    ok(f"IPv{FAMILY}: AH reaches backends", None not in got and len(set(got)) > 2, set(got))
    ok(f"IPv{FAMILY}: one for each client", all(len(set(got[n:n + 4])) == 1 for n in range(0, 64, 4)))


run(complete, *map(affinity_rows, tables.AFFINITIES), equal_affinities,
    *([direct_fragments, direct_reassembly, ah_forwarded] if DIRECT else [whole_and_fragments, meeting, ah_dropped]),
    wire_clean)
