#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The short way: a running flow of nat mode goes past conntrack, routing and FORWARD, and is
# translated, counted, kept alive and judged as if it did not.
#
#   cli ==== lb (counts what its FORWARD hook sees) ==== b1 b2 b3
#
# timeout: 400
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

INNER='tcp or udp'

# What is seen at FORWARD, of any flow; nothing is decided there.
watch_forward() {
	ruleset lb <<- END
		table inet seen {
			chain forward {
				type filter hook forward priority 0
				meta l4proto { tcp, udp } counter
			}
		}
	END
}

forwarded() {
	lab packets lb seen forward
}

# An exchange of each flow of the pool that FORWARD saw nothing of.
unseen() {		# POOL
	local before
	before=$(forwarded)
	lab req "$1" > "$TMP/words"
	[ "$(forwarded)" = "$before" ]
}

seen() {		# POOL
	! unseen "$1"
}

# A new configuration is held against running flows first, for a second or two, and
# conntrack calls no datagrams assured before two seconds are over.
shortens() {		# NAME POOL
	check "$1" busywait 20000 unseen "$2"
}

open_flows() {		# [OPTION...]
	web "$@"
	weir flush > /dev/null
	lab mark > /dev/null
	lab open "t$F" tcp cli "$VIP" 80 n=4 > /dev/null
	lab open "u$F" udp cli "$VIP" 53 n=4 > /dev/null
	shortens "TCP takes the short way" "t$F"
	shortens "so does UDP" "u$F"
}

close_flows() {
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
}

requests() {		# POOL NUMBER: answers to so many exchanges of each of its four flows
	local i sum=0
	for ((i = 0; i < $2; i++)); do
		sum=$((sum + $(answers "$(lab req "$1")")))
	done
	echo "$sum"
}

both() {		# COUNTER: of the service
	wjson "sum(s['counters']['$1'] for s in J)" -s show
}

translated() {
	local before count
	open_flows
	lab mark > /dev/null
	before=$(forwarded)
	count=$(both packets-in)
	is "TCP is answered" "$(requests "t$F" 10)" 40
	is "UDP is answered" "$(requests "u$F" 10)" 40
	is "and FORWARD saw nothing of it" "$(forwarded)" "$before"
	settle
	is "checksums are right at all receivers" \
		"$(lab count "($INNER) and not sum_ok" cli "${BACKENDS[@]}")" 0
	is "the client sees the VIP and the port it asked" \
		"$(lab count "($INNER) and not (src == VIP and sport in (80, 53))" cli)" 0
	is "each flow stays with one backend" "$(lab owners "$INNER" '(sport, dport)')" "keys=8 split=0"
	is "each packet is counted" $(($(both packets-in) - count)) \
		"$(lab count "($INNER) and src == CLI" "${BACKENDS[@]}")"
	is "TTL is one less" "$(lab distinct "($INNER) and src == CLI" ttl)" 1
	close_flows
}

# What conntrack shows stays right, and what ends a connection goes through it.
conntracked() {
	local left
	open_flows "idle-timeout 60"
	nap 20	# unrefreshed, 40 s would be left
	unseen "t$F"
	unseen "u$F"
	left=$(wjson "min(f['expires'] for f in J)" flows)
	between "packets keep a flow alive" "$left" 42 60
	left=$(in_ns lb conntrack -L -f "ipv$F" -d "$VIP" 2> /dev/null | awk '{ print $3 }' | sort -n | head -n 1)
	between "conntrack says so too" "$left" 42 60
	lab close "t$F" > /dev/null
	is "what closes a connection reaches conntrack" \
		"$(busywait 5000 prints 4 tracked -p tcp --state TIME_WAIT -d "$VIP")" 4
	lab close "u$F" > /dev/null
}

# The reference's lazy rule holds to the packet.
judged() {
	local words owner
	open_flows "persistence never-persist"
	words=$(lab req "u$F")
	owner=${words%%=*}
	weir backend set "$WEB" "$(addr "$owner")" health down
	is "an unhealthy backend gets no packet more" "$(val "$owner" "$(lab req "u$F")")" 0
	weir backend set "$WEB" "$(addr "$owner")" health up
	close_flows
	web
	lab open "u$F" udp cli "$VIP" 53 n=8 > /dev/null
	shortens "flows are back on the short way" "u$F"
	words=$(lab req "u$F")
	owner=${words%%=*}
	lab mark > /dev/null
	weir backend del "$WEB" "$(addr "$owner")" now
	words=$(lab req "u$F")
	is "a removed backend gets no packet more ($words)" "$(lab count udp "$owner")" 0
	is "all the others answer" "$(answers "$words")" 8
	lab close "u$F" > /dev/null
}

# What FORWARD says holds for new flows, and for those that run when they are flushed.
filtered() {
	local before
	open_flows
	in_ns lb nft add rule inet seen forward meta l4proto udp drop
	is "a rule at FORWARD does not stop what runs" "$(answers "$(lab req "u$F")")" 4
	weir flush > /dev/null
	lab mark > /dev/null
	lab req "u$F" timeout=1 > /dev/null
	is "until it is flushed" "$(lab count udp "${BACKENDS[@]}")" 0
	in_ns lb nft delete table inet seen
	watch_forward
	lab close "u$F" > /dev/null
	shortens "TCP goes on" "t$F"
	in_ns lb sysctl -qw net.weir.fast_path=0
	before=$(forwarded)
	is "fast_path=0: TCP is answered" "$(requests "t$F" 3)" 12
	check "fast_path=0: by way of FORWARD" [ $(($(forwarded) - before)) -ge 24 ]
	in_ns lb sysctl -qw net.weir.fast_path=1
	shortens "fast_path=1: the short way again" "t$F"
	lab close "t$F" > /dev/null
}

# Whoever marks a connection and routes by the mark: the mark is restored behind us.
routed_by_mark() {
	ruleset lb <<- END
		table inet wan {
			chain pre {
				type filter hook prerouting priority mangle
				ip daddr $([ "$F" = 4 ] && echo "$CLI" || echo 0.0.0.0) meta mark set 7
				ip6 daddr $([ "$F" = 6 ] && echo "$CLI" || echo ::) meta mark set 7
				iifname eth1 meta mark set 7
			}
		}
	END
	in_ns lb ip "-$F" rule add fwmark 7 table 77
	in_ns lb ip "-$F" route add "$CLI" dev eth0 table 77
	in_ns lb ip "-$F" route add blackhole "$CLI/$HOST"
	lab open "u$F" udp cli "$VIP" 53 n=4 > /dev/null
	shortens "answers that a mark routes take the short way" "u$F"
	is "and arrive" "$(answers "$(lab req "u$F")")" 4
	in_ns lb ip "-$F" rule del fwmark 7 table 77
	in_ns lb ip "-$F" route flush table 77
	in_ns lb ip "-$F" route del blackhole "$CLI/$HOST"
	in_ns lb nft delete table inet wan
	lab close "u$F" > /dev/null
}

blackholes() {		# add|del: of all backends
	local name
	for name in "${BACKENDS[@]}"; do
		in_ns lb ip "-$F" route "$1" blackhole "$(addr "$name")/$HOST"
	done
}

# Routes, neighbours, devices, sizes.
rerouted() {
	local mac
	open_flows
	blackholes add
	lab mark > /dev/null
	lab req "u$F" timeout=1 > /dev/null
	is "a new route holds at once" "$(lab count udp "${BACKENDS[@]}")" 0
	blackholes del
	is "and the old one again" "$(answers "$(lab req "t$F" timeout=20)")" 4
	lab close "u$F" > /dev/null
	lab open "u$F" udp cli "$VIP" 53 n=4 > /dev/null
	shortens "the short way again" "u$F"
	mac=02:00:00:00:0$F:77
	for name in "${BACKENDS[@]}"; do
		ips "$name" <<< "link set eth0 address ${mac%77}${name#b}7"
	done
	in_ns lb ip neigh flush dev eth1
	is "a backend's new link-layer address is found" \
		"$(answers "$(lab req "u$F" timeout=20)")" 4
	in_ns lb sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
	lab mark > /dev/null
	lab req "u$F" timeout=1 > /dev/null
	is "a router that forwards no more stops" "$(lab count udp "${BACKENDS[@]}")" 0
	in_ns lb sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	close_flows
}

sizes() {
	open_flows
	is "half a megabyte for each" "$(answers "$(lab req "t$F" ask=500000 timeout=60)")" 4
	ips lb <<< "link set eth0 mtu 1300"
	is "with a smaller MTU towards the client too" \
		"$(answers "$(lab req "t$F" ask=200000 timeout=60)")" 4
	ips lb <<< "link set eth0 mtu 1500"
	settle
	lab mark > /dev/null
	is "fragments go with their flow" "$(answers "$(lab frag "u$F" timeout=20)")" 4
	is "and no packet of a flow is at two backends" "$(lab owners "udp and sport and src == CLI" sport)" \
		"keys=4 split=0"
	close_flows
}

# IPsec policies are not for us to judge.
policies() {
	open_flows
	in_ns lb ip xfrm policy add src "$CLI" dst "$B/$([ "$F" = 4 ] && echo 24 || echo 64)" dir out \
		action block
	lab mark > /dev/null
	lab req "u$F" timeout=1 > /dev/null
	is "a policy that blocks holds at once" "$(lab count udp "${BACKENDS[@]}")" 0
	in_ns lb ip xfrm policy flush
	is "and is gone at once" "$(answers "$(lab req "t$F" timeout=20)")" 4
	close_flows
}

# Nothing of it stays, whatever goes first.
goes() {
	use 4
	open_flows
	lab close "u4" > /dev/null
	ips lb <<< "link set eth1 down"
	ips lb <<< "link set eth1 up"
	is "a device that was down" "$(answers "$(lab req t4 timeout=20)")" 4
	shortens "is on the short way again" t4
	F='' FAMILY=''
	check "a device goes while flows know it" timeout 30 ip -n "$lb" link del eth0
	check "the module goes too" timeout 30 rmmod weir
	check "and comes back" modprobe weir
}

fast() {
	translated
	conntracked
	judged
	filtered
	routed_by_mark
	rerouted
	sizes
	policies
}

lab_up 3 tcp:80 udp:53
for name in cli b1 b2 b3; do
	lab wire_sums "$name" eth0 > /dev/null
done
watch_forward
in_ns lb sysctl -qw net.weir.fast_path=1
for_families fast
goes
finish
