#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The short way of direct mode: a running flow goes to its backend with nothing looked up but
# its session, and whatever happens meanwhile holds from its next packet on.
#
#   cli ==== lb ==== b1 b2 b3 (the VIPs on lo; answers are routed by lb)
#
# How much shorter it is, selftests/bench/check says.
#
# timeout: 300
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

LEAK_OK='icmp or icmp6'
IN='src == CLI and dst == VIP and (tcp or udp)'

# Their third packet is on the short way: the first has no session, the second learns.
running() {		# [LINE...]
	web "forward direct" "$@"
	weir flush > /dev/null
	TCP=$(lab open "t$F" tcp cli "$VIP" 80 n=9)
	UDP=$(lab open "u$F" udp cli "$VIP" 53 n=9)
	again > /dev/null
	is "all flows are answered ($TCP, $UDP)" "$(again)" "$TCP $UDP"
	settle	# the last acknowledgements
	lab mark > /dev/null
	drops_mark
}

again() {		# [OPTION...]: another exchange of each
	echo "$(lab req "t$F" "$@") $(lab req "u$F" "$@")"
}

over() {
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
	ruleset lb <<< "flush ruleset"
}

# What weir counts is what was received.
counted() {
	local packets bytes
	running
	packets=$(shown "S['COUNTERS']['PACKETS_IN']") bytes=$(shown "S['COUNTERS']['BYTES_IN']")
	is "the flows go on" "$(again)" "$TCP $UDP"
	settle
	is "each packet is counted" $(($(shown "S['COUNTERS']['PACKETS_IN']") - packets)) \
		"$(lab count "$IN" "${BACKENDS[@]}")"
	between "and its bytes" $(($(shown "S['COUNTERS']['BYTES_IN']") - bytes)) 500 20000
	is "with one hop less" "$(lab count "$IN and ttl != 63" "${BACKENDS[@]}")" 0
	is "checksums are right" "$(lab count "$IN and not sum_ok" "${BACKENDS[@]}")" 0
	drops_are "and nothing is dropped" none
	over
}

# Rules see the packets of running flows as they see any.
filtered() {
	local hook
	for hook in forward postrouting; do
		running
		ruleset lb <<- END
			table inet t { chain c { type filter hook $hook priority 0; meta l4proto udp th dport 53 drop; }; }
		END
		is "$hook: a rule that drops holds for running flows" "$(lab req "u$F" timeout=1)" "timeout=9"
		is "$hook: of those that it names" "$(lab req "t$F")" "$TCP"
		ruleset lb <<- END
			flush ruleset
			table inet t {
				chain c { type filter hook $hook priority 0; meta l4proto udp th dport 53 counter; }
			}
		END
		is "$hook: without it they go on" "$(lab req "u$F")" "$UDP"
		is "$hook: untracked, and each is seen" \
			"$(lab packets lb t c)" 9
		over
	done
}

# A queue holds a packet behind FORWARD; it goes on from there.
queued() {
	local hook
	for hook in forward postrouting; do
		running
		ruleset lb <<- END
			table inet t { chain c { type filter hook $hook priority 0; udp dport 53 queue num 0; }; }
		END
		queue_up
		touch "$TMP/go"
		is "$hook: datagrams go on after a queue" "$(lab req "u$F")" "$UDP"
		check "$hook: which held them" grep -q held "$TMP/queue"
		queue_down
		over
	done
}

changed() {
	local words
	running
	in_ns lb sysctl -qw net.weir.max_sessions=2048
	is "another table of sessions: all stay" "$(again)" "$TCP $UDP"
	in_ns lb sysctl -qw net.weir.fast_path=0
	is "fast_path=0: all stay" "$(again)" "$TCP $UDP"
	in_ns lb sysctl -qw net.weir.fast_path=1
	again > /dev/null
	is "fast_path=1: all stay" "$(again)" "$TCP $UDP"
	in_ns lb sysctl -qw net.weir.max_sessions=65536
	weir backend add "$WEB" "$(elsewhere)" health down
	is "another backend: all stay" "$(again)" "$TCP $UDP"
	weir backend del "$WEB" "$(elsewhere)"
	again > /dev/null
	is "and when it is gone again" "$(again)" "$TCP $UDP"
	lab mark > /dev/null
	weir backend del "$WEB" "$B2" now
	words=$(lab req "u$F")
	is "a removed backend gets no packet more ($words)" "$(lab count udp b2)" 0
	is "the others answer" "$(answers "$words")" 9
	is "and keep what they have" "$(lab req "u$F")" "$words"
	over
}

elsewhere() {
	if [ "$F" = 4 ]; then echo 10.2.0.99; else echo fd00:2::99; fi
}

# What opens a connection under the name of a running one is looked at.
opened() {
	local port owner
	running
	lab close "t$F" > /dev/null
	owner=$(lab call udp cli "$VIP" 53 sport=4700)
	lab call udp cli "$VIP" 53 sport=4700 n=1 > /dev/null
	lab mark > /dev/null
	lab raw cli udp "$CLI" "$VIP" sport=4700 dport=53 ttl=1 data=late > /dev/null
	is "a packet of a running flow with no hops left is answered" \
		"$(lab await 1 "$ICMP and src == LBC" cli) $(lab count "$IN" "${BACKENDS[@]}")" "1 0"
	for port in 4701 4702; do
		lab raw cli tcp "$CLI" "$VIP" sport="$port" dport=80 flags=A > /dev/null
		lab raw cli tcp "$CLI" "$VIP" sport="$port" dport=80 flags=A > /dev/null
	done
	weir backend set "$WEB" "$B1" health down
	weir backend set "$WEB" "$B2" health down
	lab mark > /dev/null
	for port in 4701 4702; do
		lab raw cli tcp "$CLI" "$VIP" sport="$port" dport=80 flags=S seq=7 > /dev/null
	done
	is "a SYN goes to who may be chosen ($owner)" "$(lab await 2 "$IN and syn" b3)" 2
	over
}

straight() {
	counted
	filtered
	queued
	changed
	opened
}

need nft
RAW_OK=True
lab_up 3 tcp:80
in_ns lb sysctl -qw net.weir.fast_path=1
vips_up
for name in cli "${BACKENDS[@]}"; do
	lab wire_sums "$name" eth0 > /dev/null
done
servers_up vips "${BACKENDS[@]}" -- udp:53@10.9.9.9 udp:53@fd00:9::9
servers_ready vips
for_families straight
finish
