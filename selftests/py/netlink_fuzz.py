#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Requests that are nearly right, from several sockets at once.

netlink_fuzz.py SEED COUNT

Two writers and a reader, a process each, send COUNT requests in all. A request is valid
first, and then in most cases changed in one to three places: an attribute's type, length,
flags, order, number or content, a nest too many or too few, the command, the flags of the
message, its length. Transactions are opened and left open, dumps read in part. What the
kernel answers does not matter as long as it is an answer; that it survives is what the
kernel log tells. Each process repeats its own requests with the same seed; how they
interleave is up to the scheduler.
"""
import os
import random
import socket
import struct
import sys

from verdict import note, ok, run
from weirnl import (H, NLA_F_NESTED, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, U8, U16, U32, Refused,
                    Weir, attr, encode, ip, ports)

NAMES = ["web", "dns", "a", "x" * 31, "x" * 32, "", "no such", "web\n"]
ADDRS = ["10.9.9.9", "10.9.9.10", "fd00:9::9", "0.0.0.0", "::", "224.0.0.1"]
BACKENDS = [f"10.2.0.{n}" for n in range(1, 40)] + [f"fd00:2::{n:x}" for n in range(1, 9)]
COMMANDS = [n.removeprefix("WEIR_CMD_") for n in H.enums["weir_cmd"] if not n.startswith("__")]
DUMPS = ["CONFIG_GET", "FLOW_GET", "COUNTER_GET"]


class Source:
    """Requests, all from one seed."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def some(self, **choices):
        """A nest of about half of the choices."""
        return {k: v() for k, v in choices.items() if self.r.random() < 0.5}

    def service(self):
        r = self.r
        return self.some(
            AFFINITY=lambda: U8(r.randrange(6)), TRACKING=lambda: U8(r.randrange(3)),
            PERSISTENCE=lambda: U8(r.randrange(4)), IDLE_TIMEOUT=lambda: U32(r.choice([0, 60, 600, 57600, 2**32 - 1])),
            WHEN_EMPTY=lambda: U8(r.randrange(3)), HAIRPIN=lambda: U8(r.randrange(3)),
            TABLE_SIZE=lambda: U32(r.choice([0, 1, 2, 1021, 1024, 65537, 655373, 655374])),
            LOCALITY=lambda: U8(r.randrange(5)), FORWARD=lambda: U8(r.randrange(3)),
            HEALTH_CHECK=lambda: r.choice(["", "tcp", "http path /", "x" * 1024, "x" * 1025, "a\nb"]))

    def rule(self):
        r = self.r
        nest = {"VIP": ip(r.choice(ADDRS)), "PROTO": U8(r.randrange(9))}
        if r.random() < 0.6:
            nest["PORTS"] = ports(*(r.randrange(65536) for _ in range(r.choice([0, 1, 2, 2, 5, 1024, 1025]))))
        if r.random() < 0.2:
            nest["PLEN"] = U8(r.choice([0, 24, 32, 33, 64, 128, 129, 255]))
        return nest

    def group(self):
        return {"NAME": self.r.choice(NAMES)} | self.some(ZONE=lambda: self.r.choice(NAMES),
                                                          FAILOVER=lambda: U8(self.r.randrange(3)))

    def backend(self):
        r = self.r
        return {"ADDR": ip(r.choice(BACKENDS))} | self.some(
            GROUP=lambda: r.choice(NAMES), PORT=lambda: U16(r.randrange(65536)),
            WEIGHT=lambda: U32(r.choice([0, 1, 1000, 1001])), HEALTH=lambda: U8(r.randrange(4)),
            CHECK=lambda: U8(r.randrange(4)))

    def zone(self):
        r = self.r
        records = b"".join(bytes([r.choice([0, 96, 104, 120, 128, 129])]) + bytes(10) + b"\xff\xff" +
                           bytes([10, r.randrange(3), 0, 0]) for _ in range(r.choice([0, 1, 2, 40])))
        return {"NAME": r.choice(NAMES)} | ({"PREFIXES": records} if records else {})

    def report(self):
        """A few of them, as pairs: an attribute that is repeated."""
        r = self.r
        return [("REPORT", {"SERVICE_NAME": r.choice(NAMES[:3]), "BACKEND": {"ADDR": ip(r.choice(BACKENDS))} | self.some(
            CHECK=lambda: U8(r.randrange(4)), WEIGHT_STATE=lambda: U8(r.randrange(6)),
            REPORTED=lambda: U32(r.choice([0, 1, 1000, 1001])), PROBE_PASSED=lambda: U8(r.choice([0, 1, 1, 2])),
            PROBE_RUN=lambda: U32(r.randrange(2**32)),
            PROBE_TEXT=lambda: r.choice(["", "HTTP 200", "x" * 63, "x" * 64, "\n"]))})
            for _ in range(r.choice([1, 1, 2, 30]))]

    def pin(self):
        r = self.r
        return {"VIP": ip(r.choice(ADDRS)), "SPORT": U16(r.randrange(65536)),
                "DPORT": U16(r.choice([0, 53, 80])), "LIFE": U32(r.choice([0, 1, 600, 601]))}

    def packet(self):
        r = self.r
        return {"SRC": ip(r.choice(BACKENDS)), "DST": ip(r.choice(ADDRS)), "PROTO": U8(r.choice([1, 6, 17, 58, 132, 255])),
                "SPORT": U16(r.randrange(65536)), "DPORT": U16(r.randrange(65536))}

    def attrs(self, command):
        r = self.r
        top = {}
        if command == "REPORT":
            return self.report()
        if command.split("_")[0] in ("SERVICE", "RULE", "GROUP", "BACKEND", "FLOW", "CONFIG", "PIN"):
            top["SERVICE_NAME"] = r.choice(NAMES[:3] * 3 + NAMES)
        for word in ("SERVICE", "RULE", "GROUP", "BACKEND", "ZONE"):
            if command.startswith(word + "_") and command != "SERVICE_DEL":
                top[word] = getattr(self, word.lower())()
        if command == "PIN":
            top |= {"BACKEND": {"ADDR": ip(r.choice(BACKENDS))}, "PIN": self.pin()}
        if command == "LOOKUP":
            top["PACKET"] = self.packet()
        if command.startswith("TXN_"):
            top |= {k: True for k in ("REPLACE", "DRY_RUN") if r.random() < 0.3}
        return top

    def request(self):
        r = self.r
        command = r.choice(COMMANDS + ["SERVICE_ADD", "RULE_ADD", "BACKEND_ADD", "BACKEND_ADD", "REPORT", "PIN"] * 2)
        body = encode(self.attrs(command))
        for _ in range(r.choice([0, 0, 1, 1, 1, 2, 3])):
            body = self.change(body)
        flags = NLM_F_REQUEST | NLM_F_ACK
        if command in DUMPS:
            flags = NLM_F_REQUEST | NLM_F_DUMP
        if r.random() < 0.03:
            flags ^= r.choice([NLM_F_DUMP, NLM_F_ACK, 0x800, 0x100])
        code = H.consts["WEIR_CMD_" + command]
        if r.random() < 0.02:
            code = r.randrange(256)
        return struct.pack("=BBH", code, 1, r.choice([0] * 40 + [1])) + body, flags

    def change(self, body):
        """One mutation, somewhere in the tree of attributes."""
        r = self.r
        if r.random() < 0.1:                                    # bytes, without regard for attributes
            return self.scramble(body)
        items = loose(body)
        if not items:
            return body + attr(r.randrange(64), r.randbytes(r.randrange(9)))
        i = r.randrange(len(items))
        type_, payload = items[i]
        if type_ & NLA_F_NESTED and r.random() < 0.7:
            items[i] = (type_, self.change(payload))
            return join(items)
        kind = r.randrange(9)
        if kind == 0:
            items[i] = (r.choice([0, type_ ^ 1, r.randrange(40), 0x3fff]) | type_ & NLA_F_NESTED, payload)
        elif kind == 1:
            items[i] = (type_ ^ r.choice([NLA_F_NESTED, 0x4000]), payload)
        elif kind == 2:
            items[i] = (type_, payload[:r.randrange(len(payload) + 1)])
        elif kind == 3:
            items[i] = (type_, payload + r.randbytes(r.choice([1, 2, 3, 4, 16, 2000])))
        elif kind == 4:
            items[i] = (type_, r.randbytes(r.choice([0, 1, 2, 4, 8, 16, 40])))
        elif kind == 5:
            items.insert(r.randrange(len(items) + 1), items[i])
        elif kind == 6:
            del items[i]
        elif kind == 7:
            r.shuffle(items)
        else:
            items[i] = (type_ | NLA_F_NESTED, attr(type_, payload))
        return join(items)

    def scramble(self, body):
        r = self.r
        data = bytearray(body or b"\0\0\0\0")
        for _ in range(r.choice([1, 1, 4])):
            data[r.randrange(len(data))] = r.choice([0, 1, 0xff, r.randrange(256)])
        return bytes(data[:len(data) - r.choice([0, 0, 1, 3])])


def loose(data):
    """Attributes as they stand, until it makes no sense any more."""
    out = []
    while len(data) >= 4:
        length, type_ = struct.unpack_from("=HH", data)
        if not 4 <= length <= len(data):
            break
        out.append((type_, data[4:length]))
        data = data[(length + 3) & ~3:]
    return out


def join(items):
    return b"".join(attr(t & 0xffff, p) for t, p in items if len(p) < 65000)


def drain(sock, seq, most):
    """Reads answers to seq, at most so many; errors are answers too."""
    try:
        while most > 0:
            message = sock.receive()
            if message.seq == seq and message.error() is not None:
                return
            most -= 1
    except (TimeoutError, BlockingIOError):
        pass


def worker(seed, count, writes):
    """Sends count requests; a socket lives for a few hundred of them."""
    source, sock = Source(seed), None
    for n in range(count):
        if sock is None or source.r.random() < 0.004:
            if sock:
                sock.close()        # with whatever is staged or half read
            sock = Weir()
            sock.sock.settimeout(0.5)
        body, flags = source.request()
        if not writes:
            code = H.consts["WEIR_CMD_" + source.r.choice(DUMPS + ["INFO_GET", "LOOKUP"])]
            body = struct.pack("=BBH", code, 1, 0) + body[4:]
            flags = NLM_F_REQUEST | (NLM_F_DUMP if code != H.consts["WEIR_CMD_LOOKUP"] else NLM_F_ACK)
        length = None if source.r.random() > 0.01 else 16 + source.r.randrange(len(body) + 1)
        try:
            seq = sock.send(sock.family, body, flags, length)
        except OSError:
            continue
        if not flags & (NLM_F_ACK | NLM_F_DUMP):
            continue
        drain(sock, seq, source.r.choice([1000, 1000, 1000, 1]))


def spawn(*args):
    pid = os.fork()
    if not pid:
        try:
            worker(*args)
        except BaseException as err:                        # pylint: disable=broad-except
            print(f"# worker {args}: {err!r}", flush=True)
            os._exit(1)
        os._exit(0)
    return pid


def main():
    """The processes of the fuzzer"""
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    note(f"seed {seed}, {count} requests")
    share = count // 5
    pids = [spawn(seed * 3, share * 2, True), spawn(seed * 3 + 1, share * 2, True),
            spawn(seed * 3 + 2, share, False)]
    ends = [os.waitpid(pid, 0)[1] for pid in pids]
    ok("every worker got to its end", ends == [0, 0, 0], f"{ends}")
    weir = Weir()
    try:
        weir.do("TXN_ABORT")
    except Refused:
        pass
    services = {a["SERVICE_NAME"] for a in weir.config() if "SERVICE" in a}
    ok("what they left can be read", True)
    for name in services:
        weir.do("SERVICE_DEL", {"SERVICE_NAME": name})
    for name in {a["ZONE"]["NAME"] for a in weir.config() if "ZONE" in a}:
        weir.do("ZONE_DEL", {"ZONE": {"NAME": name}})
    ok("and removed", weir.config() == [])


if __name__ == "__main__":
    socket.setdefaulttimeout(60)
    run(main)
