#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# `weir check` finds what on a host would stop traffic, and the command that it prints
# mends it: each fault is made, seen, and mended by that command.
#
#	up		 lb				bk
#	198.51.100.254 ========= 198.51.100.1
#	2001:db8:1::fe	    eth0 2001:db8:1::1
#			 10.2.0.1  ==================== 10.2.0.11
#			 fd00:2::1 eth1			fd00:2::11
#
# timeout: 600
#
# VIPs are 203.0.113.10 and 2001:db8:2::80; lb's default routes lead to up.

# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

FINDINGS=		# what weir check found last

look() {
	FINDINGS=$(weir -n "$lb" -j check)
}

# The findings whose text is like a pattern, as "SEVERITY" each.
severities() {		# REGULAR EXPRESSION
	jq -rj --arg like "$1" '.[] | select(.what | test($like)) | .severity + " "' <<< "$FINDINGS"
}

command_of() {		# REGULAR EXPRESSION
	jq -r --arg like "$1" '[.[] | select(.what | test($like))][0].command' <<< "$FINDINGS"
}

found() {		# NAME SEVERITY REGULAR EXPRESSION
	local got
	look
	got=$(severities "$3")
	[ "$got" = "$2 " ] || note "weir check: $FINDINGS"
	is "$1: found" "$got" "$2 "
}

silent() {		# NAME REGULAR EXPRESSION
	look
	is "$1" "$(severities "$2")" ""
}

mends() {		# NAME SEVERITY REGULAR EXPRESSION
	local command
	found "$1" "$2" "$3"
	command=$(command_of "$3")
	check "$1: its command runs" in_ns lb sh -c "$command"
	silent "$1: mended by: $command" "$3"
}

topology() {
	setup_ns up lb bk
	ip -batch - <<- END
		link add eth0 netns $up type veth peer name eth0 netns $lb
		link add eth1 netns $lb type veth peer name eth0 netns $bk
	END
	ips up <<- END
		link set eth0 up
		addr add 198.51.100.254/24 dev eth0
		addr add 2001:db8:1::fe/64 dev eth0 nodad
	END
	ips lb <<- END
		link set lo up
		link set eth0 up
		link set eth1 up
		addr add 198.51.100.1/24 dev eth0
		addr add 2001:db8:1::1/64 dev eth0 nodad
		addr add 10.2.0.1/24 dev eth1
		addr add fd00:2::1/64 dev eth1 nodad
		route add default via 198.51.100.254
		route add default via 2001:db8:1::fe
	END
	ips bk <<- END
		link set eth0 up
		addr add 10.2.0.11/24 dev eth0
		addr add fd00:2::11/64 dev eth0 nodad
	END
}

# Whatever this host's defaults are, the ones of the tests are all good.
good_sysctls() {
	# shellcheck disable=SC2016 # the inner shell expands it
	in_ns lb sh -c 'for file in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 > "$file"; done'
	in_ns lb sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.netfilter.nf_conntrack_tcp_loose=1
	# where br_netfilter is no module it is there, and on, from the beginning
	in_ns lb sh -c '! [ -d /proc/sys/net/bridge ] || sysctl -qw net.bridge.bridge-nf-call-iptables=0 net.bridge.bridge-nf-call-ip6tables=0'
}

test_sysctls() {
	in_ns lb sysctl -qw net.ipv4.ip_forward=0
	mends "IPv4 forwarding" error 'ip_forward is 0'
	in_ns lb sysctl -qw net.ipv6.conf.all.forwarding=0
	mends "IPv6 forwarding" error 'ipv6.conf.all.forwarding is 0'
	in_ns lb sysctl -qw net.ipv4.conf.eth1.forwarding=0
	found "forwarding of one interface" warning 'forwarding is off on eth1$'
	in_ns lb sysctl -qw net.ipv4.conf.eth1.forwarding=1
	in_ns lb sysctl -qw net.ipv4.conf.eth0.rp_filter=1
	mends "rp_filter of one interface" warning 'rp_filter is strict .1. on eth0$'
	in_ns lb sysctl -qw net.ipv4.conf.all.rp_filter=1
	found "rp_filter of all" warning 'rp_filter is strict .1. on .*eth[01].*eth[01]'
	in_ns lb sysctl -qw net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.eth0.rp_filter=0
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0
	mends "streams are not picked up" warning 'nf_conntrack_tcp_loose is 0'
}

test_vip() {
	ips lb <<< "route del blackhole 203.0.113.10"
	mends "a VIP that goes back" warning 'VIP 203.0.113.10 is routed to 198.51.100.254'
	ips lb <<< "route del blackhole 2001:db8:2::80"
	mends "an IPv6 VIP that goes back" warning 'VIP 2001:db8:2::80 is routed to 2001:db8:1::fe'
	weir -n "$lb" rule add web 198.51.100.77 tcp 80
	mends "a VIP on the link" error 'VIP 198.51.100.77 lies in a network that is connected to eth0'
	ips lb <<< "addr del 198.51.100.77/32 dev eth0"
	in_ns lb sysctl -qw net.ipv4.conf.eth0.proxy_arp_pvlan=1
	silent "a VIP on the link that is proxied there" 'VIP 198.51.100.77'
	in_ns lb sysctl -qw net.ipv4.conf.eth0.proxy_arp_pvlan=0
	in_ns lb sysctl -qw net.ipv4.conf.eth1.proxy_arp=1
	silent "a VIP on the link that is proxied elsewhere" 'VIP 198.51.100.77'
	in_ns lb sysctl -qw net.ipv4.conf.eth1.proxy_arp=0
	weir -n "$lb" rule del web 198.51.100.77 tcp 80
	weir -n "$lb" rule add six 2001:db8:1::77 tcp 80
	mends "an IPv6 VIP on the link" error 'VIP 2001:db8:1::77 lies in a network'
	ips lb <<< "addr del 2001:db8:1::77/128 dev eth0"
	ips lb <<< "neigh add proxy 2001:db8:1::77 dev eth0"
	found "a proxy entry without proxy_ndp" error 'VIP 2001:db8:1::77'
	in_ns lb sysctl -qw net.ipv6.conf.eth0.proxy_ndp=1
	silent "an IPv6 VIP that is proxied" 'VIP 2001:db8:1::77'
	weir -n "$lb" rule del six 2001:db8:1::77 tcp 80
}

neigh_failed() {
	in_ns lb ping -c 1 -W 1 10.2.0.99 > /dev/null 2>&1
	ip -n "$lb" neigh show 10.2.0.99 | grep -q FAILED
}

test_backends() {
	weir -n "$lb" backend add web 192.0.2.9
	ips lb <<< "route add unreachable 192.0.2.9"
	found "a backend without route" error 'no route to backend 192.0.2.9'
	ips lb <<< "route del unreachable 192.0.2.9"
	silent "and with one" 'backend 192.0.2.9'
	weir -n "$lb" backend del web 192.0.2.9
	weir -n "$lb" backend add web 10.2.0.99
	busywait 20000 neigh_failed > /dev/null || note "no failed neighbour"
	found "a backend that is not there" error 'neighbour 10.2.0.99 on eth1 does not answer'
	weir -n "$lb" backend set web 10.2.0.99 health down
	found "and is known to be down" warning 'neighbour 10.2.0.99 on eth1 does not answer'
	weir -n "$lb" backend del web 10.2.0.99
}

# bk has no route to clients of up, as if its default route were another router's.
test_answers() {
	local i
	ips up <<< "route add 203.0.113.10 via 198.51.100.1"
	weir -n "$lb" rule add web 203.0.113.10 udp 9
	silent "no packet, no finding" 'has never answered'
	for i in 1 2 3; do
		in_ns up bash -c "echo $i > /dev/udp/203.0.113.10/9"
	done
	found "a backend that does not answer" warning 'service web: backend 10.2.0.11 has never answered'
	ips bk <<< "route add default via 10.2.0.1"
	in_ns up bash -c "echo 4 > /dev/udp/203.0.113.10/9"
	busywait 5000 answered > /dev/null || note "no answer was seen"
	silent "and then does" 'has never answered'
	weir -n "$lb" rule del web 203.0.113.10 udp 9
}

# An ICMP error or an answer: a packet of the backend has passed.
answered() {
	weir -n "$lb" -j -s show web | jq -e '.[0].backends[0].counters."packets-out" > 0' \
		> /dev/null
}

nft_chain() {		# FAMILY HOOK PRIORITY POLICY [RULE]
	in_ns lb nft flush ruleset
	in_ns lb nft add table "$1" f
	in_ns lb nft add chain "$1" f c "{ type filter hook $2 priority $3; policy $4; }"
	[ $# -lt 5 ] || in_ns lb nft add rule "$1" f c "$5"
}

test_nft() {
	nft_chain inet forward 0 drop
	mends "a chain that drops all" error 'chain inet f c has the policy drop'
	nft_chain inet forward 0 drop "tcp dport 22 accept"
	mends "a chain that drops by default" warning 'chain inet f c has the policy drop'
	nft_chain ip forward 0 drop "ct status dnat counter accept"
	silent "a chain that accepts what is balanced" 'policy drop'
	nft_chain inet input 0 drop
	silent "a chain of another hook" 'policy drop'
	nft_chain bridge forward 0 drop
	silent "a table of another family" 'policy drop'
	nft_chain ip prerouting -300 accept notrack
	found "notrack" warning 'chain ip f c says notrack'
	nft_chain ip prerouting -150 accept
	in_ns lb nft add ct timeout ip f p "{ protocol tcp; l3proto ip; policy = { established: 100 }; }"
	silent "a timeout policy that nothing uses" 'timeout'
	in_ns lb nft add rule ip f c ct timeout set p
	found "a timeout policy" warning 'chain ip f c says ct timeout'
	nft_chain inet forward 0 accept
	in_ns lb nft add flowtable inet f t "{ hook ingress priority 0; devices = { eth0, eth1 }; }"
	silent "a flowtable that nothing enters" 'flow'
	in_ns lb nft add rule inet f c ct state established flow add @t
	found "a flowtable" warning 'chain inet f c says flow$'
	in_ns lb nft flush ruleset
	silent "no rule, no finding" 'chain|nft'
}

test_iptables() {		# VARIANT
	in_ns lb "iptables-$1" -P FORWARD DROP
	mends "iptables-$1 that drops all" error "chain FORWARD of iptables-$1 has the policy drop"
	in_ns lb "iptables-$1" -F FORWARD
	in_ns lb "iptables-$1" -A FORWARD -p tcp --dport 22 -j ACCEPT
	mends "iptables-$1 that drops by default" warning \
		"chain FORWARD of iptables-$1 has the policy drop"
	in_ns lb "iptables-$1" -P FORWARD ACCEPT
	in_ns lb "iptables-$1" -F FORWARD
	silent "iptables-$1 that accepts" 'FORWARD'
	in_ns lb "ip6tables-$1" -P FORWARD DROP
	mends "ip6tables-$1 that drops all" error "chain FORWARD of ip6tables-$1 has the policy drop"
	in_ns lb "ip6tables-$1" -P FORWARD ACCEPT
	in_ns lb "ip6tables-$1" -F FORWARD
}

test_table() {
	local max i
	max=$(sysctl -n net.netfilter.nf_conntrack_max)
	in_ns lb conntrack -F > /dev/null 2>&1	# flows of the tests before count too
	sysctl -qw net.netfilter.nf_conntrack_max=20
	for i in {1..16}; do
		in_ns lb conntrack -I -p udp -s "10.9.9.$i" -d 10.9.9.100 --sport 1 --dport 2 \
			-t 600 > /dev/null 2>&1
	done
	found "a table that fills" warning 'conntrack table holds 1[5-8] of 20 entries'
	for i in {17..20}; do
		in_ns lb conntrack -I -p udp -s "10.9.9.$i" -d 10.9.9.100 --sport 1 --dport 2 \
			-t 600 > /dev/null 2>&1
	done
	found "a full table" error 'conntrack table holds (19|20|21) of 20 entries'
	sysctl -qw "net.netfilter.nf_conntrack_max=$max"
	silent "a table with room" 'conntrack table'
	in_ns lb conntrack -F > /dev/null 2>&1
}

test_bridge() {
	modprobe br_netfilter
	in_ns lb sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1
	mends "bridged frames are tracked" warning 'bridge-nf-call-iptables is 1'
	mends "bridged IPv6 frames are tracked" warning 'bridge-nf-call-ip6tables is 1'
	[ ! -d /sys/module/br_netfilter/holders ] || modprobe -r br_netfilter
}

# What is of direct mode only: it has no connections, and takes no frames of bridges.
test_direct() {
	weir -n "$lb" apply - > /dev/null <<- END || bail "weir apply failed"
		service web {
		    forward direct
		    rule 203.0.113.10 tcp 80
		    backend 10.2.0.11
		}
		service six {
		    forward direct
		    rule 2001:db8:2::80 tcp 80
		    backend fd00:2::11
		}
	END
	silent "direct mode on a good host" .
	direct_filters
	direct_bridges
	direct_routes
}

direct_filters() {
	local i
	nft_chain inet forward 0 drop
	mends "direct: a chain that drops all" error 'chain inet f c has the policy drop'
	is "direct: one command for both families" "$(in_ns lb nft list chain inet f c | grep -c 'daddr.*accept')" 2
	nft_chain inet forward 0 drop "tcp dport 22 accept"
	mends "direct: a chain that drops by default" warning 'chain inet f c has the policy drop'
	nft_chain ip6 forward 0 drop "ip6 daddr { 2001:db8:2::80, 2001:db8:2::81 } accept"
	silent "direct: a chain that accepts the VIP among others" 'policy drop'
	nft_chain ip forward 0 drop "ip daddr 203.0.113.11 accept"
	found "direct: a chain that accepts another address" warning 'chain ip f c has the policy drop'
	nft_chain ip forward 0 drop "ct state untracked accept"
	silent "direct: a chain that accepts what is untracked" 'policy drop'
	nft_chain ip forward 0 drop "ct status dnat accept"
	found "direct: what accepts nat mode does not help" warning 'chain ip f c has the policy drop'
	nft_chain ip prerouting -300 accept notrack
	silent "direct: notrack comes too late for it" notrack
	in_ns lb nft flush ruleset
	in_ns lb iptables-nft -P FORWARD DROP
	mends "direct: iptables-nft that drops all" error "chain FORWARD of iptables-nft has the policy drop"
	in_ns lb iptables-nft -P FORWARD ACCEPT
	in_ns lb iptables-nft -F FORWARD
	in_ns lb nft flush ruleset
	# more than are named one by one
	weir -n "$lb" service add many forward direct
	for i in 1 2 3 4 5 6; do
		weir -n "$lb" rule add many "203.0.113.2$i" tcp 80
		ips lb <<< "route add blackhole 203.0.113.2$i"
	done
	nft_chain ip forward 0 drop
	mends "direct: many VIPs" error 'chain ip f c has the policy drop'
	in_ns lb nft flush ruleset
	weir -n "$lb" service del many
}

direct_bridges() {
	modprobe br_netfilter
	ips lb <<- END
		link add brx type bridge
		link set brx up
	END
	in_ns lb sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1
	silent "direct: a bridge without an address is on nobody's way" bridge
	ips lb <<< "addr add 10.7.0.1/24 dev brx"
	mends "direct: what comes in by a bridge" warning 'shows iptables what comes in by bridge brx'
	ips lb <<< "addr add 2001:db8:7::1/64 dev brx nodad"
	mends "direct: IPv6 that comes in by a bridge" warning 'shows ip6tables what comes in by bridge brx'
	ips lb <<< "link set brx type bridge nf_call_iptables 1"
	mends "direct: by that bridge's own switch" warning 'shows iptables what comes in by bridge brx'
	ips lb <<< "link set brx type bridge nf_call_iptables 1"
	in_ns lb sysctl -qw net.bridge.bridge-nf-call-iptables=1
	mends "direct: by both switches" warning 'shows iptables what comes in by bridge brx'
	ips lb <<< "link del brx"
	[ ! -d /sys/module/br_netfilter/holders ] || modprobe -r br_netfilter
}

direct_routes() {
	weir -n "$lb" backend add web 192.0.2.9
	mends "direct: a backend behind a router" warning 'backend 192.0.2.9 is behind 198.51.100.254'
}

test_services() {
	weir -n "$lb" service add idle
	found "a service without backends" error 'service idle: eligible: nobody'
	found "a service without rules" warning 'service idle has no rule'
	weir -n "$lb" backend add idle 10.2.0.12 health down
	found "a service whose backends are all down" warning 'service idle: eligible: all backends'
	weir -n "$lb" service set idle table-size 61
	mends "a small table" warning 'service idle: table-size 61 for 1 backends'
	weir -n "$lb" service del idle
}

test_good_host() {
	local out status=0
	out=$(weir -n "$lb" check) || status=$?
	is "a good host" "$status $out" "0 nothing was found that would stop traffic"
	is "a good host, in JSON" "$(weir -n "$lb" -j check)" "[]"
	in_ns lb sysctl -qw net.ipv4.conf.eth0.rp_filter=1
	status=0
	out=$(weir -n "$lb" check) || status=$?
	is "a warning is no failure" "$status $(tail -n 1 <<< "$out")" "0 0 errors, 1 warning"
	in_ns lb sysctl -qw net.ipv4.conf.eth0.rp_filter=0 net.ipv4.ip_forward=0
	status=0
	out=$(weir -n "$lb" check) || status=$?
	is "an error is one" "$status $(tail -n 1 <<< "$out")" "1 1 error, 0 warnings"
	like "text says what to type" "$out" "*    type: sysctl -w net.ipv4.ip_forward=1*"
	in_ns lb sysctl -qw net.ipv4.ip_forward=1
}

tap_begins
[ "$(id -u)" = 0 ] || skip_all "needs root"
need ip weir nft jq conntrack iptables-nft iptables-legacy ping
modprobe weir || bail "modprobe weir failed"
LOG_MARK="weir test $ME $$ begins"
echo "$LOG_MARK" > /dev/kmsg
topology
weir -n "$lb" apply - > /dev/null <<- END || bail "weir apply failed"
	service web {
	    rule 203.0.113.10 tcp 80
	    backend 10.2.0.11
	}
	service six {
	    rule 2001:db8:2::80 tcp 80
	    backend fd00:2::11
	}
END
good_sysctls
ips lb <<- END
	route add blackhole 203.0.113.10
	route add blackhole 2001:db8:2::80
END
test_good_host
test_sysctls
test_vip
test_backends
test_services
test_answers
test_nft
test_iptables nft
test_iptables legacy
test_table
test_bridge
test_direct
finish
