#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What others do with conntrack entries: timeout policies, attached before or after us, and
# flowtables that carry established flows past every hook. Our flows stay ours: a removed
# backend loses them at their next packet (decision 23).
#
#   cli ==== lb, somebody's ruleset ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# A removal moves all flows of the pools t and u; the client may see resets, nothing else.
owned() {		# NAME
	local words owner udp
	words=$(lab open "t$F" tcp cli "$VIP" 80 n=12)
	udp=$(lab open "u$F" udp cli "$VIP" 53 n=12)
	is "$1: connections and datagrams work" "$(answers "$words") $(answers "$udp")" "12 12"
	lab req "t$F" > /dev/null
	lab req "u$F" > /dev/null
	is "$1: and go on where they are" "$(lab req "t$F"), $(lab req "u$F")" "$words, $udp"
	is "$1: the tool lists them all" "$(wjson "len(J)" flows "$WEB")" 24
	owner=${words%%=*}
	lab mark > /dev/null
	weir backend del "$WEB" "$(addr "$owner")"
	words=$(lab req "t$F" "only=$owner")
	udp=$(lab req "u$F" "only=$owner")
	is "$1: after the removal of $owner its connections are reset" \
		"${words%%=*}" reset
	is "$1: its datagrams go elsewhere" "$(val "$owner" "$udp") $(val timeout "$udp")" "0 0"
	is "$1: nothing more reached it" "$(lab count "src == CLI" "$owner")" 0
	weir backend add "$WEB" "$(addr "$owner")"
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
	weir flush > /dev/null
}

policy() {		# HOOK PRIORITY
	ruleset lb <<- END
		table inet others {
		    ct timeout short-tcp {
		        protocol tcp;
		        policy = { established : 100, close : 5 }
		    }
		    ct timeout short-udp {
		        protocol udp;
		        policy = { unreplied : 15, replied : 12 }
		    }
		    chain assign {
		        type filter hook $1 priority $2;
		        tcp dport 80 ct timeout set "short-tcp"
		        udp dport 53 ct timeout set "short-udp"
		    }
		}
	END
}

timeouts() {
	local place
	for place in "prerouting raw" "prerouting -150" "prerouting -50" "forward 0"; do
		# shellcheck disable=SC2086 # two words
		policy $place
		owned "timeout policy at $place"
		in_ns lb nft delete table inet others
	done
}

flowtable() {
	ruleset lb <<- END
		table inet fast {
		    flowtable ft {
		        hook ingress priority 0;
		        devices = { eth0, eth1 };
		    }
		    chain forward {
		        type filter hook forward priority 0;
		        ip protocol { tcp, udp } flow add @ft
		        ip6 nexthdr { tcp, udp } flow add @ft
		    }
		}
	END
	# The control: a plain routed flow is taken, so the flowtable works.
	is "flowtable: a routed flow" "$(lab open "r$F" udp cli "$B1" 53)" b1=1
	lab req "r$F" > /dev/null
	lab req "r$F" > /dev/null
	between "flowtable: it takes a routed flow" "$(offloaded "$B1")" 1 9
	lab close "r$F" > /dev/null
	owned flowtable
	lab open "t$F" tcp cli "$VIP" 80 n=12 > /dev/null
	lab open "u$F" udp cli "$VIP" 53 n=12 > /dev/null
	lab req "t$F" > /dev/null
	lab req "u$F" > /dev/null
	is "flowtable: it takes none of ours" "$(offloaded "$VIP")" 0
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
	in_ns lb nft delete table inet fast
}

offloaded() {		# DESTINATION: flows to it that a flowtable has taken
	in_ns lb conntrack -L -f "ipv$F" --orig-dst "$1" 2> /dev/null | grep -c OFFLOAD
}

# The mark of an entry survives its re-selection: routing by mark would break else. The rule
# that sets it has run by then, for the entry of before.
marks() {
	local owner
	ruleset lb <<- END
		table inet marker {
		    chain pre {
		        type filter hook prerouting priority mangle;
		        ct state new udp dport 53 ct mark set 0x77
		    }
		}
	END
	owner=$(lab open "m$F" udp cli "$VIP" 53 | cut -d= -f1)
	is "a mark set at the first datagram is there" "$(tracked --mark 0x77)" 1
	weir backend del "$WEB" "$(addr "$owner")"
	is "the flow moves" "$(lab req "m$F")" "$(other "$owner")=1"
	is "the mark is still there" \
		"$(tracked --mark 0x77 --reply-src "$(addr "$(other "$owner")")")" 1
	lab close "m$F" > /dev/null
	in_ns lb nft delete table inet marker
	weir flush > /dev/null
}

foreign() {
	WEB_BACKENDS=2 web
	marks
	web
	timeouts
	flowtable
}

lab_up 3 tcp:80 udp:53
LEAK_OK='src == "10.2.0.11" and sport == 53 or src == "fd00:2::11" and sport == 53'
for_families foreign
finish
