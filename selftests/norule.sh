#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A packet to a VIP that no rule takes. On a router that has the VIP on no interface it would
# follow the default route back to where it came from, and loop: it is dropped and counted,
# pings too (decision 20). If the VIP is an address of the router, the local stack answers.
#
#   cli <== default route == lb ==== b1 (VIP: tcp 80)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

service() {
	conf <<- END
		service $WEB {
		    rule $VIP tcp 80
		    backend $B1
		}
	END
}

nowhere() {
	service
	lab mark > /dev/null
	drops_mark
	lab raw cli tcp "$CLI" "$VIP" dport=81 > /dev/null
	drops_are "a SYN to another port is dropped" no-rule=1
	lab raw cli udp "$CLI" "$VIP" dport=80 > /dev/null
	drops_are "a datagram to the port of a TCP rule is dropped" no-rule=2
	lab raw cli echo "$CLI" "$VIP" > /dev/null
	drops_are "a ping is dropped" no-rule=3
	lab raw cli tcp "$CLI" "$VIP" dport=81 flags=A > /dev/null
	drops_are "a segment in mid-stream is dropped" no-rule=4
	lab raw cli gre "$CLI" "$VIP" data=there > /dev/null
	drops_are "GRE is dropped" no-rule=5
	is "none came back" "$(lab count "dst == VIP" cli)" 0
	is "nothing answered" "$(lab count "src == VIP" cli)" 0
	is "no backend saw one" "$(lab count "src == CLI" b1)" 0
	is "a connection to the other port hangs" \
		"$(lab call tcp cli "$VIP" 81 timeout=1)" timeout=1
	is "the port of the rule is served" "$(lab call tcp cli "$VIP" 80 n=4)" b1=4
}

# The router's own packets to such a port loop just the same.
# What conntrack cannot read has no entry and is not translated.
unreadable() {
	local icmp=1 error=0300
	[ "$F" = 4 ] || icmp=58 error=0100
	service
	drops_mark
	lab mark > /dev/null
	lab stub cli "$CLI" "$VIP" 6 data=0011 > /dev/null
	drops_are "TCP without ports is dropped" invalid=1
	lab stub cli "$CLI" "$VIP" 17 data=001122 > /dev/null
	drops_are "UDP without ports is dropped" invalid=2
	lab stub cli "$CLI" "$VIP" 47 data=000108000000000000000000 > /dev/null
	drops_are "GRE of an unknown kind is dropped" invalid=3
	lab stub cli "$CLI" "$VIP" "$icmp" "data=${error}000000000000450000" > /dev/null
	drops_are "an ICMP error about nothing is dropped" invalid=4
	is "none of those came back" "$(lab count "dst == VIP" cli)" 0
}

from_the_router() {
	drops_mark
	is "the router's own connection to it hangs or is refused" \
		"$(lab call tcp lb "$VIP" 81 timeout=1 | tr -d '0-9=')" timeout
	between "and is counted" "$(val no-rule "$(drops)")" 1 3
}

local_address() {
	ips lb <<< "addr add $VIP/$HOST dev lo"
	lab mark > /dev/null
	drops_mark
	is "VIP on lo: the local stack refuses TCP" "$(lab call tcp cli "$VIP" 81)" refused=1
	is "VIP on lo: and UDP" "$(lab call udp cli "$VIP" 82)" refused=1
	lab raw cli echo "$CLI" "$VIP" data=ping > /dev/null
	is "VIP on lo: and answers pings" "$(lab await 1 \
		"src == VIP and type in (0, 129) and payload == b'ping'" cli)" 1
	is "VIP on lo: the port of the rule is balanced" "$(lab call tcp cli "$VIP" 80 n=4)" b1=4
	drops_are "VIP on lo: nothing was dropped" none
	ips lb <<< "addr del $VIP/$HOST dev lo"
}

unconfigured() {
	conf < /dev/null
	drops_mark
	lab mark > /dev/null
	lab raw cli udp "$CLI" "$VIP" dport=80 ttl=9 > /dev/null
	between "without weir it loops between the routers: that is what is prevented" \
		"$(lab await 1 "dst == VIP" cli)" 1 9
	drops_are "and weir counts nothing" none
}

norule() {
	service
	nowhere
	unreadable
	from_the_router
	local_address
	unconfigured
}

lab_up 1 tcp:80
# The provider's side: it sends the VIP to lb, and lb sends what it does not know to it.
in_ns cli sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
	net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0
ips lb <<- END
	route add default via 10.1.0.10
	route add default via fd00:1::10
END
for_families norule
finish
