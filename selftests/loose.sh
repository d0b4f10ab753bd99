#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Segments in mid-stream that have no entry. By default conntrack picks them up and they are
# balanced like first packets; with nf_conntrack_tcp_loose=0 the client is told by a reset from
# the VIP, but never when it might hit a live connection (decision 22).
#
#   cli ==== lb ==== b1 b2
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

stray() {		# SPORT WORD...: a segment of no connection that lb knows
	lab raw cli tcp "$MANY" "$VIP" "sport=$1" dport=80 "${@:2}" > /dev/null
}

picked_up() {
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=1
	lab mark > /dev/null
	drops_mark
	stray 1001 flags=A seq=1000 ack=2000
	is "tcp_loose=1: it reaches a backend" \
		"$(lab await 1 'tcp and sport == 1001')" 1
	is "tcp_loose=1: whose reset comes from the VIP" \
		"$(lab await 1 'tcp and rst and src == VIP and dport == 1001' cli)" 1
	drops_are "tcp_loose=1: nothing is dropped" none
}

# Conntrack never picks up a FIN. A client whose flow was removed would repeat it for minutes.
fin() {
	lab mark > /dev/null
	drops_mark
	stray 1010 flags=FA seq=1000 ack=2000
	is "a stray FIN is answered by a reset from the VIP" \
		"$(lab await 1 'tcp and rst and src == VIP and dport == 1010' cli)" 1
	drops_are "a stray FIN is counted" invalid=1
	is "no backend saw it" "$(lab count 'tcp and sport == 1010')" 0
}

told() {
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0
	is "tcp_loose=0: connections work" "$(answers "$(lab open "l$F" tcp cli "$VIP" 80 n=4)")" 4
	lab mark > /dev/null
	drops_mark
	stray 1002 flags=A seq=1000 ack=2000
	is "tcp_loose=0: a stray segment is answered by a reset from the VIP" \
		"$(lab await 1 'tcp and rst and src == VIP and dport == 1002' cli)" 1
	is "tcp_loose=0: one that the client accepts: its sequence is the acknowledged one" \
		"$(lab last 'tcp and rst and dport == 1002' cli seq)" 2000
	drops_are "tcp_loose=0: and counted" not-picked-up=1
	stray 1003 flags=R seq=1000
	drops_are "tcp_loose=0: a stray reset is counted" "not-picked-up=2"
	is "tcp_loose=0: but not answered" "$(lab count 'tcp and dport == 1003' cli)" 0
	is "tcp_loose=0: no backend saw them" \
		"$(lab count 'tcp and sport in (1002, 1003)')" 0
}

# An out-of-window segment of a live connection is invalid as well: it gets no reset.
spared() {
	local seq ack port
	lab req "l$F" > /dev/null
	read -r seq ack port <<< "$(lab last "tcp and sport == 80 and not rst" cli \
		"ackno + 900000" seq dport)"
	lab mark > /dev/null
	drops_mark
	lab raw cli tcp "$CLI" "$VIP" "sport=$port" dport=80 flags=A "seq=$seq" "ack=$ack" \
		data=far > /dev/null
	drops_are "a segment out of the window is dropped" invalid=1
	is "and not answered" "$(lab count 'tcp and rst' cli)" 0
	is "connections live" "$(answers "$(lab req "l$F")")" 4
	lab close "l$F" > /dev/null
}

loose() {
	web
	picked_up
	fin
	told
	spared
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=1
}

lab_up 2 tcp:80 udp:53
# Whether a segment is in the window is asked on the long way only.
in_ns lb sysctl -qw net.weir.fast_path=0
for_families loose
finish
