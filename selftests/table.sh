#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The table is a function of the set of backends and the hash key, not of history: two routers
# agree, whatever order their backends came in, before and after reloads, and a change moves
# only what it must.
#
#              ,== eth0 lb  eth1 ==.
#   cli =====<                      >== sw ==== b1 .. b5
#              `== eth0 lb2 eth1 ==´
#   The route of cli decides which router a sweep of first packets takes.
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

KEY=00112233445566778899aabbccddeeff
FLOWS=1000

service() {
	cat <<- END
		hash-key $KEY
		service $WEB {
		    rule $VIP udp 53
		    backend $B1
		    backend $B2
		    backend $B3
		    backend $B4
		    backend $B5
		}
	END
}

# The same as service, by commands, in the other order and with detours.
by_hand() {
	local addr
	in_ns lb2 sysctl -qw net.weir.hash_key="$KEY"
	on lb2 service add "$WEB"
	for addr in $B5 $B4 $B3 $B2 $B1; do
		on lb2 backend add "$WEB" "$addr"
	done
	on lb2 backend del "$WEB" "$B3"
	on lb2 rule add "$WEB" "$VIP" udp 53
	on lb2 backend add "$WEB" "$B3"
}

sweep() {		# ROUTER MAP: which backend gets each of the tuples, as first packets
	on "$1" flush > /dev/null
	via "$1"
	lab mark > /dev/null
	lab raw cli udp "$MANY+100" "$VIP" n="$FLOWS" sport=2000 dport=53 data=quiet > /dev/null
	lab await "$FLOWS" "udp and dport == 53 and payload == b'quiet'" > /dev/null
	is "the sweep $2 through $1 is complete" \
		"$(lab learn "$2" "udp and dport == 53" '(src, sport)' | cut -d' ' -f1)" "keys=$FLOWS"
}

same() {		# NAME MAP MAP
	is "$1" "$(lab compare "$2" "$3")" \
		"both=$FLOWS only=0 same=$FLOWS moved=0 left=0 stuck=0"
}

digest() {		# ROUTER
	lab json "J[0]['digest']" weir -j -n "${PLACE[$1]}" show "$WEB"
}

reload() {
	weir save > "$TMP/saved"
	weir apply - < /dev/null > /dev/null
	is "an empty file removes everything" "$(weir -j show)" "[]"
	weir apply "$TMP/saved" > /dev/null
	sweep lb reloaded
	same "the table is the same after a reload of the configuration" one reloaded

	lab call udp cli "$VIP" 53 n=5 > /dev/null
	on lb2 save > "$TMP/saved2"
	check "the module goes while configured, with flows" rmmod weir
	check "and comes back" modprobe weir
	is "with nothing configured" "$(weir save | grep -v '^hash-key')" ""
	check "the saved configuration applies" weir apply "$TMP/saved"
	check "on the other router too" on lb2 apply "$TMP/saved2"
	sweep lb again
	same "the table is the same after a reload of the module" one again
}

# Maglev moves a little more than it must (semantics 1.5).
disruption() {
	local moved
	on lb backend del "$WEB" "$B4"
	on lb2 backend del "$WEB" "$B4"
	sweep lb without
	sweep lb2 without2
	same "both routers agree after a removal" without without2
	moved=$(lab compare one without gone=b4)
	is "every tuple of the removed backend moved" "$(val stuck "$moved")" 0
	between "it had about a fifth" "$(val left "$moved")" $((FLOWS / 7)) $((FLOWS / 4))
	between "of the others at most 5 % moved: $moved" "$(val moved "$moved")" 0 $((FLOWS / 20))
	is "the digests agree" "$(digest lb)" "$(digest lb2)"
	isnt "and differ from before" "$(digest lb)" "$DIGEST"
}

# The tool's word against the wire.
lookups() {
	local port addr wrong=''
	on lb flush > /dev/null
	for ((port = 2000; port < 2010; port++)); do
		addr=$(lab json "J['backend']['addr']" weir -j -n "$lb" lookup udp \
			"$(endpoint "$MANY" "$port")" "$(endpoint "$VIP" 53)")
		lab mark > /dev/null
		lab raw cli udp "$MANY" "$VIP" "sport=$port" dport=53 data=quiet > /dev/null
		lab await 1 "udp and dst == '$addr' and sport == $port" > "$TMP/out"
		[ "$(cat "$TMP/out")" = 1 ] || wrong+=" $port"
	done
	is "lookup says what the packet then gets, for ten flows" "$wrong" ""
}

tables() {
	service | conf
	command weir -n "$lb2" apply - < /dev/null > /dev/null
	by_hand
	DIGEST=$(digest lb)
	is "the digests of two routers agree" "$DIGEST" "$(digest lb2)"
	sweep lb one
	sweep lb2 two
	same "two routers agree, whatever order their backends came in" one two
	is "every backend has some" "$(lab distinct "udp and dport == 53" ns)" 5
	lookups
	reload
	disruption
	on lb backend add "$WEB" "$B4"
	sweep lb back
	same "adding it again gives the first table" one back
	is "and the first digest" "$(digest lb)" "$DIGEST"
	in_ns lb sysctl -qw net.weir.hash_key=ffeeddccbbaa99887766554433221100
	sweep lb other
	between "another key gives another table" \
		"$(val moved "$(lab compare one other)")" $((FLOWS / 2)) "$FLOWS"
}

lab_up 5 udp:53
second_router
for_families tables
finish
