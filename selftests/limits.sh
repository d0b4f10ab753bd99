#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Full tables. The sweeper of net.weir.max_flows removes unanswered and half-open flows first,
# then closed ones, then those unused for longest; sessions give way to others only when their
# table is nearly full. What is in use survives a flood of SYNs as fast as the machine goes.
#
#   cli, and 172.16.0.0/12, fd00:f::/64 ==== lb ==== b1 b2 b3
#
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

EACH=60			# flows of each kind
ROOM=8192		# for sessions
FLOOD_TIME=60		# seconds of saturation

prepare() {
	local name
	flood_routes
	for name in "${BACKENDS[@]}"; do
		in_ns "$name" sysctl -qw net.ipv4.tcp_synack_retries=0 \
			net.ipv4.tcp_max_syn_backlog=65536 net.core.somaxconn=65536
	done
}

limit() {		# max_flows|max_sessions NUMBER
	in_ns lb sysctl -qw "net.weir.$1=$2"
}

counter() {		# REASON
	wjson "sum(r['packets'] for r in J['reasons'] if r['name'] == '$1')" stats
}

# Flows that there are, by the thousand that the client's port is of.
kinds() {
	wjson "' '.join('%s=%d' % (k, sum(f['kind'] == 'flow' and f['sport'] // 1000 == n
		for f in J)) for n, k in ((20, 'unanswered'), (21, 'half'), (22, 'closed'),
			(23, 'idle'), (24, 'used')))" flows "$WEB"
}

swept() {		# NAME MAX WANT
	limit max_flows "$2"
	is "$1" "$(busywait 10000 prints "$3" kinds)" "$3"
	nap 0.6
	is "and that is all" "$(kinds)" "$3"
	lab req "used$F" > /dev/null
}

order() {
	local others
	limit max_flows 0
	web
	lab open "idle$F" tcp cli "$VIP" 80 n=$EACH sport=23000 > /dev/null
	nap 9
	lab open "closed$F" tcp cli "$VIP" 80 n=$EACH sport=22000 > /dev/null
	lab close "closed$F" > /dev/null
	lab open "used$F" tcp cli "$VIP" 80 n=$EACH sport=24000 > /dev/null
	lab raw cli udp "$CLI" "$VIP" n=$EACH sport=20000 dport=53 data=quiet > /dev/null
	lab raw cli tcp "$NOBODY" "$VIP" n=$EACH sport=21000 dport=80 > /dev/null
	lab req "used$F" > /dev/null
	is "five kinds of flows are there" "$(kinds)" \
		"unanswered=60 half=60 closed=60 idle=60 used=60"
	is "half-open ones have been answered" "$(wjson "sorted({f['tcp-state'] for f in J
		if f['kind'] == 'flow' and f['sport'] // 1000 == 21})" flows "$WEB")" '["syn-recv"]'

	# A sixteenth more than has to go is removed. Entries of others count, but stay.
	others=$(($(lab sysctl lb net/netfilter/nf_conntrack_count) - $(entries)))
	limit max_flows 200
	busywait 10000 at_most 188 entries > /dev/null
	between "as many are removed as have to" "$(entries)" $((188 - others)) 188
	like "unanswered and half-open flows go first" "$(kinds)" \
		"unanswered=* half=* closed=60 idle=60 used=60"
	swept "then closed ones" 160 "unanswered=0 half=0 closed=30 idle=60 used=60"
	swept "all of them" 128 "unanswered=0 half=0 closed=0 idle=60 used=60"
	swept "then those unused for longest" 100 "unanswered=0 half=0 closed=0 idle=34 used=60"
	swept "all of those too" 64 "unanswered=0 half=0 closed=0 idle=0 used=60"
	is "what stayed goes on" "$(answers "$(lab req "used$F")")" $EACH
	limit max_flows 0
	is "and what was removed is picked up again" "$(answers "$(lab req "idle$F")")" $EACH
	lab close "idle$F" > /dev/null
	lab close "used$F" > /dev/null
	weir flush > /dev/null
}

entries() {
	wjson "sum(f['kind'] == 'flow' for f in J)" flows "$WEB"
}

# Sessions of clients that are sent to b1 and would be sent elsewhere without them.
sessions_up() {		# [LINE of the configuration...]
	{
		echo "service sess$F {"
		echo "affinity client-ip"
		echo "tracking per-session"
		echo "rule $VIP2 tcp 80"
		echo "rule $VIP2 udp 53"
		echo "backend $B1"
		echo "}"
		printf '%s\n' "$@"
	} | conf
	is "clients have sessions" "$(clients)" b1=50
	weir backend add "sess$F" "$B2"
	weir backend add "sess$F" "$B3"
}

clients() {		# 50 of them open a connection each
	lab call tcp cli "$VIP2" 80 n=50 "src=$MANY+50"
}

sessions() {
	wjson "J['limits']['n-sessions']" stats
}

more_clients() {	# FIRST COUNT: so many others send two datagrams each
	"$PYTHON" "$HERE/py/flood.py" "$cli" "$lb" udp "$F" "$VIP2" 53 2500 120 "$1" "$2" 2 \
		> "$TMP/more" 2>&1
	is "$2 more clients come" "$(< "$TMP/more")" "$2"
}

room() {
	local before places half=$((ROOM / 2 - 50)) most=$((ROOM * 9 / 10 - 50)) i at evicted
	limit max_sessions $ROOM
	sessions_up
	before=$(counter session-evicted)
	more_clients 0 $half
	is "up to half of the room nothing gives way" \
		"$(counter session-evicted) $(sessions)" "$before $((half + 50))"
	more_clients $half $((most - half))
	evicted=$(($(counter session-evicted) - before))
	between "up to 90 % less than one in a hundred does" "$evicted" 0 $((most / 100))
	is "and the others are all there" "$(sessions)" $((most + 50 - evicted))
	# one of these clients may be among those few; from here on all come again in time, and
	# it is the oldest sessions that go
	places=$(clients)
	for ((i = 0, at = most; i < 4; i++, at += ROOM / 4)); do
		nap 2
		more_clients $at $((ROOM / 4))
		is "who comes again in time stays ($places)" "$(clients)" "$places"
	done
	between "the table is full, and no more than that" "$(sessions)" $((ROOM * 95 / 100)) $ROOM
	weir flush > /dev/null
}

flood_up() {		# SECONDS DST FIRST
	"$PYTHON" "$HERE/py/flood.py" "$cli" "$lb" tcp "$F" "$2" 80 10000000 "$1" "$3" \
		> "$TMP/flood.$3" 2>&1 &
	PIDS+=($!)
	FLOODS+=($!)
}

cpu() {			# ticks of all CPUs: "busy idle"
	awk '/^cpu / { print $2 + $3 + $4 + $6 + $7 + $8 + $9, $5; exit }' /proc/stat
}

# Connections and sessions are not used while it lasts: nothing but what they are protects them.
saturate() {
	local busy idle more busy_then idle_then sent
	FLOODS=()
	limit max_flows 3000
	limit max_sessions 1024
	sessions_up "service $WEB {" "rule $VIP tcp 80" "backend $B1" "}"
	is "connections are open" "$(lab open "conns$F" tcp cli "$VIP" 80 n=100)" b1=100
	weir backend add "$WEB" "$B2"
	weir backend add "$WEB" "$B3"
	more=$(counter flow-evicted)
	lab leaks only > /dev/null
	read -r busy idle < <(cpu)
	flood_up "$1" "$VIP" 0
	flood_up "$1" "$VIP2" 500000
	wait "${FLOODS[@]}"
	read -r busy_then idle_then < <(cpu)
	[[ $(cat "$TMP"/flood.*) =~ ^[0-9]+$'\n'[0-9]+$ ]] ||
		bail "the flood failed: $(cat "$TMP"/flood.*)"
	lab leaks too > /dev/null
	sent=$(($(< "$TMP/flood.0") + $(< "$TMP/flood.500000")))
	note "$sent SYNs in $1 s; $(lab sysctl lb net/netfilter/nf_conntrack_count) entries; flows evicted:" \
		"$(($(counter flow-evicted) - more)); sessions: $(sessions)"
	between "the flood saturated the machine" $((100 * (busy_then - busy) /
		(busy_then - busy + idle_then - idle))) 90 100
	isnt "flows were removed" "$(counter flow-evicted)" "$more"
	between "no more flows than the limit are left" \
		"$(busywait 10000 at_most 3000 lab sysctl lb net/netfilter/nf_conntrack_count)" 100 3000
	is "every connection is where it was" "$(lab req "conns$F")" b1=100
	is "every session too" "$(clients)" b1=50
	lab close "conns$F" > /dev/null
	limit max_flows 0
	weir flush > /dev/null
}

lab_up 3 tcp:80 udp:53
prepare
for F in 4 6; do
	use "$F"
	NOBODY=172.16.0.1
	[ "$F" = 4 ] || NOBODY=fd00:f::1
	order
	note "$SECONDS s"
	room
	note "$SECONDS s"
	saturate $((F == 4 ? FLOOD_TIME : FLOOD_TIME / 4))
done
finish
