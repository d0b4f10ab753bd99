#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Health checks by way of the VIP: each probe is a connection of the router to the VIP that
# goes to the backend it is about, whatever is said of that one, and to no other. Nothing but
# the VIP is listened on, so a probe to a backend's own address would fail.
#
#   cli ==== lb (weir-healthd; ==== b1 b2 b3 (the VIPs on lo; HTTP on port 8080 and echo on
#            a route to the VIP)              port 80, of the VIP only)
#
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

need weir-healthd
RAW_OK=True
LEAK_OK='icmp or icmp6'
LINE="health-check http port 8080 via vip interval 1 timeout 1"
PROBES='tcp and dst == VIP and dport == 8080'
HEALTHD=

servers_of_all() {
	local name
	for name in "${BACKENDS[@]}"; do
		echo 200 > "$TMP/health.$name"
		vip_server "$name"
	done
}

# At the VIP, and nowhere else.
vip_server() {		# NAME
	server_up "$1" 10.9.9.9 fd00:9::9
}

healthd_up() {
	ip netns exec "$lb" weir-healthd 2>> "$TMP/healthd.log" &
	HEALTHD=$!
	PIDS+=($!)
}

healthd_down() {	# [SIGNAL]
	kill "-${1:-TERM}" "$HEALTHD"
	wait "$HEALTHD" 2> /dev/null
}

direct() {		# LINE...: a service of each family, with these lines
	local family
	for family in 4 6; do
		use "$family"
		printf '%s\n' "service $WEB {" "rule $VIP tcp 80" "$@" "backend $B1" "backend $B2" "backend $B3" "}"
	done | conf
}

probe_of() {		# NAME EXPR
	shown "(lambda b: $2)(B['$(addr "$1")'])"
}

states() {		# who is healthy: "110"
	shown "''.join(str(B[a]['HEALTHY']) for a in sorted(B))"
}

are() {			# NAME STATES
	is "$1" "$(busywait 15000 prints "$2" states)" "$2"
}

for_both() {		# FUNCTION ARG...
	local family
	for family in 4 6; do
		use "$family"
		"$@"
	done
}

few() {			# WORDS: how many backends had less than four, or less than half of all others
	local name least=4 few=0
	for name in "${BACKENDS[@]}"; do
		[ "$(val "$name" "$1")" -le $((least * 2)) ] || least=$(($(val "$name" "$1") / 2))
	done
	for name in "${BACKENDS[@]}"; do
		[ "$(val "$name" "$1")" -ge "$least" ] || few=$((few + 1))
	done
	echo "$few"
}

# Quiet again: each connection of a probe has ended.
judged() {
	local sports syns
	healthd_down
	settle
	for F in 4 6; do
		use "$F"
		sports=$(lab distinct "$PROBES" sport "${BACKENDS[@]}")
		syns=$(lab tally "$PROBES and syn" "${BACKENDS[@]}")
		is "no connection of a probe was at two backends" "$(lab owners "$PROBES" sport "${BACKENDS[@]}")" \
			"keys=$sports split=0"
		is "all had probes ($syns), as many" "$(few "$syns")" 0
		is "each ended with a reset, at its backend" "$(lab distinct "$PROBES and rst" sport "${BACKENDS[@]}")" "$sports"
		is "they came from the router" "$(lab values "$PROBES" src "${BACKENDS[@]}")" "['$LBB']"
		is "no packet of the router went to a backend's own address" \
			"$(lab count "tcp and src == LBB and dst != VIP" "${BACKENDS[@]}")" 0
		is "they are no flows of the service" \
			"$(wjson "len([f for f in J if f['service'] == '$WEB'])" flows) $(shown "S['COUNTERS']['SELECTIONS']")" "0 0"
	done
	healthd_up
}

found() {
	direct "forward direct" "$LINE"
	lab mark > /dev/null
	drops_mark
	healthd_up
	for_both are "each backend is found up" 111
	nap 5
	judged
	drops_are "nothing was dropped" none
	use 4
	is "HTTP names the VIP" "$(cut -d' ' -f3 "$TMP/health.b1.seen" | sort -u | tr '\n' ' ')" "10.9.9.9 [fd00:9::9] "
	check "--once finds all up" in_ns lb weir-healthd --once
}

failing() {
	server_down b2
	for_both are "one server is stopped: just that one is down" 101
	is "it refuses" "$(probe_of b2 "b['PROBE_TEXT']")" "connection refused"
	vip_server b2
	for_both are "it is back" 111
	echo 503 > "$TMP/health.b3"
	for_both are "another one says 503" 110
	echo 200 > "$TMP/health.b3"
	for_both are "all are well" 111
}

# A backend without the VIP may throw its packets away, or route them back.
lacking() {
	local name=b1 before
	ips "$name" <<- END
		addr del 10.9.9.9/32 dev lo
		addr del fd00:9::9/128 dev lo
	END
	for_both are "without the VIP a backend is down" 011
	is "nobody answers there" "$(probe_of b1 "b['PROBE_TEXT']")" "timeout after 1 s"
	in_ns "$name" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	# to a port that has a rule: they could be balanced, to one that would answer
	direct "forward direct" "health-check tcp port 80 via vip interval 1 timeout 1"
	for_both are "others are up at the port of the rule" 011
	drops_mark
	is "what it sends back is dropped and counted" \
		"$(busywait 15000 at_least 4 loops > /dev/null && echo yes)" yes
	before=$(flips)
	like "it is down for both" "$before" $'\\[*, 0]\n\\[*, 0]'
	nap 5
	is "what it sends back reaches nobody who would answer for it" "$(flips)" "$before"
	in_ns "$name" sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
	ips "$name" <<- END
		addr add 10.9.9.9/32 dev lo
		addr add fd00:9::9/128 dev lo nodad
		route replace default via 10.2.0.1
		route replace default via fd00:2::1
	END
	for_both are "with the VIP again it is up" 111
	direct "forward direct" "$LINE"
	for_both are "the old line" 111
}

flips() {		# how often b1 has changed, by each service
	for_both probe_of b1 "(b['N_FLIPS'], b['HEALTHY'])"
}

loops() {
	val loop "$(drops)"
}

seen_more() {		# NAME NUMBER
	at_least "$(($2 + 4))" wc -l < "$TMP/health.$1.seen"
}

# Whatever else is said of a backend, it is probed.
regardless() {
	local name before=()
	for F in 4 6; do
		use "$F"
		weir service set "$WEB" drain-timeout 300
		weir backend set "$WEB" "$B1" weight 0
		weir backend set "$WEB" "$B2" health down
		weir backend del "$WEB" "$B3"
	done
	nap 1.5
	for name in b1 b2 b3; do
		before=("${before[@]}" "$(wc -l < "$TMP/health.$name.seen")")
	done
	for name in b1 b2 b3; do
		is "$name is still probed (weight 0, down by hand, draining)" "$(busywait 15000 seen_more "$name" \
			"${before[${name#b}-1]}" > /dev/null && echo yes)" yes
	done
	for F in 4 6; do
		use "$F"
		is "and found well" "$(for name in b1 b2 b3; do probe_of "$name" "b['PROBE_PASSED']"; done | tr '\n' ' ')" "1 1 1 "
	done
	direct "forward direct" "$LINE"
	for_both are "all as before" 111
}

by_lookup() {		# SPORT COUNT: what the hash says of the router's own connections: "b1=3 b2=4"
	local port
	for ((port = $1; port < $1 + $2; port++)); do
		weir -j lookup tcp "$(endpoint "$LBB" "$port")" "$(endpoint "$VIP" 80)" tcp-syn
	done | grep -oE '"backend": ?\{ ?"addr": ?"[^"]*' | sed "s/.*\"$B/b/" | sort | uniq -c |
		awk '{ printf "%s%s=%s", (NR > 1 ? " " : ""), $2, $1 }'
}

# The router's own connections, beside probes.
own() {
	direct "forward direct" "health-check tcp port 80 via vip interval 1 timeout 1"
	for F in 4 6; do
		use "$F"
		are "checked at the port of the rule" 111
		is "the router's own connections are balanced, as the hash says" \
			"$(lab call tcp lb "$VIP" 80 n=12 sport=20000)" "$(by_lookup 20000 12)"
		is "and counted, the probes are not" "$(shown "S['COUNTERS']['SELECTIONS']") $(wjson \
			"len([f for f in J if f['service'] == '$WEB'])" flows)" "12 12"
	done
	direct "forward direct" "$LINE"
}

# The checker dies between a probe's begin and end: its probes are nobody's.
killed() {
	for F in 4 6; do
		use "$F"
		are "all are up" 111
	done
	lab mark > /dev/null
	healthd_down KILL
	settle
	use 4
	is "killed, its ports are as all others" "$(lab call tcp lb "$VIP" 80 n=12 sport=24000)" "$(by_lookup 24000 12)"
	nap 1
	is "the states stay" "$(states)" 111
	healthd_up
}

# What makes it impossible says nothing about backends.
impossible() {
	local name
	ips lb <<- END
		route del 10.9.9.9 via 10.2.0.11
		route del fd00:9::9 via fd00:2::11
	END
	for F in 4 6; do
		use "$F"
		is "without a route to the VIP a probe says so" "$(busywait 15000 prints "this router has no route to the VIP" \
			probe_of b1 "b['PROBE_TEXT']")" "this router has no route to the VIP"
		like "weir check says it" "$(weir check)" "*service $WEB: health-check via vip: no route to $VIP*ip route add $VIP/$HOST via $B1*"
		are "and nobody is down for it" 111
		ips lb <<< "addr add $VIP/$HOST dev lo"
		is "a VIP of the router's own is refused" "$(busywait 15000 prints \
			"VIP $VIP: this router has the address itself" probe_of b1 "b['PROBE_TEXT'][:$((40 + ${#VIP}))]")" \
			"VIP $VIP: this router has the address itself"
		like "weir check says it" "$(weir check)" "*service $WEB: health-check via vip: $VIP is an address of this router*ip addr del $VIP/$HOST*"
		are "and nobody is down for it" 111
		ips lb <<< "addr del $VIP/$HOST dev lo"
		ips lb <<< "route add $VIP via $B1"
		is "with a route they go on" "$(busywait 15000 prints 1 probe_of b1 "b['PROBE_PASSED']")" 1
	done
	check "weir check has nothing to say of it" eval "! weir check | grep 'via vip'"
	use 4
	in_ns lb sysctl -qw net.ipv4.conf.eth1.rp_filter=1
	check "a strict rp_filter does no harm where the VIP is routed to" eval "! weir check | grep 'via vip'"
	ips lb <<< "route replace $VIP via $CLI"
	like "it does where that is elsewhere" "$(weir check)" "*service $WEB: health-check via vip: rp_filter is strict (1) on eth1*rp_filter=2*"
	ips lb <<- END
		route del $VIP via $CLI
		route add $VIP via $B1
	END
	in_ns lb sysctl -qw net.ipv4.conf.eth1.rp_filter=0
}

refusals() {
	use 4
	weir service set "$WEB" forward nat
	is "a service of nat mode is not checked, and the log says so" "$(busywait 15000 at_least 1 grep -c \
		"service $WEB is not checked: health-check: via vip: it needs forward direct" "$TMP/healthd.log")" 1
	like "weir check says it" "$(weir check)" "*service $WEB: health-check via vip needs forward direct*"
	weir service set "$WEB" forward direct
	echo 503 > "$TMP/health.b1"
	are "direct again it is" 011
	conf <<- END
		service hop {
		    forward direct
		    rule 10.3.0.0/16 any all
		    backend $B1
		    $LINE
		}
	END
	is "a service of prefixes is not checked" "$(busywait 15000 at_least 1 grep -c \
		"service hop is not checked: health-check: via vip: it needs a rule for one address" "$TMP/healthd.log")" 1
	refused "nor by --once" "*service hop is not checked*" in_ns lb weir-healthd --once
}

lab_up 3 tcp:81
vips_up
vip_routes
servers_of_all
servers_up vips "${BACKENDS[@]}" -- tcp:80@10.9.9.9 tcp:80@fd00:9::9
servers_ready vips
found
failing
lacking
regardless
own
killed
impossible
refusals
healthd_down
finish
