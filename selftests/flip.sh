#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What flows that exist do when the eligible set flips between primaries and failover members
# (semantics 1.7, 2.4): with drain-on-failover they stay as long as they last, whatever their
# protocol; without it they leave, but lazily: what counts is the role in use at the next packet.
#
#   cli ==== lb ==== b1 b2 b3 b4 (group main), b5 b6 (group spare, failover)
#
# timeout: 400
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=pool.sh
. "$(dirname "$0")/pool.sh"

# Opens 24 flows of each kind. OWNER is a primary that has both, TCPS and UDPS how many; OTHERS
# are the other primaries.
flows() {
	local name
	TCP=$(lab open "t$F" tcp cli "$VIP" 80 n=24 "sport=$PORT")
	UDP=$(lab open "u$F" udp cli "$VIP" 53 n=24 "sport=$PORT")
	PORT=$((PORT + 24))
	is "flows are up ($TCP, $UDP)" "$(answers "$TCP $UDP")" 48
	for OWNER in b1 b2 b3 b4; do
		TCPS=$(val "$OWNER" "$TCP") UDPS=$(val "$OWNER" "$UDP")
		[ "$TCPS" = 0 ] || [ "$UDPS" = 0 ] || break
	done
	OTHERS=()
	for name in b1 b2 b3 b4; do
		[ "$name" = "$OWNER" ] || OTHERS+=("$name")
	done
	settle
	lab mark > /dev/null
}

close_flows() {
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
}

spares() {		# WORDS: how many answers are of failover members
	echo $(($(val b5 "$1") + $(val b6 "$1")))
}

left() {		# flows that were selected anew since their backend's role is not in use
	shown "S['COUNTERS']['RESELECTED_FAILOVER']"
}

verdict() {		# POOL PORT: what a lookup says of the first flow of OWNER there
	local src port proto=tcp
	[ "$2" = 80 ] || proto=udp
	read -r src port _ <<< "$(lab ends "$1" "only=$OWNER")"
	wjson "J['stay'], J['outcome']" lookup "$proto" "$(endpoint "$src" "$port")" \
		"$(endpoint "$VIP" "$2")"
}

stay() {
	local words
	pool "failover-ratio 0.5"
	flows
	health down "${OTHERS[@]}"
	reach "drain: 1 of 4 is healthy" b5 b6
	is "drain: a lookup says that the flows may stay" \
		"$(verdict "t$F" 80) $(verdict "u$F" 53)" '["yes", "kept"] ["yes", "kept"]'
	is "drain: TCP stays, on sick primaries too" "$(lab req "t$F")" "$TCP"
	is "drain: UDP stays on the healthy one" "$(lab req "u$F" "only=$OWNER")" "$OWNER=$UDPS"
	words=$(lab req "u$F")
	is "drain: from sick ones it goes to failover members ($words)" \
		"$(spares "$words") $(val "$OWNER" "$words")" "$((24 - UDPS)) $UDPS"
	health auto "${OTHERS[@]}"
	reach "drain: failback" b1 b2 b3 b4
	is "drain: TCP has not moved" "$(lab req "t$F")" "$TCP"
	is "drain: neither has UDP, failover members keep theirs" "$(lab req "u$F")" "$words"
	is "drain: no flow left for its role" "$(left)" "$LEFT"
	close_flows
}

leave() {
	local words
	pool "failover-ratio 0.5" "drain-on-failover off"
	flows
	drops_mark
	health down "${OTHERS[@]}"
	health auto "${OTHERS[@]}"
	is "no drain: two flips with no packet in between move nothing" \
		"$(lab req "t$F") $(lab req "u$F")" "$TCP $UDP"
	settle
	health down "${OTHERS[@]}"
	is "no drain: a lookup says why they leave" "$(verdict "t$F" 80) $(verdict "u$F" 53)" \
		'["failover", "selected"] ["failover", "selected"]'
	is "no drain: flows says it, too" "$(wjson "sorted({f['stay'] for f in J
		if f['backend'] == '$(addr "$OWNER")'})" flows "$WEB")" '["failover"]'
	lab mark > /dev/null
	late "$OWNER" udp 53 "$(lab ends "u$F" "only=$OWNER" | cut -d' ' -f2)"
	is "no drain: until a client sends something, what the primary says passes" \
		"$(lab await 1 "payload == b'late' and src == VIP" cli)" 1
	is "no drain: TCP of a healthy primary ends by a reset" \
		"$(lab req "t$F" "only=$OWNER")" "reset=$TCPS"
	is "no drain: which comes from the VIP" "$(lab count 'tcp and rst' cli) $(lab count \
		'tcp and rst and not (src == VIP and sport == 80)' cli)" "$TCPS 0"
	is "no drain: its segments reached failover members" \
		"$(lab distinct "tcp and payload and src == CLI" sport b5 b6)" "$TCPS"
	words=$(lab req "u$F" "only=$OWNER")
	is "no drain: UDP is served by failover members ($words)" "$(spares "$words")" "$UDPS"
	is "no drain: those flows are counted as what they are" $(($(left) - LEFT)) $((TCPS + UDPS))
	is "no drain: TCP of sick primaries leaves as well" "$(lab req "t$F")" reset=24
	words=$(lab req "u$F")
	is "no drain: and their UDP ($words)" "$(spares "$words")" 24
	is "no drain: the primaries saw nothing more" \
		"$(lab count "src == CLI" b1 b2 b3 b4)" 0
	health auto "${OTHERS[@]}"
	words=$(lab req "u$F")
	is "no drain: failback is a flip like any other ($words)" \
		"$(spares "$words") $(answers "$words")" "0 24"
	# a backend repeats what the client had no time to acknowledge
	like "no drain: nothing else was dropped" "$(drops)" "@(none|late-answer=+([0-9]))"
	close_flows
}

# Decision 18: an empty set is no flip, the last role stays.
empty_set() {
	local words
	pool "failover-ratio 0.5" "drop-if-unhealthy on" "drain-on-failover off"
	flows
	# In the other order failover members would serve for a moment.
	health down b5 b6 b1 b2 b3 b4
	is "empty set: the role stays" "$(shown "S['ROLE'], S['ELIGIBLE'], S['N_ELIGIBLE']")" \
		'["primary", "drop", 0]'
	drops_mark
	lab raw cli udp "$MANY+4" "$VIP" n=4 "sport=$PORT" dport=53 > /dev/null
	PORT=$((PORT + 1))
	drops_are "empty set: new flows are dropped" no-eligible-backend=4
	is "empty set: TCP persists" "$(lab req "t$F")" "$TCP"
	health auto b1 b2 b3 b4
	is "empty set: the same role is back, who was silent is where it was" \
		"$(lab req "u$F") $(lab req "t$F")" "$UDP $TCP"
	health auto b5 b6
	close_flows

	health down b1 b2 b3 b4
	flows_of_spares
	health down b5 b6
	is "empty set after failover: the role stays" "$(shown "S['ROLE'], S['ELIGIBLE']")" \
		'["failover", "drop"]'
	health auto b5 b6
	is "empty set after failover: the role is back, flows are where they were" \
		"$(lab req "u$F")" "$UDP"
	health down b5 b6
	health auto b1 b2 b3 b4
	words=$(lab req "u$F")
	is "empty set after failover: the other role comes: that is a flip ($words)" \
		"$(spares "$words") $(answers "$words")" "0 12"
	lab close "u$F" > /dev/null
}

flows_of_spares() {	# 12 UDP flows while failover members serve
	UDP=$(lab open "u$F" udp cli "$VIP" 53 n=12 "sport=$PORT")
	PORT=$((PORT + 12))
	is "failover members have flows ($UDP)" "$(spares "$UDP")" 12
}

# With failover off everybody is a primary: whoever is healthy keeps his.
turned_off() {
	local before
	pool "failover-ratio 0.5" "drain-on-failover off"
	health down b1 b2 b3
	flows_of_spares
	weir group set "$WEB" spare failover off
	is "failover turned off: flows stay" "$(lab req "u$F")" "$UDP"
	is "and the role is everybody's" "$(shown "S['ROLE']")" all
	weir group set "$WEB" spare failover on
	is "on again, with the same role in use: they stay" "$(lab req "u$F")" "$UDP"
	weir service set "$WEB" failover-ratio 0.0
	is "a flip by another ratio: they leave" "$(lab req "u$F")" b4=12
	lab close "u$F" > /dev/null

	pool "failover-ratio 0.5" "drain-on-failover off"
	health down b1 b2 b3
	flows_of_spares
	before=$(left)
	weir backend del "$WEB" group main
	is "failover turned off, for no primary is left: the role is everybody's" \
		"$(shown "S['ROLE']")" all
	is "flows stay" "$(lab req "u$F")" "$UDP"
	is "and were not selected anew to the same end" "$(left)" "$before"
	lab close "u$F" > /dev/null
}

# A connection that the other pool reset is opened again at once, where it belongs.
reconnect() {
	local words
	pool "failover-ratio 0.5" "drain-on-failover off"
	load_up "t$F" cli tcp "$VIP" 80 conns=16 every=0.2
	load_more "t$F" ok 48
	health down b1 b2 b3
	load_more "t$F" ok 64
	lab mark > /dev/null
	load_more "t$F" ok 64
	is "clients that reconnect are served by failover members" \
		"$(lab values "tcp and payload and src == CLI" ns | tr -d "[]',")" "b5 b6"
	words=$(load_down "t$F")
	is "each lost its connection once, by a reset ($words)" "$(val reset "$words") $(val \
		lost "$words") $(val moved "$words") $(val refused "$words")" "16 0 0 0"
}

flip() {
	LEFT=0
	stay
	LEFT=$(left)
	leave
	empty_set
	turned_off
	reconnect
}

lab_up 6 tcp:80 udp:53
for_families flip
finish
