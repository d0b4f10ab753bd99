#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What flows do when their backend turns unhealthy (semantics 1.8, per-connection): by default
# TCP stays and UDP leaves. The test is lazy: what counts is the state at the next packet.
#
#   cli ==== lb ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

health() {		# NAME up|down|auto
	weir backend set "$WEB" "$(addr "$1")" health "$2"
}

# Opens 18 flows of each kind; OWNER is a backend of both, TCPS and UDPS how many it has.
flows() {
	local tcp udp
	tcp=$(lab open "t$F" tcp cli "$VIP" 80 n=18)
	udp=$(lab open "u$F" udp cli "$VIP" 53 n=18)
	is "flows are up ($tcp, $udp)" "$(answers "$tcp $udp")" 36
	for OWNER in b1 b2 b3; do
		TCPS=$(val "$OWNER" "$tcp") UDPS=$(val "$OWNER" "$udp")
		[ "$TCPS" = 0 ] || [ "$UDPS" = 0 ] || break
	done
	TCP=$tcp UDP=$udp
	lab mark > /dev/null
}

close_flows() {
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
}

by_default() {
	local words
	web
	drops_mark
	flows
	health "$OWNER" down
	is "default: TCP stays on an unhealthy backend" "$(lab req "t$F")" "$TCP"
	words=$(lab req "u$F")
	is "default: UDP leaves it ($words)" "$(answers "$words") $(val "$OWNER" "$words")" "18 0"
	is "default: it gets no new connection" \
		"$(val "$OWNER" "$(lab call tcp cli "$VIP" 80 n=18)")" 0
	health "$OWNER" auto
	is "default: healthy again, TCP is still there" "$(lab req "t$F")" "$TCP"
	is "default: and UDP stays where it went" "$(lab req "u$F")" "$words"
	drops_are "default: nothing was dropped" none
	close_flows
}

lazy() {
	web
	flows
	health "$OWNER" down
	health "$OWNER" auto
	is "a flap with no packet in between moves nothing" "$(lab req "u$F")" "$UDP"
	close_flows
}

left_unhealthy() {
	wjson "sum(b['counters']['reselected-unhealthy'] for s in J['services']
		for b in s['backends'])" stats "$WEB"
}

never() {
	local before
	web "persistence never-persist"
	flows
	before=$(left_unhealthy)
	health "$OWNER" down
	health "$OWNER" auto
	is "never-persist: a flap with no packet in between moves nothing" \
		"$(lab req "t$F" "only=$OWNER")" "$OWNER=$TCPS"
	health "$OWNER" down
	is "never-persist: TCP leaves: the new backend's reset comes from the VIP" \
		"$(lab req "t$F" "only=$OWNER")" "reset=$TCPS"
	is "never-persist: other connections stay" \
		"$(val reset "$(lab req "t$F")") $(answers "$(lab req "t$F")")" \
		"$TCPS $((18 - TCPS))"
	is "never-persist: UDP leaves" "$(val "$OWNER" "$(lab req "u$F")")" 0
	is "never-persist: the tool counts the flows that left" \
		"$(($(left_unhealthy) - before))" "$((TCPS + UDPS))"
	close_flows

	health "$OWNER" auto
	flows
	weir backend set "$WEB" group default health down
	is "never-persist: with nobody healthy there is nowhere better: all stay" \
		"$(lab req "t$F") $(lab req "u$F")" "$TCP $UDP"
	close_flows
}

always() {
	web "persistence always-persist"
	flows
	health "$OWNER" down
	is "always-persist: UDP stays too" "$(lab req "u$F")" "$UDP"
	is "always-persist: and TCP" "$(lab req "t$F")" "$TCP"
	is "always-persist: new flows avoid it" \
		"$(val "$OWNER" "$(lab call udp cli "$VIP" 53 n=18)")" 0
	close_flows
	refused "always-persist does not go with per-session" "*per-session*" \
		weir service set "$WEB" tracking per-session
}

# ICMP and the rest behave as UDP does, SCTP as TCP.
other_protocols() {
	conf <<- END
		service $WEB {
		    rule $VIP any all
		    backend $B1
		    backend $B2
		}
	END
	lab mark > /dev/null
	lab raw cli gre "$CLI" "$VIP" data=there > /dev/null
	lab await 1 gre > /dev/null
	OWNER=$(lab tally gre | cut -d= -f1)
	health "$OWNER" down
	lab mark > /dev/null
	lab raw cli gre "$CLI" "$VIP" data=there > /dev/null
	lab await 1 gre > /dev/null
	is "default: GRE leaves an unhealthy backend" "$(lab tally gre)" "$(other "$OWNER")=1"
	health "$OWNER" auto
	lab raw cli init "$CLI" "$VIP" sport=9 dport=9 > /dev/null
	lab await 1 sctp > /dev/null
	OWNER=$(lab tally sctp | cut -d= -f1)
	health "$OWNER" down
	lab mark > /dev/null
	lab raw cli init "$CLI" "$VIP" sport=9 dport=9 > /dev/null
	lab await 1 sctp > /dev/null
	is "default: SCTP stays" "$(lab tally sctp)" "$OWNER=1"
}

persistence() {
	by_default
	lazy
	never
	always
	other_protocols
}

lab_up 3 tcp:80 udp:53
# The backends' own stacks say nothing about SCTP: an ABORT would end the flow.
for name in b1 b2; do
	in_ns "$name" nft "add table inet mute; add chain inet mute in { type filter hook input priority 0; }; add rule inet mute in meta l4proto sctp drop"
done
for_families persistence
finish
