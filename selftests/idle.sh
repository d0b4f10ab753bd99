#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How long an idle flow lives: the service's idle-timeout, in conntrack's own table too, closed
# connections included; half-open ones and unanswered first datagrams take the kernel's time if
# that is shorter (decision 13). A changed idle-timeout holds from the next packet on (19).
#
#   cli ==== lb ==== b1
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

left() {		# KIND SPORT: seconds that conntrack gives the entry
	local kind number seconds rest
	# shellcheck disable=SC2034 # names for the columns
	read -r kind number seconds rest < <(in_ns lb conntrack -L -f "ipv$F" -p "$1" \
		--orig-port-src "$2" 2> /dev/null)
	echo "${seconds:-none}"
}

shown() {		# SPORT: seconds that the tool gives the flow
	wjson "[f['expires'] for f in J if f.get('sport') == $1][0]" flows "$WEB"
}

# The two agree, and little of WANT is over. Half of it tells it from all other times here.
lives() {		# NAME KIND SPORT WANT
	local kernel tool
	tool=$(shown "$3") kernel=$(left "$2" "$3")
	between "$1: conntrack" "$kernel" $(($4 / 2)) "$4"
	between "$1: the tool agrees" "$tool" $(($4 / 2)) "$4"
}

service() {		# SECONDS
	conf <<- END
		service $WEB {
		    idle-timeout $1
		    rule $VIP tcp 80,81
		    rule $VIP udp 53
		    rule $VIP gre all
		    backend $B1
		}
	END
}

udp() {			# IDLE FIRST
	lab raw cli udp "$CLI" "$VIP" sport="5$1" dport=53 data=quiet > /dev/null
	lives "idle-timeout $1: first datagram, unanswered" udp "5$1" "$2"
	lab raw cli udp "$CLI" "$VIP" sport="5$1" dport=53 data=quiet > /dev/null
	lives "idle-timeout $1: second datagram, still unanswered" udp "5$1" "$1"
	lab open "u$F" udp cli "$VIP" 53 sport="6$1" > /dev/null
	lives "idle-timeout $1: answered datagram" udp "6$1" "$1"
	lab req "u$F" > /dev/null
	lives "idle-timeout $1: answered again" udp "6$1" "$1"
	lab close "u$F" > /dev/null
}

tcp() {			# IDLE HALF-OPEN
	lab raw cli tcp "$CLI" "$VIP" sport="7$1" dport=81 > /dev/null
	lives "idle-timeout $1: SYN without an answer" tcp "7$1" "$2"
	lab open "t$F" tcp cli "$VIP" 80 sport="8$1" > /dev/null
	lab req "t$F" > /dev/null
	lives "idle-timeout $1: established" tcp "8$1" "$1"
	lab close "t$F" > /dev/null
	is "idle-timeout $1: the connection closes in both directions" \
		"$(busywait 5000 prints time-wait state "8$1")" time-wait
	lives "idle-timeout $1: closed" tcp "8$1" "$1"
	lab open "r$F" tcp cli "$VIP" 80 sport="9$1" > /dev/null
	lab close "r$F" how=rst > /dev/null
	is "idle-timeout $1: another is reset" \
		"$(busywait 5000 prints close state "9$1")" close
	lives "idle-timeout $1: reset" tcp "9$1" "$1"
}

# GRE has no ports; conntrack keeps its timeouts in the entry.
gre() {			# IDLE FIRST
	weir flush > /dev/null
	lab raw cli gre "$CLI" "$VIP" data=there > /dev/null
	between "idle-timeout $1: first GRE packet" "$(gre_left)" $(($2 / 2)) "$2"
	lab raw cli gre "$CLI" "$VIP" data=there > /dev/null
	between "idle-timeout $1: second GRE packet" "$(gre_left)" $(($1 / 2)) "$1"
	lab raw b1 gre "$B1" "$CLI" data=back > /dev/null
	lab raw cli gre "$CLI" "$VIP" data=there > /dev/null
	between "idle-timeout $1: answered GRE" "$(gre_left)" $(($1 / 2)) "$1"
	between "idle-timeout $1: and its session" "$(gre_left session)" $(($1 / 2)) "$1"
}

gre_left() {		# [flow|session]
	wjson "[f['expires'] for f in J if f['kind'] == '${1:-flow}' and f['proto'] == 'gre'][0]" \
		flows "$WEB"
}

state() {		# SPORT: TCP state that the tool shows
	wjson "[f['tcp-state'] for f in J if f.get('sport') == $1][0]" flows "$WEB"
}

changed() {
	lab open "c$F" tcp cli "$VIP" 80 sport=4100 > /dev/null
	lives "before the change" tcp 4100 600
	weir service set "$WEB" idle-timeout 60
	lab req "c$F" > /dev/null
	lives "a changed idle-timeout holds from the next packet" tcp 4100 60
	is "the flow stays where it is" "$(lab req "c$F")" b1=1
	lab close "c$F" > /dev/null
}

# Conntrack ignores a SYN in an open connection; it is activity all the same (decision 16). A
# backend that says nothing leaves the clock alone.
ignored() {
	local start left
	in_ns b1 nft "add table inet still; add chain inet still in { type filter hook input priority 0; }; add rule inet still in meta l4proto tcp drop"
	lab raw cli tcp "$CLI" "$VIP" sport=7100 dport=80 flags=PA data=quiet > /dev/null
	nap 4
	start=$EPOCHSECONDS
	lab raw cli tcp "$CLI" "$VIP" sport=7100 dport=80 flags=S > /dev/null
	left=$(shown 7100)
	# three less if it did not
	between "a SYN in an open connection prolongs it" "$left" \
		$((59 - (EPOCHSECONDS - start))) 60
	is "and changes nothing else" "$(state 7100)" established
	in_ns b1 nft delete table inet still
}

limits() {
	refused "59 seconds are too few" "*60*" weir service set "$WEB" idle-timeout 59
	refused "601 are too many for per-connection" "*600*" \
		weir service set "$WEB" idle-timeout 601
}

idle() {
	# what the kernel gives an unanswered datagram and a SYN
	local first syn
	first=$(in_ns lb sysctl -n net.netfilter.nf_conntrack_udp_timeout)
	syn=$(in_ns lb sysctl -n net.netfilter.nf_conntrack_tcp_timeout_syn_sent)
	service 600
	udp 600 "$first"
	tcp 600 "$syn"
	gre 600 "$(in_ns lb sysctl -n net.netfilter.nf_conntrack_gre_timeout)"
	changed
	ignored
	limits
	weir flush > /dev/null
	service 80
	udp 80 "$first"
	tcp 80 80
}

lab_up 1 tcp:80 udp:53
# Port 81 is silent: its flows stay half-open.
in_ns b1 nft "add table inet mute; add chain inet mute in { type filter hook input priority 0; }; add rule inet mute in tcp dport 81 drop"
use 4
service 600	# brings conntrack, whose settings the test reads
for_families idle
finish
