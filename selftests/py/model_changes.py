# SPDX-License-Identifier: GPL-2.0
"""Random changes, made to the module and to the model alike."""
from admin import rule
from model_members import ONE
from model_rules import BY_AFFINITY, IDLE, Service
from wire import DIRECT, backend, vip

BACKENDS = 7
TRACKINGS = ("per-connection", "per-session")
LOCALITIES = ("maglev", "maglev", "rendezvous", "weighted-maglev", "weighted-rendezvous")
RATIOS = (0, ONE // 3, ONE // 2, ONE)
WEIGHTS = (0, 1, 1, 2, 4)       # 4 to 2 is 2 to 1
DRAIN = 3600                    # longer than a run: deadlines are in drain.sh


def homes(family):
    """The rules that each service may have; one service's rules do not overlap."""
    v = [vip(family, n) for n in range(1, 5)]
    # The later fragments of a datagram have no ports, in direct mode.
    dns = None if DIRECT else (53,)
    return {f"a{family}": [(v[0], "any", None)],
            f"b{family}": [(v[0], "tcp", (80,)), (v[0], "udp", dns)],
            f"c{family}": [(v[1], "any", None), (v[2], "any", None)],
            f"d{family}": [(v[3], "tcp", (80, 443)), (v[3], "udp", dns),
                           (v[3], "sctp", (80,)), (v[3], "icmp", None)]}


HOMES = {**homes(4), **homes(6)}
# With two VIPs in one service it shows whether the destination counts.
KEEPS = {"c4": "client-ip", "c6": "client-ip-no-destination"}


def family_of(service):
    return int(service.name[-1])


class Changes:
    """How often each is made, by its name."""

    TIMES = {"health": 40, "flap": 5, "backend": 16, "back": 5, "rule": 10, "persistence": 5,
             "service": 4, "flush": 4, "expiry": 14, "weight": 4, "group": 5, "role": 4,
             "policy": 5, "outage": 5}

    def __init__(self, rng, admin, model, conntrack):
        self.rng, self.admin, self.model, self.conntrack = rng, admin, model, conntrack
        self.orphans = []       # flows that lost their backend in this round

    def any_change(self, one):
        """Makes one; says what it was."""
        what = self.rng.choices(list(self.TIMES), list(self.TIMES.values()))[0]
        return getattr(self, "change_" + what)(one)

    # Services ---------------------------------------------------------------------------------

    def policy(self):
        return {"failover_ratio": self.rng.choice(RATIOS),
                "drop_if_unhealthy": self.rng.randint(0, 1),
                "drain_on_failover": self.rng.randint(0, 1)}

    @staticmethod
    def set_policy(one, policy):
        one.ratio, one.drop = policy["failover_ratio"], bool(policy["drop_if_unhealthy"])
        one.drain_on = bool(policy["drain_on_failover"])
        one.update()

    def make_service(self, name):
        rng = self.rng
        affinity, tracking = rng.choice(list(BY_AFFINITY)), rng.choice(TRACKINGS)
        affinity = KEEPS.get(name, affinity)
        persistence = rng.choice(("default-for-protocol", "never-persist") +
                                 ("always-persist",) * (tracking == "per-connection"))
        one = Service(name, affinity, tracking, persistence)
        one.rules = list(HOMES[name])
        one.drains, one.locality = rng.random() < 0.5, rng.choice(LOCALITIES)
        policy = self.policy()
        if rng.random() < 0.5:
            one.spare.add("spare")
        self.admin.begin()
        self.admin.add_service(name, [rule(v, p, *(q or ())) for v, p, q in one.rules],
                               affinity=affinity, tracking=tracking, persistence=persistence,
                               idle_timeout=IDLE, locality=one.locality,
                               drain_timeout=DRAIN if one.drains else 0, **policy)
        self.admin.add_group(name, "spare", failover=int("spare" in one.spare))
        for n in rng.sample(range(1, BACKENDS + 1), rng.randint(2, 5)):
            self.add(one, backend(family_of(one), n))
        self.admin.commit()
        self.set_policy(one, policy)
        self.model.services[name] = one
        self.model.rules_changed()

    def change_service(self, one):
        self.model.remove_service(one)
        self.admin.del_service(one.name)
        self.make_service(one.name)
        return "made anew"

    def change_policy(self, one):
        policy = self.policy()
        self.admin.set_service(one.name, **policy)
        self.set_policy(one, policy)
        return f"policy {policy}, role {one.role}"

    def change_persistence(self, one):
        words = ["default-for-protocol", "never-persist"]
        if one.tracking == "per-connection":
            words.append("always-persist")
        one.persistence = self.rng.choice(words)
        self.admin.set_service(one.name, persistence=one.persistence)
        return one.persistence

    def change_rule(self, one):
        which = self.rng.choice(HOMES[one.name])
        wire_rule = rule(which[0], which[1], *(which[2] or ()))
        if which in one.rules:
            self.model.remove_rule(one, which)
            self.admin.del_rule(one.name, wire_rule)
        else:
            one.rules.append(which)
            self.admin.add_rule(one.name, wire_rule)
        self.model.rules_changed()
        return f"rule {which} {'added' if which in one.rules else 'removed'}"

    # Members ----------------------------------------------------------------------------------

    def set_health(self, one, addr, up):
        self.admin.health(one.name, addr, "up" if up else "down")
        one.members[addr].up = up
        one.update()

    def change_health(self, one):
        """Of one that drains, too."""
        addr = self.rng.choice(sorted(one.members) or [None])
        if not addr:
            return "nothing"
        self.set_health(one, addr, not one.members[addr].up)
        return f"{addr} {'up' if one.members[addr].up else 'down'}, role {one.role}"

    def change_flap(self, one):
        """There and back, with no packet in between."""
        before = {addr: m.up for addr, m in sorted(one.members.items())}
        for back in (False, True):
            for addr, up in before.items():
                self.set_health(one, addr, up == back)
        return f"flap, role {one.role}"

    def change_outage(self, one):
        """All at once go down, or all come back."""
        up = not any(m.up for m in one.members.values())
        self.admin.begin()
        for addr, member in sorted(one.members.items()):
            self.admin.health(one.name, addr, "up" if up else "down")
            member.up = up
        self.admin.commit()
        one.update()
        return f"all {'up' if up else 'down'}, role {one.role}"

    def add(self, one, addr):
        group, weight = self.rng.choice(("default", "default", "spare")), self.rng.choice(WEIGHTS)
        self.admin.add_backend(one.name, addr, group=group, weight=weight)
        self.model.add_backend(one, addr, group, weight)

    def remove(self, one, addr, now):
        self.orphans += self.model.remove_backend(one, addr, now)
        self.admin.del_backend(one.name, addr, now)

    def change_backend(self, one):
        addr, now = backend(family_of(one), self.rng.randint(1, BACKENDS)), self.rng.random() < 0.4
        member = one.members.get(addr)
        if member and (now or not member.draining):
            self.remove(one, addr, now)
            return f"{addr} removed {'now' if now else ''}"
        self.add(one, addr)
        return f"{addr} added: {one.members[addr]}"

    def change_back(self, one):
        """Removed and added again at once: the entries are gone, unless it drained."""
        addr, now = self.rng.choice(one.active() or [None]), self.rng.random() < 0.4
        if addr is None:
            return "nothing"
        self.remove(one, addr, now)
        self.add(one, addr)
        return f"{addr} removed {'now ' if now else ''}and added: {one.members[addr]}"

    def change_weight(self, one):
        addr = self.rng.choice(one.active() or [None])
        if addr is None:
            return "nothing"
        one.members[addr].weight = weight = self.rng.choice(WEIGHTS)
        self.admin.set_backend(one.name, addr, weight=weight)
        return f"{addr} weight {weight}"

    def change_group(self, one):
        """A backend goes to the other group."""
        addr = self.rng.choice(one.active() or [None])
        if addr is None:
            return "nothing"
        member = one.members[addr]
        member.group = "spare" if member.group == "default" else "default"
        self.admin.set_backend(one.name, addr, group=member.group)
        one.update()
        return f"{addr} to {member.group}, role {one.role}"

    def change_role(self, one):
        """The group becomes primary or failover."""
        one.spare ^= {"spare"}
        self.admin.set_group(one.name, "spare", failover=int("spare" in one.spare))
        one.update()
        return f"failover {one.spare}, role {one.role}"

    # Entries ----------------------------------------------------------------------------------

    def change_flush(self, one):
        which = self.rng.choice((None, one, one))
        addr = self.rng.choice([None, *sorted(one.members)]) if which else None
        self.model.flush(which, addr)
        self.admin.flush(which and which.name, addr)
        return f"flush {which and which.name} {addr}"

    def change_expiry(self, _one):
        """Conntrack forgets a flow, as when it expires; a session does not care."""
        names = sorted(self.model.flows, key=repr)
        if not names:
            return "nothing"
        name = self.rng.choice(names)
        del self.model.flows[name]
        self.conntrack.forget(name)
        return f"conntrack forgets {name}"
