#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
#
# Servers that do what no server should, each on a port of its own, IPv4 and
# IPv6. Arguments: certificate, key, a file that is made when all listen.
import socket
import ssl
import struct
import sys
import threading
import time
import urllib.parse

PROXY = b"PROXY UNKNOWN\r\n"
NOTE = b"all is well"


def read_head(conn):
    data = b""
    while b"\r\n\r\n" not in data:
        more = conn.recv(4096)
        if not more:
            break
        data += more
    return data


def read_exactly(conn, n):
    data = b""
    while len(data) < n:
        more = conn.recv(n - len(data))
        if not more:
            break
        data += more
    return data


def answer(conn, body, status="200 OK", header=()):
    lines = ["HTTP/1.1 " + status, "Content-Length: %d" % len(body), *header]
    conn.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


def silent(conn):
    time.sleep(30)


def drip(conn):
    for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx" * 10:
        conn.sendall(bytes([byte]))
        time.sleep(1)


def endless_header(conn):
    conn.sendall(b"HTTP/1.1 200 OK\r\n")
    while True:
        conn.sendall(b"X-More: and more\r\n" * 100)


def endless_line(conn):
    conn.sendall(b"HTTP/1.1 200 OK\r\nX-More: ")
    while True:
        conn.sendall(b"and more" * 1000)


def endless_interim(conn):
    while True:
        conn.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def endless_body(conn):
    read_head(conn)
    conn.sendall(b"HTTP/1.1 200 OK\r\nX-Load-Balancing-Endpoint-Weight: 3\r\n\r\n")
    while True:
        conn.sendall(NOTE * 100)


def reset(conn):
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def reset_later(conn):
    conn.recv(1)
    reset(conn)


def leave(conn):
    conn.recv(65536)


def garbage(conn):
    conn.recv(1)
    conn.sendall(bytes(range(256)) * 10)
    conn.recv(65536)


def banner(conn):
    conn.sendall(b"220 ready\r\n")
    time.sleep(5)


# Says one thing in two pieces.
def pieces(conn):
    conn.sendall(b"220 re")
    time.sleep(0.2)
    conn.sendall(b"ady\r\n")
    time.sleep(5)


def echo(conn):
    while True:
        data = conn.recv(65536)
        if not data:
            break
        conn.sendall(data)


def flood(conn):
    while True:
        conn.sendall(b"y" * 65536)


# "yes" where the line came first, and then what was sent next.
def proxy_tcp(conn):
    good = read_exactly(conn, len(PROXY)) == PROXY
    conn.sendall(b"yes " + conn.recv(100) if good else b"no")
    time.sleep(0.2)


def proxy_http(conn):
    head = read_head(conn)
    good = head.startswith(PROXY + b"GET ")
    answer(conn, NOTE, "200 OK" if good else "400 Bad")


def proxy_alone(conn):
    global proxied
    data = b""
    while more := conn.recv(100):
        data += more
    proxied = data == PROXY


# Did the last probe of proxy_alone() send the line and nothing else?
def proxy_seen(conn):
    read_head(conn)
    answer(conn, NOTE, "200 OK" if proxied else "404 No")


def proxy_tls(conn):
    if read_exactly(conn, len(PROXY)) != PROXY:
        return
    with context.wrap_socket(conn, server_side=True) as tls:
        head = read_head(tls)
        answer(tls, NOTE, "200 OK" if head.startswith(b"GET ") else "400 Bad")


# TLS says the right thing, but never more than one byte of it at a time.
def tls_slow(conn):
    with context.wrap_socket(conn, server_side=True) as tls:
        tls.recv(100)
        for byte in b"pong":
            tls.sendall(bytes([byte]))
            time.sleep(0.05)


def tls_then_silent(conn):
    with context.wrap_socket(conn, server_side=True):
        time.sleep(30)


def tls_then_close(conn):
    with context.wrap_socket(conn, server_side=True) as tls:
        tls.recv(100)


def tls_name(conn):
    names = []
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(sys.argv[1], sys.argv[2])
    own.sni_callback = lambda sock, name, ctx: names.append(name)
    with own.wrap_socket(conn, server_side=True) as tls:
        read_head(tls)
        answer(tls, b"name %s." % str(names[0]).encode())


def peer(conn):
    read_head(conn)
    address = conn.getpeername()[0].removeprefix("::ffff:")
    answer(conn, b"peer " + address.encode() + b".")


def weight(conn, values):
    name = "x-LOAD-Balancing-endpoint-WEIGHT: "
    status = "200 OK"
    if values.startswith("503"):
        status, values = "503 No", values[4:]
    answer(conn, NOTE, status,
           [name + value for value in values.split("|")] if values != "none" else [])


def paths(conn):
    head = read_head(conn)
    path = head.split(b" ")[1].decode()
    name = path.split("/")[1]
    if name == "weight":
        weight(conn, urllib.parse.unquote(path[len("/weight/"):]))
    elif name == "end1024":
        answer(conn, b"x" * (1024 - len(NOTE)) + NOTE + b"x" * 5000)
    elif name == "end1025":
        answer(conn, b"x" * (1025 - len(NOTE)) + NOTE + b"x" * 5000)
    elif name == "exact1024":
        answer(conn, b"x" * (1024 - len(NOTE)) + NOTE)
    elif name == "echo":
        answer(conn, head)
    elif name == "short":
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + NOTE)
    elif name == "stuck":
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n"
                     b"X-Load-Balancing-Endpoint-Weight: 3\r\n\r\n" + NOTE)
        time.sleep(30)
    elif name == "chunked":
        conn.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for byte in NOTE:
            conn.sendall(b"1\r\n%c\r\n" % byte)
        conn.sendall(b"0\r\nX-Load-Balancing-Endpoint-Weight: 9\r\n\r\n")
    elif name == "badchunk":
        conn.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                     b"ffffffffffffffffff\r\nx\r\n")
    elif name == "until-close":
        conn.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + NOTE)
    elif name == "interim":
        conn.sendall(b"HTTP/1.1 103 Early\r\nX-Load-Balancing-Endpoint-Weight: 9\r\n\r\n")
        answer(conn, NOTE)
    elif name == "two-faced":
        answer(conn, NOTE, "503 No", ["HTTP/1.1 200 OK"])
    elif name == "negative":
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n" + NOTE)
    elif name == "zeros":
        conn.sendall(b"HTTP/1.1 200 OK\r\nX\0Y: \0\r\nContent-Length: 3\r\n\r\n\0\0\0")
    elif name == "long":
        answer(conn, NOTE, header=["X-%d: %s" % (i, "y" * 90) for i in range(200)])
    elif name == "redirect":
        answer(conn, b"", "301 Moved", ["Location: /ok"])
    else:
        answer(conn, NOTE)


# An HTTP/2 server that says frames of nonsense.
def bad_frames(conn):
    conn.recv(100)
    conn.sendall(b"\0\0\0\4\0\0\0\0\0" + b"\xff" * 1000)
    time.sleep(5)


# ... or opens with more settings than anybody can read.
def endless_frames(conn):
    while True:
        conn.sendall(b"\0\0\0\4\0\0\0\0\0" * 1000)


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + \
        struct.pack(">I", stream) + payload


# Literals without index: what a header needs and nothing cleverer.
def pack(fields):
    data = b""
    for name, value in fields:
        data += b"\0%c%s%c%s" % (len(name), name, len(value), value)
    return data


# HTTP/2 by hand: waits for the whole request, then says these frames.
def http2(*frames):
    def handler(conn):
        conn.sendall(frame(4, 0, 0, b""))
        read_exactly(conn, 24)
        while True:
            head = read_exactly(conn, 9)
            if len(head) < 9:
                return
            read_exactly(conn, int.from_bytes(head[:3], "big"))
            if head[3] == 0 and head[4] & 1:
                break
        conn.sendall(b"".join(frames))
        conn.recv(65536)
    return handler


END_STREAM, END_HEADERS = 1, 4
OK = b"\x88" + pack([(b"content-type", b"application/grpc")])
OK_FRAME = frame(1, END_HEADERS, 1, OK)
LONG = pack([(b"x-long", b"y" * 100)] * 100)
SERVING = b"\0\0\0\0\2\x08\1"


def data(payload):
    return frame(0, 0, 1, payload)


def trailers(*statuses):
    return frame(1, END_HEADERS | END_STREAM, 1,
                 pack([(b"grpc-status", status) for status in statuses]))


GRPC = {
    9101: http2(OK_FRAME, data(SERVING[:3]), data(SERVING[3:]), trailers(b"0")),
    9112: http2(frame(1, END_HEADERS, 1, OK + LONG), data(SERVING), trailers(b"0")),
    9102: http2(frame(1, END_HEADERS | END_STREAM, 1, b"\x8d")),
    9103: http2(OK_FRAME, data(b"garbage"), trailers(b"0")),
    9104: http2(OK_FRAME, data(SERVING), frame(0, END_STREAM, 1, b"")),
    9105: http2(frame(1, END_HEADERS | END_STREAM, 1,
                      OK + pack([(b"grpc-status", b"0")]))),
    9106: http2(OK_FRAME, data(SERVING * 2), trailers(b"0")),
    9107: http2(OK_FRAME, data(b"\1" + SERVING[1:]), trailers(b"0")),
    9108: http2(OK_FRAME, data(SERVING), trailers(b"0", b"1")),
    9109: http2(frame(1, 0, 1, OK + LONG), frame(9, END_HEADERS, 1, LONG)),
    9110: http2(frame(1, END_HEADERS | END_STREAM, 1,
                      OK + pack([(b"grpc-status", b"14")]))),
    9111: http2(frame(3, 0, 1, b"\0\0\0\2")),
}

SERVERS = {
    9001: silent, 9002: drip, 9003: endless_header, 9004: endless_body,
    9005: reset, 9006: leave, 9007: banner, 9008: proxy_tcp, 9009: proxy_http,
    9010: proxy_tls, 9011: peer, 9012: paths, 9013: endless_line,
    9014: endless_interim, 9015: garbage, 9016: reset_later, 9017: echo,
    9018: flood, 9019: pieces, 9020: tls_slow, 9021: tls_then_silent,
    9022: tls_then_close, 9023: tls_name, 9024: bad_frames, 9025: endless_frames,
    9026: proxy_alone, 9027: proxy_seen, **GRPC,
}

proxied = False
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])


def serve_one(conn, handler):
    try:
        handler(conn)
        conn.close()
    except OSError:
        conn.close()


def serve(sock, handler):
    while True:
        conn, _ = sock.accept()
        threading.Thread(target=serve_one, args=(conn, handler), daemon=True).start()


threading.stack_size(256 * 1024)
for port, function in SERVERS.items():
    listener = socket.create_server(("::", port), family=socket.AF_INET6,
                                    dualstack_ipv6=True, backlog=1024)
    threading.Thread(target=serve, args=(listener, function), daemon=True).start()
open(sys.argv[3], "w").close()
threading.Event().wait()
