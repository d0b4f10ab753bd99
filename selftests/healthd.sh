#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# weir-healthd, end to end: what a backend's server says decides, within threshold x interval +
# timeout, where new flows go; those that exist follow the reference (semantics 1.8, 5). It
# follows changes, is killed and started again, and nobody is harmed by that.
#
#   cli ==== lb (weir-healthd) ==== b1 b2 b3 (echo on 80 and 53; HTTP on 8080)
#
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=pool.sh
. "$(dirname "$0")/pool.sh"

need weir-healthd
INTERVAL=1
HEALTHD=

health_says() {		# NAME WORD...: what its server answers from now on
	local name=$1
	shift
	echo "$*" > "$TMP/health.$name.new"
	mv "$TMP/health.$name.new" "$TMP/health.$name"
}

config() {		# [LINE...]: a service of each family; in the file that weir-healthd has
	local family
	for family in 4 6; do
		use "$family"
		echo "service $WEB {"
		echo "rule $VIP tcp 80"
		echo "rule $VIP udp 53"
		printf '%s\n' "$@"
		printf 'backend %s\n' "$B1" "$B2" "$B3"
		echo "}"
	done > "$TMP/weir.conf"
}

healthd_up() {		# [ARG...]
	ip netns exec "$lb" weir-healthd "$@" 2>> "$TMP/healthd.log" &
	HEALTHD=$!
	PIDS+=($!)
}

# What the kernel knows of a backend, for the family in use.
probe_of() {		# NAME EXPR
	shown "(lambda b: $2)(B['$(addr "$1")'])"
}

is_now() {		# NAME up|down: waits; what the kernel says of it
	local want=1
	[ "$2" = up ] || want=0
	busywait 15000 prints "$want" probe_of "$1" "b['HEALTHY']" > /dev/null
}

all_are() {		# up|down NAME...
	local word=$1 name family
	shift
	for family in 4 6; do
		use "$family"
		for name; do
			is_now "$name" "$word" || fail "$name is $word: $(probe_of "$name" b)"
		done
	done
}

begin() {
	local line
	for line in b1 b2 b3; do
		health_says "$line" 200
		server_up "$line"
	done
	config "health-check http port 8080 path /healthz interval $INTERVAL timeout 1"
	healthd_up "$TMP/weir.conf"
	all_are up b1 b2 b3
	pass "weir-healthd applied its file and found everybody up"
}

declare -A TCP=() UDP=()	# by family: who serves them
flows() {
	TCP[$F]=$(lab open "t$F" tcp cli "$VIP" 80 n=18)
	UDP[$F]=$(lab open "u$F" udp cli "$VIP" 53 n=18)
	is "flows are up (${TCP[$F]}, ${UDP[$F]})" "$(answers "${TCP[$F]} ${UDP[$F]}")" 36
}

close_flows() {
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
}

# A backend's server begins to fail in this way: how long until the kernel knows?
fails() {		# NAME TEXT COMMAND...
	local name=$1 text=$2 start left=() other words
	shift 2
	for other in b1 b2 b3; do
		[ "$other" = "$name" ] || left+=("$other")
	done
	for F in 4 6; do
		use "$F"
		flows
	done
	"$@"
	start=${EPOCHREALTIME/./}
	for F in 4 6; do
		use "$F"
		is_now "$name" down || fail "$name is down ($(probe_of "$name" b))"
	done
	# Two failures, the first of them an interval away at most, and a timeout of 1 s.
	between "$text: both families know within 2 x interval + timeout, and half a second" \
		$(((${EPOCHREALTIME/./} - start) / 1000)) 0 $(((2 * INTERVAL * 1000 + 1500) * ${WEIR_PATIENCE:-1}))
	for F in 4 6; do
		use "$F"
		like "$text: weir show says it" "$(weir show "$WEB" | grep "backend $(addr "$name")")" \
			"*: unhealthy (checker), probe \"$text\" (failed, * in a row, * s ago)*"
		reach "$text" "${left[@]}"
		is "$text: TCP flows stay" "$(lab req "t$F")" "${TCP[$F]}"
		words=$(lab req "u$F")
		is "$text: UDP flows leave (${UDP[$F]} -> $words)" \
			"$(answers "$words") $(val "$name" "$words")" "18 0"
		close_flows
	done
}

recovers() {		# NAME COMMAND...
	local name=$1
	shift
	"$@"
	all_are up "$name"
	for F in 4 6; do
		use "$F"
		reach "$name is back" b1 b2 b3
	done
}

failing() {
	fails b2 "HTTP 503" health_says b2 503
	recovers b2 health_says b2 200
	fails b2 "connection refused" server_down b2
	recovers b2 server_up b2
	fails b3 "timeout after 1 s" health_says b3 hang
	recovers b3 health_says b3 200
}

# 200 and 503 in turn: two in a row never come.
flapping() {
	local before after
	use 4
	before=$(probe_of b1 "b['N_FLIPS']")
	health_says b1 flap
	nap 5
	after=$(probe_of b1 "(b['N_FLIPS'], b['HEALTHY'], b['PROBE_RUN'])")
	is "flapping: neither threshold is met" "$after" "[$before, 1, 1]"
	health_says b1 200
}

# Interval from start to start, spread, from the router's address, with the VIP as Host. A busy
# machine is late for one and on time for the next, so it is their average that counts, which
# drifts if anything but the clock sets the pace; one who overslept leaves a probe out.
timing() {
	local text='
import sys
seen = [l.split() for l in open(sys.argv[1] + ".seen")]
for family, host, peer in ((4, "10.9.9.9", "10.2.0.1"), (6, "[fd00:9::9]", "fd00:2::1")):
    mine = [int(ms) for ms, p, h in seen if h == host and p == peer]
    gaps = [b - a for a, b in zip(mine, mine[1:])]
    pace = sum(gaps) / sum(round(gap / 1000) for gap in gaps)
    print(family, len(mine) > 5, 990 <= pace <= 1010 or pace, end=" ")
print(len({h for _, _, h in seen}))'
	is "probes come from the router, name the VIP, once per interval" \
		"$("$PYTHON" -c "$text" "$TMP/health.b1")" "4 True True 6 True True 2"
}

weights() {
	use 4
	health_says b1 200 weight=10
	health_says b2 200 weight=30
	health_says b3 200 weight=0
	config "health-check http port 8080 weights interval $INTERVAL timeout 1" "locality weighted-maglev"
	check "a new file, reloaded" in_ns lb weir-healthd reload
	for F in 4 6; do
		use "$F"
		busywait 15000 prints "[10, 30, 0]" shown "[B[a]['REPORTED'] for a in sorted(B)]" > /dev/null ||
			fail "weights come in: $(shown "[B[a] for a in sorted(B)]")"
		is "weights rule the shares, to a slot" "$(shown "[abs(B[a]['SLOTS'] - S['TABLE_SLOTS'] * B[a]['REPORTED'] / 40) <= 1
			for a in sorted(B)]")" "[true, true, true]"
		reach "weight 0 gets nothing new" b1 b2
	done
	health_says b2 200
	health_says b3 200 weight=x
	busywait 15000 prints '["valid", "missing", "invalid"]' shown "[B[a]['WEIGHT_STATE'] for a in sorted(B)]" > /dev/null
	is "missing and invalid are told apart, and make all equal" \
		"$(shown "([B[a]['WEIGHT_STATE'] for a in sorted(B)], S['WEIGHTING'])")" \
		'[["valid", "missing", "invalid"], "reports"]'
	server_down b2
	busywait 15000 prints unavailable probe_of b2 "b['WEIGHT_STATE']" > /dev/null
	is "no answer: unavailable" "$(probe_of b2 "b['WEIGHT_STATE']")" unavailable
	server_up b2
	health_says b2 200
	health_says b3 200
	config "health-check http port 8080 path /healthz interval $INTERVAL timeout 1"
	check "the old file again" in_ns lb weir-healthd reload
	all_are up b1 b2 b3
}

reloads() {
	local before after
	use 4
	busywait 15000 at_least 3 probe_of b1 "b['PROBE_RUN']" > /dev/null
	before=$(probe_of b1 "b['PROBE_RUN']")
	check "the same file, reloaded" in_ns lb weir-healthd reload
	nap 1.5
	after=$(probe_of b1 "b['PROBE_RUN']")
	between "unchanged checks go on counting ($before)" "$after" "$before" 100000
	cp "$TMP/weir.conf" "$TMP/good.conf"
	sed -i 's/interval 1/intervall 1/' "$TMP/weir.conf"
	refused "a slip in the file is refused" "*weir.conf:4: service web4: health-check: \"intervall\": unknown option*" \
		in_ns lb weir-healthd reload
	kill -HUP "$HEALTHD"
	busywait 15000 at_least 2 grep -c "not reloaded: .*intervall" "$TMP/healthd.log" > /dev/null
	between "and logged, after a SIGHUP too" "$(grep -c "not reloaded: .*intervall" "$TMP/healthd.log")" 2 9
	is "and changes nothing" "$(probe_of b1 "b['HEALTHY']")" 1
	cp "$TMP/good.conf" "$TMP/weir.conf"
}

follows() {
	use 4
	server_down b3
	weir backend del "$WEB" "$B3" now
	weir backend add "$WEB" "$B3"
	is "a backend that is new begins down" "$(probe_of b3 "(b['HEALTHY'], b['N_FLIPS'])")" "[0, 0]"
	server_up b3
	is_now b3 up
	is "and is probed" "$(probe_of b3 "b['HEALTHY']")" 1
	weir service set "$WEB" health-check tcp port 81 interval 1 timeout 1 unhealthy 1
	busywait 15000 prints "[0, 0, 0]" shown "[B[a]['HEALTHY'] for a in sorted(B)]" > /dev/null
	is "another line, another port" "$(probe_of b1 "b['PROBE_TEXT']")" "connection refused"
	weir service set "$WEB" health-check none
	is "without a line all are up" "$(shown "[B[a]['HEALTHY'] for a in sorted(B)]")" "[1, 1, 1]"
	check "the file again" in_ns lb weir-healthd reload
	all_are up b1 b2 b3
	use 4
	weir backend set "$WEB" "$B1" health down
	nap 2
	is "the operator's word beats the checker's" "$(probe_of b1 "(b['HEALTHY'], b['CHECK'])")" '[0, "up"]'
	weir backend set "$WEB" "$B1" health auto
}

# A listener has joined once it prints what happens.
heard() {
	weir service add listener
	weir service del listener
	[ -s "$TMP/monitor" ]
}

tells() {
	local out
	use 4
	weir monitor > "$TMP/monitor" 2>&1 &
	PIDS+=($!)
	check "weir monitor has joined" busywait 20000 heard
	health_says b2 503
	all_are down b2
	use 4
	like "weir monitor prints a transition" "$(grep "backend $WEB $B2" "$TMP/monitor")" \
		"generation * ~ backend $WEB $B2, check down, probe \"HTTP 503\" (failed, 2 in a row, * s ago)*"
	is "the daemon logs a line for it" "$(grep -c "service $WEB backend $B2 is down: HTTP 503 (2 in a row)" \
		"$TMP/healthd.log")" "$(grep -c "service $WEB backend $B2 is down: HTTP 503" "$TMP/healthd.log")"
	out=$(in_ns lb weir-healthd --once 2>&1)
	is "--once exits 1 if one is down" "$?" 1
	like "and prints what it found" "$out" "*web4 * $B2 * down *HTTP 503*"
	is "in JSON too" "$(lab json "[r['passed'] for r in J if r['service'] == 'web4']" ip netns exec "$lb" \
		bash -c "weir-healthd -j --once; true")" "[true, false, true]"
	health_says b2 200
	all_are up b2
	check "--once exits 0 if all are up" in_ns lb weir-healthd --once
	refused "there is one daemon in a namespace" "*another weir-healthd runs*" in_ns lb weir-healthd
	check "weir check has nothing to say of it" eval "! weir check | grep 'result of a probe'"
}

# Killed and started again under traffic.
dies() {
	local before
	for F in 4 6; do
		use "$F"
		load_up "new$F" cli new "$VIP" 80
		load_up "keep$F" cli tcp "$VIP" 80
	done
	drops_mark
	use 4
	before=$(shown "[(B[a]['N_FLIPS'], B[a]['HEALTHY']) for a in sorted(B)]")
	kill -KILL "$HEALTHD"
	nap 4
	is "the last states stay" "$(shown "[(B[a]['N_FLIPS'], B[a]['HEALTHY']) for a in sorted(B)]")" "$before"
	between "and show how old they are" "$(probe_of b1 "b['PROBE_AGE']")" 2 $((8 * ${WEIR_PATIENCE:-1}))
	like "weir check says that nobody checks" "$(weir check)" "*its last result of a probe was reported * s ago*"
	healthd_up
	busywait 15000 at_most 1 probe_of b1 "b['PROBE_AGE']" > /dev/null
	nap 2
	is "started again nobody is declared down" "$(shown "[(B[a]['N_FLIPS'], B[a]['HEALTHY']) for a in sorted(B)]")" "$before"
	for F in 4 6; do
		use "$F"
		loads_lost_nothing new keep
	done
	kill "$HEALTHD"
	busywait 10000 gone "$HEALTHD" > /dev/null
	wait "$HEALTHD"
	is "it stops cleanly" "$?" 0
	refused "reload without a daemon" "*no weir-healthd runs*" in_ns lb weir-healthd reload
	use 4
	is "what it found stays" "$(shown "[(B[a]['N_FLIPS'], B[a]['HEALTHY']) for a in sorted(B)]")" "$before"
}

lab_up 3
begin
failing
flapping
timing
weights
reloads
follows
tells
dies
F='' FAMILY=''
finish
