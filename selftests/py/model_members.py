# SPDX-License-Identifier: GPL-2.0
"""Who of a service may be chosen, written from the reference and from nothing else.

Semantics 2.1 to 2.4 and 4, decisions 1, 4, 8, 15, 17 and 18.
"""
from math import gcd

ONE = 1000000           # ratios are millionths


class Member:
    """A backend; up is what counts of its health."""

    def __init__(self, group="default", weight=1):
        self.group, self.weight = group, weight
        self.up, self.draining = True, False

    def __repr__(self):
        words = [self.group] + ["down"] * (not self.up) + ["draining"] * self.draining
        return f"({' '.join(words)} weight {self.weight})"


def choose(members, spare, ratio, drop):
    """(role in use, eligible set), spare: names of the failover groups.

    Tables 2.2 and 2.3, in their order.  No role: the set is empty for the sake of
    drop-if-unhealthy, and that is no flip.
    """
    counted = {a: m for a, m in members.items() if not m.draining}
    primary = {a for a, m in counted.items() if m.group not in spare}
    failover = counted.keys() - primary
    healthy = {a for a, m in counted.items() if m.up}
    if not primary or not failover:
        return "all", frozenset(healthy or counted)
    if not healthy:
        return (None, frozenset()) if drop else ("primary", frozenset(primary))
    if not primary & healthy:
        return "failover", frozenset(failover & healthy)
    if not failover & healthy or not ratio or \
            len(primary & healthy) * ONE >= ratio * len(primary):
        return "primary", frozenset(primary & healthy)
    return "failover", frozenset(failover & healthy)


def shares(members, eligible, locality):
    """What a table is a function of: its kind, and the scale-free weights that share it."""
    weights = {a: members[a].weight if locality.startswith("weighted") else 1 for a in eligible}
    if not any(weights.values()):
        weights = dict.fromkeys(weights, 1)
    scale = gcd(*weights.values()) or 1
    return locality, frozenset((a, w // scale) for a, w in weights.items() if w)


class Members:
    """The backends of a service with what decides among them."""

    def __init__(self):
        self.members, self.spare = {}, set()
        self.ratio, self.drop, self.drain_on, self.drains = 0, False, True, False
        self.locality = "maglev"
        self.role, self.eligible, self.unsure = "all", frozenset(), False

    def update(self):
        """Something was published."""
        role, self.eligible = choose(self.members, self.spare, self.ratio, self.drop)
        self.role = role or self.role
        # The last role stays: nobody says which that is if failover was off until now.
        self.unsure = role is None and self.role == "all"

    def active(self):
        return sorted(a for a, m in self.members.items() if not m.draining)

    def fresh_set(self):
        return shares(self.members, self.eligible, self.locality)

    def in_role(self, member):
        return self.role == "all" or (member.group in self.spare) == (self.role == "failover")

    def stays(self, backend, persists):
        """May an entry stay there?  True, False, or None where the documents leave it open."""
        member = self.members[backend]
        if not self.drain_on and not self.in_role(member):
            return False
        if member.draining:
            good = member.up
        else:
            good = member.up or persists or backend in self.eligible
        if good and self.unsure and not self.drain_on:
            return None
        return good

    def usable(self, backend):
        """The same for a repeated SYN (decision 2).  None: a healthy backend whose role is not in
        use, but whose flows stay."""
        member = self.members[backend]
        if member.draining:
            return member.up
        if backend in self.eligible:
            return True
        return None if member.up else False
