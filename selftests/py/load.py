#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Steady traffic that runs until SIGTERM, and counts what became of it.

load.py STATUS NETNS {tcp|udp|oneway} DST PORT [conns=N] [every=SECONDS] [src=A+N] [sport=P]
        [patience=SECONDS]

tcp:    conns connections stay open, each makes one exchange per interval; one that breaks is
        replaced by a new one.
udp:    conns sockets make one exchange per interval; an answer that does not come within
        patience (2 seconds) is lost.
oneway: conns sockets send "quiet N" per interval and expect no answer.
new:    like tcp, but each exchange has a connection of its own.

STATUS is a file that holds the latest figures as one line of words, replaced as a whole:
sent, ok, lost, moved (an open connection answered by another server: never right), reset,
refused, ... and the exchanges per server as at_NAME.
"""
import os
import signal
import sys
import time

from client import PATIENCE, Call, word
from lab import address_range


class Load:
    def __init__(self, status, netns, kind, dst, port, conns="1", every="0.1", src="", sport="0",
                 patience=2.0 * PATIENCE):
        self.status, self.kind, self.every = status, kind, float(every)
        self.patience = float(patience)
        sources, first = address_range(src) if src else [""], int(sport)
        style = {"oneway": "udp", "new": "tcp"}.get(kind, kind)
        self.make = [lambda s=sources[i % len(sources)], p=first + i if first else 0:
                     Call(style, netns, "", dst, int(port), s, p) for i in range(int(conns))]
        self.calls = [make() for make in self.make]
        self.busy = [False] * len(self.calls)
        self.counts = {"sent": 0, "ok": 0, "lost": 0, "moved": 0}
        self.stop = False

    def count(self, name):
        self.counts[name] = self.counts.get(name, 0) + 1

    def launch(self, i):
        """Begins the next exchange of call i."""
        one = self.calls[i]
        one.began = time.monotonic()
        if self.kind == "oneway":
            one.due = b"quiet %d" % self.counts["sent"]
        else:
            one.expect()
        try:
            if one.sock is None:
                one.start()
            if self.kind == "oneway":
                one.sock.send(one.due)
        except OSError as err:
            self.count(word(err.errno))     # oneway: an ICMP error for an earlier datagram
            if self.kind != "oneway":
                one.close()
                self.calls[i] = self.make[i]()
            return
        self.count("sent")
        self.busy[i] = self.kind != "oneway"

    def advance(self, i):
        """Goes on with the exchange of call i and counts how it ended."""
        one = self.calls[i]
        if one.step():
            result = one.result
        elif time.monotonic() - one.began > self.patience:
            result = "lost"
        else:
            return
        self.busy[i] = False
        if result == "lost":
            self.count("lost")
        elif one.right and (result == one.owner or self.kind == "udp"):
            self.count("ok")
            self.count("at_" + result)
        else:
            self.count("moved" if one.right else result)
        if self.kind == "new" or self.kind == "tcp" and (not one.right or result != one.owner):
            one.close()
            self.calls[i] = self.make[i]()

    def report(self):
        with open(self.status + ".new", "w", encoding="ascii") as out:
            print(*(f"{k}={v}" for k, v in sorted(self.counts.items())), file=out)
        os.rename(self.status + ".new", self.status)

    def run(self):
        due = [time.monotonic() + self.every * i / len(self.calls)
               for i in range(len(self.calls))]
        reported = 0.0
        while not self.stop or any(self.busy):
            now = time.monotonic()
            for i, when in enumerate(due):
                if self.busy[i]:
                    self.advance(i)
                elif now >= when and not self.stop:
                    due[i] = max(when + self.every, now)
                    self.launch(i)
            if now - reported > 0.1:
                self.report()
                reported = now
            rest = min([w for w, busy in zip(due, self.busy) if not busy] + [now + 0.1])
            time.sleep(max(0.001, min(rest - now, 0.01 if any(self.busy) else 0.1)))
        self.report()

    def halt(self, *_):
        self.stop = True


def main():
    options = dict(word.split("=", 1) for word in sys.argv[6:])
    load = Load(*sys.argv[1:6], **options)
    signal.signal(signal.SIGTERM, load.halt)
    load.run()


if __name__ == "__main__":
    main()
