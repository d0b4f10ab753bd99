#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Dumps of 2 000 services: over many reads, while they change, and left in the middle."""
from netlink_lab import TCP, backend, clear, rule, services
from verdict import note, ok, run, same
from weirnl import NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, Refused, Weir, encode, H
import struct

SERVICES, BACKENDS = 2000, 3
NAMES = [f"s{i:04}" for i in range(SERVICES)]


def batch(weir, requests):
    """Many commands in few datagrams, without acknowledgements; errors come all the same."""
    out = b""
    for cmd, attrs in requests:
        body = struct.pack("=BBH", H.consts["WEIR_CMD_" + cmd], 1, 0) + encode(attrs)
        out += struct.pack("=IHHII", 16 + len(body), weir.family, NLM_F_REQUEST, 7, 0) + body
        if len(out) > 30000:
            weir.sock.send(out)
            out = b""
    if out:
        weir.sock.send(out)


def build():
    weir = clear()
    weir.do("TXN_BEGIN", {"REPLACE": True})
    requests = []
    # In an order that is not the sorted one.
    for i in [(n * 7) % SERVICES for n in range(SERVICES)]:
        name, vip = NAMES[i], f"198.18.{i // 250}.{i % 250 + 1}"
        requests += [("SERVICE_ADD", {"SERVICE_NAME": name}),
                     ("RULE_ADD", {"SERVICE_NAME": name, "RULE": rule(vip, TCP, 80)})]
        requests += [("BACKEND_ADD", {"SERVICE_NAME": name, "BACKEND": backend(f"10.2.0.{11 + b}")})
                     for b in range(BACKENDS)]
    batch(weir, requests)
    answer = weir.one("TXN_COMMIT")
    same("2000 services in one commit", answer["N_ADDED"], SERVICES)
    ok("the answer lists as many as fit", 50 < len(answer["CHANGE"]) < SERVICES, len(answer["CHANGE"]))
    return weir


class SlowDump:
    """A dump that is read one datagram at a time."""

    def __init__(self, cmd="CONFIG_GET", attrs=None, buffer=4096):
        self.weir = Weir(buffer)
        self.seq = self.weir.put(cmd, attrs, flags=NLM_F_REQUEST | NLM_F_DUMP)
        self.reads, self.messages, self.interrupted, self.done = 0, 0, False, False

    def read(self):
        """Reads one datagram; False at the end."""
        while not self.done:
            message = self.weir.receive()
            self.interrupted |= bool(message.flags & NLM_F_DUMP_INTR)
            if message.error() is None:
                self.messages += 1
            else:
                self.done = True
                self.error = message.error()
            if not self.weir.waiting:
                self.reads += 1
                return True
        return False

    def finish(self):
        while self.read():
            pass
        return self


def test_whole():
    """a dump over many reads"""
    weir = build()
    dump = SlowDump().finish()
    same("every object, once", dump.messages, SERVICES * (2 + BACKENDS))
    ok("over many reads", dump.reads > 500, dump.reads)
    note(f"{dump.messages} messages in {dump.reads} reads")
    same("nothing interrupted it", (dump.interrupted, dump.error), (False, 0))
    got = weir.config()
    same("sorted by name", [m["SERVICE_NAME"] for m in got if "SERVICE" in m], NAMES)
    kinds = [next(k for k in ("SERVICE", "RULE", "BACKEND") if k in m) for m in got]
    same("each service before what it has", kinds,
         (["SERVICE", "RULE"] + ["BACKEND"] * BACKENDS) * SERVICES)
    same("a dump of one is short", len(weir.config({"SERVICE_NAME": NAMES[1234]})), 2 + BACKENDS)
    one, two = SlowDump(), SlowDump(buffer=32768)
    while one.read() | two.read():
        pass
    same("two dumps at once", (one.messages, two.messages), (SERVICES * (2 + BACKENDS),) * 2)


def test_changed():
    """a dump while the configuration changes"""
    weir = Weir()
    for what, attrs in (("SERVICE_DEL", {"SERVICE_NAME": NAMES[3]}),
                        ("SERVICE_ADD", {"SERVICE_NAME": "a-first"}),
                        ("BACKEND_ADD", {"SERVICE_NAME": NAMES[1999], "BACKEND": backend("10.2.0.99")})):
        dump = SlowDump()
        dump.read()
        weir.do(what, attrs)
        dump.finish()
        same(f"{what} in the middle: flagged", (dump.interrupted, dump.error), (True, 0))
    weir.config()
    same("read again, it is whole", weir.interrupted, False)
    flows = SlowDump(attrs={"WITH_FLOWS": True}).finish()
    same("unchanged, it is not flagged", flows.interrupted, False)


def test_vanished():
    """a dump whose objects vanish"""
    weir = Weir()
    dump, one = SlowDump(), SlowDump(attrs={"SERVICE_NAME": NAMES[7]})
    dump.read()
    weir.do("TXN_BEGIN", {"REPLACE": True})
    weir.do("TXN_COMMIT")
    dump.finish()
    one.finish()
    same("all gone in the middle: flagged, and it ends", (dump.interrupted, dump.error), (True, 0))
    ok("it ends early", dump.messages < SERVICES, dump.messages)
    same("nothing is left", services(weir), [])


def test_left():
    """a dump that nobody reads to its end"""
    build()
    for buffer in (4096, 16384):
        for reads in (0, 1, 20):
            dump = SlowDump(buffer=buffer)
            for _ in range(reads):
                dump.read()
            dump.weir.close()
    weir = Weir()
    seq = weir.put("CONFIG_GET", flags=NLM_F_REQUEST | NLM_F_DUMP)
    try:
        while True:
            # A second dump on the same socket before the first has ended.
            weir.answers(weir.put("COUNTER_GET", flags=NLM_F_REQUEST | NLM_F_DUMP))
            break
    except Refused as refused:
        same("a second dump on a socket with one: EBUSY", refused.name, "EBUSY")
    weir.answers(seq)
    ok("and the first goes on to its end", True)
    same("the others did no harm", len(services(weir)), SERVICES)
    clear()


run(test_whole, test_changed, test_vanished, test_left)
