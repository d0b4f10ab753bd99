#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Random traffic and changes, beside a model that predicts what becomes of every packet.

model_run.py CLI LB FARM SEED STEPS

A round makes a few changes, then sends a batch of packets of all protocols, then answers some
of them; late answers of backends that lost a flow are sent too. Each packet, change and answer
is a step. Once in the middle a minute passes, so that entries expire.
"""
import random
import sys
import time

from admin import Admin, since
from conntrack import Conntrack, key_of
from model_changes import HOMES, Changes
from model_direct import DirectModel
from model_rules import BAND, IDLE, Model, select_fields, track_fields
from packet import unpacked
from verdict import note, ok, run, same
from weirnl import U8, U16, H, ip
from wire import DIRECT, MEETS, Pkt, Wire, client, reply, vip

SEED, STEPS = int(sys.argv[4]), int(sys.argv[5])
ISN = 5000
CLIENTS, BATCH = 6, 40
KINDS = {"tcp": 40, "udp": 20, "udp-fragmented": 10, "icmp": 8, "sctp": 8, "esp": 7, "gre": 7}
RNG = random.Random(SEED)
WIRE = Wire(*sys.argv[1:4])
ADMIN = Admin()
CONNTRACK = Conntrack()
MODEL = DirectModel() if DIRECT else Model()


def answers_to(came):
    """What tells an answer to that packet from others."""
    ident = came.body[4:6] if came.proto in (1, 58) else b""
    return came.dst, came.src, came.proto, came.sport, came.dport, ident


class Run(Changes):
    def __init__(self):
        super().__init__(RNG, ADMIN, MODEL, CONNTRACK)
        self.steps = self.rounds = self.wrong = self.late = self.answers = self.looked = 0
        self.seq = 1000000
        self.past = {}          # key of a flow -> what happened to it
        self.isn = {}           # key of a flow -> first sequence number after its SYN
        self.ended = {}         # key of a flow that ended before it was open -> when
        self.drops = ADMIN.reasons()
        self.changes = []

    def change(self):
        one = MODEL.services[RNG.choice(sorted(MODEL.services))]
        half = [n for n, f in MODEL.flows.items() if f.state in ("half", "unclear")]
        done = self.any_change(one)
        now = time.monotonic()
        self.ended.update((n, now) for n in half if n not in MODEL.flows)
        self.steps += 1
        self.changes.append(f"{one.name}: {done}")
        self.past.setdefault(one.name, []).append(f"{self.steps}: {done}")

    # Packets ----------------------------------------------------------------------------------

    def packet(self, now, used):
        """A random packet that conntrack has no reason to call invalid."""
        family = RNG.choice((4, 6))
        kind = RNG.choices(list(KINDS), list(KINDS.values()))[0]
        n, at = RNG.randint(1, CLIENTS), RNG.randint(1, 4)
        # Two VIPs at one backend cannot be told apart without ports.
        dst = vip(family, n % 4 + 1 if kind in ("esp", "gre") else at)
        sport, dport = RNG.randint(3000, 3003), RNG.choice((80, 443, 53))
        word, again = RNG.random(), RNG.random()
        one = Pkt(kind, client(family, n), dst, sport if kind not in ("esp", "gre") else 0x88b5,
                  dport, note=MEETS)
        if kind != "tcp":
            return one
        name = key_of(one)
        if name in used:        # what a second segment may be depends on the first's fate
            return None
        used.add(name)
        return self.segment(one, name, MODEL.known(one, now), word, again)

    def segment(self, one, name, flow, word, again):
        self.seq += 100000
        data = one.but(flags="PA", ack=ISN + 1, data=b"data")
        if flow is None:
            # Conntrack's entry may be there a moment longer, and no client sends data in
            # SYN_SENT: that would be invalid.
            if word < 0.6 or time.monotonic() - self.ended.get(name, 0) < 5:
                return one.but(seq=self.seq)
            self.isn[name] = self.seq
            return data.but(seq=self.seq)
        if flow.state == "half" and not flow.doubt and word < 0.5:
            return one.but(seq=flow.seq)                        # a retransmission
        if DIRECT and word < 0.75:      # nobody asks whether the backend has answered
            return data.but(seq=flow.seq)
        if flow.state == "open" and not flow.doubt and word < 0.75:
            return data.but(seq=self.isn.get(name, flow.seq))
        return one.but(seq=self.seq + (again < 0.5))

    def batch(self, packets):
        """Sends them and holds each to the model."""
        now = time.monotonic()
        look = self.ask(packets[0], now) if packets else None
        got = WIRE.deliver(packets)
        lost, latest = {}, {}
        for at, (one, came) in enumerate(zip(packets, got)):
            place = came and came.to
            if at == 0 and look:
                self.heed(one, look, place)
            way = self.judge(one, now, place)
            if way[0] == "lost" and way[1]:
                for reason, times in MODEL.reasons(one, way[1]).items():
                    lost[reason] = lost.get(reason, 0) + times
            gone = MODEL.settle(one, now, way, place, came)
            if gone and gone.backend != place and gone.service in MODEL.services.values():
                self.orphans.append(gone)
            if one.kind == "tcp" and MODEL.flows.get(key_of(one)):
                self.note_seq(one)
            self.past.setdefault(key_of(one), []).append(f"{self.steps}: {one} > {place} {way}")
            latest[key_of(one)] = came
            self.steps += 1
        self.drops_are(lost, "packets")
        WIRE.heard()
        return latest

    def note_seq(self, one):
        flow = MODEL.flows[key_of(one)]
        if flow.state == "open" and "S" not in one.flags:
            self.isn[key_of(one)] = one.seq

    def judge(self, one, now, place):
        ways = MODEL.ways(one, now)
        fit = [w for w in ways if MODEL.agrees(w, place)]
        known = len(ways) == 1 and (ways[0][0] != "fresh" or ways[0][1:] in MODEL.memo)
        MODEL.exact += known
        MODEL.learnt += not known and len(ways) == 1
        MODEL.either += len(ways) > 1
        if not fit:
            self.disagree(one, ways, place)
            return ("at", place) if place else ("lost", None)
        return fit[0]

    def disagree(self, one, ways, place):
        self.wrong += 1
        if self.wrong > 5:
            return
        note(f"step {self.steps}, round {self.rounds}: {one} reached {place}")
        for way in ways:
            known = f", that is {MODEL.memo.get(way[1:])}" if way[0] == "fresh" else ""
            note(f"    the model says: {way}{known}")
        found = MODEL.match(one)
        note(f"    service: {found[0] if isinstance(found, tuple) else found}")
        for line in self.past.get(key_of(one), [])[-4:]:
            note(f"    before: {line}")
        if isinstance(found, tuple):
            note(f"    of the service: {self.past.get(found[0].name, [])[-20:]}")
        note(f"    changes in this round: {self.changes}")

    def drops_are(self, want, what):
        now = ADMIN.reasons()
        got, self.drops = since(self.drops, now), now
        if got != want:
            self.wrong += 1
            if self.wrong <= 5:
                note(f"round {self.rounds}: dropped {what}: {got}, the model says {want}")

    # What the module says beforehand ----------------------------------------------------------

    def ask(self, one, now):
        """A lookup, when there is something to look up and nothing in doubt."""
        if one.kind not in ("tcp", "udp", "sctp") or len(MODEL.ways(one, now)) > 1:
            return None
        return ADMIN.lookup(one.src, one.dst, key_of(one)[2], one.sport, one.dport,
                            one.kind == "tcp" and "S" in one.flags)

    def heed(self, one, verdict, place):
        """The lookup has to be right about the wire, and about how many fields count."""
        self.looked += 1
        flow = MODEL.known(one, time.monotonic())
        if flow and flow.state == "half" and flow.seq == one.seq:
            return      # a lookup cannot know of a retransmission
        found = MODEL.match(one)
        said = verdict.get("BACKEND", {}).get("ADDR")
        said = said and unpacked(said)
        if said != place:
            self.wrong += 1
            note(f"lookup of {one} says {said}, it reached {place}: {verdict}")
        if isinstance(found, tuple) and place:
            want = track_fields(found[0], one.kind), select_fields(found[0], one.kind)
            got = verdict.get("TRACK_FIELDS"), verdict.get("KEY_FIELDS", want[1])
            if got != want:
                self.wrong += 1
                note(f"lookup of {one}: fields {got}, the model says {want}")

    # Answers ----------------------------------------------------------------------------------

    def answer(self, latest):
        """Some flows are answered; half-open ones are completed half of the time."""
        sent, opened = {}, []
        now = time.monotonic()
        for name, came in latest.items():
            flow = MODEL.flows.get(name)
            if not came or not flow or flow.backend != came.to or flow.at is not came or \
                    flow.doubt or flow.state == "unclear" or RNG.random() > 0.3:
                continue
            tag = WIRE.new_tag()
            flags, seq, ack = self.answer_of(name, flow)
            sent[tag] = flow, reply(came, tag, flags=flags, seq=seq, ack=ack)
            MODEL.use(flow, flow.packet, now)
            if flags == "SA" and flow.packet.kind == "tcp":
                opened.append((name, flow))
        heard = {g.tag: g for g in WIRE.answer([raw for _, raw in sent.values()])}
        for tag, (flow, _) in sent.items():
            self.steps += 1
            self.answers += 1
            self.judge_answer(flow, heard.get(tag))
        return opened

    def answer_of(self, name, flow):
        """What a TCP backend says next; of a SYN on an open connection it knows nothing."""
        if flow.state == "half":
            return "SA", ISN, flow.seq + 1
        said = 0 if "S" in flow.packet.flags else 4
        return "PA", ISN + 1, self.isn.get(name, 0) + said

    def judge_answer(self, flow, got):
        one = flow.packet
        ports = (one.dport, one.sport) if key_of(one)[2] in (6, 17, 132) else (0, 0)
        if not got or (got.by, got.to) != (one.dst, one.src) or \
                (got.sport, got.dport) != ports or not got.whole["sum_ok"]:
            self.wrong += 1
            if self.wrong <= 5:
                note(f"step {self.steps}: the answer to {flow} came as {got}")
                for line in self.past.get(key_of(one), [])[-4:]:
                    note(f"    before: {line}")

    def complete(self, opened):
        """The last segment of the handshakes."""
        packets = []
        for name, flow in opened:
            self.isn[name] = flow.seq + 1
            packets.append(flow.packet.but(flags="A", seq=flow.seq + 1, ack=ISN + 1))
            flow.state = "open"
        if packets:
            self.batch(packets)

    def late_answers(self):
        """What backends say about flows that they lost reaches nobody."""
        orphans, self.orphans = self.orphans, []
        taken = {answers_to(f.at) for f in MODEL.flows.values() if f.at}
        sent = {}
        for flow in orphans:
            now = MODEL.flows.get(key_of(flow.packet))
            # Of a flow that expired in time nobody remembers that it was one of ours.
            old = time.monotonic() - flow.last > flow.life - BAND
            if flow.doubt or old or now and now.backend == flow.backend:
                continue
            if answers_to(flow.at) in taken:
                continue        # it would be the answer of another flow now
            tag = WIRE.new_tag()
            sent[tag] = flow, reply(flow.at, tag, flags="PA", seq=ISN + 1, ack=1)
        if not sent:
            return
        heard = WIRE.answer([raw for _, raw in sent.values()])
        self.steps += len(sent)
        self.late += len(sent)
        if heard:
            self.wrong += 1
            note(f"round {self.rounds}: of {len(sent)} late answers clients heard {len(heard)}")
            for one in sorted(heard, key=lambda h: h.proto in (1, 58))[:3]:
                flow = sent[one.tag][0] if one.tag in sent else None
                note(f"    {one} of {flow}")
                for line in self.past.get(flow and key_of(flow.packet), [])[-4:]:
                    note(f"        before: {line}")
            note(f"    changes in this round: {self.changes}")
        now = ADMIN.reasons()
        got, self.drops = since(self.drops, now), now
        if sum(got.values()) != len(sent):
            self.wrong += 1
            note(f"round {self.rounds}: {len(sent)} late answers were counted as {got}")

    # The module's own lists -------------------------------------------------------------------

    def lists(self):
        """Sessions that the module shows are those of the model."""
        now, wrong = time.monotonic(), []
        shown = {}
        for one in ADMIN.sessions():
            fields = one["FIELDS"]
            name = (unpacked(one["SRC"]),) + ((unpacked(one["DST"]),) if fields > 1 else ()) + \
                ((one["PROTO"],) if fields > 2 else ()) + \
                ((one["SPORT"], one["DPORT"]) if fields > 3 else ())
            shown[one["SERVICE_NAME"], name] = unpacked(one["BACKEND"])
        for service in MODEL.services.values():
            for name in list(service.sessions):
                entry = MODEL.alive(service.sessions, name, now)
                got = shown.pop((service.name, name), None)
                if entry is None and got is None or entry and entry.doubt:
                    continue
                if not entry or got != entry.backend:
                    wrong.append(f"{service.name} {name}: shown {got}, "
                                 f"model {entry and entry.backend}")
        wrong += [f"{name}: shown {got}, unknown to the model" for name, got in shown.items()]
        if wrong:
            self.wrong += 1
            note(f"round {self.rounds}, step {self.steps}: sessions differ: {wrong[:5]}")
            for text in wrong[:2]:
                for name, entry in MODEL.services.items():
                    if text.startswith((name, f"('{name}'")):
                        note(f"    {entry}: {self.past.get(name, [])[-12:]}")

    def round(self):
        self.rounds += 1
        self.changes = []
        for _ in range(RNG.choice((0, 1, 1, 2, 3))):
            self.change()
        now, used = time.monotonic(), set()
        packets = [self.packet(now, used) for _ in range(BATCH)]
        latest = self.batch([p for p in packets if p])
        self.complete(self.answer(latest))
        self.late_answers()
        if self.rounds % 10 == 0:
            self.lists()

    def minute(self):
        """More than the idle-timeout passes; some entries are used in the middle of it."""
        began = time.monotonic()
        time.sleep(IDLE / 2 + 4)
        now, used = time.monotonic(), set()
        self.batch([p for p in (self.packet(now, used) for _ in range(BATCH)) if p])
        left = began + IDLE + 4 - time.monotonic()
        time.sleep(max(left, 0))


RUN = Run()


def alike():
    """Backends of keys that are alike but for one field: for each number of fields and each of
    them with enough such keys, the groups."""
    found = []
    for fields, without, what in ((5, lambda k: k[:3] + k[4:], "source port"),
                                  (5, lambda k: k[:4], "destination port"),
                                  (5, lambda k: k[:2] + k[3:], "protocol"),
                                  (3, lambda k: k[:2], "protocol"),
                                  (3, lambda k: k[::2], "destination"),
                                  (2, lambda k: k[:1], "destination"),
                                  (1, lambda k: (), "source")):
        groups = {}
        for (name, shares), place in MODEL.memo.items():
            if len(name) == fields and len(shares[1]) > 1:
                group = groups.setdefault((without(name), shares, ":" in name[0]), [])
                group.append(place)
        several = [g for g in groups.values() if len(g) > 1]
        # By chance all of a dozen groups would be alike once in thousands of runs.
        if len(several) >= 12:
            found.append((fields, what, several))
    return found


def enough():
    """Which kinds of key are frequent depends on the seed: some take more steps."""
    return RUN.steps >= STEPS and (RUN.steps >= 2 * STEPS or len(alike()) >= ALIKE)


def steps():
    """every choice agrees with the model"""
    ADMIN.begin(replace=True)
    ADMIN.commit()
    for name in HOMES:
        RUN.make_service(name)
    while not enough():
        RUN.round()
        if RUN.steps > STEPS / 2 and MINUTE:
            MINUTE.pop()
            RUN.minute()
        if RUN.wrong > 20:
            break
    ok(f"{RUN.steps} steps in {RUN.rounds} rounds: every choice agrees with the model", not RUN.wrong,
       f"{RUN.wrong} do not; replay with WEIR_SEED={SEED}")
    ok("so many steps were made as were asked for", RUN.steps >= STEPS, RUN.steps)


MINUTE = [True]
ALIKE = 3               # kinds of keys that are alike but for one field, at least


def told():
    """the model was no bystander"""
    note(f"{MODEL.exact} predictions were exact, {MODEL.learnt} taught the hash, {MODEL.either} "
         f"left a choice; {RUN.answers} answers, {RUN.late} late ones, {RUN.looked} lookups")
    ok("most predictions were exact", MODEL.exact > STEPS * 0.4, MODEL.exact)
    ok("few left a choice", MODEL.either < STEPS * 0.05, MODEL.either)
    if DIRECT:      # answers are none of the router's business
        return
    ok("flows were answered", RUN.answers > STEPS * 0.05, RUN.answers)
    ok("there were late answers", RUN.late > STEPS * 0.005, RUN.late)


def spread():
    """Every field of a key counts: keys that differ in it alone have several backends."""
    judged = alike()
    for fields, what, several in judged:
        differ = sum(len(set(g)) > 1 for g in several)
        ok(f"keys of {fields} fields: {what} counts ({differ} of {len(several)} groups "
           "differ)", differ)
    ok("enough keys were alike but for one field", len(judged) >= ALIKE, len(judged))


def wire_clean():
    """what must never be seen"""
    same(f"nothing was seen that must not be ({WIRE.sent} packets)", WIRE.wrong[:10], [])


assert H.consts
note(f"WEIR_SEED={SEED} replays this")
with open("/proc/sys/net/weir/hash_key", "w", encoding="ascii") as file:
    file.write(f"{RNG.getrandbits(128):032x}")
run(steps, told, spread, wire_clean)
