#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Segments that conntrack calls invalid must not cut a connection: passed on untranslated they
# would, since the client resets what it does not know (RFC 9293 3.10.7.4). Only flows of ours
# are judged (decision 6).
#
#   cli ==== lb ==== b1 (of the service), b2 (of no service)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

liberal() {		# 0|1
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_be_liberal="$1"
}

# Sets SEQ, ACK and PORT to what b1 would send next on the connection.
where() {
	read -r SEQ ACK PORT <<< "$(lab last "tcp and src == VIP and sport == 80" cli \
		"seq + len(payload)" ackno dport)"
}

inject() {		# WORD...: from b1, in the connection
	lab raw b1 tcp "$B1" "$CLI" sport=80 "dport=$PORT" "ack=$ACK" "$@" > /dev/null
}

strict() {
	liberal 0
	is "the connection is up" "$(lab open "s$F" tcp cli "$VIP" 80)" "b1=1"
	lab req "s$F" > /dev/null
	where
	lab mark > /dev/null
	drops_mark
	inject flags=PA "seq=$((SEQ + 900000))" data=evil-new
	drops_are "a segment above the window is dropped and counted" "late-answer=1"
	inject flags=R "seq=$((SEQ + 900000))"
	drops_are "so is a reset out of the window" "late-answer=2"
	inject flags=PA "seq=$SEQ" data=evil-sum bad=1
	drops_are "so is a segment with a wrong checksum" "late-answer=3"
	is "the client saw none of them" \
		"$(lab count "payload and payload.startswith(b'evil') or tcp and rst" cli)" 0
	is "and reset nothing" "$(lab count "tcp and rst" b1)" 0
	# Since 6.1 conntrack takes what is below the window for a late duplicate.
	inject flags=PA "seq=$((SEQ - 100000))" data=old
	is "a segment 100,000 below the window arrives from the VIP, or not at all" \
		"$(requests "s$F") $(lab count "payload == b'old' and src != VIP" cli)" "20 of 20 0"
	is "the connection continues" "$(requests "s$F")" "20 of 20"
	drops_are "without another drop" "late-answer=3"
	lab close "s$F" > /dev/null
}

requests() {		# POOL: twenty more
	local i good=0
	for ((i = 0; i < 20; i++)); do
		[ "$(lab req "$1")" != "b1=1" ] || good=$((good + 1))
	done
	echo "$good of 20"
}

loose() {
	liberal 1
	is "be_liberal: the connection is up" "$(lab open "l$F" tcp cli "$VIP" 80)" "b1=1"
	lab req "l$F" > /dev/null
	where
	lab mark > /dev/null
	drops_mark
	inject flags=PA "seq=$((SEQ + 900000))" data=evil
	is "be_liberal: the segment arrives, translated" \
		"$(lab await 1 "src == VIP and payload == b'evil'" cli)" 1
	is "be_liberal: the connection continues" "$(requests "l$F")" "20 of 20"
	drops_are "be_liberal: nothing was dropped" none
	lab close "l$F" > /dev/null
	liberal 0
}

# One-sided TCP from an address that is no backend: routed traffic, invalid or not.
unrelated() {
	lab mark > /dev/null
	drops_mark
	lab raw b2 tcp "$B2" "$CLI" sport=81 dport=9 flags=A seq=1000 ack=1 data=theirs > /dev/null
	lab raw b2 tcp "$B2" "$CLI" sport=81 dport=9 flags=A seq=5000000 ack=1 data=theirs > /dev/null
	lab raw b2 tcp "$B2" "$CLI" sport=82 dport=9 flags=A seq=1 ack=1 data=theirs bad=1 > /dev/null
	is "an unrelated one-sided flow passes, invalid segments too" \
		"$(lab await 3 "src == B2 and payload == b'theirs'" cli)" 3
	drops_are "and counts nowhere" none
}

window() {
	WEB_BACKENDS=1 web
	strict
	loose
	unrelated
}

lab_up 2 tcp:80 udp:53
# Whether a segment is in the window is asked on the long way only.
in_ns lb sysctl -qw net.weir.fast_path=0
LEAK_OK='sport in (81, 82)'
for_families window
finish
