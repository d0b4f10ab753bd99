#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Many first packets from addresses that exist nowhere.

flood.py CLI LB {tcp|udp} {4|6} DST PORT RATE SECONDS [FIRST [COUNT [TIMES]]]

Sends RATE packets per second, each from another address and port, into lb, and prints how
many were sent. Addresses are below 172.16.0.0/12 and fd00:f::/64; FIRST is the number of the
first one. With COUNT it ends after so many; each is sent TIMES times.
"""
import errno
import socket
import struct
import sys
import time

import packet
from server import enter

ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86dd


class Source:
    """First packets without end; packet n comes from address n.

    One packet is built. What is added to its address is taken from its port, and from the
    identification of IPv4, so that both checksums stay right: that is quick.
    """

    def __init__(self, kind, family, dst, port, first=0, data=b""):
        self.six = family == 6
        self.number, self.block = first, None
        self.kind, self.dst, self.port, self.data = kind, dst, port, data
        self.raw, self.at = b"", 40 if self.six else 20

    def address(self, n):
        """Address n is in block n >> 12, of 4096 addresses."""
        if self.six:
            return f"fd00:f::{n >> 12:x}:{n & 0xfff:x}"
        return f"172.{16 + (n >> 16 & 15)}.{n >> 8 & 255}.{n & 255}"

    def make(self, n):
        """The first packet of a block, from its first address and the highest port."""
        src = self.address(n & ~0xfff)
        if self.kind == "tcp":
            body = packet.tcp(src, self.dst, 60000, self.port, "S", 7, data=self.data)
            proto = packet.TCP
        else:
            body = packet.udp(src, self.dst, 60000, self.port, self.data)
            proto = packet.UDP
        if self.six:
            return bytearray(packet.ip6(src, self.dst, proto, body))
        return bytearray(packet.ip4(src, self.dst, proto, body, ident=60000))

    def next(self):
        n, low = self.number, self.number & 0xfff
        if n >> 12 != self.block:
            self.block, self.raw = n >> 12, self.make(n)
            self.base = struct.unpack_from("!H", self.raw, 22 if self.six else 14)[0]
        struct.pack_into("!H", self.raw, 22 if self.six else 14, self.base + low)
        struct.pack_into("!H", self.raw, self.at, 60000 - low)
        if not self.six:
            struct.pack_into("!H", self.raw, 4, 60000 - low)
        self.number += 1
        return self.raw


def lb_mac(lb):
    enter(lb)
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0) as sock:
        sock.bind(("eth0", 0))
        return sock.getsockname()[4]


def send(sock, raw, where):
    """Sends it, however often the queue has no room."""
    while True:
        try:
            return sock.sendto(raw, where)
        except OSError as err:
            if err.errno != errno.ENOBUFS:
                raise
            time.sleep(0.001)


def main():
    cli, lb, kind, family, dst, port, rate, seconds = sys.argv[1:9]
    first, count, times = [int(w) for w in sys.argv[9:]] + [0, 1 << 40, 1][len(sys.argv) - 9:]
    mac = lb_mac(lb)
    source = Source(kind, int(family), dst, int(port), first, b"quiet" * (kind == "udp"))
    enter(cli)
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
    where = ("eth0", ETH_P_IPV6 if family == "6" else ETH_P_IP, 0, 0, mac)
    began = time.monotonic()
    while True:
        passed = time.monotonic() - began
        if passed > float(seconds) or source.number >= first + count:
            break
        # in pieces, so that the clock is looked at even if there is no end to them
        until = first + min(count, int(passed * int(rate)), source.number - first + 1000)
        while source.number < until:
            raw = source.next()
            for _ in range(times):
                send(sock, raw, where)
        time.sleep(0.01 if until - first >= int(passed * int(rate)) else 0)
    print(source.number - first, flush=True)


if __name__ == "__main__":
    main()
