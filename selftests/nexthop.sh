#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Next hop (semantics 6.6): what goes to a prefix goes through one of a row of appliances, which
# change nothing and send it on; both directions of a connection through the same one.
#
#   cli ==== lb ==== b1 b2 (appliances: they forward, by a default route to lb)
#                    b3 (the server, 10.3.0.1 and more on lo)
#
# timeout: 400
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

RAW_OK=True LEAK_OK='icmp or icmp6'

hops_up() {
	local name i
	for name in b1 b2; do
		in_ns "$name" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
			net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth0.send_redirects=0 \
			net.ipv4.conf.all.rp_filter=0
	done
	in_ns lb sysctl -qw net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.eth1.send_redirects=0 \
		net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth1.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0
	for i in 1 2 3 4 5 6 7 8; do
		ips b3 <<- END
			addr add 10.3.0.$i/32 dev lo
			addr add fd00:3::$i/128 dev lo nodad
		END
	done
	ips lb <<- END
		route add 10.3.0.0/16 via 10.2.0.13
		route add fd00:3::/32 via fd00:2::13
	END
}

nets() {		# the two sides, for the family in use
	if [ "$F" = 4 ]; then
		SRV=10.3.0. THERE=10.3.0.0/16 BACK=10.1.0.0/16 ALL=0.0.0.0/0
		GROUP=239.1.2.3 NARROW=169.254.1.1
	else
		SRV=fd00:3:: THERE=fd00:3::/32 BACK=fd00:1::/32 ALL=::/0
		GROUP=ff05::1:3 NARROW=fe80::1
	fi
	lab let "SRV=${SRV}1" > /dev/null
}

hop() {			# AFFINITY PREFIX...
	local prefix
	{
		echo "service hop$F {"
		echo "forward direct"
		echo "affinity $1"
		shift
		for prefix; do
			echo "rule $prefix any all"
		done
		printf 'backend %s\n' "$B1" "$B2"
		echo "}"
	} | conf
	weir flush > /dev/null
	lab mark > /dev/null
}

both_ways() {
	local words
	hop client-ip-port-proto "$THERE" "$BACK"
	words=$(lab call tcp cli "${SRV}1" 80 n=40)
	is "connections through appliances are served ($words)" "$(val b3 "$words")" 40
	settle
	is "both directions of each through one, and through both" \
		"$(lab owners 'tcp and (dst == SRV or src == SRV)' 'sport if dst == SRV else dport' b1 b2): $(lab distinct \
			'tcp and dst == SRV' ns b1 b2)" "keys=40 split=0: 2"
	is "and each packet once" "$(lab count 'tcp and dst == SRV' b1 b2)" "$(lab count 'tcp and dst == SRV' b3)"
	is "nothing is dropped" "$(drops)" none
	words=$(lab call udp cli "${SRV}1" 53 n=20)
	is "datagrams too ($words)" "$(val b3 "$words")" 20
	weir backend set "hop$F" "$B1" health down
	weir flush > /dev/null
	lab mark > /dev/null
	words=$(lab call tcp cli "${SRV}1" 80 n=10)
	is "an unhealthy one is passed by ($words)" "$(val b3 "$words"): $(lab count 'tcp and dst == SRV' b1)" "10: 0"
	weir backend set "hop$F" "$B1" health auto
}

one_client() {
	local i sum=0
	hop client-ip-no-destination "$THERE"
	for i in 1 2 3 4 5 6 7 8; do
		sum=$((sum + $(answers "$(lab call tcp cli "$SRV$i" 80 n=2)")))
	done
	is "client-ip-no-destination: all is served" "$sum" 16
	settle
	is "by one appliance for each client" "$(lab owners "tcp and src == CLI" src b1 b2)" "keys=1 split=0"
	hop none "$THERE"
	for i in 1 2 3 4 5 6 7 8; do
		lab call tcp cli "$SRV$i" 80 n=4 > /dev/null
	done
	is "none: by several" "$(lab distinct 'tcp and src == CLI' ns b1 b2)" 2
}

# Even a prefix of everything leaves alone what is the router's and what is of one link.
everything() {
	local words
	hop client-ip "$ALL"
	words=$(lab call tcp cli "${SRV}1" 80 n=10)
	is "everything: connections are served ($words)" "$(val b3 "$words")" 10
	check "everything: the router's own addresses answer" in_ns cli ping -q -c 2 -i 0.2 -W 5 "$LBC"
	check "everything: the one of the other side too" in_ns cli ping -q -c 2 -i 0.2 -W 5 "$LBB"
	in_ns lb ip neigh flush dev eth1
	words=$(lab call tcp cli "${SRV}2" 80 n=10)
	is "everything: neighbours are found again ($words)" "$(val b3 "$words")" 10
	for i in "$LBC" "$GROUP" "$NARROW" "$B1"; do
		like "everything: lookup knows that $i is not in it" \
			"$(weir lookup udp "$(endpoint "$CLI" 1000)" "$(endpoint "$i" 80)")" "*passes as if weir were absent*"
	done
	weir rule add "hop$F" "${SRV}3" tcp 80
	like "an exact VIP is longer" "$(weir lookup tcp "$(endpoint "$CLI" 1000)" "$(endpoint "${SRV}3" 80)")" \
		"*rule: ${SRV}3 tcp 80*"
	like "a longer prefix too" "$(weir rule add "hop$F" "$THERE" any all; weir lookup tcp "$(endpoint "$CLI" 1000)" \
		"$(endpoint "${SRV}4" 80)")" "*rule: $THERE any all*"
}

run_all() {
	nets
	drops_mark
	both_ways
	one_client
	everything
}

lab_up 3 tcp:80
hops_up
servers_up hops b3 -- udp:53@10.3.0.1 udp:53@fd00:3::1
servers_ready hops
drops_mark
for_families run_all
finish
