#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections of the router to a VIP that are pinned to a backend: all their packets go there,
# whatever is said of that one, and no other connection does. via.sh has what uses them.
#
#   cli ==== lb (py/pins.py; a route ==== b1 b2 b3 (the VIPs on lo; echo on port 80 and 81,
#            to the VIP)                           of the VIP only)
#
# timeout: 400
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

RAW_OK=True
LEAK_OK='icmp or icmp6'
PINS=

pins_up() {		# BACKEND SPORT [PORT]: twelve, from that port on
	rm -f "$TMP/pins.out"
	ip netns exec "$lb" "$PYTHON" "$HERE/py/pins.py" "$WEB" "$(addr "$1")" "$VIP" "${3:-80}" "$2" 12 > "$TMP/pins.out" 2>&1 &
	PINS=$!
	PIDS+=($!)
	busywait 30000 says ready "$TMP/pins.out" || bail "pins.py: $(cat "$TMP/pins.out")"
}

pins_down() {
	kill -KILL "$PINS"
	wait "$PINS" 2> /dev/null
}

by_lookup() {		# SPORT [SRC]: what the hash says, of the router's own connections: "b1=3 b2=4"
	lab lookups lb "${2:-$LBB}" "$VIP" 80 "$1" n=12
}

# Connections that keep no port busy when they are over: who served them.
once() {		# SPORT [PORT]
	lab open "o$F" tcp lb "$VIP" "${2:-80}" n=12 "sport=$1"
	lab close "o$F" how=rst > /dev/null
}

# Of one connection, from its first packet to its last.
whole() {
	local tcp
	web "forward direct"
	is "without a pin the hash says where" "$(lab call tcp lb "$VIP" 80 n=12 sport=20000)" "$(by_lookup 20000)"
	pins_up b2 21000
	lab mark > /dev/null
	tcp=$(lab open "p$F" tcp lb "$VIP" 80 n=12 sport=21000)
	is "what is pinned goes where it is pinned to" "$tcp" "b2=12"
	weir backend set "$WEB" "$B2" health down
	is "one that is down gets it too" "$(lab req "p$F")" "b2=12"
	weir backend set "$WEB" "$B2" health auto weight 0
	is "and one of weight 0" "$(lab req "p$F")" "b2=12"
	weir service set "$WEB" drain-timeout 300
	weir backend del "$WEB" "$B2"
	is "and one that drains" "$(lab req "p$F")" "b2=12"
	lab close "p$F" > /dev/null
	is "the last packets go there too" "$(lab await 12 "tcp and fin and dst == VIP" b2) $(lab count \
		"tcp and dst == VIP" b1 b3)" "12 0"
	is "they are no flows and no selections" "$(weir flows | grep -c ':210[01][0-9] ') $(shown \
		"S['COUNTERS']['SELECTIONS']")" "0 12"
	pins_down
}

# A port that needs no rule, and only that.
ports() {
	web "forward direct"
	pins_up b3 22000 81
	is "a port without a rule is reached" "$(once 22000 81)" "b3=12"
	drops_mark
	is "not by connections from elsewhere" "$(lab call tcp lb "$VIP" 81 n=1 sport=22100 timeout=1)" "timeout=1"
	between "they are dropped and counted" "$(val no-rule "$(drops)")" 1 9
	is "and another port from the same ones is none of it" "$(once 22000 80)" "$(by_lookup 22000)"
	pins_down
}

# Whoever uses the ports again, is not pinned.
again() {
	web "forward direct"
	pins_up b2 23000
	is "a first connection is pinned" "$(once 23000)" "b2=12"
	is "a second one from the same port is an own one" "$(once 23000)" "$(by_lookup 23000)"
	is "and stays one" "$(once 23000)" "$(by_lookup 23000)"
	pins_down
	pins_up b2 24000
	pins_down
	is "pins go with the socket that made them" "$(lab call tcp lb "$VIP" 80 n=12 sport=24000)" "$(by_lookup 24000)"
}

# The backend goes, and another one of that address comes.
removed() {
	web "forward direct"
	pins_up b2 25000
	weir backend del "$WEB" "$B2" now
	is "without its backend a pin is none" "$(once 25000)" "$(by_lookup 25000)"
	weir backend add "$WEB" "$B2"
	weir flush > /dev/null
	is "another backend of that address has none" "$(once 25000)" "$(by_lookup 25000)"
	pins_down
	pins_up b2 26000
	weir service set "$WEB" forward nat
	weir service set "$WEB" forward direct
	is "the way of forwarding was another one, and is the old one" "$(once 26000)" "b2=12"
	pins_down
}

# Others' packets, of the same ports.
strangers() {
	web "forward direct"
	pins_up b2 27000
	is "clients are balanced, whatever their ports" "$(lab call tcp cli "$VIP" 80 n=12 sport=27000)" \
		"$(by_lookup 27000 "$CLI")"
	pins_down
}

lab_up 3 tcp:82
vips_up
vip_routes
servers_up vips "${BACKENDS[@]}" -- tcp:80@10.9.9.9 tcp:80@fd00:9::9 tcp:81@10.9.9.9 tcp:81@fd00:9::9
servers_ready vips
for_families whole
for_families ports
for_families again
for_families removed
for_families strangers
finish
