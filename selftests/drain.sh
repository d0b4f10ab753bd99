#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A removed backend drains: for drain-timeout seconds, counted from the command, what exists goes
# on there and nothing new comes (semantics 1.9, decision 4). Then no packet passes any more, in
# either direction.
#
#   cli ==== lb ==== b1 b2 b3 (ports 80 and 53)
#
# timeout: 400
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

DRAIN=$((6 * ${WEIR_PATIENCE:-1}))	# seconds

# Opens 18 flows of each kind. OWNER is a backend that has both, TCPS and UDPS how many; ADDR is
# its address, in expressions A.
flows() {
	settle
	weir flush > /dev/null
	TCP=$(lab open "t$F" tcp cli "$VIP" 80 n=18)
	UDP=$(lab open "u$F" udp cli "$VIP" 53 n=18)
	is "flows are up ($TCP, $UDP)" "$(answers "$TCP $UDP")" 36
	for OWNER in b3 b2 b1; do
		TCPS=$(val "$OWNER" "$TCP") UDPS=$(val "$OWNER" "$UDP")
		[ "$TCPS" = 0 ] || [ "$UDPS" = 0 ] || break
	done
	ADDR=$(addr "$OWNER")
	lab let "A=$ADDR" > /dev/null
	settle
	lab mark > /dev/null
}

close_flows() {
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
}

now_ms() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

drain() {		# COMMAND...: it removes something, between START and BEGUN
	START=$(now_ms)
	"$@" || fail "$*"
	BEGUN=$(now_ms)
}

past_deadline() {
	while [ "$(now_ms)" -lt $((BEGUN + DRAIN * 1000 + 300)) ]; do
		nap 0.1
	done
}

all_stay() {		# NAME
	is "$1" "$(lab req "t$F") $(lab req "u$F")" "$TCP $UDP"
}

newcomers() {		# NAME: of new flows OWNER gets none
	local words
	words="$(lab call tcp cli "$VIP" 80 n=18) $(lab call udp cli "$VIP" 53 n=18)"
	is "$1 ($words)" "$(answers "$words") $(val "$OWNER" "$words")" "36 0"
}

listed() {		# how many flows and sessions of OWNER the tool lists
	wjson "sum(f['backend'] == '$ADDR' for f in J)" flows "$WEB"
}

# The whole of it, with a heartbeat that must not keep anything alive.
deadline() {
	local words before left over shown=0
	web "drain-timeout $DRAIN"
	flows
	# those of direct mode are sessions
	is_direct || shown=$((TCPS + UDPS))
	drain weir backend del "$WEB" "$ADDR"
	all_stay "what exists goes on"
	newcomers "new flows do without it"
	is "it is shown, and is no member any more" "$(shown "B[A]['STATE'], B[A]['N_FLOWS'],
		B[A]['ELIGIBLE'], S['N_BACKENDS'], S['N_ELIGIBLE']")" \
		"[\"draining\", $shown, 0, 2, 2]"
	left=$(shown "B[A]['DRAIN_LEFT']")
	between "with the time that it has left" "$left" 1 $((DRAIN * 1000))
	nap 0.2
	between "which gets less" "$(shown "B[A]['DRAIN_LEFT']")" 1 $((left - 100))
	before=$(generation)
	is "save prints it no more" "$(weir save | tee "$TMP/saved" | grep -cwF "$ADDR")" 0
	left=$(shown "B[A]['DRAIN_LEFT']")
	check "what was saved applies" weir apply "$TMP/saved"
	is "and is no change" "$(generation)" "$before"
	between "it drains on, to the same deadline" "$(shown "B[A]['DRAIN_LEFT']")" 1 "$left"

	while [ "$(lab req "t$F" "only=$OWNER")" = "$OWNER=$TCPS" ] &&
		[ "$(now_ms)" -lt $((START + DRAIN * 3000)) ]; do
		lab req "u$F" "only=$OWNER" timeout=1 > /dev/null
		nap 0.1
	done
	over=$(($(now_ms) - START))
	between "flows with a heartbeat end at the deadline, after ms" "$over" $((DRAIN * 1000)) \
		$((BEGUN - START + DRAIN * 1000 + 2500 * ${WEIR_PATIENCE:-1}))
	is "at once no flow of it is listed" "$(listed)" 0
	is "connections end by a reset" "$(lab req "t$F" "only=$OWNER")" "reset=$TCPS"
	is "which comes from the VIP" "$(lab count 'tcp and rst and src == VIP and sport == 80' \
		cli) $(lab count 'tcp and rst and src != VIP' cli)" "$TCPS 0"
	lab mark > /dev/null
	words=$(lab req "u$F" "only=$OWNER")
	is "UDP is served by others ($words)" "$(answers "$words") $(val "$OWNER" "$words")" \
		"$UDPS 0"
	is "nothing reaches it any more" "$(lab count "src == CLI" "$OWNER")" 0
	check "conntrack has forgotten its flows" busywait 10000 \
		at_most 0 tracked --reply-src "$ADDR"
	check "and it is not shown any more" busywait 5000 prints false shown "A in B"
	is "flows of others have not moved" "$(answers "$(lab req "t$F")")" $((18 - TCPS))
	close_flows
}

# Nobody sends until after the deadline; then the backend is the first.
silence() {
	local seq ack port uport
	web "drain-timeout $DRAIN"
	settle
	OWNER=$(lab open "t$F" tcp cli "$VIP" 80 | cut -d= -f1)
	ADDR=$(addr "$OWNER")
	read -r seq ack port <<< "$(lab last "tcp and sport == 80" cli \
		"seq + len(payload)" ackno dport)"
	lab open "u$F" udp cli "$VIP" 53 n=24 > /dev/null
	uport=$(lab ends "u$F" "only=$OWNER" | cut -d' ' -f2)
	settle
	lab mark > /dev/null
	drain weir backend del "$WEB" "$ADDR"
	late "$OWNER" udp 53 "$uport"
	is "while it drains what it sends passes" \
		"$(lab await 1 "payload == b'late' and src == VIP" cli)" 1
	past_deadline
	drops_mark
	lab mark > /dev/null
	late "$OWNER" tcp 80 "$port" flags=PA "seq=$seq" "ack=$ack"
	late "$OWNER" udp 53 "$uport"
	late_drops "from the deadline on it is dropped" 2
	is "the client sees none of it" "$(lab count "payload == b'late'" cli)" 0
	is "the client's next segment is answered by a reset" "$(lab req "t$F")" reset=1
	is "its next datagram by another backend" \
		"$(val "$OWNER" "$(lab req "u$F" "only=$OWNER")")" 0
	late "$OWNER" udp 53 "$uport"
	late_drops "and dropped after that, too" 3
	is "the removed backend heard nothing" "$(lab count "src == CLI" "$OWNER")" 0
	close_flows
}

# A backend that comes back in time has lost nothing; by add or in a file.
cancel() {
	local words before
	web "drain-timeout $DRAIN"
	flows
	before=$(shown "S['COUNTERS']['SELECTIONS']")
	drain weir backend del "$WEB" "$ADDR"
	check "it can be added again" weir backend add "$WEB" "$ADDR"
	is "and is a member as before" \
		"$(shown "B[A]['STATE'], 'DRAIN_LEFT' in B[A], S['N_BACKENDS'], S['N_ELIGIBLE']")" \
		'["active", false, 3, 3]'
	all_stay "added again: flows are where they were"
	drain weir backend del "$WEB" "$ADDR"
	is "removed again it drains again" "$(shown "B[A]['STATE']")" draining
	web "drain-timeout $DRAIN"
	is "a file that has it cancels that, too" "$(shown "B[A]['STATE']")" active
	past_deadline
	all_stay "when the deadline would have been, nothing happens"
	is "no flow was selected anew" "$(shown "S['COUNTERS']['SELECTIONS']")" "$before"
	words=$(lab call tcp cli "$VIP" 80 n=40)
	isnt "it gets new flows ($words)" "$(val "$OWNER" "$words")" 0
	close_flows
}

now() {
	local words
	web "drain-timeout $DRAIN"
	flows
	weir backend del "$WEB" "$ADDR"
	refused "what drains cannot be removed again" "*drain*now*" weir backend del "$WEB" "$ADDR"
	refused "nor be changed" "*drain*" weir backend set "$WEB" "$ADDR" weight 2
	all_stay "that changes nothing"
	check "but ended now" weir backend del "$WEB" "$ADDR" now
	is "then no flow of it is listed" "$(listed)" 0
	is "its connections end" "$(lab req "t$F" "only=$OWNER")" "reset=$TCPS"
	words=$(lab req "u$F" "only=$OWNER")
	is "its UDP is served by others ($words)" "$(answers "$words") $(val "$OWNER" "$words")" \
		"$UDPS 0"
	is "it is not shown any more" "$(shown "A in B")" false
	close_flows
	web "drain-timeout $DRAIN"
	flows
	check "removed now, without a word before" weir backend del "$WEB" "$ADDR" now
	is "its connections end at once" "$(lab req "t$F" "only=$OWNER")" "reset=$TCPS"
	close_flows
}

# Decision 4: unhealthy and draining is too much, whatever persistence says, but lazily.
unhealthy() {
	web "drain-timeout $DRAIN" "persistence always-persist"
	flows
	weir backend set "$WEB" "$ADDR" health down
	all_stay "always-persist: flows stay on an unhealthy backend"
	settle
	weir backend del "$WEB" "$ADDR"
	leaves "an unhealthy backend drains"

	web "drain-timeout $DRAIN" "persistence always-persist"
	flows
	weir backend del "$WEB" "$ADDR"
	weir backend set "$WEB" "$ADDR" health down
	weir backend set "$WEB" "$ADDR" health up
	all_stay "a flap while it drains, and no packet in between: flows stay"
	settle
	weir backend set "$WEB" "$ADDR" health down
	leaves "a draining backend turns unhealthy"
}

leaves() {		# NAME: every flow of OWNER, with its next packet
	local words
	is "$1: its connections leave" "$(lab req "t$F" "only=$OWNER")" "reset=$TCPS"
	words=$(lab req "u$F" "only=$OWNER")
	is "$1: its UDP leaves ($words)" "$(answers "$words") $(val "$OWNER" "$words")" "$UDPS 0"
	close_flows
}

two_groups() {
	conf <<- END
		service $WEB {
		    drain-timeout $DRAIN
		    rule $VIP tcp 80
		    rule $VIP udp 53
		    group one
		    group two
		    backend $B1 group one
		    backend $B2 group two
		    backend $B3 group two
		}
	END
}

# Decision 15: what is removed with its group drains as well; so does what a file leaves out.
groups() {
	local draining="sorted(a for a in B if B[a]['STATE'] == 'draining')"
	two_groups
	flows
	weir backend del "$WEB" group two
	all_stay "members of a group are removed: what exists goes on"
	is "they drain" "$(shown "$draining")" "[\"$B2\", \"$B3\"]"
	is "new flows do without them" "$(lab call tcp cli "$VIP" 80 n=12)" b1=12
	is "the group is still there" "$(weir save | grep -cw "group two")" 1
	two_groups
	weir group del "$WEB" two
	all_stay "a group is removed: what exists goes on"
	is "its members drain" "$(shown "$draining")" "[\"$B2\", \"$B3\"]"
	is "new flows do without them, too" "$(lab call tcp cli "$VIP" 80 n=12)" b1=12
	is "the group is gone" "$(weir save | grep -cw "group two")" 0
	two_groups
	WEB_BACKENDS=2 web "drain-timeout $DRAIN"
	all_stay "a file leaves one out: what exists goes on"
	is "it drains" "$(shown "$draining")" "[\"$B3\"]"
	is "new flows do without it" "$(val b3 "$(lab call tcp cli "$VIP" 80 n=18)")" 0
	close_flows
}

# All drain: nobody is left for new flows.
last() {
	web "drain-timeout $DRAIN"
	flows
	drain weir backend del "$WEB" group default
	is "all drain: nobody is eligible" "$(shown "S['ELIGIBLE'], S['N_BACKENDS'],
		S['N_ELIGIBLE']")" '["no-backends", 0, 0]'
	drops_mark
	lab raw cli tcp "$MANY+5" "$VIP" n=5 dport=80 > /dev/null
	lab raw cli udp "$MANY+5" "$VIP" n=5 dport=53 > /dev/null
	drops_are "all drain: new flows are dropped by name" no-eligible-backend=10
	all_stay "all drain: what exists goes on"
	past_deadline
	is "at the end nobody answers" "$(lab req "u$F" timeout=1)" timeout=18
	lab close "t$F" how=rst > /dev/null
	lab close "u$F" > /dev/null
}

# Decision 5: a session holds until the deadline, so a sticky client's next connection goes to
# the draining backend as well; under per-connection it does not.
sticky() {
	local words
	web "drain-timeout $DRAIN" "affinity client-ip"
	OWNER=$(lab open "t$F" tcp cli "$VIP" 80 | cut -d= -f1)
	weir backend del "$WEB" "$(addr "$OWNER")"
	words=$(lab call tcp cli "$VIP" 80 n=10)
	is "per-connection: a sticky client's new connections go elsewhere ($words)" \
		"$(answers "$words") $(val "$OWNER" "$words")" "10 0"
	is "per-connection: the old one goes on" "$(lab req "t$F")" "$OWNER=1"
	lab close "t$F" > /dev/null

	web "drain-timeout $DRAIN" "affinity client-ip" "tracking per-session"
	settle
	weir flush > /dev/null
	OWNER=$(lab open "t$F" tcp cli "$VIP" 80 | cut -d= -f1)
	words=$(lab call tcp cli "$VIP" 80 n=40 "src=$MANY+40")
	isnt "per-session: it has other clients, too ($words)" "$(val "$OWNER" "$words")" 0
	drain weir backend del "$WEB" "$(addr "$OWNER")"
	is "per-session: the client's new connections go there" \
		"$(lab call tcp cli "$VIP" 80 n=10)" "$OWNER=10"
	words=$(lab call tcp cli "$VIP" 80 n=40 "src=$(strangers)+40")
	is "per-session: those of new clients do not ($words)" \
		"$(answers "$words") $(val "$OWNER" "$words")" "40 0"
	weir save > "$TMP/saved"
	weir apply "$TMP/saved" > /dev/null
	is "per-session: the same after the same file again" \
		"$(lab call tcp cli "$VIP" 80 n=10)" "$OWNER=10"
	past_deadline
	words=$(lab call tcp cli "$VIP" 80 n=10)
	is "per-session: from the deadline on nothing goes there ($words)" \
		"$(answers "$words") $(val "$OWNER" "$words")" "10 0"
	is "per-session: the old connection has ended" "$(lab req "t$F")" reset=1
	lab close "t$F" > /dev/null
}

strangers() {		# the first of clients that nobody has seen
	if [ "$F" = 6 ]; then
		echo fd00:1:1::1:1
	else
		echo 10.1.17.1
	fi
}

# With the service everything goes at once.
service() {
	web "drain-timeout $DRAIN"
	flows
	weir backend del "$WEB" "$ADDR"
	weir service del "$WEB"
	is "with the service all its flows go" "$(wjson "len(J)" flows)" 0
	lab mark > /dev/null
	lab send "u$F" hello > /dev/null
	settle
	is "nothing reaches a backend any more" "$(lab count udp)" 0
	lab close "t$F" how=rst > /dev/null
	lab close "u$F" > /dev/null
}

draining() {
	deadline
	# what backends of direct mode send is none of the router's business
	is_direct || silence
	cancel
	now
	unhealthy
	groups
	last
	sticky
	service
}

lab_up 3 tcp:80 udp:53
for_families draining
finish
