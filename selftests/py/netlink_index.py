#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Many services, of which one is changed at a time, at random: what a packet matches is what
the rules say after each change, and who answers from a backend's port is known.

netlink_index.py SEED [STEPS]

Rules and ports that services share, VIPs of both ways of forwarding, prefixes, and rules that
clash.  A second model of the rules, of a few lines, is what it is held to.
"""
import random
import socket
import subprocess
import sys

import packet
from admin import Admin, rule
from netlink_lab import clear
from verdict import note, ok, run, same
from weirnl import H, U8, Refused

SEED, STEPS = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
RANDOM = random.Random(SEED)
NUMBER = {"tcp": 6, "udp": 17, "any": 0}
OUTCOME = {v: k.removeprefix("WEIR_OUTCOME_") for k, v in H.enums["weir_outcome"].items()}
PORTS = (80, 81, 443)
PREFIXES = {4: ("10.50.0.0/16", "10.50.1.0/24", "10.0.0.0/8", "10.50.1.128/25"),
            6: ("fd50::/16", "fd50:0:1::/48", "fd50:0:1:8000::/49")}
INSIDE = {4: ("10.50.1.200", "10.50.1.3", "10.50.9.9", "10.9.9.9", "192.0.2.1"),
          6: ("fd50:0:1:8000::1", "fd50:0:1::1", "fd50:9::9", "2001:db8:9::9")}


def vip(family, n):
    return f"203.0.113.{n}" if family == 4 else f"2001:db8::{n:x}"


def backend(family, n):
    return f"10.2.0.{n}" if family == 4 else f"2001:db8:2::{n:x}"


class Service:
    def __init__(self, family, direct):
        self.family, self.direct, self.rules, self.backends = family, direct, set(), {}

    def keys(self):
        """What no two rules may have in common."""
        for addr, proto, ports in self.rules:
            for port in ports or (0,):
                yield addr, proto, port


SERVICES = {}


def owner(addr, proto, port):
    """The service that a packet to there is of, NO_RULE or NOT_OURS."""
    keys = {key: name for name, one in SERVICES.items() for key in one.keys()}
    for key in ((addr, proto, port), (addr, proto, 0), (addr, "any", 0)):
        if key in keys:
            return keys[key]
    if any(key[0] == addr for key in keys):
        return "NO_RULE"
    raw, best = int.from_bytes(packet.packed(addr), "big"), (-1, "NOT_OURS")
    for (base, _, _), name in keys.items():
        if "/" not in base or (":" in base) != (":" in addr):
            continue
        base, length = base.split("/")
        shift = (128 if ":" in base else 32) - int(length)
        if raw >> shift == int.from_bytes(packet.packed(base), "big") >> shift:
            best = max(best, (int(length), name))
    return best[1]


def answers_from(addr, port):
    """Does a service of nat mode answer from there by TCP?"""
    for one in SERVICES.values():
        if one.direct or addr not in one.backends:
            continue
        for _, proto, ports in one.rules:
            own = (one.backends[addr] and proto != "any" and (one.backends[addr],)) or ports or (0,)
            if proto == "any" or (proto == "tcp" and (0 in own or port in own)):
                return True
    return False


def as_sent(one):
    addr, proto, ports = one
    if "/" not in addr:
        return rule(addr, proto, *ports)
    base, length = addr.split("/")
    return {**rule(base, "any"), "PLEN": U8(int(length))}


def random_rule(one):
    if one.direct and RANDOM.random() < 0.4:
        return RANDOM.choice(PREFIXES[one.family]), "any", ()
    proto = RANDOM.choice(("tcp", "tcp", "udp", "any"))
    ports = () if proto == "any" or RANDOM.random() < 0.2 else \
        tuple(sorted(RANDOM.sample(PORTS, RANDOM.randint(1, 2))))
    return vip(one.family, RANDOM.randint(1, 4)), proto, ports


def add_rule(admin, name):
    one, new = SERVICES[name], random_rule(SERVICES[name])
    taken = {key for other in SERVICES.values() for key in other.keys()}
    clash = taken & {(new[0], new[1], port) for port in new[2] or (0,)}
    try:
        admin.add_rule(name, as_sent(new))
    except Refused as error:
        return bool(clash) and error.name == "EEXIST"
    one.rules.add(new)
    return not clash


def del_rule(admin, name):
    one = SERVICES[name]
    if one.rules:
        old = RANDOM.choice(sorted(one.rules))
        admin.del_rule(name, as_sent(old))
        one.rules.remove(old)
    return True


def change_backend(admin, name):
    one = SERVICES[name]
    addr = backend(one.family, RANDOM.randint(1, 6))
    if addr not in one.backends:
        port = 0 if one.direct else RANDOM.choice((0, 0, 8080))
        admin.add_backend(name, addr, port=port)
        one.backends[addr] = port
    elif len(one.backends) > 1:     # of an empty one a lookup says less
        admin.del_backend(name, addr, now=True)
        del one.backends[addr]
    return True


def turn(admin, name):
    """The other way of forwarding, where nothing is in its way."""
    one = SERVICES[name]
    if any("/" in addr for addr, _, _ in one.rules) or any(one.backends.values()):
        return True
    one.direct = not one.direct
    admin.set_service(name, forward="direct" if one.direct else "nat")
    return True


def renew(admin, name):
    admin.del_service(name)
    begin_service(admin, name)
    return True


def begin_service(admin, name):
    one = Service(RANDOM.choice((4, 6)), RANDOM.random() < 0.4)
    addr = backend(one.family, RANDOM.randint(1, 6))
    admin.begin()
    admin.add_service(name, [], [addr], forward="direct" if one.direct else "nat")
    admin.commit()
    one.backends[addr] = 0
    SERVICES[name] = one


def standing(admin):
    """Services that stay: with them a change is a small one."""
    admin.begin()
    for n in range(20):
        name, family = f"z{n}", 4 + 2 * (n % 2)
        one = Service(family, n % 5 == 4)
        one.rules = {(vip(family, 100 + n), "tcp", PORTS), (vip(family, 100 + n), "udp", (53,))}
        one.backends = {backend(family, 50 + b): 0 for b in range(4)}
        admin.add_service(name, [as_sent(r) for r in sorted(one.rules)], list(one.backends),
                          forward="direct" if one.direct else "nat")
        SERVICES[name] = one
    admin.commit()


class Wire:
    """A link whose other end is here, too."""

    def __init__(self):
        subprocess.run(["ip", "-batch", "-"], check=True, text=True, input="""
            link set lo up
            link add v0 type veth peer name v1
            link set v0 up
            link set v1 up""")
        said = subprocess.run(["ip", "-br", "link", "show", "v0"], capture_output=True,
                              check=True, text=True).stdout
        self.mac = bytes.fromhex(said.split()[2].replace(":", ""))
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.bind(("v1", 0))
        self.port = 1024

    def answer(self, addr, port):
        """A segment in mid-stream, from there to nobody."""
        nobody, kind = ("2001:db8:ff::1", 0x86dd) if ":" in addr else ("198.51.100.9", 0x0800)
        self.port += 1
        body = packet.tcp(addr, nobody, port, self.port, "A", 1, 1)
        self.sock.send(self.mac + bytes(6) + kind.to_bytes(2, "big") +
                       packet.ip(addr, nobody, packet.TCP, body))


def wrong_matches(admin):
    wrong = []
    for _ in range(25):
        family = RANDOM.choice((4, 6))
        addr = RANDOM.choice((vip(family, RANDOM.randint(1, 5)), vip(family, RANDOM.randint(100, 121)),
                              *INSIDE[family]))
        proto, port = RANDOM.choice(("tcp", "udp")), RANDOM.choice((*PORTS, 53))
        src = "192.0.2.77" if family == 4 else "2001:db8:77::1"
        got = admin.lookup(src, addr, NUMBER[proto], 5000, port, proto == "tcp")
        want = owner(addr, proto, port)
        said = got.get("SERVICE_NAME") or OUTCOME[got["OUTCOME"]]
        if said != want:
            wrong.append(f"{addr} {proto} {port}: {said}, not {want}")
    return wrong


def wrong_answers(admin, wire):
    wrong = []
    for _ in range(6):
        family = RANDOM.choice((4, 6))
        addr = backend(family, RANDOM.choice((1, 2, 3, 4, 5, 6, 50, 60)))
        port = RANDOM.choice((*PORTS, 8080, 9))
        before = admin.reasons().get("late-answer", 0)
        wire.answer(addr, port)
        got = admin.reasons().get("late-answer", 0) - before
        if got != answers_from(addr, port):
            wrong.append(f"from {addr} {port}: {got} dropped as late answers")
    return wrong


def test_changes():
    """the index follows each change"""
    clear()
    admin, wire = Admin(), Wire()
    standing(admin)
    for n in range(5):
        begin_service(admin, f"s{n}")
    kinds = [add_rule] * 5 + [del_rule] * 2 + [change_backend] * 3 + [turn, renew]
    wrong, clashes = [], 0
    for step in range(STEPS):
        kind, name = RANDOM.choice(kinds), f"s{RANDOM.randrange(5)}"
        before = admin.generation()
        if not kind(admin, name):
            wrong.append(f"{step}: {kind.__name__} {name} was taken or refused, and should not be")
        clashes += kind is add_rule and admin.generation() == before
        wrong += [f"{step}: {kind.__name__} {name}: {text}"
                  for text in wrong_matches(admin) + wrong_answers(admin, wire)]
        if len(wrong) > 10:
            break
    note(f"seed {SEED}, {STEPS} steps, {clashes} clashes")
    same("packets match what the rules say, after each change", wrong, [])
    ok("rules that clash were refused now and then", clashes > STEPS // 50, clashes)
    # A new key makes all of it anew: it is the same.
    before = [(addr, port, admin.lookup("192.0.2.77", addr, 6, 5000, port).get("SERVICE_NAME"))
              for addr in (vip(4, n) for n in range(1, 5)) for port in PORTS]
    with open("/proc/sys/net/weir/hash_key", "w", encoding="ascii") as file:
        file.write("00112233445566778899aabbccddeeff")
    again = [(addr, port, admin.lookup("192.0.2.77", addr, 6, 5000, port).get("SERVICE_NAME"))
             for addr in (vip(4, n) for n in range(1, 5)) for port in PORTS]
    same("and as a configuration that was made anew", again, before)
    subprocess.run(["ip", "link", "del", "v0"], check=True)
    clear()


run(test_changes)
