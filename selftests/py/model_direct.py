# SPDX-License-Identifier: GPL-2.0
"""What must happen to a packet in direct mode, where this differs from model_rules.py.

All entries are sessions, of up to five fields: conntrack has none, so nothing is invalid and no
lifetime is the kernel's. A datagram in fragments is as many packets, and each has its verdict.
"""
from model_rules import Entry, Model, key, track_fields

PIECES = 3              # of a fragmented datagram of wire.py; the first one has the ports


class DirectModel(Model):
    def entry(self, one, now):
        """What the packet would be looked up by, if it is there."""
        found = self.match(one)
        if not isinstance(found, tuple):
            return None
        return self.alive(found[0].sessions, key(one, track_fields(found[0], one.kind)), now)

    def known(self, one, now):
        """The entry of a connection: a SYN means something to it."""
        entry = self.entry(one, now)
        return entry if entry and track_fields(entry.service, one.kind) == 5 else None

    def ways(self, one, now):
        found = self.match(one)
        if not isinstance(found, tuple):
            return [("lost", found)]
        service = found[0]
        if track_fields(service, one.kind) < 5:
            return self.by_session(service, one, now)
        entry = self.entry(one, now)
        ways = self.by_flow(service, one, entry) if entry else []
        if not entry or entry.doubt:
            ways.append(self.fresh(service, one))
        return ways

    @staticmethod
    def reasons(one, reason):
        """How often it is counted as what."""
        if one.kind != "udp-fragmented":
            return {reason: 1}
        if reason == "no-rule":
            return {"no-rule": 1, "no-ports": PIECES - 1}
        return {reason: PIECES}

    def settle(self, one, now, way, backend, at):
        if way[0] == "fresh":
            self.memo.setdefault(way[1:], backend)
        found = self.match(one)
        if not isinstance(found, tuple):
            return None
        service, rule = found
        name = key(one, track_fields(service, one.kind))
        if way[0] == "lost":
            service.sessions.pop(name, None)
            return None
        entry = service.sessions[name] = Entry(service, backend, now, rule, one, at)
        if one.kind == "tcp":
            entry.state = "half" if "S" in one.flags and "A" not in one.flags else "open"
            entry.seq = one.seq
        return None
