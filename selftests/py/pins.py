#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Pins connections of this namespace to a backend, and holds them until it is ended.

pins.py SERVICE BACKEND VIP DPORT SPORT COUNT
"""
import signal
import sys

from netlink_lab import backend
from weirnl import U16, U32, Weir, ip


def main():
    service, addr, vip, dport, sport, count = sys.argv[1:]
    weir = Weir()
    for port in range(int(sport), int(sport) + int(count)):
        weir.do("PIN", {"SERVICE_NAME": service, "BACKEND": backend(addr), "PIN": {
            "VIP": ip(vip), "SPORT": U16(port), "DPORT": U16(int(dport)), "LIFE": U32(600)}})
    print("ready", flush=True)
    signal.pause()


main()
