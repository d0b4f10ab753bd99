#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""An HTTP server whose health is written in a file.

health.py PORT FILE [ADDRESS...]

It listens on these addresses, or on all. Each connection gets what the file says then: "200", "503", with "weight=TEXT" also the header
that carries a weight; "hang" accepts and says nothing; "flap" is 200 and 503 in turn. The file
FILE.seen has a line for each request: the time of its connection in ms, the peer, the Host header.
"""
import selectors
import socket
import sys
import time

loop = selectors.DefaultSelector()
turns = {}      # by peer


def answer(words, peer):
    status = words[0] if words else "503"
    if status == "flap":
        turns[peer] = turns.get(peer, 0) + 1
        status = "200" if turns[peer] % 2 else "503"
    lines = [f"HTTP/1.1 {status} as the file says", "Content-Length: 3", "Connection: close"]
    lines += [f"X-Load-Balancing-Endpoint-Weight: {word[7:]}" for word in words if word.startswith("weight=")]
    return ("\r\n".join(lines) + "\r\n\r\nok\n").encode()


def serve(sock, peer, path, came):
    seen = b""
    sock.setblocking(False)

    def end():
        loop.unregister(sock)
        sock.close()

    def ready():
        nonlocal seen
        try:
            data = sock.recv(65536)
        except OSError:
            data = b""
        seen += data
        if not data:
            end()
            return
        if b"\r\n\r\n" not in seen:
            return
        with open(path) as file:
            words = file.read().split()
        host = [l[6:] for l in seen.decode(errors="replace").split("\r\n") if l.lower().startswith("host: ")]
        with open(path + ".seen", "a") as file:
            file.write(f"{came} {peer} {''.join(host)}\n")
        if words[:1] == ["hang"]:
            return
        try:
            sock.send(answer(words, peer))
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass    # it waits for us no longer
    loop.register(sock, selectors.EVENT_READ, ready)


def main():
    port, path = int(sys.argv[1]), sys.argv[2]
    listeners = [socket.create_server((addr, port), family=socket.AF_INET6 if ":" in addr else socket.AF_INET,
                                      backlog=100) for addr in sys.argv[3:]]
    if not listeners:
        listeners.append(socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True,
                                              backlog=100))

    def accept(listener):
        sock, peer = listener.accept()
        serve(sock, peer[0].removeprefix("::ffff:"), path, time.monotonic_ns() // 1000000)
    for listener in listeners:
        loop.register(listener, selectors.EVENT_READ, lambda listener=listener: accept(listener))
    print("ready", flush=True)
    while True:
        for key, _ in loop.select():
            key.data()


main()
