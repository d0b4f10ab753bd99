#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A backend that is up and down all the time: 50 changes in 10 seconds lose nobody a connection,
# and what is no change costs nothing.
#
#   cli, 50 new connections a second, connections that stay, UDP ==== lb ==== b1 b2 b3
#
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

FLIPS=50
EVERY=200	# milliseconds

health() {		# up|down|auto: of b1
	weir backend set "$WEB" "$B1" health "$1" || fail "health $1 is refused"
}

digest() {
	shown "S['DIGEST']"
}

n_flips() {
	shown "B[B1]['N_FLIPS']"
}

# Without a process for each: a guest that is busy starts three in a second.
flip() {		# up|down
	[ "$(lab report lb "$WEB" "$B1" "health=$1")" = ok ] || fail "health $1 is refused"
}

under_load() {
	local i due before digest flips
	web
	digest=$(digest)
	load_up "n$F" cli new "$VIP" 80 conns=10 every=0.2
	load_up "t$F" cli tcp "$VIP" 80 conns=6 every=0.2
	load_up "u$F" cli udp "$VIP" 53 conns=6 every=0.2
	for i in n t u; do
		load_more "$i$F" ok 12
	done
	drops_mark
	before=$(generation) flips=$(n_flips)
	due=${EPOCHREALTIME/./}
	for ((i = 0; i < FLIPS; i += 2)); do
		flip down
		until_us $((due += EVERY * 1000))
		flip up
		until_us $((due += EVERY * 1000))
	done
	is "each change was published" $(($(generation) - before)) "$FLIPS"
	is "and counted" $(($(n_flips) - flips)) "$FLIPS"
	between "the last one was seconds ago" "$(shown "B[B1]['FLIPPED']")" 0 \
		$((10 * ${WEIR_PATIENCE:-1}))
	is "the table is the first one again" "$(digest)" "$digest"
	loads_lost_nothing n t u
}

until_us() {		# MICROSECONDS: of the clock
	while [ "${EPOCHREALTIME/./}" -lt "$1" ]; do
		nap 0.01
	done
}

# The same word again is no change: no generation and no table.
unchanged() {
	local before digest flips i
	web
	health down
	before=$(generation) digest=$(digest) flips=$(n_flips)
	for i in 1 2 3 4 5; do
		health down
		weir backend set "$WEB" "$B2" health auto
		weir service set "$WEB" affinity none
	done
	is "the same again: the generation stays" "$(generation)" "$before"
	is "and the table" "$(digest)" "$digest"
	is "and no flip is counted" "$(n_flips)" "$flips"
	# Another word that comes to the same: published, but no flip, and the same table.
	health auto
	before=$(generation) digest=$(digest) flips=$(n_flips)
	health up
	is "auto and up are two words" $(($(generation) - before)) 1
	is "of which a backend that nobody checks knows no difference" \
		"$(digest) $(n_flips)" "$digest $flips"
}

# A checker's word: the first one is a flip, the same again is not even a change.
checked() {
	local before flips
	conf < /dev/null
	web "health-check tcp"
	is "a new backend of a checked service is down" \
		"$(shown "B[B1]['HEALTHY'], B[B1]['CHECK']")" '[0, "auto"]'
	flips=$(n_flips)
	lab report lb "$WEB" "$B1" check=up > /dev/null
	is "the checker says up" "$(shown "B[B1]['HEALTHY'], B[B1]['CHECK']")" '[1, "up"]'
	is "that is a flip" $(($(n_flips) - flips)) 1
	before=$(generation)
	lab report lb "$WEB" "$B1" check=up > /dev/null
	is "the same again is not" "$(generation) $(n_flips)" "$before $((flips + 1))"
	health down
	lab report lb "$WEB" "$B1" check=down > /dev/null
	lab report lb "$WEB" "$B1" check=up > /dev/null
	is "under the operator's word the checker's is kept, and no flip" \
		"$(shown "B[B1]['HEALTHY'], B[B1]['CHECK']") $(n_flips)" \
		"[0, \"up\"] $((flips + 2))"
	health auto
	is "it counts when that is gone" "$(shown "B[B1]['HEALTHY']")" 1
}

flips() {
	under_load
	unchanged
	checked
}

lab_up 3 tcp:80 udp:53
for_families flips
finish
