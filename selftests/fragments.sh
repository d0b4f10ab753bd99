#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Big UDP datagrams, whose fragments come in any order (RFC 791, RFC 8200 4.5). Only the first
# one has ports, so reassembly precedes selection. A flow keeps its backend whatever the size;
# a new flow whose first datagram comes in fragments selects by the 3-tuple (decision 10).
#
#   cli, 20 addresses x 2 ports ==== lb ==== b1 .. b5, UDP 9000
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

SMALL='udp and not frag and size < 200'
HEAD='udp and frag and off == 0'

service() {		# AFFINITY
	conf <<- END
		service $WEB {
		    affinity $1
		    rule $VIP udp 9000
		    backend $B1
		    backend $B2
		    backend $B3
		    backend $B4
		    backend $B5
		}
	END
}

any_order() {
	local order
	for order in forward reverse mixed; do
		is "$1: datagrams of 4000 bytes, fragments $order, are answered whole" \
			"$(answers "$(lab frag "$2" "order=$order")")" "${3:-40}"
	done
}

client_ip() {
	service client-ip
	lab mark > /dev/null
	is "client-ip: small datagrams are answered" "$(answers \
		"$(lab open "c$F" udp cli "$VIP" 9000 n=40 "src=$MANY+20" sport=6000)")" 40
	any_order client-ip "c$F"
	is "client-ip: big and small ones of a client are at one backend" \
		"$(lab owners "$SMALL or $HEAD" src)" "keys=20 split=0"
	is "client-ip: small ones still work" "$(answers "$(lab req "c$F")")" 40
	lab close "c$F" > /dev/null
}

gap() {
	lab open "g$F" udp cli "$VIP" 9000 n=2 "src=$MANY+2" sport=6100 hello=0 > /dev/null
	is "fragments 200 ms apart are put together" \
		"$(answers "$(lab frag "g$F" gap=0.2 order=reverse)")" 2
	lab close "g$F" > /dev/null
}

missing() {
	local before
	reassembly_time 3
	lab open "m$F" udp cli "$VIP" 9000 n=2 "src=$MANY+2" sport=6200 hello=0 > /dev/null
	before=$(unassembled)
	lab mark > /dev/null
	is "a datagram with a missing fragment is not answered" \
		"$(lab frag "m$F" drop=1 timeout=1)" "timeout=2"
	is "no backend sees any of it" "$(lab count udp "${BACKENDS[@]}")" 0
	is "the kernel counts it as not reassembled" \
		"$(busywait 15000 prints $((before + 2)) unassembled)" "$((before + 2))"
	lab close "m$F" > /dev/null
	reassembly_time 30
}

# IPv6 datagrams are put together by conntrack, with a time of its own.
reassembly_time() {
	in_ns lb sysctl -qw "net.ipv4.ipfrag_time=$1" "net.ipv6.ip6frag_time=$1" \
		"net.netfilter.nf_conntrack_frag6_timeout=$1"
}

unassembled() {		# datagrams of which not all fragments came, in lb
	local name=IpReasmFails word number
	[ "$F" = 4 ] || name=Ip6ReasmFails
	while read -r word number _; do
		[ "$word" != "$name" ] || echo "$number"
	done < <(in_ns lb nstat -asz "$name")
}

none() {
	service none
	lab mark > /dev/null
	is "none: small datagrams are answered" "$(answers \
		"$(lab open "n$F" udp cli "$VIP" 9000 n=40 "src=$MANY+20" sport=6300)")" 40
	any_order none "n$F"
	is "none: a flow keeps its backend when its datagrams grow" "$(lab owners \
		"$SMALL or $HEAD" '(src, sport)')" "keys=40 split=0"
	between "none: while ports count for flows that began small" "$(val split \
		"$(lab owners "$SMALL" src)")" 5 20
	lab close "n$F" > /dev/null

	lab mark > /dev/null
	lab open "f$F" udp cli "$VIP" 9000 n=100 "src=$MANY+20" sport=6400 hello=0 > /dev/null
	is "none: flows that begin with fragments are answered" \
		"$(answers "$(lab frag "f$F" order=mixed)")" 100
	is "none: they select by the 3-tuple, ports do not count" \
		"$(lab owners "$HEAD" src)" "keys=20 split=0"
	is "none: several backends have such flows" \
		"$(($(lab distinct "$HEAD" ns) > 1))" 1
	is "none: small datagrams of these flows are answered" "$(answers "$(lab req "f$F")")" 100
	is "none: by the same backend" \
		"$(lab owners "$SMALL or $HEAD" '(src, sport)')" "keys=100 split=0"
	lab close "f$F" > /dev/null
}

# An IPv6 atomic fragment (offset 0, none to follow; RFC 6946) counts as whole.
atomic() {
	service none
	lab mark > /dev/null
	lab atomic cli "$MANY" "$VIP" n=50 sport=6600 dport=9000 > /dev/null
	is "atomic fragments arrive" "$(lab await 50 'udp and dport == 9000')" 50
	between "and select by the 5-tuple: one client has several backends" \
		"$(lab distinct 'udp and dport == 9000' ns)" 2 5
}

fragments() {
	drops_mark
	client_ip
	gap
	none
	missing
	[ "$F" = 4 ] || atomic
	drops_are "weir dropped nothing" none
}

lab_up 5 udp:9000
for_families fragments
finish
