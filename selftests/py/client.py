# SPDX-License-Identifier: GPL-2.0
"""Calls to the echo servers: who answered, or how the call failed, in one word."""
import errno
import itertools
import os
import selectors
import socket
import struct
import time

from server import IPPROTO_SCTP, enter

IP_FREEBIND, IPV6_FREEBIND = 15, 78
WORDS = {errno.ECONNREFUSED: "refused", errno.ECONNRESET: "reset", errno.EPIPE: "reset",
         errno.EHOSTUNREACH: "unreach", errno.ENETUNREACH: "unreach", errno.EACCES: "prohibited",
         errno.ETIMEDOUT: "timeout", errno.EMSGSIZE: "toobig", errno.EADDRINUSE: "inuse",
         errno.EADDRNOTAVAIL: "noaddr", errno.EPROTO: "badproto", errno.ENOPROTOOPT: "noproto"}
SERIAL = itertools.count(1)
PATIENCE = int(os.environ.get("WEIR_PATIENCE", "1"))    # see lib.sh


def word(number):
    """One word for an errno."""
    return WORDS.get(number, errno.errorcode.get(number, str(number)).lower())


class Call:
    """One socket and its latest exchange.

    result is the name of the server that answered, or the word for the failure; owner is the
    first server that answered; right tells a name from a word.
    """

    def __init__(self, kind, netns, name, dst, port, src="", sport=0):
        self.kind, self.netns, self.name, self.dst, self.port = kind, netns, name, dst, port
        self.src, self.sport, self.sock, self.owner = src, sport, None, ""
        self.result, self.took, self.began = "unused", 0.0, 0.0
        self.want, self.got, self.due, self.ask, self.long = b"", b"", b"", 0, 0
        self.connecting = self.right = False

    def local(self):
        return self.sock.getsockname()[:2]

    def start(self):
        """Makes and connects the socket."""
        enter(self.netns)
        six = ":" in self.dst
        self.sock = socket.socket(socket.AF_INET6 if six else socket.AF_INET,
                                  socket.SOCK_DGRAM if self.kind == "udp" else socket.SOCK_STREAM,
                                  IPPROTO_SCTP if self.kind == "sctp" else 0)
        self.sock.setblocking(False)
        if self.src or self.sport:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.sock.setsockopt(*((socket.IPPROTO_IPV6, IPV6_FREEBIND) if six else
                                   (socket.IPPROTO_IP, IP_FREEBIND)), 1)
            self.sock.bind((self.src or ("::" if six else "0.0.0.0"), self.sport))
        number = self.sock.connect_ex((self.dst, self.port))
        if number not in (0, errno.EINPROGRESS):
            raise OSError(number, "connect")
        self.connecting = number != 0

    def expect(self, size=0, ask=0):
        """What to send next; the answer must repeat it behind the server's name.

        size: so long is the request (UDP); ask: so long shall the answer be.
        """
        text = f"size={ask} " if ask else "hi "
        self.want = (text + str(next(SERIAL))).encode().ljust(size, b"x")
        self.due = self.want if self.kind == "udp" else self.want + b"\n"
        self.ask, self.got, self.long = ask, b"", len(self.due)
        return self.due

    def say(self, data):
        try:
            self.sock.send(data)
            return "sent"
        except OSError as err:
            return word(err.errno)

    def probe(self):
        """How the socket is, without waiting: open, closed, reset, ..."""
        if self.sock is None:
            return self.result
        try:
            data = self.sock.recv(65536)
        except BlockingIOError:
            return "open"
        except OSError as err:
            self.finish(word(err.errno))
            return self.result
        return "open" if data or self.kind == "udp" else "closed"

    def finish(self, result):
        self.result, self.took = result, time.monotonic() - self.began
        self.right = False
        if result in ("reset", "closed") and self.sock:
            self.sock.close()
            self.sock = None

    def step(self):
        """Goes as far as the socket lets it; true when the exchange is over."""
        try:
            if self.connecting:
                number = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if number:
                    raise OSError(number, "connect")
                self.sock.getpeername()
                self.connecting = False
            if self.due:
                self.due = self.due[self.sock.send(self.due):]
            if self.due:
                return False
            return self.read()
        except BlockingIOError:
            return False
        except OSError as err:
            if err.errno == errno.ENOTCONN:
                return False        # woken early: still connecting
            self.finish(word(err.errno))
            return True

    def read(self):
        data = self.sock.recv(1 << 20)
        if not data and self.kind != "udp":
            self.finish("closed")
            return True
        self.got = data if self.kind == "udp" else self.got + data
        if self.kind != "udp" and not self.got.endswith(b"\n"):
            return False
        name, _, rest = self.got.partition(b" ")
        right = rest.startswith(self.want) and \
            len(self.got) == (self.ask or len(name) + 1 + self.long)
        if self.kind == "udp" and not rest.startswith(self.want):
            return False            # the answer to an earlier datagram
        return self.answered(name, right)

    def answered(self, name, right):
        self.finish(name.decode(errors="replace") if right else "garbled")
        self.right = right
        if right and not self.owner:
            self.owner = self.result
        return True

    def finish_politely(self, timeout):
        """Half-closes, waits for the other side's end, then closes."""
        if self.sock is None:
            return False
        try:
            self.sock.settimeout(timeout * PATIENCE)
            self.sock.shutdown(socket.SHUT_WR)
            return not self.sock.recv(1)
        except OSError:
            return False
        finally:
            self.close()

    def close(self, rst=False):
        if self.sock is None:
            return
        if rst:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()
        self.sock = None


class Pool:
    """Calls whose sockets stay open."""

    def __init__(self):
        self.calls = []

    def add(self, calls):
        self.calls += calls

    def of(self, owner):
        return [one for one in self.calls if not owner or one.owner == owner]

    def leave(self, name):
        for one in self.calls:
            if one.name == name:
                one.close()

    def close(self, owner, rst):
        going = self.of(owner)
        for one in going:
            one.close(rst)
        self.calls = [one for one in self.calls if one not in going]
        return len(going)


def begin(one, size, ask, already):
    """Starts an exchange; true when it is over at once."""
    one.began = time.monotonic()
    if already:
        one.due = b""
        return one.step()
    if one.sock is None and one.result != "unused":
        return True         # closed under us before: its result stands
    one.expect(size, ask)
    try:
        if one.sock is None:
            one.start()
    except OSError as err:
        one.finish(word(err.errno))
        return True
    return one.step()


def run_calls(calls, timeout, window, size=0, ask=0, already=False):
    """One exchange on each of calls, at most window at a time; timeout times WEIR_PATIENCE is
    how long each may take.

    already: the request was sent by other means; only the answer is waited for.
    """
    waiting, busy = list(reversed(calls)), {}
    with selectors.DefaultSelector() as loop:
        while waiting or busy:
            while waiting and len(busy) < window:
                one = waiting.pop()
                if not begin(one, size, ask, already):
                    busy[loop.register(one.sock, interest(one), one).fd] = one
            for key, _ in loop.select(0.05):
                one = key.data
                loop.unregister(one.sock)
                del busy[key.fd]
                if not one.step():
                    busy[loop.register(one.sock, interest(one), one).fd] = one
            late = time.monotonic() - timeout * PATIENCE
            for fd in [fd for fd, one in busy.items() if one.began < late]:
                one = busy.pop(fd)
                loop.unregister(one.sock)
                one.finish("timeout")


def interest(one):
    if one.connecting or one.due:
        return selectors.EVENT_WRITE
    return selectors.EVENT_READ
