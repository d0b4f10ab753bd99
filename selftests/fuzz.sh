#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Requests that are nearly right, from two writers and a reader at once, while packets come.
# The kernel survives, answers, and forgets nothing that it allocated.
#
#   lb    one namespace: netlink, and datagrams to the VIPs that the requests make
#
# WEIR_FUZZ is the number of requests, WEIR_SEED replays them.
#
# shellcheck source=nl.sh
. "$(dirname "$0")/nl.sh"

nl_up
ips lb << END
link set lo up
link add d0 type dummy
link set d0 up
addr add 10.2.0.254/24 dev d0
addr add fd00:2::fe/64 dev d0 nodad
route add default dev d0
END
ip -n "$lb" -6 route add default dev d0
in_ns lb "$PYTHON" - << 'END' &
import random, socket
from time import sleep
socks = [socket.socket(f, socket.SOCK_DGRAM) for f in (socket.AF_INET, socket.AF_INET6)]
while True:
    for sock, vip in zip(socks, ("10.9.9.9", "fd00:9::9")):
        try:
            sock.sendto(b"x", (vip, random.randrange(1, 65536)))
        except OSError:
            pass
    sleep(0.005)
END
PIDS+=($!)
judge in_ns lb "$PYTHON" "$HERE/py/netlink_fuzz.py" "${WEIR_SEED:-$RANDOM}" "${WEIR_FUZZ:-4000}"
finish
