#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Holds the packets of a netfilter queue until it is told to let them go.

nfqueue.py NETNS QUEUE FILE

Prints "bound", then "held" for the first packet; when FILE exists it accepts all that came, and
all that come, until it is killed.
"""
import os
import select
import socket
import struct
import sys

from server import enter

NETLINK_NETFILTER, NLM_F_REQUEST = 12, 1
SUBSYS_QUEUE, PACKET, VERDICT, CONFIG = 3, 0, 1, 2
CFG_CMD, CFG_PARAMS, PACKET_HDR, VERDICT_HDR = 1, 2, 1, 2
BIND, COPY_META, ACCEPT = 1, 1, 1


def message(kind, queue, attr, value):
    body = struct.pack("!BBH", 0, 0, queue) + \
        struct.pack("=HH", 4 + len(value), attr) + value + b"\0" * (-len(value) % 4)
    return struct.pack("=IHHII", 16 + len(body), SUBSYS_QUEUE << 8 | kind, NLM_F_REQUEST, 0,
                       0) + body


def ids(data):
    """The packet ids of what was received."""
    while len(data) >= 20:
        length, kind = struct.unpack_from("=IH", data)
        at = 20
        while kind == SUBSYS_QUEUE << 8 | PACKET and at + 4 <= length:
            size, attr = struct.unpack_from("=HH", data, at)
            if attr & 0x7fff == PACKET_HDR:
                yield struct.unpack_from("!I", data, at + 4)[0]
            at += (size + 3) & ~3
        data = data[(length + 3) & ~3:]


def main():
    netns, queue, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    enter(netns)
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER)
    sock.send(message(CONFIG, queue, CFG_CMD, struct.pack("!BxH", BIND, 0)))
    sock.send(message(CONFIG, queue, CFG_PARAMS, struct.pack("!IB", 0, COPY_META)))
    print("bound", flush=True)
    held = []
    while True:
        if select.select([sock], [], [], 0.05)[0]:
            held += ids(sock.recv(65536))
            print("held", flush=True)
        if os.path.exists(file):
            for one in held:
                sock.send(message(VERDICT, queue, VERDICT_HDR, struct.pack("!II", ACCEPT, one)))
            held = []


if __name__ == "__main__":
    main()
