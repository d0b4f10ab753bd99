# SPDX-License-Identifier: GPL-2.0
"""Builds and reads IPv4 and IPv6 packets.

Plain struct work instead of a packet library: importing one of those costs ten
seconds in an emulated guest, and the tests need only what is here.
"""
import socket
import struct

TCP, UDP, ICMP, ICMP6, SCTP, GRE, ESP, AH = 6, 17, 1, 58, 132, 47, 50, 51
FRAGMENT, ROUTING, HOPOPTS, DSTOPTS, NONEXT = 44, 43, 0, 60, 59
NAMES = {"tcp": TCP, "udp": UDP, "icmp": ICMP, "icmp6": ICMP6, "sctp": SCTP,
         "gre": GRE, "esp": ESP, "ah": AH}
FLAGS = {"F": 1, "S": 2, "R": 4, "P": 8, "A": 16, "U": 32}


def is6(addr):
    return ":" in addr


def packed(addr):
    return socket.inet_pton(socket.AF_INET6 if is6(addr) else socket.AF_INET, addr)


def unpacked(raw):
    return socket.inet_ntop(socket.AF_INET6 if len(raw) == 16 else socket.AF_INET, raw)


def ones_sum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def checksum(data):
    return ~ones_sum(data) & 0xffff


def pseudo(src, dst, proto, length):
    if is6(src):
        return packed(src) + packed(dst) + struct.pack("!IxxxB", length, proto)
    return packed(src) + packed(dst) + struct.pack("!xBH", proto, length)


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = crc32c_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xff]
    return struct.pack("<I", crc ^ 0xffffffff)


def ip4(src, dst, proto, payload, ttl=64, ident=0, frag=0):
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), ident, frag, ttl,
                       proto, 0, packed(src), packed(dst))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ip6(src, dst, nexthdr, payload, ttl=64):
    return struct.pack("!IHBB16s16s", 6 << 28, len(payload), nexthdr, ttl,
                       packed(src), packed(dst)) + payload


def ip(src, dst, proto, payload, ttl=64, ident=0):
    if is6(src):
        return ip6(src, dst, proto, payload, ttl)
    return ip4(src, dst, proto, payload, ttl, ident)


def udp(src, dst, sport, dport, data=b"", bad=False):
    length = 8 + len(data)
    head = struct.pack("!HHH", sport, dport, length)
    check = checksum(pseudo(src, dst, UDP, length) + head + b"\0\0" + data) or 0xffff
    return head + struct.pack("!H", check ^ 0x5555 if bad else check) + data


def tcp(src, dst, sport, dport, flags="S", seq=0, ack=0, data=b"", bad=False, window=64240):
    bits = sum(FLAGS[f] for f in flags)
    head = struct.pack("!HHIIBBH", sport, dport, seq & 0xffffffff, ack & 0xffffffff, 5 << 4,
                       bits, window)
    whole = head + b"\0\0\0\0" + data
    check = checksum(pseudo(src, dst, TCP, len(whole)) + whole)
    return head + struct.pack("!HH", check ^ 0x5555 if bad else check, 0) + data


def icmp(src, dst, kind, code, rest, data=b""):
    """One ICMP or ICMPv6 message; rest is the second word of the header."""
    body = struct.pack("!BBHI", kind, code, 0, rest) + data
    over = pseudo(src, dst, ICMP6, len(body)) if is6(src) else b""
    return body[:2] + struct.pack("!H", checksum(over + body)) + body[4:]


def echo(src, dst, ident, seq, data=b"weir", reply=False):
    kind = 129 if is6(src) else 0
    if not reply:
        kind = 128 if is6(src) else 8
    return icmp(src, dst, kind, 0, ident << 16 | seq, data)


def too_big(src, dst, mtu, about):
    return icmp(src, dst, 2, 0, mtu, about) if is6(src) else icmp(src, dst, 3, 4, mtu, about)


def sctp_init(sport, dport, tag=0x12345678, tsn=1):
    """An INIT chunk; its verification tag is 0 (RFC 9260, 8.5.1)."""
    chunk = struct.pack("!BBHIIHHI", 1, 0, 20, tag, 65536, 1, 1, tsn)
    return sctp(sport, dport, 0, chunk)


def sctp(sport, dport, vtag, chunk):
    head = struct.pack("!HHI", sport, dport, vtag)
    return head + crc32c(head + b"\0\0\0\0" + chunk) + chunk


def fragments(packet, size, ident):
    """Cuts one packet into fragments with size bytes of payload (a multiple of 8)."""
    if packet[0] >> 4 == 6:
        head, nexthdr, body = packet[:40], packet[6], packet[40:]
    else:
        head, nexthdr, body = packet[:20], packet[9], packet[20:]
    src, dst = (unpacked(a) for a in addresses(packet))
    ttl = head[7] if len(head) == 40 else head[8]
    out = []
    for at in range(0, len(body), size):
        more = at + size < len(body)
        part = body[at:at + size]
        if len(head) == 40:
            ext = struct.pack("!BxHI", nexthdr, at | more, ident)
            out.append(ip6(src, dst, FRAGMENT, ext + part, ttl))
        else:
            out.append(ip4(src, dst, nexthdr, part, ttl, ident & 0xffff, at >> 3 | more << 13))
    return out


def addresses(packet):
    if packet[0] >> 4 == 6:
        return packet[8:24], packet[24:40]
    return packet[12:16], packet[16:20]


FIELDS = set("""v src dst ttl size proto tcp udp icmp icmp6 sctp gre esp ah sport dport frag off
more atomic ident df payload flags syn ack rst fin seq ackno type code rest inner chunk vtag
sum_ok ns""".split())


class Packet(dict):
    """Fields of a packet under the names that the expressions of tests use.

    v src dst ttl size proto, one truth value per protocol name, frag off more atomic ident df
    payload; sport dport; flags syn ack rst fin seq ackno (TCP); type code rest inner (ICMP);
    chunk vtag (SCTP); sum_ok (checksums of IPv4 header and transport, whole packets only).
    A field that the packet does not have reads as None; any other name is left to the caller.
    """

    def __missing__(self, key):
        if key not in FIELDS:
            raise KeyError(key)
        return None

    def __init__(self, raw, embedded=False):
        super().__init__()
        self.raw = raw
        version = raw[0] >> 4 if raw else 0
        for name in NAMES:
            self[name] = False
        if version == 4 and len(raw) >= 20:
            self.read4(raw, embedded)
        elif version == 6 and len(raw) >= 40:
            self.read6(raw, embedded)

    def read4(self, raw, embedded):
        size = (raw[0] & 15) * 4
        total, ident, frag = struct.unpack("!HHH", raw[2:8])
        self.update(v=4, ttl=raw[8], size=total, ident=ident, df=bool(frag & 0x4000),
                    off=(frag & 0x1fff) * 8, more=bool(frag & 0x2000),
                    frag=bool(frag & 0x3fff), src=unpacked(raw[12:16]),
                    dst=unpacked(raw[16:20]), head_ok=ones_sum(raw[:size]) == 0xffff)
        self.upper(raw[9], raw[size:total] if not embedded else raw[size:], embedded)

    def read6(self, raw, embedded):
        length, nexthdr, ttl = struct.unpack("!HBB", raw[4:8])
        self.update(v=6, ttl=ttl, size=40 + length, off=0, more=False, frag=False,
                    src=unpacked(raw[8:24]), dst=unpacked(raw[24:40]), head_ok=True)
        body = raw[40:40 + length] if not embedded else raw[40:]
        while nexthdr in (HOPOPTS, DSTOPTS, ROUTING, FRAGMENT) and len(body) >= 8:
            if nexthdr == FRAGMENT:
                off, ident = struct.unpack("!HI", body[2:8])
                self.update(off=off & ~7, more=bool(off & 1), ident=ident, atomic=not off,
                            frag=bool(off))
                step = 8
            else:
                step = 8 + body[1] * 8
            nexthdr, body = body[0], body[step:]
        self.upper(nexthdr, body, embedded)

    def upper(self, proto, body, embedded):
        self["proto"] = proto
        self["payload"] = body
        for name, number in NAMES.items():
            self[name] = number == proto
        if self["off"]:
            return
        if proto in (TCP, UDP, SCTP) and len(body) >= 4:
            self["sport"], self["dport"] = struct.unpack("!HH", body[:4])
        if not embedded and not self["frag"]:
            self["sum_ok"] = self["head_ok"] and self.sum_right(proto, body)
        if proto == TCP and len(body) >= 20:
            self.read_tcp(body)
        elif proto == UDP and len(body) >= 8:
            self["payload"] = body[8:]
        elif proto == SCTP and len(body) >= 13:
            self.update(vtag=struct.unpack("!I", body[4:8])[0], chunk=body[12])
        elif proto in (ICMP, ICMP6) and len(body) >= 8:
            self.read_icmp(proto, body, embedded)

    def read_tcp(self, body):
        seq, ack, off, bits = struct.unpack("!IIBB", body[4:14])
        flags = "".join(name for name, bit in FLAGS.items() if bits & bit)
        self.update(seq=seq, ackno=ack, flags=flags, syn=bool(bits & 2), ack=bool(bits & 16),
                    rst=bool(bits & 4), fin=bool(bits & 1), payload=body[(off >> 4) * 4:])

    def read_icmp(self, proto, body, embedded):
        kind, code, _, rest = struct.unpack("!BBHI", body[:8])
        error = kind < 128 if proto == ICMP6 else kind in (3, 4, 5, 11, 12)
        self.update(type=kind, code=code, rest=rest, payload=body[8:])
        if error and not embedded:
            self["inner"] = Packet(body[8:], embedded=True)

    def sum_right(self, proto, body):
        if proto == ICMP:
            return ones_sum(body) == 0xffff
        if proto == SCTP:
            return crc32c(body[:8] + b"\0\0\0\0" + body[12:]) == body[8:12]
        if proto in (TCP, UDP, ICMP6):
            return ones_sum(pseudo(self["src"], self["dst"], proto, len(body)) + body) == 0xffff
        return True
