#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The nth allocation of a packet's way through fails, for every n.

/proc/thread-self/fail-nth counts down with each allocation of this thread, and the one that
reaches zero fails. When its way is over before that, all allocations have had their turn.
"""
import json
import os
import socket
import subprocess

from netlink_lab import UDP, backend, clear, rule
from verdict import note, ok, run

VIP = "10.9.9.9"
MOST = 3000


class Fault:
    """with Fault(n) as fault: ...; then fault.met says whether it was that far."""

    def __init__(self, nth):
        self.nth, self.met = nth, None
        self.file = os.open("/proc/thread-self/fail-nth", os.O_RDWR)

    def __enter__(self):
        os.pwrite(self.file, b"%d" % self.nth, 0)
        return self

    def __exit__(self, *_):
        self.met = int(os.pread(self.file, 20, 0)) == 0
        os.pwrite(self.file, b"0", 0)
        os.close(self.file)


def web(weir):
    weir.do("TXN_BEGIN", {"REPLACE": True})
    weir.do("SERVICE_ADD", {"SERVICE_NAME": "web"})
    weir.do("RULE_ADD", {"SERVICE_NAME": "web", "RULE": rule(VIP, UDP, 53)})
    for n in (1, 2):
        weir.do("BACKEND_ADD", {"SERVICE_NAME": "web", "BACKEND": backend(f"10.2.0.{n}")})
    weir.do("TXN_COMMIT")


def reasons(weir):
    return {m["REASON"]["NAME"]: m["REASON"]["PACKETS"] for m in weir.dump("COUNTER_GET")}


def packets():
    """Packets"""
    weir = clear()
    web(weir)
    sniff = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    sniff.bind(("d0", 3))
    sniff.settimeout(0.05)
    for n in (1, 2):
        subprocess.run(["ip", "neigh", "replace", f"10.2.0.{n}", "lladdr", "02:00:00:00:00:01", "dev", "d0"],
                       check=True)
    before, raw, nth, met = reasons(weir), 0, 0, True
    while met and nth < MOST:
        nth += 1
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("10.2.0.254", 20000 + nth))
        fault = Fault(nth)
        try:
            with fault:
                sock.sendto(b"x", (VIP, 53))
        except OSError:
            pass
        met = fault.met
        sock.close()
        try:
            while True:
                data = sniff.recv(2000)
                raw += data[9] == 17 and socket.inet_ntoa(data[16:20]) == VIP
        except TimeoutError:
            pass
    after = reasons(weir)
    gone = {k: after[k] - before[k] for k in after if after[k] != before[k]}
    note(f"{nth - 1} allocations; {json.dumps(gone)}")
    ok("a packet had allocations that fail", 1 < nth < MOST)
    ok("none went out with the VIP as its destination", raw == 0, f"{raw}")
    ok("a flow without room for its backend is dropped and counted", gone.get("no-binding", 0) > 0)


if __name__ == "__main__":
    run(packets)
