#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "Too big" from the client's side reaches the backend that owns the flow, and no other
# (RFC 1191, RFC 8201; RFC 5508 REQ-4/5: the embedded packet is translated too).
#
#   far ========== mtu 1300 == r1 ========== eth2 == lb ==== b1 b2 b3
#   10.4.0.10                     10.3.0.2    10.3.0.1
#   10.4.16.0/20
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TRANSLATED=translated
! is_direct || TRANSLATED="as it was"
PTB='(icmp and type == 3 and code == 4 or icmp6 and type == 2)'

far_client() {
	setup_ns far r1
	ip -batch - <<- END
		link add eth0 netns $far type veth peer name eth1 netns $r1
		link add eth0 netns $r1 type veth peer name eth2 netns $lb
	END
	ips far <<- END
		link set lo up
		link set eth0 up
		addr add 10.4.0.10/24 dev eth0
		addr add fd00:4::10/64 dev eth0 nodad
		route add default via 10.4.0.1
		route add default via fd00:4::1
		route add local 10.4.16.0/20 dev lo
		route add local fd00:4:1::/64 dev lo
	END
	ips r1 <<- END
		link set lo up
		link set eth0 up
		link set eth1 mtu 1300 up
		addr add 10.3.0.2/24 dev eth0
		addr add fd00:3::2/64 dev eth0 nodad
		addr add 10.4.0.1/24 dev eth1
		addr add fd00:4::1/64 dev eth1 nodad
		route add default via 10.3.0.1
		route add default via fd00:3::1
		route add 10.4.16.0/20 via 10.4.0.10
		route add fd00:4:1::/64 via fd00:4::10
	END
	ips lb <<- END
		link set eth2 up
		addr add 10.3.0.1/24 dev eth2
		addr add fd00:3::1/64 dev eth2 nodad
		route add 10.4.0.0/16 via 10.3.0.2
		route add fd00:4::/32 via fd00:3::2
	END
	in_ns r1 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
}

far_addresses() {
	if [ "$F" = 4 ]; then
		FAR=10.4.0.10 FARS=10.4.16.1 R1=10.3.0.2
	else
		FAR=fd00:4::10 FARS=fd00:4:1::1 R1=fd00:3::2
	fi
}

downloads() {
	local words
	lab mark > /dev/null
	words=$(lab call tcp far "$VIP" 80 n=30 ask=200000 timeout=30)
	is "30 downloads of 200 kB finish ($words)" \
		"$(answers "$words")" 30
	between "packets were too big on the way" "$(lab count "$PTB")" 1 1000
	is "each notice reached the backend that owns the flow" "$(val split "$(lab owners \
		"tcp or $PTB" "(inner['dst'], inner['dport']) if inner else (src, sport)")")" 0
	is "addressed to it, about a packet of its own, checksums right" \
		"$(lab count "$PTB and not (inner['src'] == dst and inner['sport'] == 80
			and inner['head_ok'] and sum_ok)")" 0
}

datagrams() {
	local words
	drops_mark
	words=$(lab call udp far "$VIP" 53 n=6 "src=$FARS+6" sport=4000 ask=1400 timeout=2)
	is "answers of 1400 bytes are lost while the path MTU is unknown" "$words" "timeout=6"
	words=$(lab call udp far "$VIP" 53 n=6 "src=$FARS+6" sport=4000 ask=1400)
	is "and arrive once it is known ($words)" \
		"$(answers "$words")" 6
	drops_are "weir dropped nothing" none
}

# One notice by hand, about a flow of this client's with SPORT, or to PORT of the VIP.
notice() {		# SPORT [PORT]
	lab raw r1 toobig "$R1" "$VIP" mtu=1300 cut=8 ikind=tcp "isrc=$VIP" "idst=$FAR" \
		"isport=${2:-80}" "idport=$1" iflags=A > /dev/null
}

by_hand() {
	local owner port there=$VIP noted="icmp-unknown=2"
	owner=$(lab open "hand$F" tcp far "$VIP" 80 | cut -d= -f1)
	is_direct || there=$(addr "$owner") noted="icmp-unknown=1 no-rule=1"
	port=$(lab ends "hand$F" | cut -d' ' -f2)
	lab mark > /dev/null
	drops_mark
	notice "$port"
	is "a notice with only 8 bytes of the segment reaches its owner" \
		"$(lab await 1 "$PTB" > "$TMP/out"; lab tally "$PTB")" "$owner=1"
	is "$TRANSLATED outside and inside" "$(lab last "$PTB" "$owner" dst "inner['src']" \
		"inner['sport']" "inner['dport']" "inner['head_ok']" sum_ok)" \
		"$there $there 80 $port True True"
	like "its route cache knows the size" \
		"$(in_ns "$owner" ip route get "$FAR")" "*mtu 1300*"
	drops_are "nothing was dropped" none

	lab mark > /dev/null
	notice 1
	drops_are "a notice about no flow is dropped and counted" "icmp-unknown=1"
	notice "$port" 81
	drops_are "so is one about a port that no rule has" "$noted"
	is "no backend saw them" "$(lab count "$PTB")" 0
	is "the connection lives" "$(lab req "hand$F")" "$owner=1"
}

too_big() {
	far_addresses
	web
	lab let "FAR=$FAR" > /dev/null
	downloads
	datagrams
	by_hand
}

lab_up 3 tcp:80 udp:53
far_client
for_families too_big
finish
