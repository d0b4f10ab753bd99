# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The lab of the measurements, and what is measured in it: sourced in the guest.
#
#   cl                  the guest's own namespace is the router       four backends
#   (clients)    c0 === r0 10.0.0.1    10.9.0.1 d0 (dummy) - - - - -  10.9.0.11 .. 14
#   10.16.0.0/16        fd00:1::1      fd00:9::1                      fd00:9::b .. e
#   fd00:10::/64        VIPs 198.18.0.1 .., fd00:f::1 ..   r1 ======= b0 (sv: answers)
#
# d0 takes everything and keeps nothing, so that what comes behind the router costs
# nothing; the backends' answers come in by r1. Neighbours are permanent. The generator
# (gen.c) owns both ends.

set -u
PATH=$PATH:/usr/sbin:/sbin
BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILT=$BENCH/../../build/bench
FIRST=0			# number of the first flow that no packet has opened yet
BACKENDS=4


die() {
	echo "bench: $*" >&2
	exit 1
}

do_or_die() {
	"$@" || die "$*"
}

# Sets vip: of thousands of them, a process for each would take minutes.
vip() {			# FAMILY NUMBER, from 0
	local n=$(($2 + 1))
	if [ "$1" = 4 ]; then
		vip=198.18.$((n >> 8)).$((n & 255))
	else
		printf -v vip 'fd00:f::%x' "$n"
	fi
}

backend() {		# FAMILY NUMBER, from 0
	if [ "$1" = 4 ]; then
		echo "10.9.0.$(($2 + 11))"
	else
		printf 'fd00:9::%x\n' $(($2 + 11))
	fi
}

# The VIPs are the router's own, which IPVS wants. An address of lo brings a local route of
# its whole prefix; with one that is added by hand the kernel looks up every packet's
# source too, 470 instructions.
#
# Sums of what a driver has checked come in without work, as from a device that checks.
lab_up() {
	local i
	do_or_die modprobe nf_conntrack hashsize=262144
	sysctl -qw net.netfilter.nf_conntrack_max=2000000 net.netfilter.nf_conntrack_checksum=0 \
		net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
		net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
		net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.default.send_redirects=0 \
		net.ipv6.conf.default.accept_dad=0 net.core.netdev_max_backlog=100000 ||
		die "no sysctls"
	ip netns add cl
	ip netns add sv
	ip -batch - <<- END || die "no links"
		link add r0 address 02:00:00:00:00:01 type veth peer name c0 address 02:00:00:00:00:02 netns cl
		link add r1 address 02:00:00:00:01:01 type veth peer name b0 address 02:00:00:00:01:02 netns sv
		link add d0 type dummy
		link set lo up
		link set r0 up
		link set r1 up
		link set d0 up
		addr add 10.0.0.1/24 dev r0
		addr add 10.9.0.1/24 dev d0
		addr add fd00:1::1/64 dev r0 nodad
		addr add fd00:9::1/64 dev d0 nodad
		neigh replace 10.0.0.2 lladdr 02:00:00:00:00:02 dev r0 nud permanent
		neigh replace fd00:1::2 lladdr 02:00:00:00:00:02 dev r0 nud permanent
		route add 10.16.0.0/16 via 10.0.0.2
		route add fd00:10::/64 via fd00:1::2
		addr add 198.18.255.1/16 dev lo
		route add local fd00:f::/64 dev lo
	END
	for ((i = 0; i < BACKENDS; i++)); do
		ip neigh replace "$(backend 4 $i)" lladdr "02:00:00:00:09:0$(printf %x $((i + 11)))" \
			dev d0 nud permanent
		ip neigh replace "$(backend 6 $i)" lladdr "02:00:00:00:09:0$(printf %x $((i + 11)))" \
			dev d0 nud permanent
	done
	ip -n cl link set c0 up
	ip -n sv link set b0 up
}

# A ruleset of one chain, and what makes the kernel track everything.
nft_track() {
	nft -f - <<- END
		table inet t {
			chain f { type filter hook forward priority 0; ct state invalid counter; }
		}
	END
}

nft_backends() {	# FAMILY: the values of a map
	local i out=''
	for ((i = 0; i < BACKENDS; i++)); do
		out+="$i : $(backend "$1" $i), "
	done
	echo "{ ${out%, } }"
}

nft_dnat() {		# FAMILY PROTO
	local ip=ip vip
	[ "$1" = 4 ] || ip=ip6
	vip "$1" 0
	nft -f - <<- END
		table $ip nat {
			chain p {
				type nat hook prerouting priority dstnat;
				$ip daddr $vip $2 dport 80 dnat to jhash $ip saddr . $2 sport mod $BACKENDS map $(nft_backends "$1")
			}
		}
	END
}

# The same, and each flow with a timeout of its own, as weir keeps one: conntrack gives such
# an entry an extension, which is allocated with it.
nft_dnat_timeout() {	# FAMILY PROTO
	local policy='unreplied : 30, replied : 600'
	[ "$2" = udp ] || policy='established : 600'
	nft_dnat "$1" "$2" && nft -f - <<- END
		table inet idle {
			ct timeout long { protocol $2; policy = { $policy }; }
			chain p { type filter hook prerouting priority -150; $2 dport 80 ct state new ct timeout set "long"; }
		}
	END
}

# One look-up in a verdict map, and a chain for each service.
nft_map() {		# FAMILY PROTO SERVICES
	local ip=ip i map vip
	[ "$1" = 4 ] || ip=ip6
	map=$(nft_backends "$1")
	{
		echo "table $ip nat {"
		for ((i = 0; i < $3; i++)); do
			echo "chain s$i { dnat to jhash $ip saddr . $2 sport mod $BACKENDS map $map; }"
		done
		echo "map m { type ${ip/ip/ipv}_addr . inet_proto . inet_service : verdict; elements = {" |
			sed s/ipv_addr/ipv4_addr/
		for ((i = 0; i < $3; i++)); do
			vip "$1" "$i"
			echo "$vip . $2 . 80 : goto s$i,"
		done
		echo "} }"
		echo "chain p { type nat hook prerouting priority dstnat;"
		echo "$ip daddr . meta l4proto . th dport vmap @m; }; }"
	} > /run/nft
	nft -f /run/nft
}

# A client's packet begins it: of an answer, which comes in by r1, the kernel would conclude
# that the backend is there.
nft_flowtable() {	# FAMILY PROTO
	nft_dnat "$1" "$2" && nft -f - <<- END
		table inet ft {
			flowtable f { hook ingress priority 0; devices = { r0, r1, d0 }; }
			chain f { type filter hook forward priority 0; iifname r0 meta l4proto $2 flow add @f; }
		}
	END
}

ipvs() {		# FAMILY PROTO -m|-g SERVICES
	local i j vip backends=() option=-t
	[ "$2" = tcp ] || option=-u
	for ((j = 0; j < BACKENDS; j++)); do
		backends+=("$(backend "$1" "$j")")
	done
	[ "$1" = 4 ] || backends=("${backends[@]/*/[&]}")
	modprobe ip_vs conn_tab_bits=20 && modprobe ip_vs_mh || return
	{
		for ((i = 0; i < $4; i++)); do
			vip "$1" "$i"
			[ "$1" = 4 ] || vip="[$vip]"
			echo "-A $option $vip:80 -s mh -b mh-port"
			for j in "${backends[@]}"; do
				echo "-a $option $vip:80 -r $j:80 $3 -w 1"
			done
		done
	} > /run/ipvs
	ipvsadm -R < /run/ipvs
}

# Sessions for as many flows as conntrack has buckets.
weir_conf() {		# FAMILY nat|direct SERVICES
	local i vip backends
	modprobe weir && sysctl -qw net.weir.max_sessions=262144 net.weir.fast_path=1 || return
	backends=$(for ((i = 0; i < BACKENDS; i++)); do echo "backend $(backend "$1" $((i + ${ELSEWHERE:-0})))"; done)
	{
		echo "hash-key 00112233445566778899aabbccddeeff"
		for ((i = 0; i < $3; i++)); do
			vip "$1" "$i"
			echo "service s$i {"
			echo "forward $2"
			echo "rule $vip tcp 80"
			echo "rule $vip udp 80"
			echo "$backends"
			echo "}"
		done
	} > /run/weir.conf
	weir apply /run/weir.conf > /run/said 2>&1 || { cat /run/said; return 1; }
	# Until running flows have been held against a new configuration, two walks a second
	# apart, each of their packets is.
	sleep 3
}

# Rules of next hops with that many lengths of prefix, and none for anybody here.
weir_prefixes() {	# FAMILY NUMBER
	local i
	modprobe weir || return
	{
		echo "service n {"
		echo "forward direct"
		for ((i = 0; i < $2; i++)); do
			if [ "$1" = 4 ]; then
				echo "rule 203.0.112.0/$((20 + i)) any all"
			else
				echo "rule fd00:77::/$((64 + i)) any all"
			fi
		done
		echo "backend $(backend "$1" 0)"
		echo "}"
	} > /run/weir.conf
	weir apply /run/weir.conf > /run/said 2>&1 || { cat /run/said; return 1; }
}

has_fast_path() {
	[ -e /proc/sys/net/weir/fast_path ]
}

# Case NAME becomes what the router does; kind says to gen what comes of it, services how
# many there are, tracks whether conntrack has to know the flows. Returns 1 if that case
# cannot be.
case_up() {		# NAME FAMILY PROTO
	local name=$1 family=$2 proto=$3
	kind=nat services=1 tracks=1
	case $name in
	floor)
		kind=drop tracks=0
		tc qdisc add dev r0 clsact &&
			tc filter add dev r0 ingress matchall action drop
		;;
	forward) kind=forward tracks=0 ;;
	ct-forward) kind=forward; nft_track ;;
	nft-dnat) nft_dnat "$family" "$proto" ;;
	nft-dnat-timeout) nft_dnat_timeout "$family" "$proto" ;;
	nft-map-*) services=${name##*-}; nft_map "$family" "$proto" "$services" ;;
	nft-flowtable) nft_flowtable "$family" "$proto" ;;
	ipvs-nat) tracks=0; ipvs "$family" "$proto" -m 1 ;;
	ipvs-nat-1000) tracks=0 services=1000; ipvs "$family" "$proto" -m 1000 ;;
	ipvs-nat-ct) nft_track; ipvs "$family" "$proto" -m 1 && sysctl -qw net.ipv4.vs.conntrack=1 ;;
	ipvs-dr) kind=direct tracks=0; ipvs "$family" "$proto" -g 1 ;;
	ipvs-dr-ct)
		kind=direct
		nft_track; ipvs "$family" "$proto" -g 1 && sysctl -qw net.ipv4.vs.conntrack=1
		;;
	weir-nat) weir_conf "$family" nat 1 ;;
	weir-nat-slow)
		modprobe weir
		has_fast_path || { case_down; return 1; }
		weir_conf "$family" nat 1 && sysctl -qw net.weir.fast_path=0
		;;
	weir-forward) kind=forward; ELSEWHERE=100 weir_conf "$family" nat 1 ;;
	weir-forward-untracked)
		kind=forward tracks=0
		ELSEWHERE=100 weir_conf "$family" nat 1 && sysctl -qw net.weir.track_others=0
		;;
	weir-nat-*) services=${name##*-}; weir_conf "$family" nat "$services" ;;
	weir-direct) kind=direct tracks=0; weir_conf "$family" direct 1 ;;
	weir-direct-*)
		kind=direct tracks=0 services=${name##*-}
		weir_conf "$family" direct "$services"
		;;
	empty-hook) kind=forward tracks=0; insmod "$BUILT/empty/$(uname -r)/empty.ko" ;;
	weir-other-*) kind=forward tracks=0; weir_conf "$family" direct "${name##*-}" ;;
	weir-prefix-*) kind=forward tracks=0; weir_prefixes "$family" "${name##*-}" ;;
	*) die "no case $name" ;;
	esac || die "case $name cannot be set up"
}

case_down() {
	tc qdisc del dev r0 clsact 2> /dev/null
	nft flush ruleset
	[ ! -d /sys/module/ip_vs ] || ipvsadm -C
	conntrack -F > /dev/null 2>&1
	for module in ip_vs_mh ip_vs weir empty; do
		[ ! -d /sys/module/$module ] || do_or_die rmmod "$module"
	done
}

# Prints a row for each measurement.
gen() {			# NAME FAMILY PROTO [OPTION=VALUE...]
	local name=$1 family=$2 proto=$3 out line tcp=0
	shift 3
	[ "$proto" = udp ] || tcp=1
	out=$("$BUILT/gen" "family=$family" "tcp=$tcp" "kind=$kind" "services=$services" \
		"first=$FIRST" "$@") || die "$name, IPv$family, $proto, $*: see above"
	while read -r line; do
		case $line in
		next=*) FIRST=${line#next=} ;;
		*) echo "row case=$name family=$family proto=$proto services=$services $line" ;;
		esac
	done <<< "$out"
}

# Was it conntrack, where it was to be, and nowhere else?
tracked() {		# NAME
	local n
	n=$(conntrack -C 2> /dev/null || echo 0)
	[ $((n > 0)) = "$tracks" ] || die "$1: conntrack has $n entries"
}
