#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The nth allocation of loading the module fails, for every n: load_faults.py FILE

Prints "good" if each time the module was loaded or absent, whatever the kernel answered.
"""
import ctypes
import os
import sys

from faults import Fault

FINIT_MODULE, DELETE_MODULE, O_NONBLOCK = 313, 176, 0o4000
MOST = 5000
LIBC = ctypes.CDLL(None, use_errno=True)


def load(path, nth):
    """Returns errno or 0, and whether an allocation failed."""
    file = os.open(path, os.O_RDONLY)
    with Fault(nth) as fault:
        result = LIBC.syscall(FINIT_MODULE, file, b"", 0)
        error = ctypes.get_errno() if result else 0
    os.close(file)
    return error, fault.met


def main():
    loads, refusals, bad, nth, met = 0, {}, [], 0, True
    while met and nth < MOST:
        nth += 1
        error, met = load(sys.argv[1], nth)
        there = os.path.exists("/sys/module/weir"), os.path.exists("/proc/sys/net/weir")
        if there != (not error, not error):
            bad.append((nth, error, there))
        if error:
            refusals[os.strerror(error)] = refusals.get(os.strerror(error), 0) + 1
        else:
            loads += 1
            if LIBC.syscall(DELETE_MODULE, b"weir", O_NONBLOCK):
                bad.append((nth, "unload", os.strerror(ctypes.get_errno())))
                break
    print(f"{nth - 1} allocations: loaded {loads - 1} times all the same, refused: {refusals}")
    for one in bad[:10]:
        print("bad:", one)
    print("good" if not bad and 10 < nth < MOST else "bad")


if __name__ == "__main__":
    main()
