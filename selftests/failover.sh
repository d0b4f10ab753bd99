#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Failover (semantics 2.1 to 2.3): new flows go to primaries only or, once too few of these are
# healthy, to failover members only, never to a mix. With nobody healthy the primaries are the
# last resort, or nobody is.
#
#   cli ==== lb ==== b1 b2 b3 b4 (group main), b5 b6 (group spare, failover)
#
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=pool.sh
. "$(dirname "$0")/pool.sh"

# Down to LEAST healthy ones of four the primaries keep the new flows; back is the same.
steps() {		# RATIO LEAST
	local n
	pool "failover-ratio $1"
	step "$1" "$2" 4
	for n in 3 2 1 0; do
		health down "b$((4 - n))"
		step "$1" "$2" "$n"
	done
	health down b5 b6
	reach "ratio $1, nobody healthy: the primaries are the last resort" b1 b2 b3 b4
	health auto b5 b6
	step "$1" "$2" 0
	for n in 1 2 3 4; do
		health auto "b$((5 - n))"
		step "$1" "$2" "$n"
	done
}

step() {		# RATIO LEAST N: N primaries are healthy, those with the highest numbers
	local i names=(b5 b6)
	if [ "$3" -ge "$2" ]; then
		names=()
		for ((i = 5 - $3; i <= 4; i++)); do
			names+=("b$i")
		done
	fi
	reach "ratio $1, $3 of 4 healthy" "${names[@]}"
}

ratios() {
	steps 0.5 2
	steps 0.0 1
	steps 1.0 4
	pool "failover-ratio 0.5"
	health down b1 b2 b3 b5 b6
	reach "below the ratio, but no failover member is healthy" b4
}

# What the kernel says of it is what packets meet.
told() {
	local counts="S['N_PRIMARY'], S['N_PRIMARY_HEALTHY'], S['N_FAILOVER'], S['N_FAILOVER_HEALTHY']"
	pool "failover-ratio 0.5"
	health down b2 b6
	is "3 of 4 healthy: so it is shown" \
		"$(shown "S['ROLE'], S['ELIGIBLE'], S['N_ELIGIBLE'], $counts")" \
		'["primary", "primary", 3, 4, 3, 2, 1]'
	health down b1 b3
	is "1 of 4 healthy: so it is shown" \
		"$(shown "S['ROLE'], S['ELIGIBLE'], S['N_ELIGIBLE'], $counts")" \
		'["failover", "failover", 1, 4, 1, 2, 1]'
	is "and who is eligible" "$(shown "[a for a in B if B[a]['ELIGIBLE']]")" "[\"$B5\"]"
	is "the tool says the same" "$(wjson "J[0]['eligible'], J[0]['n-eligible']" show \
		"$WEB")" '["failover", 1]'
	is "and a lookup" "$(wjson "J['eligible'], J['backend']['addr']" lookup udp \
		"$(endpoint "$CLI" 1)" "$(endpoint "$VIP" 53)")" "[\"failover\", \"$B5\"]"
}

first_packets() {	# of ten connections and ten datagram flows that nobody has seen before
	lab mark > /dev/null
	drops_mark
	lab raw cli tcp "$MANY+10" "$VIP" n=10 "sport=$PORT" dport=80 > /dev/null
	lab raw cli udp "$MANY+10" "$VIP" n=10 "sport=$PORT" dport=53 > /dev/null
	PORT=$((PORT + 1))
}

# drop-if-unhealthy is about new connections: what persists goes on.
nobody() {
	local words
	pool "failover-ratio 0.5" "drop-if-unhealthy on"
	words=$(lab open "t$F" tcp cli "$VIP" 80 n=12 "sport=$PORT")
	is "connections are up ($words)" "$(answers "$words")" 12
	lab open "u$F" udp cli "$VIP" 53 n=4 "sport=$PORT" > /dev/null
	PORT=$((PORT + 12))
	health down b1 b2 b3 b4 b5 b6
	is "nobody healthy: shown as an empty set" \
		"$(shown "S['ELIGIBLE'], S['N_ELIGIBLE']")" '["drop", 0]'
	first_packets
	drops_are "nobody healthy: new flows are dropped by name" no-eligible-backend=20
	is "no backend saw one" "$(lab count "src != CLI and (tcp or udp)")" 0
	is "their clients hear nothing" "$(lab count "dst != CLI and dst != VIP
		and not (icmp6 and type in (133, 134, 135, 136, 143))" cli)" 0
	is "established connections persist" "$(lab req "t$F")" "$words"
	is "UDP does not" "$(lab req "u$F" timeout=1)" timeout=4

	weir service set "$WEB" when-empty reject
	lab mark > /dev/null
	is "when-empty reject: TCP is refused" \
		"$(lab call tcp cli "$VIP" 80 "sport=$PORT")" refused=1
	is "by a reset from the VIP" "$(lab count 'tcp and rst and src == VIP' cli)" 1
	is "UDP is refused" "$(lab call udp cli "$VIP" 53 "sport=$PORT")" refused=1
	is "by a port unreachable" "$(lab count \
		"(icmp and type == 3 and code == 3 or icmp6 and type == 1 and code == 4)
		and inner['dst'] == VIP and inner['dport'] == 53" cli)" 1
	PORT=$((PORT + 1))
	is "established connections still persist" "$(lab req "t$F")" "$words"
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null

	weir service set "$WEB" drop-if-unhealthy off
	reach "drop-if-unhealthy off: the primaries are the last resort" b1 b2 b3 b4
	is "and shown as that" "$(shown "S['ELIGIBLE']")" last-primaries
	weir service set "$WEB" drop-if-unhealthy on
	weir backend del "$WEB" group spare
	reach "without a failover member the word means nothing: all are the last resort" \
		b1 b2 b3 b4
	is "and shown as that" "$(shown "S['ELIGIBLE']")" last-resort
}

# On only while both roles have members, healthy or not.
members() {
	pool "failover-ratio 1.0" "drop-if-unhealthy on"
	weir backend del "$WEB" group spare
	health down b1
	reach "no failover member: the ratio means nothing" b2 b3 b4
	is "failover is off" "$(shown "S['ROLE'], S['ELIGIBLE']")" '["all", "healthy"]'
	weir backend add "$WEB" "$B5" group spare
	reach "one failover member: it is on" b5
	weir backend del "$WEB" group main
	reach "no primary: it is off again" b5
	is "so it is shown" "$(shown "S['ROLE'], S['ELIGIBLE']")" '["all", "healthy"]'
	health down b5
	reach "a sick one alone: the last resort" b5
}

# Groups change their role while traffic goes on.
roles() {
	pool "failover-ratio 1.0"
	reach "before: the primaries" b1 b2 b3 b4
	weir group set "$WEB" spare failover off
	reach "the failover group is made primary: everybody" b1 b2 b3 b4 b5 b6
	weir group set "$WEB" main failover on
	reach "the other one is made failover: two primaries" b5 b6
	health down b5
	reach "half of them is below the ratio" b1 b2 b3 b4
	is "the counts follow the roles" "$(shown "S['N_PRIMARY'], S['N_FAILOVER']")" "[2, 4]"
	weir group set "$WEB" main failover off
	reach "everybody is primary: all healthy ones" b1 b2 b3 b4 b6
	weir save > "$TMP/saved"
	weir group set "$WEB" spare failover on
	like "save prints the role" "$(weir save)" "*group spare failover*"
	check "apply sets it back" weir apply "$TMP/saved"
	reach "as before" b1 b2 b3 b4 b6
}

# Who drains is no member any more (decision 4).
draining() {
	pool "failover-ratio 0.5" "drain-timeout 600"
	health down b1 b2
	reach "2 of 4 healthy" b3 b4
	weir backend del "$WEB" "$B4"
	reach "a healthy one drains: 1 of 3" b5 b6
	is "so they are counted" "$(shown "S['N_PRIMARY'], S['N_PRIMARY_HEALTHY']")" "[3, 1]"
	weir backend add "$WEB" "$B4" group main
	reach "it is back: 2 of 4" b3 b4
	health down b3
	reach "1 of 4" b5 b6
	weir backend del "$WEB" group spare
	reach "all failover members drain: failover is off" b4
}

# What a flip changes is heard as any change is.
events() {
	command weir -n "$lb" monitor > "$TMP/events$F" 2>&1 &
	PIDS+=($!)
	local listener=$!
	pool "failover-ratio 0.5"
	check "the listener has joined" busywait 20000 heard
	weir group set "$WEB" spare failover off
	check "a group that is made primary is an event" \
		busywait 5000 event "~ group $WEB spare *$"
	weir group set "$WEB" spare failover on
	check "and one that is made failover" busywait 5000 event "~ group $WEB spare failover"
	health down b1
	check "and a backend that the operator calls down" \
		busywait 5000 event "~ backend $WEB .*$B1.*down"
	kill "$listener"
}

heard() {		# it prints what happens, once it has joined
	weir service set "$WEB" idle-timeout $((60 + RANDOM % 500))
	[ -s "$TMP/events$F" ]
}

event() {		# PATTERN: there was such a line
	grep -qE -- "$1" "$TMP/events$F"
}

refusals() {
	pool
	refused "a ratio above 1" "*failover-ratio*0.0..1.0*" \
		weir service set "$WEB" failover-ratio 1.5
	refused "a group that is not there" "*nobody*" weir group set "$WEB" nobody failover on
	refused "a backend of a group that is not there" "*nobody*" \
		weir backend set "$WEB" "$B1" group nobody
}

failover() {
	ratios
	told
	nobody
	members
	roles
	draining
	events
	refusals
}

lab_up 6 tcp:80 udp:53
for_families failover
finish
