#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Everything at once, on two CPUs: traffic of both families while configurations, health, flows,
# readers and whole namespaces come and go, and then the module itself. The kernel must not
# mind, nothing may leak, and a flow whose backend stays may lose nothing.
#
#   cli, loads ==== lb ==== sw ==== b1 (stays for all) b2 b3 (come and go)
#
# WEIR_CHURN is how long it goes on, in seconds; half of it with the module reloaded again and
# again. WEIR_SEED replays the order of things, as far as two CPUs let it.
#
# only: debug		(minutes of everything at once; run it by hand on others)
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

seconds=${WEIR_CHURN:-16}
seed=${WEIR_SEED:-$RANDOM}
RANDOM=$seed

# Two services whose flows stay, and two that change under their flows.
service() {		# NAME VIP PORT BACKEND...
	echo "service $1 {"
	echo "rule $2 tcp $3"
	echo "rule $2 udp $3"
	[[ $1 != *sess* ]] || echo "affinity client-ip"$'\n'"tracking per-session"
	shift 3
	printf 'backend %s\n' "$@"
	echo "}"
}

configurations() {
	local kind
	for kind in all few other; do
		for F in 4 6; do
			use "$F"
			service "stay$F" "$VIP" 80 "$B1"
			case $kind in
			all) service "sess$F" "$VIP" 53 "$B1" "$B2" "$B3" ;;
			few) service "sess$F" "$VIP" 53 "$B2" ;;
			other) service "more$F" "$VIP" 53 "$B3" "$B2" ;;
			esac
		done > "$TMP/config.$kind"
	done
}

# Each of these runs in a process of its own until the time is over or the module is gone for
# a moment; what it says does not matter, the kernel log and the traffic do.
until_over() {		# COMMAND...
	(
		while [ -e "$TMP/on" ]; do
			"$@" > /dev/null 2>&1 || nap 0.05
		done
	) &
	PIDS+=($!)
	workers+=($!)
}

change() {
	local kinds=(all few other)
	weir apply "$TMP/config.${kinds[RANDOM % 3]}"
}

sicken() {
	local words=(up down auto)
	weir backend set "sess$((RANDOM % 2 ? 4 : 6))" group default \
		health "${words[RANDOM % 3]}"
}

flush() {
	weir flush "sess$((RANDOM % 2 ? 4 : 6))"
}

look() {
	weir -s show
	weir -j flows
	weir stats
	weir lookup tcp 10.1.0.10:1234 10.9.9.9:53 tcp-syn
}

# A namespace with a configuration and flows of its own, made and deleted.
visit() {
	local ns="$lb-$BASHPID"
	ip netns add "$ns"
	ip -n "$ns" link set lo up
	ip -n "$ns" addr add 10.9.9.9/32 dev lo
	command weir -n "$ns" apply "$TMP/config.all"
	ip netns exec "$ns" bash -c 'for i in {1..20}; do echo x > /dev/udp/10.9.9.9/53; done'
	ip netns del "$ns"
}

bystander() {		# NAME: what a load on a service that stays has seen
	local words
	words=$(load_down "$1")
	isnt "$1: it was served ($words)" "$(val ok "$words")" 0
	is "$1: no exchange was lost or went to another backend" \
		"$(val lost "$words") $(val moved "$words") $(val garbled "$words")" "0 0 0"
}

# With 1 nothing else runs: the module goes only while nobody holds a file of it.
churn() {
	local worker end=$((SECONDS + seconds / 2))
	touch "$TMP/on"
	workers=()
	until_over change
	until_over sicken
	until_over flush
	until_over look
	until_over visit
	"$@" "$end"
	rm "$TMP/on"
	for worker in "${workers[@]}"; do
		busywait 60000 gone "$worker" > /dev/null || fail "a worker hangs"
	done
}

wait_for() {		# TIME
	while [ "$SECONDS" -lt "$1" ]; do
		nap 0.5
	done
}

# On a slow machine somebody may hold the module each time: longer, but not for ever.
reload_until() {	# TIME
	while [ "$SECONDS" -lt "$1" ] || [[ $rounds = 0 && $SECONDS -lt $(($1 + 90)) ]]; do
		rmmod weir 2> /dev/null && rounds=$((rounds + 1))
		nap "0.$((RANDOM % 5))"
		modprobe weir
		nap "0.$((RANDOM % 9 + 1))"
	done
}

lab_up 3 tcp:80 udp:53 tcp:53 udp:80
note "seed $seed"
lab leaks only > /dev/null	# of minutes of traffic the rest would be too much
configurations
for F in 4 6; do
	use "$F"
	weir apply "$TMP/config.all" > /dev/null
	load_up "stay-tcp$F" cli tcp "$VIP" 80 conns=8 every=0.05 patience=20
	load_up "stay-udp$F" cli udp "$VIP" 80 conns=8 every=0.05 patience=20
	load_up "sess-new$F" cli new "$VIP" 53 conns=4 every=0.05
	load_up "sess-udp$F" cli udp "$VIP" 53 conns=4 every=0.05
	load_up "oneway$F" cli oneway "$VIP" 53 conns=4 every=0.02
done
F='' FAMILY=''
churn wait_for
for F in 4 6; do
	use "$F"
	FAMILY="IPv$F: "
	bystander "stay-tcp$F"
	bystander "stay-udp$F"
done
F='' FAMILY=''
common_checks
rounds=0
churn reload_until
isnt "the module was reloaded ($rounds times)" "$rounds" 0
for F in 4 6; do
	load_down "sess-new$F" > /dev/null
	load_down "sess-udp$F" > /dev/null
	load_down "oneway$F" > /dev/null
done
F='' FAMILY=''
# Without the module what is on its way is routed like anything else.
LEAK_OK=True RAW_OK=True
modprobe weir
check "it can be configured after all that" weir apply "$TMP/config.all"
check "and goes" rmmod weir
finish
