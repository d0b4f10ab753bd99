#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two CPUs send packets of the same flows while backends come and go: both may find that a flow
# must be selected anew. Each packet is at a backend that was allowed, or counted; none is lost
# otherwise, none goes out raw.
#
#   cli, two senders of the same eight tuples ==== lb, changes in a loop ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

STREAM='udp and dport == 53'

sender() {		# NAME CPU
	load_up "$1" cli oneway "$VIP" 53 conns=8 every=0.05 sport=5300
	taskset -apc "$2" "$(< "$TMP/load.$1.pid")" > /dev/null
}

# The SO_REUSEADDR of both lets them have the same ports.
race() {
	local i seen sent words
	web
	drops_mark
	lab mark > /dev/null
	sender one 0
	sender two 1
	load_more one sent 100
	load_more two sent 100
	for ((i = 0; i < 10; i++)); do
		weir backend del "$WEB" "$B1"
		weir backend add "$WEB" "$B1"
		weir backend set "$WEB" "$B2" health down
		weir backend set "$WEB" "$B2" health auto
		weir backend del "$WEB" "$B3"
		weir backend add "$WEB" "$B3"
	done
	sent=$(($(val sent "$(load_down one)") + $(val sent "$(load_down two)")))
	seen=$(lab count "$STREAM")
	words=$(drops)
	note "$sent sent, $seen at backends, dropped: $words"
	is "every datagram is at a backend or counted as reselect-race" \
		"$((seen + $(val reselect-race "$words")))" "$sent"
	like "nothing else is dropped" "$words" "@(none|reselect-race=+([0-9]))"
	check "at the end weir and conntrack list the same flows" busywait 5000 agree
}

agree() {
	local ours theirs
	ours=$(wjson "len(J)" flows "$WEB") theirs=$(tracked --orig-dst "$VIP")
	echo "weir: $ours, conntrack: $theirs"
	[ "$ours" = "$theirs" ] && [ "$ours" = 8 ]
}

# The last removal leaves one backend: nothing may still go elsewhere, ten rounds long.
settled() {
	local i wrong=0
	load_up one cli oneway "$VIP" 53 conns=4 every=0.05 sport=5300
	load_up two cli oneway "$VIP" 53 conns=4 every=0.05 sport=5300
	for ((i = 0; i < 10; i++)); do
		weir backend del "$WEB" "$B1"
		lab mark > /dev/null
		load_more one sent 12
		[ "$(lab count "$STREAM" b1)" = 0 ] || wrong=$((wrong + 1))
		weir backend add "$WEB" "$B1"
	done
	is "after a removal nothing reaches the backend, in ten rounds" "$wrong" 0
	load_down one > /dev/null
	load_down two > /dev/null
}

both() {
	race
	settled
}

lab_up 3 tcp:80 udp:53
for_families both
finish
