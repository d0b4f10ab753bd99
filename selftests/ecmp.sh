#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two routers with one configuration and one hash_key behind equal-cost routes: a resilient group
# of next hops, by layer 4. One of them dies under traffic; each of its connections is taken over
# by the other, which has never seen it, and reaches the backend that it was at.
#
#                    eth1 == lb  ==.
#   cli ==== front <                >==== sw ==== b1 b2 b3 (b4)
#               |    eth2 == lb2 =='      |
#               `===== eth3 (10.2.0.3) ===' answers of direct mode
#
#   Answers of nat mode go back through the router that the last request came through: backends
#   mark connections by its hardware address.
#
# timeout: 900
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

CONNS=500
KEY=00112233445566778899aabbccddeeff
RAW_OK=True

# cli's gateway becomes front, which the routers are behind.
front_up() {
	setup_ns front lb2
	ips lb <<< "link set eth0 netns $front"
	ip -batch - <<- END || bail "cannot add veth pairs"
		link add eth1 netns $front type veth peer name eth0 netns $lb
		link add eth2 netns $front type veth peer name eth0 netns $lb2
		link add eth3 netns $front type veth peer name front netns $sw
		link add eth1 netns $lb2 type veth peer name lb2 netns $sw
	END
	ips sw <<- END
		link set front master br0 up
		link set lb2 master br0 up
	END
	ips front <<- END
		link set lo up
		link set eth0 up
		link set eth1 up
		link set eth2 up
		link set eth3 up
		addr add 10.1.0.1/24 dev eth0
		addr add fd00:1::1/64 dev eth0 nodad
		addr add 10.5.1.1/24 dev eth1
		addr add fd00:5:0:1::1/64 dev eth1 nodad
		addr add 10.5.2.1/24 dev eth2
		addr add fd00:5:0:2::1/64 dev eth2 nodad
		addr add 10.2.0.3/24 dev eth3
		addr add fd00:2::3/64 dev eth3 nodad
		route add 10.1.16.0/20 via 10.1.0.10
		route add fd00:1:1::/64 via fd00:1::10
	END
	in_ns front sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.ipv4.fib_multipath_hash_policy=1 net.ipv6.fib_multipath_hash_policy=1
	in_ns lb2 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	router_up lb 1
	router_up lb2 2
}

router_up() {		# lb|lb2 NUMBER
	ips "$1" <<- END
		link set lo up
		link set eth0 up
		link set eth1 up
		addr replace 10.5.$2.2/24 dev eth0
		addr replace fd00:5:0:$2::2/64 dev eth0 nodad
		addr replace 10.2.0.$2/24 dev eth1
		addr replace fd00:2::$2/64 dev eth1 nodad
		route replace 10.1.0.0/16 via 10.5.$2.1
		route replace fd00:1::/32 via fd00:5:0:$2::1
	END
}

# Links that lose their carrier take their next hops out of the group; nobody types anything.
router_down() {		# lb2
	ips "$1" <<- END
		link set eth0 down
		link set eth1 down
	END
}

group_up() {
	local one=10.5.1.2 two=10.5.2.2
	[ "$F" = 4 ] || one=fd00:5:0:1::2 two=fd00:5:0:2::2
	# what an earlier run left goes with its members
	in_ns front ip nexthop flush > /dev/null
	ips front <<- END
		nexthop add id 1 via $one dev eth1
		nexthop add id 2 via $two dev eth2
		nexthop add id 10 group 1/2 type resilient buckets 64 idle_timer 2 unbalanced_timer 0
		route replace $VIP/$HOST nhid 10
	END
	busywait 20000 reaches "$one" "$two" > /dev/null || bail "front does not reach the routers"
}

reaches() {		# ADDR...
	local addr
	for addr; do
		in_ns front ping -q -c 1 -W 1 "$addr" > /dev/null || return
	done
}

members() {		# of the group
	in_ns front ip -j nexthop show id 10 | grep -o '"group":\[[^]]*\]' | grep -o '"id":[0-9]*' | tr -d '\n'
}

# Both routers get the same lines.
both() {		# nat|direct BACKENDS
	local router i
	for router in lb lb2; do
		{
			echo "hash-key $KEY"
			echo "service $WEB {"
			echo "forward $1"
			echo "rule $VIP tcp 80"
			for ((i = 1; i <= $2; i++)); do
				echo "backend $B$i"
			done
			echo "}"
		} | on "$router" apply - > "$TMP/out" 2>&1 || bail "weir apply: $(cat "$TMP/out")"
		on "$router" flush > /dev/null
	done
}

answers_past() {	# direct mode: the routers see no answers
	local name
	for name in "${BACKENDS[@]}"; do
		in_ns "$name" nft flush ruleset
		ips "$name" <<- END
			addr replace $VIP/$HOST dev lo $NODAD
			route replace default via ${LBB%1}3
		END
	done
}

router_mac() {		# lb|lb2: of its side towards the backends
	ip netns exec "${PLACE[$1]}" cat /sys/class/net/eth1/address
}

answers_through() {	# nat mode: back through the router that the request came through
	local name one two
	one=$(router_mac lb) two=$(router_mac lb2)
	for name in "${BACKENDS[@]}"; do
		ips "$name" <<- END
			addr del $VIP/$HOST dev lo
			route replace default via $LBB
			route replace default via ${LBB%1}2 table 2
		END
		in_ns "$name" ip "-$F" rule add fwmark 2 table 2
		ruleset "$name" <<- END
			table inet back {
				chain in {
					type filter hook prerouting priority mangle
					ether saddr $one ct mark set 1
					ether saddr $two ct mark set 2
				}
				chain out {
					type route hook output priority mangle
					meta mark set ct mark
				}
			}
		END
	done
}

seen_at() {		# NAME...: connections whose packets came there since the mark
	lab distinct "$OURS" sport "$@"
}

broken() {		# WORDS of a load: exchanges that went wrong, however
	echo $(($(val lost "$1") + $(val moved "$1") + $(val reset "$1") + $(val closed "$1") +
		$(val refused "$1") + $(val timeout "$1") + $(val unreach "$1")))
}

# Connections are up, at both routers; what each of them is at is remembered.
connections_up() {	# SOURCE
	OURS="tcp and dport == 80 and src == '$1' and not rst"
	lab mark > /dev/null
	load_up "est$F" cli tcp "$VIP" 80 conns="$CONNS" every=6 src="$1" sport=20000 patience=20
	busywait 120000 at_least "$CONNS" load "est$F" ok > /dev/null ||
		bail "no connections: $(load "est$F")"
	note "at the routers: $(lab learn routers "$OURS" sport lb lb2)"
	note "at the backends: $(lab learn backends "$OURS" sport)"
	is "$MODE: $CONNS connections are up" "$(lab owners "$OURS" sport)" "keys=$CONNS split=0"
	SHARE=$(seen_at lb2)
	between "$MODE: two routers share them" "$SHARE" $((CONNS * 3 / 10)) $((CONNS * 7 / 10))
	is "$MODE: each is at one of them" "$(lab owners "$OURS" sport lb lb2)" "keys=$CONNS split=0"
}

dies() {
	is "$MODE: two next hops" "$(members)" '"id":1"id":2'
	router_down lb2
	is "$MODE: the dead router's has left the group" "$(busywait 10000 prints '"id":1' members)" '"id":1'
	lab mark > /dev/null
	busywait 120000 at_least "$CONNS" seen_at lb > /dev/null
	load_more "est$F" ok $((CONNS / 2))
}

survivors() {		# LEAST MOST: of all connections
	local words lost
	words=$(load_down "est$F")
	lost=$(broken "$words")
	note "$MODE: of $CONNS connections, $SHARE of them at the router that died, $lost broke ($words)"
	between "$MODE: so many go on" $((CONNS - lost)) "$1" "$2"
}

only_its_share_moved() {
	lab learn now "$OURS" sport lb lb2 > /dev/null
	is "$MODE: the share of the dead router is at the other, and nothing else has moved" \
		"$(lab compare routers now gone=lb2)" \
		"both=$CONNS only=0 same=$((CONNS - SHARE)) moved=0 left=$SHARE stuck=0"
	lab learn now "$OURS" sport > /dev/null
	is "$MODE: all packets reach the backends that they reached before" \
		"$(lab compare backends now)" "both=$CONNS only=0 same=$CONNS moved=0 left=0 stuck=0"
}

# One that comes back gets buckets as soon as they are idle, and with them connections.
comes_back() {
	router_up lb2 2
	group_up
	lab mark > /dev/null
	busywait 120000 at_least 20 seen_at lb2 > /dev/null
	load_more "est$F" ok $((CONNS / 2))
	lab learn now "$OURS" sport > /dev/null
	between "$MODE: the router is back, with connections" "$(seen_at lb2)" 20 "$CONNS"
	is "$MODE: which are where they were" "$(val moved "$(lab compare backends now)")" 0
}

direct() {
	MODE=direct
	answers_past
	both direct 3
	group_up
	connections_up "${MANY%1}11"
	dies
	only_its_share_moved
	comes_back
	survivors $((CONNS * 99 / 100)) "$CONNS"
	drops_are "$MODE: the router that lives dropped nothing" none
}

# What the hash does not say any more only the dead router knew.
grown() {
	MODE="direct, one more backend since"
	group_up
	both direct 3
	connections_up "${MANY%1}12"
	both4
	dies
	# half of a quarter, give or take four sigma
	survivors $((CONNS * 80 / 100)) $((CONNS * 95 / 100))
}

both4() {
	on lb backend add "$WEB" "$B4"
	on lb2 backend add "$WEB" "$B4"
}

nat() {
	MODE=nat
	router_up lb2 2
	answers_through
	both nat 3
	group_up
	connections_up "${MANY%1}13"
	dies
	only_its_share_moved
	survivors $((CONNS * 99 / 100)) "$CONNS"
}

routers() {
	NODAD=nodad
	[ "$F" = 6 ] || NODAD=''
	drops_mark
	direct
	grown
	nat
	router_up lb2 2
}

lab_up 4 tcp:80
front_up
lab capture lb:eth0 lb2:eth0 > /dev/null
for_families routers
finish
