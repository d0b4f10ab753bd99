#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Echo servers that answer with their own name, in any number of network namespaces.

server.py NAME=NETNS... -- {tcp|udp|sctp}:PORT[@ADDRESS]...

One process serves them all: each socket stays in the namespace it was made in.  Prints
"ready" once every socket is bound.  TCP and SCTP: each line is answered by "NAME LINE";
"size=N" asks for an answer of N bytes, "fin" and "rst" end the connection that way.
UDP: "NAME DATA", filled up to N bytes for "size=N ...".  "quiet..." is not answered.
"""
import ctypes
import os
import selectors
import signal
import socket
import struct
import sys

IPPROTO_SCTP = 132
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def enter(netns):
    """Makes the calling thread create its next sockets in netns."""
    fd = os.open(f"/run/netns/{netns}", os.O_RDONLY)
    try:
        if LIBC.setns(fd, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {netns}")
    finally:
        os.close(fd)


def answer(name, data):
    """What the server called name says to data."""
    text = name + b" " + data
    if data.startswith(b"size="):
        size = int(data[5:].split()[0])
        return text.rstrip(b"\n").ljust(size - 1, b"x") + b"\n"
    return text


class Stream:
    """One accepted connection."""

    def __init__(self, loop, sock, name):
        self.loop, self.sock, self.name = loop, sock, name
        self.seen, self.due = b"", b""
        sock.setblocking(False)
        loop.register(sock, selectors.EVENT_READ, self.ready)

    def end(self):
        self.loop.unregister(self.sock)
        self.sock.close()

    def ready(self, mask):
        try:
            if mask & selectors.EVENT_READ and not self.read():
                return
            self.due = self.due[self.sock.send(self.due):] if self.due else b""
        except BlockingIOError:
            pass
        except OSError:
            self.end()
            return
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if self.due else 0)
        self.loop.modify(self.sock, events, self.ready)

    def read(self):
        data = self.sock.recv(65536)
        if not data:
            self.end()
            return False
        *lines, self.seen = (self.seen + data).split(b"\n")
        for line in lines:
            if line in (b"fin", b"rst"):
                if line == b"rst":
                    self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                         struct.pack("ii", 1, 0))
                self.end()
                return False
            self.due += answer(self.name, line + b"\n")
        return True


def serve_udp(sock, name):
    def ready(_mask):
        try:
            data, peer = sock.recvfrom(65535)
            if not data.startswith(b"quiet"):
                sock.sendto(answer(name, data), peer)
        except OSError:
            pass    # an ICMP error for an earlier answer; or nothing to read after all
    return ready


def serve_stream(loop, sock, name):
    def ready(_mask):
        try:
            Stream(loop, sock.accept()[0], name)
        except OSError:
            pass    # gone before we came to it
    return ready


def listen(loop, name, kind, port, addr="::"):
    proto = IPPROTO_SCTP if kind == "sctp" else 0
    style = socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM
    sock = socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET, style, proto)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if addr == "::":
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    sock.setblocking(False)
    sock.bind((addr, port))
    if kind == "udp":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        loop.register(sock, selectors.EVENT_READ, serve_udp(sock, name))
    else:
        sock.listen(4096)
        loop.register(sock, selectors.EVENT_READ, serve_stream(loop, sock, name))


def crash(loop):
    """Ends at once, and with an abort where the transport has one, as a machine's end would be:
    a graceful end goes on for a while after the process."""
    for key in list(loop.get_map().values()):
        if key.fileobj.type == socket.SOCK_STREAM:
            key.fileobj.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    os._exit(1)


def main():
    cut = sys.argv.index("--")
    loop = selectors.DefaultSelector()
    for arg in sys.argv[1:cut]:
        name, netns = arg.split("=")
        enter(netns)
        for spec in sys.argv[cut + 1:]:
            kind, place = spec.split(":", 1)
            port, *addr = place.split("@")
            listen(loop, name.encode(), kind, int(port), *addr)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    signal.signal(signal.SIGUSR1, lambda *_: crash(loop))
    print("ready", flush=True)
    while True:
        for key, mask in loop.select():
            key.data(mask)


if __name__ == "__main__":
    main()
