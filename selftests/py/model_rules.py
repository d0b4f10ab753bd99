# SPDX-License-Identifier: GPL-2.0
"""What must happen to a packet, written from the reference and from nothing else.

Semantics 1.1 to 1.4, 1.7 to 1.9, and the decisions 2, 3, 6, 7, 10, 13, 16, 17 and 20; who may be
chosen at all is in model_members.py. The hash is an oracle: the model says which fields are
hashed over which backends, by which weights, learns the answer once, and holds the module to it
from then on. Where the documents leave a choice the model allows both (doubt); it says how
often.
"""
from conntrack import key_of
from model_members import Member, Members

FIVE = ("none", "client-ip-port-proto")
BY_AFFINITY = {"none": 5, "client-ip-port-proto": 5, "client-ip-proto": 3, "client-ip": 2,
               "client-ip-no-destination": 1}
IDLE = 60               # of every service here
# Decision 13: the kernel's time for a first packet, if shorter. That of SCTP is its shortest,
# for an association is never brought past its handshake here.
FIRST = {"udp": 30, "udp-fragmented": 30, "icmp": 30, "gre": 30, "sctp": 3}
BAND = 3                # seconds around the end of a life in which nobody knows


def has_ports(kind):
    """TCP and unfragmented UDP; for hashing and tracking SCTP is one of the others."""
    return kind in ("tcp", "udp")


def select_fields(service, kind):
    """Table 1.3"""
    fields = BY_AFFINITY[service.affinity]
    return 3 if fields == 5 and not has_ports(kind) else fields


def track_fields(service, kind):
    """Table 1.4"""
    if service.tracking == "per-connection":
        return 5 if has_ports(kind) else 3
    return select_fields(service, kind)


def key(one, fields):
    """The named fields of a packet."""
    src, dst, proto, sport, dport = key_of(one)
    return {1: (src,), 2: (src, dst), 3: (src, dst, proto),
            5: (src, dst, proto, sport, dport)}[fields]


def persists(service, kind):
    """Table 1.8"""
    if service.persistence == "never-persist":
        return False
    if service.persistence == "always-persist":
        return True
    sticky = service.tracking == "per-session" and service.affinity not in FIVE
    return kind in ("tcp", "sctp") and not sticky


class Service(Members):
    def __init__(self, name, affinity, tracking, persistence="default-for-protocol"):
        super().__init__()
        self.name, self.affinity, self.tracking = name, affinity, tracking
        self.persistence = persistence
        self.rules, self.sessions = [], {}

    def may_stay(self, backend, kind):
        return self.stays(backend, persists(self, kind))

    def __repr__(self):
        return f"{self.name} {self.affinity} {self.tracking} {self.persistence} " \
               f"rules {self.rules} {self.locality} ratio {self.ratio} drop {self.drop} " \
               f"drain-on-failover {self.drain_on} failover {self.spare} role {self.role} " \
               f"drains {self.drains} {sorted(self.members.items())}"


class Entry:
    """A session, or conntrack's entry of a flow, which also has the rest."""

    def __init__(self, service, backend, now, rule=None, packet=None, at=None):
        self.service, self.backend, self.last = service, backend, now
        self.rule, self.packet, self.at = rule, packet, at
        self.life = IDLE
        self.doubt = False      # it may be gone, or never have been
        self.others = set()     # backends that it may have instead
        self.state = ""         # TCP: half, open, or unclear
        self.seq = 0            # of the SYN

    def __repr__(self):
        return f"{self.packet} at {self.backend} of {self.service.name}, {self.state} " \
               f"{'in doubt' if self.doubt else ''}"


def matches(rule, one):
    """How specific, or None. A rule is (vip, proto, ports or None)."""
    vip, proto, ports = rule
    kind = "udp" if one.kind == "udp-fragmented" else one.kind
    if one.dst != vip or proto not in ("any", kind):
        return None
    if ports:
        return (1, 1) if kind in ("tcp", "udp", "sctp") and one.dport in ports else None
    return 0, int(proto != "any")


class Model:
    def __init__(self):
        self.services = {}
        self.flows = {}
        self.memo = {}          # (key, kind of table and shares) -> backend
        self.matched = {}       # what match() has found out, until a rule changes
        self.learnt = self.exact = self.either = 0

    def match(self, one):
        """(service, rule), "no-rule" for another packet to a VIP, None for any other."""
        what = one.dst, one.kind, one.dport
        if what not in self.matched:
            self.matched[what] = self.match_rules(one)
        return self.matched[what]

    def match_rules(self, one):
        best, vip = None, False
        for service in self.services.values():
            for rule in service.rules:
                vip = vip or rule[0] == one.dst
                rank = matches(rule, one)
                if rank is not None and (best is None or rank > best[0]):
                    best = rank, service, rule
        if best:
            return best[1:]
        return "no-rule" if vip else None

    @staticmethod
    def alive(table, name, now):
        """The entry of that name if it lives; doubt is noted in it."""
        entry = table.get(name)
        if entry is None:
            return None
        age = now - entry.last
        if age > entry.life + BAND:
            del table[name]
            return None
        if age > entry.life - BAND:
            entry.doubt = True
        return entry

    def flow(self, one, now, service, rule):
        """The flow of a packet, if it belongs to what the packet leads to now."""
        entry = self.alive(self.flows, key_of(one), now)
        if entry and (entry.service is not service or entry.rule != rule):
            return None
        return entry

    def known(self, one, now):
        """The connection of a TCP segment."""
        return self.alive(self.flows, key_of(one), now)

    @staticmethod
    def reasons(_one, reason):
        """How often a lost packet is counted as what."""
        return {reason: 1}

    # Each way a packet may go: ("at", backend), ("fresh", key, shares), ("lost", reason)

    def fresh(self, service, one):
        if not service.eligible:
            return "lost", "no-eligible-backend"
        return "fresh", key(one, select_fields(service, one.kind)), service.fresh_set()

    def if_allowed(self, service, one, backend, allowed):
        """It stays, it is selected anew, or, where allowed is None, either."""
        ways = [("at", backend)] if allowed is not False else []
        return ways if allowed else ways + [self.fresh(service, one)]

    def stay_or_fresh(self, service, one, backend):
        """Lazy: what counts is the state now."""
        return self.if_allowed(service, one, backend, service.may_stay(backend, one.kind))

    def by_flow(self, service, one, flow):
        """The tracking key has five fields: conntrack's entry is the tracking entry."""
        if one.kind == "tcp" and "S" in one.flags and "A" not in one.flags:
            again = flow.state == "half" and flow.seq == one.seq
            stays = again and service.may_stay(flow.backend, one.kind)
            if stays:
                stays = service.usable(flow.backend)
            return self.if_allowed(service, one, flow.backend, stays)
        return self.stay_or_fresh(service, one, flow.backend)

    def by_session(self, service, one, now):
        session = self.alive(service.sessions, key(one, track_fields(service, one.kind)), now)
        if session is None:
            return [self.fresh(service, one)]
        ways = self.stay_or_fresh(service, one, session.backend)
        if session.doubt:
            for backend in session.others & service.members.keys():
                ways += self.stay_or_fresh(service, one, backend)
            ways.append(self.fresh(service, one))
        return ways

    def ways(self, one, now):
        """All ways that the documents allow; almost always there is one."""
        found = self.match(one)
        if found is None or found == "no-rule":
            return [("lost", found)]
        service, rule = found
        flow = self.flow(one, now, service, rule)
        if track_fields(service, one.kind) == 5:
            ways = self.by_flow(service, one, flow) if flow else []
            if not flow or flow.doubt:
                ways.append(self.fresh(service, one))
            return ways
        if self.flow_first(service, one) and flow:
            # Decision 10: an existing flow keeps its backend.
            stays = service.may_stay(flow.backend, one.kind)
            if stays is not False:
                return [("at", flow.backend)] + (self.by_session(service, one, now)
                                                 if flow.doubt or stays is None else [])
        return self.by_session(service, one, now)

    @staticmethod
    def flow_first(service, one):
        return one.kind == "udp-fragmented" and track_fields(service, "udp") == 5

    # What came of it --------------------------------------------------------------------------

    def agrees(self, way, backend):
        """Can this way have led there? backend is None for a packet that was lost."""
        if way[0] == "lost" or backend is None:
            return way[0] == "lost" and backend is None
        if way[0] == "at":
            return way[1] == backend
        known = self.memo.get(way[1:])
        if known is None:
            return any(backend == member for member, _ in way[2][1])
        return known == backend

    def settle(self, one, now, way, backend, at):
        """The packet went that way; at is the arrival. Returns a flow that was replaced."""
        if way[0] == "fresh":
            self.memo.setdefault(way[1:], backend)
        found = self.match(one)
        name, gone = key_of(one), None
        if way[0] == "lost":
            if way[1] == "no-eligible-backend":
                gone = self.flows.pop(name, None)
                if found[0].sessions and track_fields(found[0], one.kind) < 5:
                    found[0].sessions.pop(key(one, track_fields(found[0], one.kind)), None)
            return gone
        service, rule = found
        flow = self.flow(one, now, service, rule)
        if flow and flow.backend == backend:
            self.use(flow, one, now)
        else:
            gone = self.flows.get(name)
            flow = self.flows[name] = Entry(service, backend, now, rule, one, at)
            self.open(flow, one)
        flow.packet, flow.at = one, at
        self.settle_session(service, one, now, way, backend)
        return gone

    def settle_session(self, service, one, now, way, backend):
        fields = track_fields(service, one.kind)
        if fields == 5:
            return
        name = key(one, fields)
        if self.flow_first(service, one) and way[0] == "at":
            # By the flow or by the session; whether a flow's fragments write one is not said.
            session = service.sessions.get(name)
            if session is None or session.backend != backend:
                session = session or Entry(service, backend, now)
                session.doubt = True
                session.others.add(backend)
                service.sessions[name] = session
            session.last = now
            return
        service.sessions[name] = Entry(service, backend, now)

    @staticmethod
    def open(flow, one):
        """Its first packet."""
        if one.kind == "tcp":
            flow.state = "half" if "S" in one.flags else "open"
            flow.seq = one.seq
        flow.life = FIRST.get(one.kind, IDLE)

    @staticmethod
    def use(flow, one, now):
        flow.last, flow.life = now, FIRST["sctp"] if one.kind == "sctp" else IDLE
        if one.kind == "tcp":
            if flow.doubt:      # kept, or made again: not the same for conntrack's state
                flow.state = "unclear"
            elif flow.state == "half" and "S" in one.flags:
                flow.seq = one.seq
        flow.doubt = False

    # Changes ----------------------------------------------------------------------------------

    def drop_flows(self, test):
        """Removes flows; returns them."""
        gone = [(n, f) for n, f in self.flows.items() if test(f)]
        for name, _ in gone:
            del self.flows[name]
        return [f for _, f in gone]

    @staticmethod
    def without(sessions, backend):
        """The sessions that are left without that backend's. One in doubt may be another's."""
        left = {}
        for name, session in sessions.items():
            session.others.discard(backend)
            if session.backend == backend and session.doubt and session.others:
                session.backend = min(session.others)
            if session.backend != backend:
                left[name] = session
        return left

    @staticmethod
    def add_backend(service, backend, group="default", weight=1):
        """One that drains is back, and its flows are still there."""
        service.members[backend] = Member(group, weight)
        service.update()

    def remove_backend(self, service, backend, now=False):
        """What exists goes on while it drains (1.9)."""
        if service.drains and not now:
            service.members[backend].draining = True
            service.update()
            return []
        del service.members[backend]
        service.update()
        service.sessions = self.without(service.sessions, backend)
        return self.drop_flows(lambda f: f.service is service and f.backend == backend)

    def remove_rule(self, service, rule):
        service.rules.remove(rule)
        self.matched = {}
        return self.drop_flows(lambda f: f.service is service and f.rule == rule)

    def remove_service(self, service):
        del self.services[service.name]
        self.matched = {}
        return self.drop_flows(lambda f: f.service is service)

    def rules_changed(self):
        """A flow that another rule leads elsewhere now may be gone before that rule is."""
        self.matched = {}
        for flow in self.flows.values():
            if self.match(flow.packet) != (flow.service, flow.rule):
                flow.doubt = True

    def flush(self, service=None, backend=None):
        for one in self.services.values():
            if service in (None, one):
                one.sessions = self.without(one.sessions, backend) if backend else {}
        self.drop_flows(lambda f: service in (None, f.service) and backend in (None, f.backend))
