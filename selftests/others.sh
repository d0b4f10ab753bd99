#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.weir.track_others=0: what is neither to a VIP nor to or from a backend stays out of the
# conntrack table, and works; all that may be ours is in it as before.
#
#   cli ==== lb ==== b1 b2 b3       b3 is a backend of nobody
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

track_others() {	# 0|1
	in_ns lb sysctl -qw "net.weir.track_others=$1" ||
		bail "net.weir.track_others=$1 is refused"
}

pings() {		# NAME ADDR
	in_ns "$1" ping -n -c 1 -W 10 "$2" > "$TMP/ping" 2>&1
}

pings_tracked() {	# WHAT NAME FROM TO WANT
	check "$1 works" pings "$2" "$4"
	is "$1 has $5 entries" "$(tracked --orig-src "$3" --orig-dst "$4")" "$5"
}

# Also those who began before.
routed() {
	is "a routed flow from before" "$(lab open "old$F" udp cli "$B3" 53)" b3=1
	is "has an entry" "$(tracked --orig-dst "$B3")" 1
	track_others 0
	in_ns lb conntrack -D -f "ipv$F" --orig-dst "$B3" > "$TMP/out" 2>&1
	is "it goes on" "$(lab req "old$F")" b3=1
	is "new ones of UDP work" "$(lab open "new$F" udp cli "$B3" 53 n=5)" b3=5
	is "and of TCP" "$(lab open "tcp$F" tcp cli "$B3" 80 n=5)" b3=5
	is "and go on" "$(lab req "new$F") $(lab req "tcp$F")" "b3=5 b3=5"
	is "without entries" "$(tracked --orig-dst "$B3")" 0
	for name in old new tcp; do
		lab close "$name$F" > /dev/null
	done
}

ours() {
	local words
	words=$(lab open "t$F" tcp cli "$VIP" 80 n=10)
	is "connections to the VIP work" "$(answers "$words")" 10
	is "each has its entry" "$(tracked --orig-dst "$VIP" -p tcp)" 10
	is "and goes on" "$(lab req "t$F")" "$words"
	is "the tool lists them" "$(wjson "len(J)" flows "$WEB")" 10
	lab close "t$F" > /dev/null
	pings_tracked "a backend's own ping" b1 "$B1" "$CLI" 1
	pings_tracked "the router's ping to a backend" lb "$LBB" "$B1" 1
	pings_tracked "the ping of a backend of nobody" b3 "$B3" "$CLI" 0
	pings_tracked "the router's ping to a client" lb "$LBC" "$CLI" 0
	pings_tracked "a client's ping to the router" cli "$CLI" "$LBC" 0
	is "the router reaches its own VIP" \
		"$(answers "$(lab open "l$F" tcp lb "$VIP" 80 n=3)")" 3
	lab close "l$F" > /dev/null
}

# What somebody on the way to a backend says of a flow of ours is for its client, who knows
# the VIP only.
error() {
	local owner port
	owner=$(lab open "e$F" udp cli "$VIP" 53 | cut -d= -f1)
	port=$(lab ends "e$F" | cut -d' ' -f2)
	lab mark > /dev/null
	lab raw b3 toobig "$B3" "$CLI" mtu=1300 ikind=udp "isrc=$CLI" "idst=$(addr "$owner")" \
		"isport=$port" idport=53 > /dev/null
	lab await 1 inner cli > "$TMP/out"
	is "an error about a flow names the VIP" \
		"$(lab last inner cli "inner['dst']" "inner['dport']")" "$VIP 53"
	lab close "e$F" > /dev/null
}

# A backend that is removed is one of nobody: what it says late does not get out as its own.
removed() {
	local owner port
	owner=$(lab open "r$F" udp cli "$VIP" 53 | cut -d= -f1)
	port=$(lab ends "r$F" | cut -d' ' -f2)
	lab mark > /dev/null
	drops_mark
	weir backend del "$WEB" "$(addr "$owner")" now
	late "$owner" udp 53 "$port" times=3
	late_drops "what a removed backend says is dropped" 3
	busywait 15000 prints 0 tracked --orig-dst "$VIP" --reply-src "$(addr "$owner")" > "$TMP/out"
	drops_mark
	late "$owner" udp 53 "$port" times=3
	drops_are "also without an entry" "late-answer=3"
	is "the client got nothing of it" "$(lab count "src == '$(addr "$owner")'" cli)" 0
	lab close "r$F" > /dev/null
	weir flush > /dev/null
}

again() {
	is "untracked ones" "$(lab open "u$F" udp cli "$B3" 53 n=3)" b3=3
	track_others 1
	is "go on" "$(lab req "u$F")" b3=3
	is "tracked from then on" "$(tracked --orig-dst "$B3")" 3
	lab close "u$F" > /dev/null
	pings_tracked "a ping of others" b3 "$B3" "$CLI" 1
}

others() {
	in_ns lb conntrack -F > "$TMP/out" 2>&1
	WEB_BACKENDS=2 web
	routed
	ours
	error
	removed
	again
}

# Its hooks go with the module and with the namespace.
left_on() {
	track_others 0
	check "it is taken twice" track_others 0
	is "it reads as it was written" "$(in_ns lb sysctl -n net.weir.track_others)" 0
}

lab_up 3 tcp:80 udp:53
LEAK_OK='src in ("10.2.0.13", "fd00:2::13") or icmp or icmp6'
need ping
vip_routes
for_families others
left_on
finish
