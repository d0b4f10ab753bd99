#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The module goes and comes back under traffic. Nothing is sent raw on the way: the client never
# hears a backend's address, a backend never sees the VIP. With the same key and configuration
# the same table stands again, so that open connections find their backend.
#
#   cli, loads ==== lb, rmmod and modprobe ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# A backend that waits for an acknowledgement would repeat its answer when weir is gone, which
# is routed like any other packet then. So connections are quiet at that moment, and what runs
# are datagrams: each is answered once.
reload() {
	local words i
	words=$(lab open "t$F" tcp cli "$VIP" 80 n=12)
	load_up "u$F" cli udp "$VIP" 53 conns=8 every=0.02
	load_up "o$F" cli oneway "$VIP" 53 conns=4 every=0.02
	load_more "u$F" ok 50
	weir save > "$TMP/saved"
	for ((i = 1; i <= 3; i++)); do
		check "round $i: the module goes under load" rmmod weir
		is "round $i: its conntrack entries are gone" "$(tracked --orig-dst "$VIP")" 0
		check "round $i: it comes back" modprobe weir
		check "round $i: with its configuration" weir apply "$TMP/saved"
		load_more "u$F" ok 50
	done
	words2=$(load_down "u$F")
	is "no datagram went to two backends or got a wrong answer ($words2)" \
		"$(val garbled "$words2") $(val moved "$words2")" "0 0"
	load_down "o$F" > /dev/null
	is "connections of before go on where they were" "$(lab req "t$F")" "$words"
	lab close "t$F" > /dev/null
}

empty_handed() {
	web
	lab open "e$F" tcp cli "$VIP" 80 n=3 > /dev/null
	check "the module goes with open connections" rmmod weir
	lab mark > /dev/null
	is "without weir nobody serves the VIP" \
		"$(answers "$(lab call udp cli "$VIP" 53 timeout=1)")" 0
	is "backends see nothing" "$(lab count "src == CLI")" 0
	modprobe weir
	is "a fresh module has no configuration" "$(weir -j show)" "[]"
	lab close "e$F" how=rst > /dev/null
}

# While its last flows go it takes no new ones, and says so: its counters go with it. Nobody
# answers these datagrams.
closing() {
	local pid before
	web
	in_ns lb sysctl -qw net.weir.log_drops=1
	"$PYTHON" "$HERE/py/flood.py" "$cli" "$lb" udp "$F" "$VIP" 53 300 60 > /dev/null 2>&1 &
	pid=$!
	PIDS+=("$pid")
	busywait 20000 flows_come > /dev/null || fail "no flow comes"
	before=$(kernel_log | grep -c 'weir.*closing')
	check "the module goes while flows come" rmmod weir
	isnt "those of that moment are dropped, by name" \
		"$(kernel_log | grep -c 'weir.*closing')" "$before"
	kill "$pid"
	modprobe weir
}

flows_come() {
	[ "$(tracked --orig-dst "$VIP")" -gt 20 ]
}

all() {
	web
	reload
	empty_handed
	closing
}

lab_up 3 tcp:80 udp:53
for_families all
finish
