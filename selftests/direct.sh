#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct mode, end to end: packets reach backends as the client sent them, and backends, which have
# the VIP on a loopback, answer the client themselves. What ip_forward does is done: TTL, MTU,
# FORWARD hooks, ICMP to the sender; conntrack sees nothing.
#
#   cli ==== lb ==== b1 b2 b3 (the VIPs on lo; answers are routed by lb)
#
# timeout: 600
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

RAW_OK=True
LEAK_OK='icmp or icmp6'		# those without the VIP say so
IN='src == CLI and dst == VIP'

direct() {		# [LINE...]: the usual service, forwarded directly
	web "forward direct" "$@"
	weir flush > /dev/null
}

served() {
	local words
	direct
	lab mark > /dev/null
	words="$(lab call tcp cli "$VIP" 80 n=60) $(lab call udp cli "$VIP" 53 n=60)"
	is "connections and datagrams are served ($words)" "$(answers "$words")" 120
	settle
	is "by all three" "$(lab values "$IN and (tcp or udp)" ns | tr -d "[]',")" "b1 b2 b3"
	is "as they were sent: addresses and ports" \
		"$(lab count "(tcp or udp) and dst == VIP and not (src == CLI and dport in (80, 53))" "${BACKENDS[@]}")" 0
	is "with one hop less" "$(lab distinct "$IN and (tcp or udp)" "ttl" "${BACKENDS[@]}"): $(lab count \
		"$IN and (tcp or udp) and ttl != 63" "${BACKENDS[@]}")" "1: 0"
	is "the client sees the VIP answer, nobody else" \
		"$(lab count '(tcp or udp) and src != VIP' cli)" 0
	is "conntrack knows nothing of it" "$(in_ns lb conntrack -C)" 0
	drops_are "nothing is dropped" none
	is "weir flows lists them" "$(weir flows | grep -cF " $(endpoint "$VIP" 80) service $WEB backend ")" 60
	is "their number" "$(wjson "len(J)" flows)" 120
	is "packets are counted" "$(shown "S['COUNTERS']['SELECTIONS']") $(($(shown \
		"S['COUNTERS']['PACKETS_IN']") == $(lab count "$IN and (tcp or udp)" "${BACKENDS[@]}")))" "120 1"
}

# A lookup says where packets go.
told() {
	local port wrong=0 place words
	direct
	for port in 7001 7002 7003 7004 7005 7006 7007 7008; do
		place=$(wjson "J['backend']['addr']" lookup udp "$(endpoint "$CLI" "$port")" "$(endpoint "$VIP" 53)")
		words=$(lab call udp cli "$VIP" 53 "sport=$port")
		[ "$(addr "${words%%=*}")" = "$place" ] || wrong=$((wrong + 1))
	done
	is "a lookup says where each goes ($place, $words)" "$wrong" 0
}

lazily() {
	local tcp udp words
	direct
	tcp=$(lab open "t$F" tcp cli "$VIP" 80 n=18)
	udp=$(lab open "u$F" udp cli "$VIP" 53 n=18)
	is "flows are up" "$(answers "$tcp $udp")" 36
	weir backend set "$WEB" "$B2" health down
	is "unhealthy: TCP persists" "$(lab req "t$F")" "$tcp"
	words=$(lab req "u$F")
	is "unhealthy: UDP leaves ($udp -> $words)" "$(answers "$words") $(val b2 "$words")" "18 0"
	weir backend set "$WEB" "$B2" health auto
	is "healthy again: UDP stays where it went" "$(lab req "u$F")" "$words"
	weir backend del "$WEB" "$B2"
	words=$(lab req "u$F")
	is "removed: UDP is elsewhere" "$(val b2 "$words")" 0
	lab req "t$F" timeout=2 > /dev/null
	words=$(lab state "t$F" within=5)
	is "removed: its TCP connections are reset by others ($tcp -> $words)" "$(val reset "$words")" "$(val b2 "$tcp")"
	lab close "t$F" > /dev/null
	lab close "u$F" > /dev/null
}

fragments() {
	local words
	conf <<- END
		service $WEB {
		    forward direct
		    rule $VIP udp all
		    backend $B1
		    backend $B2
		    backend $B3
		}
	END
	weir flush > /dev/null
	lab open "f$F" udp cli "$VIP" 53 n=12 hello=0 > /dev/null
	lab mark > /dev/null
	words=$(lab frag "f$F")
	is "big datagrams are answered ($words)" "$(answers "$words")" 12
	is "all fragments of a client are at one backend" \
		"$(lab owners "udp and frag and $IN" src "${BACKENDS[@]}")" "keys=1 split=0"
	between "and came as fragments" "$(lab count "udp and frag and $IN" "${BACKENDS[@]}")" 48 72
	is "backwards" "$(answers "$(lab frag "f$F" order=reverse)")" 12
	is "among those of others" "$(answers "$(lab frag "f$F" order=mixed)")" 12
	is "and with time between" "$(answers "$(lab frag "f$F" gap=0.05)")" 12
	drops_mark
	is "one that lacks a fragment is not answered" "$(lab frag "f$F" drop=1 timeout=1)" "timeout=12"
	is "still all are at one backend" \
		"$(lab owners "udp and frag and $IN" src "${BACKENDS[@]}")" "keys=1 split=0"
	drops_are "and nothing was dropped here" none
	lab close "f$F" > /dev/null
	whole_and_not
	conf <<- END
		service $WEB {
		    forward direct
		    rule $VIP udp 53
		    backend $B1
		}
	END
	lab open "f$F" udp cli "$VIP" 53 n=1 hello=0 > /dev/null
	drops_mark
	is "with a list of ports nobody answers a fragmented datagram" "$(lab frag "f$F" timeout=1)" "timeout=1"
	drops_are "its later fragments are dropped and counted" "no-ports=4"
	lab close "f$F" > /dev/null
}

# The recipe of the reference: one rule, and a key without ports, keeps both kinds together.
whole_and_not() {
	conf <<- END
		service $WEB {
		    forward direct
		    affinity client-ip
		    tracking per-session
		    rule $VIP udp all
		    backend $B1
		    backend $B2
		    backend $B3
		}
	END
	weir flush > /dev/null
	lab mark > /dev/null
	is "client-ip: small datagrams are answered" "$(answers \
		"$(lab open "w$F" udp cli "$VIP" 53 n=60 "src=$MANY+30" sport=6000)")" 60
	is "client-ip: big ones of the same clients too" "$(answers "$(lab frag "w$F" order=mixed)")" 60
	is "client-ip: all of a client is at one backend, and not all clients" "$(lab owners "udp and dst == VIP" src \
		"${BACKENDS[@]}"), $(lab distinct "udp and dst == VIP" ns "${BACKENDS[@]}")" "keys=30 split=0, 3"
	lab close "w$F" > /dev/null
}

unreachable() {		# add|del: lb's routes that lead to no backend
	local name
	for name in "${BACKENDS[@]}"; do
		ips lb <<< "route $1 unreachable $(addr "$name")/$HOST"
	done
}

# Each hop of the way speaks for itself.
errors() {
	local flow TTL_TYPE=11 BIG_TYPE=3
	[ "$F" = 4 ] || TTL_TYPE=3 BIG_TYPE=2
	direct
	drops_mark
	lab mark > /dev/null
	lab raw cli udp "$CLI" "$VIP" sport=4000 dport=53 ttl=1 > /dev/null
	is "time exceeded comes from the router" \
		"$(lab await 1 "$ICMP and src == LBC and type == $TTL_TYPE" cli)" 1
	drops_are "and is counted" "ttl=1"
	ips lb <<< "link set eth1 mtu 1300"
	drops_mark
	lab mark > /dev/null
	lab call udp cli "$VIP" 53 sport=4001 size=1400 timeout=1 > /dev/null
	is "too big comes from the router, with the MTU" \
		"$(lab await 1 "$ICMP and src == LBC and type == $BIG_TYPE" cli)" 1
	drops_are "and is counted" "too-big=1"
	ips lb <<< "link set eth1 mtu 1500"
	flow=$(lab call udp cli "$VIP" 53 sport=4100)
	lab mark > /dev/null
	lab raw cli toobig "$LBC" "$VIP" mtu=1300 ikind=udp "isrc=$VIP" "idst=$CLI" isport=53 idport=4100 > /dev/null
	is "an ICMP error about a flow reaches its owner (${flow%%=*})" \
		"$(lab await 1 "$ICMP and dst == VIP" "${flow%%=*}") $(lab count "$ICMP and dst == VIP" "${BACKENDS[@]}")" "1 1"
	lab raw cli toobig "$LBC" "$VIP" mtu=1300 cut=8 ikind=udp "isrc=$VIP" "idst=$CLI" isport=53 idport=4100 > /dev/null
	is "with eight bytes of its header too" "$(lab await 2 "$ICMP and dst == VIP" "${flow%%=*}")" 2
	drops_mark
	lab raw cli toobig "$LBC" "$VIP" mtu=1300 ikind=udp "isrc=$VIP" "idst=$CLI" isport=53 idport=4999 > /dev/null
	drops_are "one about nothing is dropped and counted" "icmp-unknown=1"
	drops_mark
	lab raw cli udp "$CLI" "$VIP" sport=4001 dport=54 > /dev/null
	drops_are "no rule: dropped and counted" "no-rule=1"
	unreachable add
	drops_mark
	lab raw cli udp "$CLI" "$VIP" sport=4002 dport=53 > /dev/null
	drops_are "no route to the backend: counted" "no-route=1"
	unreachable del
	is "with a route again it goes on" "$(answers "$(lab call udp cli "$VIP" 53 n=6)")" 6
}

# Those that lack the VIP send the packet back.
loops() {
	direct
	local name
	for name in "${BACKENDS[@]}"; do
		ips "$name" <<< "addr del $VIP/$HOST dev lo"
		in_ns "$name" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	done
	drops_mark
	lab raw cli udp "$CLI" "$VIP" sport=4010 dport=53 data=quiet > /dev/null
	drops_are "a packet that comes back is dropped and counted" "loop=1"
	like "weir check says what the backend lacks" "$(weir check)" "*packets came back*ip addr add $VIP/$HOST dev lo*"
	for name in "${BACKENDS[@]}"; do
		in_ns "$name" sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
		ips "$name" <<- END
			addr add $VIP/$HOST dev lo nodad
			route replace default via $LBB
		END
	done
}

# Connections whose servers wait for an end of the handshake, and ask for it again.
half_open() {
	local name
	for name in "${BACKENDS[@]}"; do
		in_ns "$name" cat /proc/net/tcp /proc/net/tcp6
	done | awk '$4 == "03"' | wc -l
}

# FORWARD sees it, as untracked; raw and mangle at PREROUTING do not.
filters() {
	local IP=ip
	[ "$F" = 4 ] || IP=ip6
	direct
	ruleset lb <<- END
		table inet t {
			chain f { type filter hook forward priority 0; udp dport 53 meta l4proto udp ct state untracked counter drop; }
			chain p { type filter hook prerouting priority -300; udp dport 53 counter; }
		}
	END
	is "a filter in FORWARD holds it back" "$(lab call udp cli "$VIP" 53 n=3 timeout=1)" "timeout=3"
	like "what is before conntrack does not see it" "$(in_ns lb nft list chain inet t p)" "*counter packets 0 *"
	in_ns lb nft flush ruleset
	# answers that are routed by this router belong to no connection
	ruleset lb <<- END
		table inet t {
			chain f { type filter hook forward priority 0; ct state invalid drop; }
		}
	END
	is "what drops invalid packets drops servers' first answers" \
		"$(lab call tcp cli "$VIP" 80 n=2 timeout=1)" "timeout=2"
	in_ns lb nft insert rule inet t f "$IP" saddr "$VIP" accept
	is "unless the VIP is let pass before" "$(answers "$(lab call tcp cli "$VIP" 80 n=2)")" 2
	in_ns lb nft flush ruleset
	# the client refuses what the servers of those that timed out send again
	busywait 60000 prints 0 half_open > /dev/null
	# as the kernel asks: IPv4 of the device, IPv6 of all
	in_ns lb sysctl -qw "net.ipv4.conf.eth0.forwarding=0" "net.ipv6.conf.all.forwarding=0"
	drops_mark
	lab raw cli udp "$CLI" "$VIP" sport=4020 dport=53 data=quiet > /dev/null
	drops_are "where the router does not forward, weir does not" "not-forwarding=1"
	in_ns lb sysctl -qw "net.ipv4.conf.eth0.forwarding=1" "net.ipv6.conf.all.forwarding=1"
}

# The router uses its own VIP.
own() {
	lab mark > /dev/null
	direct
	# of its own it knows no way to the VIP, and would ask for none
	ips lb <<< "route add $VIP via $B1"
	is "the router's own connections are served" "$(answers "$(lab call tcp lb "$VIP" 80 n=10)")" 10
	is "by several" "$(at_least 2 lab distinct "tcp and dst == VIP" ns "${BACKENDS[@]}" > /dev/null && echo yes)" yes
	ips lb <<< "route del $VIP via $B1"
}

# Neighbours change under their connections.
moves() {
	local tcp name mac
	direct
	tcp=$(lab open "t$F" tcp cli "$VIP" 80 n=18)
	is "connections are up ($tcp)" "$(answers "$tcp")" 18
	for name in "${BACKENDS[@]}"; do
		mac=02:77:00:00:0$F:0${name#b}
		ips "$name" <<< "link set eth0 address $mac"
	done
	in_ns lb ip neigh flush dev eth1
	is "backends with other hardware addresses" "$(lab req "t$F")" "$tcp"
	lab close "t$F" > /dev/null
}

# Nothing holds on to a device that is gone.
unplugged() {
	use 4
	direct
	lab call udp cli "$VIP" 53 n=20 > /dev/null
	check "the interface towards the backends can be removed" ips lb <<< "link del eth1"
	drops_mark
	lab raw cli udp "$CLI" "$VIP" sport=4500 dport=53 data=quiet > /dev/null
	drops_are "and then there is no route" "no-route=1"
}

refusals() {
	use 4
	conf <<< ""
	weir service add d forward direct
	refused "a backend with a port" "*10.2.0.11 port 8080: forward direct changes no port*" \
		weir backend add d 10.2.0.11 port 8080
	check "AH needs direct mode" weir rule add d 10.9.9.9 ah all
	refused "and holds it there" "*rule 10.9.9.9 ah: AH authenticates*" weir service set d forward nat
	refused "a prefix of one protocol" "*10.3.0.0/16: a prefix takes all that goes there*" \
		weir rule add d 10.3.0.0/16 tcp all
	refused "bits behind a prefix" "*has bits set behind its length*" weir rule add d 10.3.0.1/16 any all
	weir service add n
	refused "a prefix in nat mode" "*10.3.0.0/16: a prefix is for next hops: it needs forward direct*" \
		weir rule add n 10.3.0.0/16 any all
	check "a prefix in direct mode" weir rule add d 10.3.0.0/16 any all
	weir rule add d 10.9.9.8 udp 53
	like "weir check warns of ports that fragments lack" "$(weir check)" "*service d: rule 10.9.9.8 udp lists ports*"
	refused "the same prefix twice" "*has a rule for the same packets*" \
		eval "weir service add e forward direct; weir rule add e 10.3.0.0/16 any all"
	weir save > "$TMP/saved"
	check "what save prints is taken" weir apply "$TMP/saved"
	is "and changes nothing" "$(wjson "J['n-changes']" apply --dry-run "$TMP/saved")" 0
}

lab_up 3 tcp:80
vips_up
# A datagram's answer comes from the address that its server is bound to.
servers_up vips "${BACKENDS[@]}" -- udp:53@10.9.9.9 udp:53@fd00:9::9
servers_ready vips
for_families served
for_families told
for_families lazily
for_families fragments
for_families errors
for_families loops
for_families filters
for_families own
for_families moves
refusals
unplugged
finish
