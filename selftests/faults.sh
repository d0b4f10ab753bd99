#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every allocation of a packet's way through fails once: it is delivered, or dropped and counted.
# (Those of each command are in netlink.sh.)
#
#   lb    one namespace: datagrams to a VIP whose backends are out a dummy link
#
# only: debug		(stock kernels inject no faults)
# timeout: 600
# shellcheck source=nl.sh
. "$(dirname "$0")/nl.sh"

debug=/sys/kernel/debug
for fault in failslab fail_page_alloc; do
	[ -d $debug/$fault ] || skip_all "this kernel injects no faults"
	# Also into allocations that may wait, which are ours; the nth one of a process fails, no
	# other.
	echo N > $debug/$fault/ignore-gfp-wait
	echo 0 > $debug/$fault/verbose
done
# Pages that are wanted for themselves: the kernel logs a trace when it has none.
echo 10 > $debug/fail_page_alloc/min-order

nl_up
ips lb << END
link set lo up
link add d0 type dummy
link set d0 up
addr add 10.2.0.254/24 dev d0
route add default dev d0
END
judge in_ns lb "$PYTHON" "$HERE/py/faults.py"
finish
