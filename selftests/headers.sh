#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# IPv6 extension headers: skipped for the key; a type 0 routing header with segments left, which
# would let the sender choose the way (RFC 5095), is dropped and counted (decision 25).
#
#   cli ==== lb ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

options() {
	local port
	lab mark > /dev/null
	drops_mark
	lab raw cli udp "$MANY" "$VIP" n=40 sport=5000 dport=53 data=quiet > /dev/null
	is "plain datagrams of 40 flows arrive" "$(lab await 40 'udp and dport == 53')" 40
	lab learn plain 'udp and dport == 53' sport > /dev/null
	weir flush > /dev/null
	lab mark > /dev/null
	for ((port = 5000; port < 5040; port++)); do
		lab options cli "$MANY" "$VIP" "$port" 53 > /dev/null
	done
	is "those behind a destination options header arrive" \
		"$(lab await 40 'udp and dport == 53')" 40
	lab learn optioned 'udp and dport == 53' sport > /dev/null
	is "at the same backends" "$(lab compare plain optioned)" \
		"both=40 only=0 same=40 moved=0 left=0 stuck=0"
	drops_are "nothing is dropped" none
}

routing() {
	lab mark > /dev/null
	drops_mark
	lab routing cli "$CLI" "$VIP" 53 "$B1" left=1 > /dev/null
	lab routing cli "$CLI" "$VIP" 53 "$B1" left=2 > /dev/null
	drops_are "a type 0 routing header with segments left is dropped" routing-header=2
	is "no backend sees it" "$(lab count udp)" 0
	is "and nothing is answered" "$(lab count 'src == VIP' cli)" 0
	lab routing cli "$CLI" "$VIP" 53 "$B1" left=0 > /dev/null
	is "with none left it is balanced like any other" "$(lab await 1 udp)" 1
	lab routing cli "$CLI" "$B1" 53 "$B2" left=1 > /dev/null
	is "to an address that is no VIP it passes: the owner may refuse it" \
		"$(lab await 2 udp)" 2
	drops_are "and is not counted" routing-header=2
}

lab_up 3 tcp:80 udp:53
use 6
LEAK_OK='icmp6 and type == 4'	# the refusal: parameter problem
web
options
routing
finish
