#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each step of loading fails once, then each allocation of it: the module is loaded, or it is
# not there and nothing of it is, and the log says so in one line. (What is still allocated then,
# kmemleak finds.)
#
#   three namespaces, so that there is something to undo when it fails in the second one
#
# only: debug		(steps that can fail are built for those kernels, which inject faults)
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

absent() {		# 0 if there is nothing of the module
	[ ! -e /sys/module/weir ] && [ ! -e /proc/sys/net/weir ] &&
		! command weir show > /dev/null 2>&1
}

said() {
	kernel_log | grep -c 'weir: not loaded: error -12$'
}

# Creation of the queue, of what a namespace has (three steps each), of the family.
steps() {
	local n=0 bad=0
	modprobe -r weir
	until n=$((n + 1)); modprobe weir "fail_step=$n" 2> /dev/null; do
		absent || { bad=$((bad + 1)); note "step $n leaves something behind"; }
		[ "$(said)" = "$n" ] || { bad=$((bad + 1)); note "step $n says $(said) lines"; }
		[ "$n" -lt 99 ] || break
	done
	is "as many steps failed as there are" $((n - 1)) $((4 + 3 * 3))
	is "none left anything behind, each was reported in one line" "$bad" 0
	check "then it can be loaded" [ -e /sys/module/weir ]
	modprobe -r weir
}

allocations() {
	local ko
	ko=$(modinfo -n weir)
	PYTHONPATH=$HERE/py "$PYTHON" "$HERE/py/load_faults.py" "$ko" > "$TMP/out" 2>&1 ||
		note "exit $?"
	sed 's/^/# /' "$TMP/out"
	like "each allocation of loading failed once, and it was loaded or absent" \
		"$(tail -n 1 "$TMP/out")" "good"
	check "then it can be loaded" modprobe weir
}

tap_begins
[ "$(id -u)" = 0 ] || skip_all "needs root"
for fault in failslab fail_page_alloc; do
	[ -d "/sys/kernel/debug/$fault" ] || skip_all "this kernel injects no faults"
	echo N > "/sys/kernel/debug/$fault/ignore-gfp-wait"
	echo 0 > "/sys/kernel/debug/$fault/verbose"
done
# Pages that are wanted for themselves: the kernel logs a trace when it has none.
echo 10 > /sys/kernel/debug/fail_page_alloc/min-order
LOG_MARK="weir test $ME $$ begins"
echo "$LOG_MARK" > /dev/kmsg
modprobe weir || bail "modprobe weir failed"
setup_ns one two
steps
allocations
finish
