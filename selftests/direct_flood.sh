#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct mode with the table of sessions full: SYNs, and pairs of datagrams, from addresses that
# exist nowhere, about twice as many as there is room. Connections that are there never break,
# whatever comes is forwarded all the same, and new ones work all the time.
#
#   cli: connections at b1, a new one each second, ==== lb (room for 1024 sessions) ==== b1 b2 b3
#        and packets from 172.16.0.0/12, fd00:f::/64
#
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

RAW_OK=True LEAK_OK='icmp or icmp6'
CONNS=20
MAX=1024
RATE=300 LENGTH=6

prepare() {
	local name
	flood_routes
	for name in "${BACKENDS[@]}"; do
		in_ns "$name" sysctl -qw net.ipv4.tcp_synack_retries=0
	done
	in_ns lb sysctl -qw net.weir.max_sessions=$MAX
}

flood_up() {		# KIND TIMES [SECONDS]
	local port=80
	[ "$1" = tcp ] || port=53
	"$PYTHON" "$HERE/py/flood.py" "$cli" "$lb" "$1" "$F" "$VIP" "$port" "$RATE" "${3:-$LENGTH}" \
		0 1000000 "$2" > "$TMP/flood" 2>&1 &
	FLOOD=$!
	PIDS+=("$FLOOD")
}

seen() {		# packets of the flood at the backends
	lab count "(tcp and syn and not ack or udp) and src.startswith(('172.', 'fd00:f:'))"
}

sessions() {
	wjson "len(J)" flows "$WEB"
}

evicted() {
	wjson "sum(r['packets'] for r in J['reasons'] if r['name'] == 'session-evicted')" stats
}

# Connections that would be selected elsewhere, had they no entry: b2 and b3 come after them.
connections_up() {
	WEB_BACKENDS=1 web "forward direct"
	weir flush > /dev/null
	load_up "est$F" cli tcp "$VIP" 80 conns="$CONNS" every=0.5
	load_more "est$F" ok $((2 * CONNS))
	weir backend add "$WEB" "$B2"
	weir backend add "$WEB" "$B3"
}

flood() {		# NAME KIND TIMES
	local words sent before
	connections_up
	load_up "new$F" cli new "$VIP" 80 every=1
	lab mark > /dev/null
	drops_mark
	before=$(evicted)
	flood_up "$2" "$3"
	wait "$FLOOD"
	sent=$(< "$TMP/flood")
	[[ $sent =~ ^[0-9]+$ ]] || bail "the flood failed: $sent"
	between "$1: the table was full" "$(sessions)" $((MAX * 3 / 4)) "$MAX"
	between "$1: entries gave way, counted" "$(($(evicted) - before))" $((sent - MAX)) $((sent + 100))
	is "$1: every packet was forwarded" \
		"$(busywait 20000 prints $((sent * $3)) seen)" $((sent * $3))
	load_more "est$F" ok $((2 * CONNS))
	words=$(load_down "est$F")
	is "$1: no connection broke ($words)" \
		"$(val lost "$words") $(val moved "$words") $(val reset "$words")" "0 0 0"
	is "$1: all of them stayed at b1" "$(val at_b1 "$words")" "$(val ok "$words")"
	load_more "new$F" ok 2
	words=$(load_down "new$F")
	is "$1: new connections worked all the time ($words)" "$(val ok "$words")" "$(val sent "$words")"
	is "$1: nothing else was counted" "$(drops | tr ' ' '\n' | grep -vc '^session-evicted=')" 0
}

floods() {
	flood "SYNs" tcp 1
	# a second packet makes an entry as good as that of a connection: then the older one goes
	flood "datagrams in pairs" udp 2
}

unload() {
	web "forward direct"
	flood_up tcp 1 3
	busywait 10000 at_least $((MAX / 4)) sessions > /dev/null
	check "the module goes in the middle of a flood" timeout 20 rmmod weir
	wait "$FLOOD"
	check "it comes back" modprobe weir
}

lab_up 3 tcp:80
vips_up
use 4
web "forward direct"
prepare
for_families floods
for_families unload
finish
