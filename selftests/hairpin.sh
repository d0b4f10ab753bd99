#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A backend uses the service that it serves. The serving backend would answer its neighbour
# directly, past the router, and the client knows no such peer; so just these flows get the
# router's address as their source (RFC 4787 REQ-9, RFC 5382 REQ-8). Others keep theirs.
#
#   cli ==== lb ==== sw ==== b1 (client, too), b2
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

calls() {		# PLACE
	local words
	words=$(lab call tcp "$1" "$VIP" 80 n=100)
	is "$1: 100 connections are served ($words)" "$(answers "$words")" 100
	words=$(lab call udp "$1" "$VIP" 53 n=100)
	is "$1: 100 datagrams are served ($words)" "$(answers "$words")" 100
}

on() {
	web
	drops_mark
	lab mark > /dev/null
	calls b1
	is "hairpin: backends see the router for these" \
		"$(lab count 'dport in (80, 53) and src != LBB')" 0
	# 5 sigma of 100 flows over 2 backends is 25
	between "hairpin: b1 serves about half of them itself" \
		"$(lab count 'tcp and syn and dport == 80' b1)" 25 75
	lab mark > /dev/null
	calls cli
	is "hairpin: while the client is seen as itself" \
		"$(lab count 'dport in (80, 53) and src != CLI')" 0
	drops_are "hairpin: nothing was dropped" none
}

# Without it only the flows that b2 ... answers b1 past the router: the documented failure.
off() {
	local words
	weir service set "$WEB" hairpin off
	# A flow of before may have the port that a new one gets, and stays as it is.
	weir flush > /dev/null
	lab mark > /dev/null
	words=$(lab call udp b1 "$VIP" 53 n=8 timeout=1)
	is "off: a backend's own flows fail, since answers go past the router" "$words" timeout=8
	between "off: backends see them come from b1" \
		"$(lab count 'udp and dport == 53 and src == B1')" 1 8
	words=$(lab call tcp b1 "$VIP" 80 n=4 timeout=1)
	is "off: TCP fails too" "$words" timeout=4
	calls cli
	is "off: no log flood" "$(kernel_log | grep -c martian)" 0
}

# A client that is a neighbour but no backend needs it just as well.
neighbour() {
	web
	lab mark > /dev/null
	calls b3
	is "a neighbour: backends see the router" \
		"$(lab count 'dport in (80, 53) and src != LBB' b1 b2)" 0
}

# A router without any address has none to lend. Of IPv6 there is one on each link.
addressless() {
	local mac
	[ "$F" = 4 ] || return
	mac=$(ip netns exec "$lb" cat /sys/class/net/eth1/address)
	in_ns b2 ip neigh replace "$LBB" lladdr "$mac" dev eth0 nud permanent
	ips lb <<- END
		addr del 10.1.0.1/24 dev eth0
		addr del 10.2.0.1/24 dev eth1
		route add 10.2.0.0/24 dev eth1
	END
	drops_mark
	lab mark > /dev/null
	lab raw b2 udp "$B2" "$VIP" n=3 dport=53 > /dev/null
	drops_are "no address to translate to: dropped and counted" hairpin-address=3
	is "no address to translate to: no backend sees them" "$(lab count udp)" 0
	ips lb <<- END
		addr add 10.1.0.1/24 dev eth0
		addr add 10.2.0.1/24 dev eth1
		route add 10.1.16.0/20 via 10.1.0.10
	END
	in_ns b2 ip neigh del "$LBB" dev eth0
	calls cli
}

hairpin() {
	WEB_BACKENDS=2
	on
	off
	neighbour
	addressless
}

lab_up 3 tcp:80 udp:53
for_families hairpin
finish
