# SPDX-License-Identifier: GPL-2.0
"""The kernel's table of flows, over ctnetlink, of the namespace that the process is in."""
import socket
import struct

import packet
from packet import ICMP, ICMP6, SCTP, TCP, UDP
from weirnl import (NETLINK_CAP_ACK, NETLINK_EXT_ACK, NLA_F_NESTED, NLM_F_ACK, NLM_F_DUMP,
                    NLM_F_REQUEST, SOL_NETLINK, Refused, Socket, attr, split)

NETLINK_NETFILTER = 12
CT_GET, CT_DELETE = 0x101, 0x102
TUPLE_ORIG, STATUS, PROTOINFO, TIMEOUT, ID = 1, 3, 4, 7, 12
TUPLE_IP, TUPLE_PROTO = 1, 2
IPS_ASSURED = 4
TCP_STATES = ("none", "syn-sent", "syn-recv", "established", "fin-wait", "close-wait",
              "last-ack", "time-wait", "close", "syn-sent2")
SCTP_STATES = ("none", "closed", "cookie-wait", "cookie-echoed", "established", "shutdown-sent",
               "shutdown-recd", "shutdown-ack-sent", "heartbeat-sent")


class Entry:
    """One entry: its original tuple and what the tests ask of it."""

    def __init__(self, body):
        self.family = 6 if body[0] == socket.AF_INET6 else 4
        fields = dict(split(body[4:]))
        orig = dict(split(fields[TUPLE_ORIG]))
        addrs, proto = dict(split(orig[TUPLE_IP])), dict(split(orig[TUPLE_PROTO]))
        six = 2 if self.family == 6 else 0
        self.src, self.dst = (packet.unpacked(addrs[n + six]) for n in (1, 2))
        self.proto = proto[1][0]
        self.sport, self.dport = (struct.unpack("!H", proto.get(n, b"\0\0"))[0] for n in (2, 3))
        if self.proto in (ICMP, ICMP6):
            self.sport = struct.unpack("!H", proto[7 if six else 4])[0]
        self.id = fields.get(ID)
        self.left = struct.unpack("!I", fields.get(TIMEOUT, bytes(4)))[0]
        self.assured = bool(struct.unpack("!I", fields.get(STATUS, bytes(4)))[0] & IPS_ASSURED)
        self.state = ""
        info = dict(split(fields.get(PROTOINFO, b"")))
        if 1 in info:
            self.state = TCP_STATES[dict(split(info[1]))[1][0]]
        elif 3 in info:
            self.state = SCTP_STATES[dict(split(info[3]))[1][0]]

    @property
    def key(self):
        return self.src, self.dst, self.proto, self.sport, self.dport


def key_of(one):
    """The key of the entry that a packet of wire.py makes."""
    six = packet.is6(one.src)
    proto = {"tcp": TCP, "udp": UDP, "udp-fragmented": UDP, "sctp": SCTP, "esp": packet.ESP,
             "gre": packet.GRE, "icmp": ICMP6 if six else ICMP}[one.kind]
    sport = one.sport if one.kind not in ("esp", "gre") else 0
    dport = one.dport if one.kind not in ("esp", "gre", "icmp") else 0
    return one.src, one.dst, proto, sport, dport


def tuple_attr(key):
    """CTA_TUPLE_ORIG of a key."""
    src, dst, proto, sport, dport = key
    six = 2 if packet.is6(src) else 0
    addrs = attr(1 + six, packet.packed(src)) + attr(2 + six, packet.packed(dst))
    more = attr(1, bytes([proto]))
    if proto in (ICMP, ICMP6):
        first = 7 if six else 4
        more += attr(first, struct.pack("!H", sport))
        more += attr(first + 1, bytes([128 if six else 8])) + attr(first + 2, b"\0")
    else:
        more += attr(2, struct.pack("!H", sport)) + attr(3, struct.pack("!H", dport))
    return attr(TUPLE_ORIG | NLA_F_NESTED, attr(TUPLE_IP | NLA_F_NESTED, addrs) +
                attr(TUPLE_PROTO | NLA_F_NESTED, more))


class Conntrack(Socket):
    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
        self.sock.bind((0, 0))
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.sock.settimeout(60)
        self.seq, self.buffer, self.waiting = 1, 65536, []
        self.interrupted = False

    def ask(self, type_, family, body=b"", flags=NLM_F_REQUEST | NLM_F_ACK):
        number = {4: socket.AF_INET, 6: socket.AF_INET6, 0: 0}[family]
        return self.answers(self.send(type_, bytes([number, 0, 0, 0]) + body, flags))

    def flush(self):
        """Forgets every flow; weir's sessions stay."""
        self.ask(CT_DELETE, 0)

    def forget(self, key):
        """Removes one entry; false if there was none."""
        try:
            self.ask(CT_DELETE, 6 if packet.is6(key[0]) else 4, tuple_attr(key))
        except Refused:
            return False
        return True

    def entries(self, family=0):
        """{key: Entry}"""
        got = self.ask(CT_GET, family, flags=NLM_F_REQUEST | NLM_F_DUMP)
        return {e.key: e for e in (Entry(m.body) for m in got)}
