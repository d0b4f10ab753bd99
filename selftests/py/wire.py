# SPDX-License-Identifier: GPL-2.0
"""Crafted packets through the router: one process that sends and captures at both ends.

Neither end has a stack that answers (see wire.sh).  Every packet carries a tag; a batch is
followed by a fence, a packet that is routed past weir, so that what has not arrived when the
fence has will never arrive: nothing waits.  One CPU for all keeps the order.
"""
import os
import socket
import struct

import packet
from packet import AH, ESP, GRE, ICMP, ICMP6, SCTP, TCP, UDP
from server import enter

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 3, 0x0800, 0x86dd
ETH_HLEN = 14
DIRECT = os.environ.get("WEIR_FORWARD") == "direct"
SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING = 263, 6, 23
PORTED = (TCP, UDP, SCTP)
FENCE_PORT = 9
CUT = "sent in fragments"
MEETS = "may meet a flow that differs in its VIP only, at one backend"

KINDS = ("tcp", "udp", "udp-fragmented", "icmp", "sctp", "esp", "gre", "ah")
PROTO = {"tcp": TCP, "udp": UDP, "udp-fragmented": UDP, "sctp": SCTP, "esp": ESP, "gre": GRE,
         "ah": AH}


def client(family, n):
    """Address of the n-th client."""
    if family == 4:
        return f"10.1.{16 + (n >> 8)}.{n & 255}"
    return packet.unpacked(packet.packed("fd00:1:1::")[:14] + struct.pack("!H", n))


def vip(family, n=9):
    return f"10.9.9.{n}" if family == 4 else f"fd00:9::{n}"


def backend(family, n):
    """Address of backend n, from 1 on."""
    return f"10.2.0.{10 + n}" if family == 4 else f"fd00:2::{10 + n}"


class Pkt:
    """A packet of a client.  Ports also serve as what other protocols have instead:
    sport is the identifier of ICMP, the SPI of ESP and the payload type of GRE."""

    __slots__ = ("kind", "src", "dst", "sport", "dport", "flags", "seq", "ack", "ttl", "data",
                 "note")

    def __init__(self, kind, src, dst, sport=1024, dport=80, flags="S", seq=1000, ack=0, ttl=64,
                 data=b"", note=None):
        self.kind, self.src, self.dst, self.sport, self.dport = kind, src, dst, sport, dport
        self.flags, self.seq, self.ack, self.ttl = flags, seq, ack, ttl
        self.data, self.note = data, note

    def but(self, **changes):
        """The same with other values."""
        new = Pkt(*(getattr(self, name) for name in self.__slots__))
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def __repr__(self):
        text = f"{self.kind} {self.src}:{self.sport} > {self.dst}:{self.dport}"
        return text + (f" {self.flags} seq {self.seq}" if self.kind == "tcp" else "")


FLAGS = {**packet.FLAGS, "E": 64, "C": 128}


def tcp(one, tag):
    """The tag is the urgent pointer, which means nothing without its flag."""
    bits = sum(FLAGS[f] for f in one.flags)
    head = struct.pack("!HHIIBBH", one.sport, one.dport, one.seq & 0xffffffff,
                       one.ack & 0xffffffff, 5 << 4, bits, 64240)
    end = struct.pack("!H", tag) + one.data
    check = packet.checksum(packet.pseudo(one.src, one.dst, TCP, 20 + len(one.data)) + head +
                            b"\0\0" + end)
    return head + struct.pack("!H", check) + end


def body_of(one, tag):
    word = struct.pack("!I", tag)
    if one.kind == "tcp":
        return tcp(one, tag)
    if one.kind == "udp":
        return packet.udp(one.src, one.dst, one.sport, one.dport, word + one.data)
    if one.kind == "udp-fragmented":
        return packet.udp(one.src, one.dst, one.sport, one.dport, word + bytes(60))
    if one.kind == "icmp":
        return packet.echo(one.src, one.dst, one.sport, 1, word)
    if one.kind == "sctp":
        return packet.sctp_init(one.sport, one.dport, tag)
    if one.kind == "esp":
        return struct.pack("!II", one.sport, tag) + bytes(16)
    if one.kind == "gre":
        return struct.pack("!HHI", 0, one.sport, tag) + bytes(8)
    # AH in transport mode, with UDP behind it
    return struct.pack("!BBHII12x", UDP, 4, 0, one.sport, tag) + \
        packet.udp(one.src, one.dst, 1024, 80, word)


def build(one, tag):
    """The packets on the wire: one, or its fragments."""
    proto = PROTO.get(one.kind) or (ICMP6 if packet.is6(one.src) else ICMP)
    body = body_of(one, tag)
    if packet.is6(one.src):
        whole = packet.ip6(one.src, one.dst, proto, body, one.ttl)
    else:
        whole = packet.ip4(one.src, one.dst, proto, body, one.ttl, tag)
    if one.note == CUT:
        return packet.fragments(whole, 24, tag)
    return packet.fragments(whole, 24, tag) if one.kind == "udp-fragmented" else [whole]


class Arrival:
    """A packet that came: where to, and what the tests ask of it."""

    __slots__ = ("raw", "src", "dst", "proto", "body", "sport", "dport", "tag", "first", "mac")

    def __init__(self, raw, mac=None):
        self.raw, self.first, self.mac = raw, True, mac
        if raw[0] >> 4 == 4:
            self.src, self.dst, self.proto = raw[12:16], raw[16:20], raw[9]
            self.first = not (raw[6] & 0x1f or raw[7])
            self.body = raw[20:raw[2] << 8 | raw[3]]
        else:
            self.src, self.dst, self.proto = raw[8:24], raw[24:40], raw[6]
            self.body = raw[40:40 + (raw[4] << 8 | raw[5])]
            if self.proto == packet.FRAGMENT:
                self.first = not (self.body[2] or self.body[3] & 0xf8)
                self.proto, self.body = self.body[0], self.body[8:]
        self.sport = self.dport = 0
        if self.proto in PORTED:
            self.sport, self.dport = struct.unpack_from("!HH", self.body)
        self.tag = self.read_tag()

    def read_tag(self):
        proto, body = self.proto, self.body
        if not self.first:
            return None
        if proto == TCP:
            at = 18
            return struct.unpack_from("!H", body, at)[0]
        if proto == SCTP:
            at = 16 if body[12] in (1, 2) else 4      # INIT, INIT ACK; else the vtag
        else:
            at = 8 if proto in (UDP, ICMP, ICMP6, AH) else 4
        return struct.unpack_from("!I", body, at)[0] if len(body) >= at + 4 else None

    @property
    def whole(self):
        """All fields, and whether the checksums are right."""
        return packet.Packet(self.raw)

    @property
    def to(self):
        """The backend: whose address it has, or, where that stays, whose neighbour entry it took."""
        if DIRECT and self.mac and self.mac[0] == 2:
            return backend(4 if len(self.dst) == 4 else 6, self.mac[5] - 10)
        return packet.unpacked(self.dst)

    @property
    def by(self):
        return packet.unpacked(self.src)

    def __repr__(self):
        return f"{self.by}:{self.sport} > {self.to}:{self.dport} proto {self.proto} tag {self.tag}"


class End:
    """One end of the wire: a packet socket."""

    def __init__(self, netns, peer):
        enter(netns)
        self.mac = peer
        self.out = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.sock.bind(("eth0", ETH_P_ALL))
        self.sock.settimeout(20)

    def send(self, raw):
        kind = ETH_P_IP if raw[0] >> 4 == 4 else ETH_P_IPV6
        self.out.sendto(raw, ("eth0", kind, 0, 0, self.mac))

    def until(self, fence):
        """Packets that come before the fence."""
        out = []
        while True:
            frame, addr = self.sock.recvfrom(65535)
            raw = frame[ETH_HLEN:]
            if addr[1] == ETH_P_IP and raw[9] == UDP and raw[20:24] == fence[20:24] and \
                    raw[28:] == fence[28:]:
                break
            if addr[1] not in (ETH_P_IP, ETH_P_IPV6) or neighbour_talk(raw):
                continue
            out.append(Arrival(raw, frame[:6]))
        lost = struct.unpack("II", self.sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
        assert not lost, f"the capture lost {lost} packets"
        return out


def neighbour_talk(raw):
    """Neighbour and router discovery, and multicast reports, of lb itself."""
    if raw[0] >> 4 != 6 or len(raw) < 49:
        return False
    at = 48 if raw[6] == 0 else 40
    return raw[6] in (0, ICMP6) and raw[at] in (130, 131, 132, 133, 134, 135, 136, 143)


def macs(netns):
    """Hardware addresses of lb's two interfaces."""
    enter(netns)
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0) as sock:
        out = []
        for dev in ("eth0", "eth1"):
            sock.bind((dev, 0))
            out.append(sock.getsockname()[4])
    return out


class Wire:
    """The lab: clients at one end, backends at the other."""

    def __init__(self, cli, lb, farm):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        self.lb = lb
        to_cli, to_farm = macs(lb)
        self.cli, self.farm = End(cli, to_cli), End(farm, to_farm)
        self.tag = self.fences = self.sent = 0
        self.wrong = []         # what must never be seen, as text
        self.strays = []        # packets without a tag of ours, of the last batch
        enter(lb)

    def new_tag(self):
        self.tag = self.tag % 0xffff + 1
        return self.tag

    def fence(self, far):
        """A datagram that weir has nothing to do with, as it will arrive."""
        self.fences += 1
        ends = ("10.1.16.255", "10.2.0.43") if far else ("10.2.0.43", "10.1.16.255")
        mark = struct.pack("!Q", self.fences)
        return packet.ip4(*ends, UDP, packet.udp(*ends, FENCE_PORT, FENCE_PORT, mark))

    def deliver(self, packets):
        """Sends packets of clients; returns for each what arrived at a backend, or None."""
        tags, sent = {}, []
        for at, one in enumerate(packets):
            tag = self.new_tag()
            tags[tag] = at
            sent.append(one)
            for raw in build(one, tag):
                self.cli.send(raw)
        self.sent += len(sent)
        fence = self.fence(True)
        self.cli.send(fence)
        out, self.strays = [None] * len(sent), []
        for one in self.farm.until(fence):
            at = tags.get(one.tag)
            if not one.first:
                continue
            if at is None:
                self.strays.append(one)
                self.wrong.append(f"a backend got {one}")
                continue
            if out[at]:
                self.wrong.append(f"{sent[at]} came twice: {out[at]}, {one}")
            out[at] = one
            self.inspect(sent[at], one)
        return out

    def inspect(self, sent, got):
        """Only the destination address may change, and both sums are right."""
        ports = (sent.sport, sent.dport)
        if sent.note == MEETS:      # conntrack has to tell the flows apart by another port
            ports = (got.sport, sent.dport)
        if packet.packed(sent.src) != got.src or \
                got.proto in PORTED and (got.sport, got.dport) != ports:
            self.wrong.append(f"{sent} became {got}")
        if DIRECT != (packet.unpacked(got.dst) == sent.dst):
            self.wrong.append(f"{sent} came with the destination {packet.unpacked(got.dst)}")
        if sent.kind not in ("udp-fragmented", "ah") and sent.note != CUT and not got.whole["sum_ok"]:
            self.wrong.append(f"{sent} came with a wrong checksum: {got}")

    def places(self, packets):
        """Address of the backend that each packet reached, or None."""
        return [one and one.to for one in self.deliver(packets)]

    def answer(self, raws):
        """Sends packets of backends; returns what arrived at the clients' end meanwhile."""
        for raw in raws:
            self.farm.send(raw)
        fence = self.fence(False)
        self.farm.send(fence)
        got = self.cli.until(fence)
        for one in got:
            if one.by.startswith(("10.2.", "fd00:2:")):
                self.wrong.append(f"a client got {one}")
        return got

    def heard(self):
        """What arrived at the clients' end since the last answer()."""
        return self.answer([])


def reply(got, tag=0, flags="SA", seq=5000, ack=None, data=b""):
    """An answer of the backend that got this packet, as it leaves the backend."""
    src, dst = packet.unpacked(got.dst) if DIRECT else got.to, got.by
    if got.proto == TCP:
        one = Pkt("tcp", src, dst, got.dport, got.sport, flags, seq,
                  struct.unpack_from("!I", got.body, 4)[0] + 1 if ack is None else ack, data=data)
        body = tcp(one, tag)
    elif got.proto == UDP:
        body = packet.udp(src, dst, got.dport, got.sport, struct.pack("!I", tag))
    elif got.proto in (ICMP, ICMP6):
        ident, seq = struct.unpack_from("!HH", got.body, 4)
        kind = 129 if got.proto == ICMP6 else 0
        body = packet.icmp(src, dst, kind, 0, ident << 16 | seq, struct.pack("!I", tag))
    elif got.proto == SCTP:
        chunk = struct.pack("!BBHIIHHI", 2, 0, 20, tag, 65536, 1, 1, 1)
        body = packet.sctp(got.dport, got.sport, struct.unpack_from("!I", got.body, 16)[0], chunk)
    elif got.proto == ESP:
        body = struct.pack("!II", 77, tag) + bytes(16)
    else:
        body = struct.pack("!HHI", 0, 0x88b5, tag) + bytes(8)
    return packet.ip(src, dst, got.proto, body)
