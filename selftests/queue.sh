#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A first packet is held by a queue between selection and the conntrack table, and its backend
# goes meanwhile. The router's own answer to it is tied to the same entry, which is in no table:
# nothing may try to take it out of one.
#
#   cli ==== lb: forward: queue, then reject ==== b1 b2
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

held() {		# KIND PORT WORD...: a packet is in the queue
	lab raw cli "$1" "$CLI" "$VIP" sport=3000 dport="$2" data=quiet > /dev/null
	busywait 10000 grep -q held "$TMP/queue" > /dev/null || fail "nothing is held"
}

# The answer of the router itself is made while the entry is bound and in no table.
rejected() {		# NAME KIND PORT WITH
	local words
	ruleset lb <<- END
		flush ruleset
		table inet t {
			chain q { type filter hook forward priority 0; meta l4proto $2 th dport $3 queue num 0; }
			chain r { type filter hook forward priority 10; meta l4proto $2 th dport $3 reject with $4; }
		}
	END
	web
	queue_up
	drops_mark
	held "$2" "$3"
	weir backend del "$WEB" "$B1"
	weir backend del "$WEB" "$B2"
	touch "$TMP/go"
	drops_are "$1: the router's answer is dropped, nothing else happens" ended=1
	queue_down
	ruleset lb <<< "flush ruleset"
	web
	words=$(lab call udp cli "$VIP" 53 n=4)
	is "$1: the router goes on ($words)" "$(answers "$words")" 4
}

# Nobody minds: it reaches the backend that it was selected for, or is counted.
accepted() {
	ruleset lb <<- END
		flush ruleset
		table inet t { chain q { type filter hook forward priority 0; udp dport 53 queue num 0; }; }
	END
	web
	queue_up
	lab mark > /dev/null
	held udp 53
	weir backend set "$WEB" group default health down
	touch "$TMP/go"
	is "a held datagram goes on to its backend" "$(lab await 1 "udp and dport == 53")" 1
	queue_down
	ruleset lb <<< "flush ruleset"
	weir backend set "$WEB" group default health auto
}

queue() {
	rejected "TCP" tcp 80 "tcp reset"
	rejected "UDP" udp 53 "icmpx type port-unreachable"
	accepted
}

need nft
lab_up 2 tcp:80 udp:53
for_families queue
finish
