# SPDX-License-Identifier: GPL-2.0
"""Ten services side by side, one for each tracking mode and affinity, on one set of backends.

A test sends the same packets to all of them at once.  What a fresh selection would give each
packet is learnt from the wire first; then the tracking entries are made at a backend that is
another one (by having just that one healthy), so that an arrival tells a hit from a miss.
"""
from admin import Admin, rule
from tables import AFFINITIES, TRACKINGS
from verdict import ok
from wire import KINDS, Pkt, backend, client, vip

BACKENDS = 8
ISN = 5000              # of the backends
TRIED = tuple(k for k in KINDS if k != "ah")


class Cell:
    """One of the services."""

    def __init__(self, family, n, tracking, affinity):
        self.family, self.tracking, self.affinity = family, tracking, affinity
        self.name = f"{tracking.removeprefix('per-')[0]}{family}.{affinity}"
        self.title = f"{tracking}, {affinity}"
        self.vip = vip(family, 20 + n)

    def row(self, rows):
        """The row of a table for this service."""
        found = [r for r in rows if r["tracking"] == self.tracking
                 and r["affinity"] in ("*", self.affinity)]
        assert len(found) == 1, f"{len(found)} rows for {self.title}"
        return found[0]


class Flow:
    """What one client sends to one service; TCP in mid-stream."""

    def __init__(self, source, cell, kind):
        self.cell, self.kind = cell, kind
        flags = {"flags": "PA", "ack": ISN, "data": b"data"} if kind == "tcp" else {}
        self.packet = Pkt(kind, source, cell.vip, 3000, 80, **flags)


class Grid:
    def __init__(self, wire, family):
        self.wire, self.family = wire, family
        self.admin = Admin()
        self.cells = [Cell(family, n, *pair) for n, pair in
                      enumerate((t, a) for t in TRACKINGS for a in AFFINITIES)]
        self.backends = [backend(family, n) for n in range(1, BACKENDS + 1)]
        self.clients = 0

    def set_up(self, replace=True, **options):
        """Makes the services; starts from nothing unless told otherwise."""
        self.admin.begin(replace)
        for cell in self.cells:
            self.admin.add_service(cell.name, [rule(cell.vip)], self.backends,
                                   tracking=cell.tracking, affinity=cell.affinity, **options)
        self.admin.commit()

    def set(self, **options):
        """Changes an option of every service."""
        self.admin.begin()
        for cell in self.cells:
            self.admin.set_service(cell.name, **options)
        self.admin.commit()

    def fresh_client(self):
        """An address that no packet has come from."""
        self.clients += 1
        return client(self.family, self.clients)

    def healthy(self, *addrs):
        """Only these are, in every service; none named: all are."""
        self.admin.begin()
        for cell in self.cells:
            self.admin.health(cell.name, None, "down" if addrs else "up")
            for addr in addrs:
                self.admin.health(cell.name, addr, "up")
        self.admin.commit()

    def unhealthy(self, *addrs):
        """All but these are healthy, in every service."""
        self.admin.begin()
        for cell in self.cells:
            self.admin.health(cell.name, None, "up")
            for addr in addrs:
                self.admin.health(cell.name, addr, "down")
        self.admin.commit()

    def flush(self):
        """Forgets the entries of these services; there may be others."""
        for cell in self.cells:
            self.admin.flush(cell.name)

    def learn(self, packets):
        """What fresh selection with all backends gives each packet; leaves no entry."""
        self.flush()
        self.healthy()
        got = self.wire.places(packets)
        self.flush()
        return got

    def pins(self, fresh):
        """For each packet a backend that is not what it would get afresh."""
        return [self.backends[one == self.backends[0]] for one in fresh]

    def at(self, pins, act):
        """Calls act(number of the pin) once for each, while only that pin's backend is
        healthy; then all are healthy again."""
        for addr in self.backends[:2]:
            mine = [i for i, pin in enumerate(pins) if pin == addr]
            if mine:
                self.healthy(addr)
                act(mine)
        self.healthy()

    # Flows of new clients ---------------------------------------------------------------------

    def say(self, name, condition, detail=""):
        return ok(f"IPv{self.family}: {name}", condition, detail)

    def flows(self, times, cells=None, kinds=TRIED):
        """So many of each kind in each service."""
        return [Flow(self.fresh_client(), cell, kind) for cell in cells or self.cells
                for kind in kinds for _ in range(times)]

    def places(self, mine):
        return self.wire.places([f.packet for f in mine])

    def pinned(self, times):
        """New flows at backends that fresh selection would not give, now that all are healthy."""
        mine = self.flows(times)
        fresh = self.learn([f.packet for f in mine])
        pins = self.pins(fresh)

        def act(some):
            got = self.places([mine[i] for i in some])
            assert set(got) == {pins[some[0]]}, f"flows went to {set(got)}"

        self.at(pins, act)
        return mine, fresh, pins

    def judge(self, name, mine, got, wants):
        """One verdict for each service and protocol; a want is an address or a set of them."""
        for cell in self.cells:
            for kind in TRIED:
                here = [(g, w) for f, g, w in zip(mine, got, wants)
                        if f.cell is cell and f.kind == kind]
                if here:
                    self.say(f"{cell.title}: {kind}: {name}",
                             all(g in w if isinstance(w, set) else g == w for g, w in here),
                             f"(arrived at, wanted): {here}")
