#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Direct mode over other devices than two plain interfaces: VRFs on either side and on both, a
# bridge that clients come in by, frames that only cross the router's bridge, interfaces and
# hardware addresses that change under traffic, and a VLAN towards the backends.
#
#   cli ==== eth0 lb eth1 ==== sw ==== b1 b2 b3 (the VIPs on lo; answers are routed by lb)
#
#   left ==== (a bridge of lb) ==== right (10.6.0.0/24: through lb, and not by it)
#
# timeout: 900
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

RAW_OK=True LEAK_OK='icmp or icmp6'
IN='src == CLI and dst == VIP and (tcp or udp)'

direct() {
	web "forward direct"
	weir flush > /dev/null
	lab mark > /dev/null
	drops_mark
}

served() {		# NAME: as between two plain interfaces
	local words
	direct
	words="$(lab call tcp cli "$VIP" 80 n=20) $(lab call udp cli "$VIP" 53 n=20)"
	is "$1: connections and datagrams are served ($words)" "$(answers "$words")" 40
	settle
	is "$1: by all three" "$(lab distinct "$IN" ns)" 3
	is "$1: with one hop less" "$(lab count "$IN and ttl != 63")" 0
	is "$1: each packet is counted once" "$(shown "S['COUNTERS']['PACKETS_IN']")" "$(lab count "$IN")"
	drops_are "$1: nothing is dropped" none
}

# The router has something to say to clients.
told() {		# NAME
	local type=11
	[ "$F" = 4 ] || type=3
	lab mark > /dev/null
	lab raw cli udp "$CLI" "$VIP" sport=4000 dport=53 ttl=1 > /dev/null
	is "$1: time exceeded comes from the router" \
		"$(lab await 1 "$ICMP and src == LBC and type == $type" cli)" 1
}

not_served() {		# NAME DROPS
	direct
	is "$1: nobody answers" "$(lab call udp cli "$VIP" 53 n=4 timeout=1)" "timeout=4"
	is "$1: no backend has seen anything" "$(lab count "$IN")" 0
	drops_are "$1: dropped and counted" "$2"
}

# What interfaces lose that go down, or to a master.
addresses() {		# DEVICE-OF-CLIENTS DEVICE-OF-BACKENDS
	ips lb <<- END
		addr replace 10.1.0.1/24 dev $1
		addr replace fd00:1::1/64 dev $1 nodad
		addr replace 10.2.0.1/24 dev $2
		addr replace fd00:2::1/64 dev $2 nodad
	END
}

vrf_up() {		# NAME TABLE DEVICE...: what is not in its table is nowhere
	local dev
	ips lb <<- END
		link add $1 type vrf table $2
		link set $1 up
		route replace unreachable default table $2 metric 4278198272
		route replace unreachable ::/0 table $2 metric 4278198272
	END
	for dev in "${@:3}"; do
		ips lb <<< "link set $dev master $1"
	done
	addresses eth0 eth1
}

vrf_down() {		# NAME
	ips lb <<< "link del $1"
	addresses eth0 eth1
}

one_vrf() {
	served "one VRF"
	told "one VRF"
}

no_leak() {
	not_served "clients in a VRF that knows no way to backends" "no-route=4"
}

clients_vrf() {
	served "clients in a VRF"
	told "clients in a VRF"
}

backends_vrf() {
	served "backends in a VRF${1:-}"
	told "backends in a VRF${1:-}"
}

through_vrf_device() {
	backends_vrf ", by a route to its device"
}

vrfs() {
	vrf_up red 100 eth0 eth1
	for_families one_vrf
	vrf_down red

	vrf_up red 100 eth0
	for_families no_leak
	ips lb <<- END
		route add 10.2.0.0/24 dev eth1 table 100
		route add fd00:2::/64 dev eth1 table 100
		route add 10.1.0.0/24 dev eth0
		route add fd00:1::/64 dev eth0
	END
	for_families clients_vrf
	vrf_down red

	vrf_up blue 200 eth1
	ips lb <<- END
		route add 10.2.0.0/24 dev eth1
		route add fd00:2::/64 dev eth1
		route add 10.1.0.0/24 dev eth0 table 200
		route add fd00:1::/64 dev eth0 table 200
	END
	for_families backends_vrf
	# the other way to leak a route, by the VRF's own device
	ips lb <<- END
		route replace 10.2.0.0/24 dev blue
		route del fd00:2::/64 dev eth1
		route add fd00:2::/64 dev blue
	END
	for_families through_vrf_device
	vrf_down blue
}

nf_call() {		# 0|1: for bridges, where br_netfilter is there
	in_ns lb sysctl -qw net.bridge.bridge-nf-call-iptables="$1" net.bridge.bridge-nf-call-ip6tables="$1"
}

bridge_up() {
	ips lb <<- END
		link add br0 type bridge mcast_snooping 0
		link set br0 up
		addr flush dev eth0
		link set eth0 master br0
	END
	addresses br0 eth1
}

bridge_down() {
	ips lb <<< "link del br0"
	addresses eth0 eth1
}

in_by_bridge() {
	served "in by a bridge"
	told "in by a bridge"
}

# With br_netfilter a bridge's packets are seen as frames of a bridge, and at no other time.
hidden() {
	local command
	nf_call 1
	direct
	is "br_netfilter: what comes by the bridge is not taken" \
		"$(answers "$(lab call udp cli "$VIP" 53 n=4 timeout=1)") $(lab count "$IN")" "0 0"
	command=$(wjson "[f['command'] for f in J if 'br0' in f['what']][0]" check)
	like "weir check has a command for it" "$command" "sysctl -w net.bridge.bridge-nf-call-ip*tables=0*"
	check "which runs" in_ns lb sh -c "$command"
	served "in by a bridge, mended"
}

crossing_up() {
	setup_ns left right
	ip -batch - <<- END || bail "cannot add veth pairs"
		link add eth0 netns $left type veth peer name left netns $lb
		link add eth0 netns $right type veth peer name right netns $lb
	END
	ips lb <<- END
		link add br1 type bridge mcast_snooping 0
		link set br1 up
		link set left master br1 up
		link set right master br1 up
	END
	ips left <<- END
		link set eth0 up
		addr add 10.6.0.1/24 dev eth0
		addr add fd00:6::1/64 dev eth0 nodad
		route add default via 10.6.0.2
		route add default via fd00:6::2
	END
	ips right <<- END
		link set eth0 up
		addr add 10.6.0.2/24 dev eth0
		addr add fd00:6::2/64 dev eth0 nodad
	END
	lab capture right:eth0 > /dev/null
	busywait 20000 in_ns left ping -q -c 1 -W 1 10.6.0.2 > /dev/null || bail "nothing crosses the bridge"
	busywait 20000 in_ns left ping -q -c 1 -W 1 fd00:6::2 > /dev/null || bail "no IPv6 crosses the bridge"
}

crosses() {		# NAME
	local from=10.6.0.1
	[ "$F" = 4 ] || from=fd00:6::1
	direct
	lab raw left udp "$from" "$VIP" n=5 dport=53 data=quiet > /dev/null
	lab raw left tcp "$from" "$VIP" n=5 dport=80 > /dev/null
	is "$1: frames to a VIP cross the bridge as they are" \
		"$(lab await 10 "dst == VIP and ttl == 64" right)" 10
	is "$1: none is taken" "$(lab count "src == '$from'") $(shown "S['COUNTERS']['PACKETS_IN']")" "0 0"
	drops_are "$1: nor dropped" none
}

crosses_plainly() {
	crosses "plain bridge"
}

crosses_filtered() {
	crosses "br_netfilter"
}

bridges() {
	# it is there and on from the beginning where it is no module
	modprobe br_netfilter || bail "this kernel has no br_netfilter"
	nf_call 0
	bridge_up
	for_families in_by_bridge
	crossing_up
	for_families crosses_plainly
	for_families hidden
	bridge_down
	nf_call 1
	for_families crosses_filtered
	ips lb <<< "link del br1"
	nf_call 0
}

# Neighbours tell of a new address by themselves, as a failover of theirs does.
new_macs() {
	local name words
	direct
	load_up "mac$F" cli tcp "$VIP" 80 conns=9 every=0.3 patience=10
	load_more "mac$F" ok 18
	for name in "${BACKENDS[@]}"; do
		in_ns "$name" sysctl -qw net.ipv4.conf.eth0.arp_notify=1 net.ipv6.conf.eth0.ndisc_notify=1
		ips "$name" <<< "link set eth0 address 02:78:00:00:0$F:0${name#b}"
		load_more "mac$F" ok 9
	done
	load_more "mac$F" ok 18
	words=$(load_down "mac$F")
	is "hardware addresses change under traffic: nothing breaks ($words)" "$(val ok "$words")" "$(val sent "$words")"
	is "and nothing moves" "$(val lost "$words") $(val moved "$words") $(val reset "$words")" "0 0 0"
}

link_again() {
	ip -batch - <<< "link add eth1 netns $lb type veth peer name lb netns $sw"
	ips sw <<< "link set lb master br0 up"
	ips lb <<< "link set eth1 up"
	addresses eth0 eth1
}

unplugged() {
	local words seen lost stream="udp and dst == VIP and sport == 3000$F"
	direct
	load_up "one$F" cli oneway "$VIP" 53 every=0.02 sport="3000$F"
	is "a stream is at a backend" "$(at_least 20 lab await 20 "$stream" > /dev/null && echo yes)" yes
	check "the interface towards the backends goes, with a route over it in use" \
		timeout 30 ip -n "$lb" link del eth1
	load_more "one$F" sent 20
	between "then there is no route" "$(val no-route "$(drops)")" 10 999
	link_again
	seen=$(lab count "$stream")
	is "with another one the stream goes on" \
		"$(at_least $((seen + 20)) lab await $((seen + 20)) "$stream" > /dev/null && echo yes)" yes
	words=$(load_down "one$F")
	settle
	lost=$(val no-route "$(drops)") seen=$(lab count "$stream")
	note "$words, seen $seen, no-route $lost"
	# one may have been in the queue of the device that went
	between "each datagram is at a backend, or counted" $(($(val sent "$words") - seen - lost)) 0 1
	drops_are "for that reason only" "no-route=$lost"
}

vlan_up() {
	local name i=11
	ips lb <<- END
		addr flush dev eth1
		link add link eth1 name eth1.7 type vlan id 7
		link set eth1.7 up
	END
	addresses eth0 eth1.7
	for name in "${BACKENDS[@]}"; do
		ips "$name" <<- END
			link add link eth0 name vlan7 type vlan id 7
			addr flush dev eth0
			link set vlan7 up
			addr add 10.2.0.$i/24 dev vlan7
			addr add fd00:2::$i/64 dev vlan7 nodad
			route replace default via 10.2.0.1
			route replace default via fd00:2::1
		END
		lab place "v${name#b}" "${PLACE[$name]}" > /dev/null
		lab capture "v${name#b}:vlan7" > /dev/null
		i=$((i + 1))
	done
}

vlan() {
	served "a VLAN towards the backends"
	is "which is what they came over" "$(lab count "$IN" v1 v2 v3)" "$(lab count "$IN")"
	told "a VLAN towards the backends"
}

lab_up 3 tcp:80
vips_up
# A datagram's answer comes from the address that its server is bound to.
servers_up vips "${BACKENDS[@]}" -- udp:53@10.9.9.9 udp:53@fd00:9::9
servers_ready vips
vrfs
bridges
for_families new_macs
for_families unplugged
vlan_up
for_families vlan
# Other tests do without it.
[ ! -d /sys/module/br_netfilter/holders ] || modprobe -r br_netfilter
finish
