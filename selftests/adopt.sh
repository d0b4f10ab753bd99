#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Streams that run before their rule exists. Conntrack, kept on by somebody's firewall rule,
# holds confirmed entries for the VIP; the kernel calls NAT for them, but can translate none of
# them any more. They are replaced, so that the next packet is balanced.
#
#   cli ==== lb ==== b1 b2, once there is a rule
#                    b3 owns the VIP and serves it until then: lb has a route to it
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

before() {
	conf < /dev/null
	ips lb <<< "route add $VIP/$HOST via $B3"
	ips b3 <<< "addr add $VIP/$HOST dev lo"
	servers_up "old$F" b3 -- "udp:53@$VIP"	# that answers from this address
	# of one client's SYN only the entry is left
	ruleset b3 <<- END
		table inet mute {
		    chain input {
		        type filter hook input priority 0;
		        tcp sport 4000 drop
		    }
		}
	END
	ruleset lb <<- END
		table inet watch {
		    chain forward {
		        type filter hook forward priority 0;
		        ct state new counter
		    }
		}
	END
}

after() {
	in_ns lb nft delete table inet watch
	in_ns b3 nft delete table inet mute
	ips b3 <<< "addr del $VIP/$HOST dev lo"
	ips lb <<< "route del $VIP/$HOST via $B3"
}

rule() {
	conf <<- END
		service $WEB {
		    rule $VIP tcp 80
		    rule $VIP udp 53
		    backend $B1
		    backend $B2
		}
	END
}

adopt() {
	local seen
	before
	servers_ready "old$F"
	load_up "one$F" cli oneway "$VIP" 53 every=0.05 sport=5300
	load_more "one$F" sent 10
	is "answered flows and connections run through the old box" \
		"$(lab open "u$F" udp cli "$VIP" 53 n=10) $(lab open "t$F" tcp cli "$VIP" 80 n=6)" \
		"b3=10 b3=6"
	lab raw cli tcp "$MANY" "$VIP" dport=80 sport=4000 > /dev/null
	is "conntrack holds entries of all of them" \
		"$(busywait 5000 prints 18 tracked --orig-dst "$VIP")" 18

	rule
	lab mark > /dev/null
	seen=$(val sent "$(load "one$F")")
	load_more "one$F" sent 20
	is "from the rule on, nothing reaches the old box" "$(lab count 'dst == VIP' b3)" 0
	between "the one-way stream is balanced from its next datagram (sent $seen before)" \
		"$(lab count 'udp and sport == 5300' b1 b2)" 19 999
	is "and has one backend" \
		"$(lab owners 'udp and sport == 5300' sport)" "keys=1 split=0"
	is "answered UDP flows are balanced, and answered" "$(answers "$(lab req "u$F")")" 10
	is "connections are told: the new backend's reset comes from the VIP" \
		"$(lab req "t$F")" reset=6
	lab raw cli tcp "$MANY" "$VIP" dport=80 sport=4000 > /dev/null
	is "a retransmitted SYN is balanced" \
		"$(lab await 1 'tcp and syn and sport == 4000' b1 b2)" 1
	is "the tool counts adopted flows" "$(wjson "sum(b['counters']['reselected-adopted']
		for s in J['services'] for b in s['backends'])" stats)" 18
	load_down "one$F" > /dev/null
	lab close "u$F" > /dev/null
	after
}

lab_up 3 tcp:80 udp:53
# Until the rule exists b3 is right to see the VIP; each phase counts from its own mark.
RAW_OK="ns == 'b3'"
for_families adopt
finish
