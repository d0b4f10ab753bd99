#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is counted is what was on the wire: packets and bytes of each backend, both ways, and
# every packet that is not forwarded, once, under its reason.
#
#   cli ==== lb ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

counter() {		# NAME WORD: of a backend
	wjson "[b['counters']['$2'] for s in J['services'] if s['name'] == '$WEB'
		for b in s['backends'] if b['addr'] == '$(addr "$1")'][0]" stats "$WEB"
}

total() {		# WORD: of the service itself
	wjson "[s['counters']['$1'] for s in J['services'] if s['name'] == '$WEB'][0]" stats "$WEB"
}

sums() {
	local name
	conf < /dev/null
	web
	lab mark > /dev/null
	is "traffic of both kinds is served" "$(answers "$(lab call tcp cli "$VIP" 80 n=30 \
		ask=3000)") $(answers "$(lab call udp cli "$VIP" 53 n=30 size=900)")" "30 30"
	lab raw cli tcp "$CLI" "$VIP" n=5 sport=1 dport=80 flags=A > /dev/null
	lab await 5 'tcp and sport == 1' > /dev/null
	settle
	for name in "${BACKENDS[@]}"; do
		is "$name: packets in = packets that arrived there" "$(counter "$name" packets-in)" \
			"$(lab count "(tcp or udp) and src == CLI" "$name")"
		is "$name: bytes in" "$(counter "$name" bytes-in)" \
			"$(lab size "(tcp or udp) and src == CLI" "$name")"
		is "$name: packets out = those that its clients got" \
			"$(counter "$name" packets-out)" "$(answered_by "$name" count)"
		is "$name: bytes out" "$(counter "$name" bytes-out)" "$(answered_by "$name" size)"
		is "$name: selections = flows that began there" "$(counter "$name" selections)" \
			"$(lab distinct "(tcp or udp) and src == CLI" "(proto, sport)" "$name")"
	done
	is "the service counts the sum: packets" "$(total packets-in) $(total packets-out)" \
		"$(lab count "(tcp or udp) and src == CLI") $(lab count \
		"(tcp or udp) and src == VIP" cli)"
	is "the service counts the sum: bytes" "$(total bytes-in) $(total bytes-out)" \
		"$(lab size "(tcp or udp) and src == CLI") $(lab size \
		"(tcp or udp) and src == VIP" cli)"
}

# Packets at cli of the flows that NAME serves.
answered_by() {		# NAME count|size
	local flows
	flows=$(lab values "(tcp or udp) and src == CLI" "(proto, sport)" "$1")
	lab "$2" "(tcp or udp) and src == VIP and (proto, dport) in $flows" cli
}

# A removed backend's packets are not lost from the service's counters.
after_removal() {
	local before
	before=$(total packets-in)
	weir backend del "$WEB" "$B1"
	weir backend del "$WEB" "$B2"
	is "the service keeps what removed backends did" "$(total packets-in)" "$before"
}

no_forward() {
	local owner port
	web
	drops_mark
	lab raw cli udp "$CLI" "$VIP" n=2 dport=99 > /dev/null
	drops_are "no-rule" "no-rule=2"
	drops_mark
	lab raw cli tcp "$CLI" "$VIP" n=2 dport=80 bad=1 > /dev/null
	drops_are "invalid: a wrong checksum" "invalid=2"
	drops_mark
	lab raw cli tcp "$CLI" "$VIP" n=2 sport=77 dport=80 flags=R > /dev/null
	drops_are "invalid: a reset of no connection" "invalid=2"
	drops_mark
	in_ns lb nft "add table inet r; add chain inet r p { type filter hook prerouting priority raw; }; add rule inet r p udp sport 4444 notrack"
	lab raw cli udp "$CLI" "$VIP" times=3 sport=4444 dport=53 > /dev/null
	in_ns lb nft delete table inet r
	drops_are "untracked" "untracked=3"
	drops_mark
	lab raw b1 tcp "$B1" "$CLI" times=2 sport=80 dport=5 flags=A > /dev/null
	drops_are "late-answer: mid-stream from a service port" "late-answer=2"
	drops_mark
	lab raw cli toobig "$CLI" "$VIP" n=2 ikind=udp "isrc=$VIP" "idst=$CLI" isport=53 \
		idport=6 > /dev/null
	drops_are "icmp-unknown" "icmp-unknown=2"
	drops_mark
	owner=$(lab open "e$F" udp cli "$VIP" 53 | cut -d= -f1)
	port=$(lab ends "e$F" | cut -d' ' -f2)
	weir backend del "$WEB" "$(addr "$owner")"
	lab raw "$owner" udp "$(addr "$owner")" "$CLI" sport=53 "dport=$port" > /dev/null
	# the first while the entry is there, the second once the sweeper has taken it
	like "ended, or late-answer: from a removed backend" \
		"$(busywait 5000 late_once)" "@(ended|late-answer)=1"
	lab close "e$F" > /dev/null
	drops_mark
	conf <<< "$(printf 'service %s {\nrule %s any all\n}\n' "$WEB" "$VIP")"
	lab raw cli udp "$CLI" "$VIP" n=4 sport=8 dport=8 > /dev/null
	drops_are "no-eligible-backend" "no-eligible-backend=4"
	web_any
	drops_mark
	lab raw cli ah "$CLI" "$VIP" n=2 dport=53 > /dev/null
	drops_are "ah" "ah=2"
}

late_once() {
	local words
	words=$(drops)
	echo "$words"
	[ "$words" != none ]
}

web_any() {
	conf <<- END
		service $WEB {
		    rule $VIP any all
		    backend $B1
		    backend $B2
		}
	END
}

# Two VIPs, one backend, a protocol without ports: the second flow cannot be told apart.
clash() {
	conf <<- END
		service $WEB {
		    rule $VIP gre all
		    rule $VIP2 gre all
		    backend $B1
		}
	END
	drops_mark
	lab mark > /dev/null
	lab raw cli gre "$CLI" "$VIP" data=first > /dev/null
	lab raw cli gre "$CLI" "$VIP2" data=second > /dev/null
	is "a clash: the first flow is served" "$(lab await 1 gre)" 1
	drops_are "a clash: the second is counted" tuple-clash=1
	is "a clash: and not passed on" "$(lab count gre)" 1
}

conntrack_counter() {	# NAME: of the kernel's own, as the tool shows it
	wjson "sum(r['packets'] for r in J['reasons'] if r['name'] == '$1' and r['kernel'])" stats
}

# The table is full: conntrack has no entry for a flow that is selected anew, or for one whose
# old entry has been swept. The first is counted by weir, both by conntrack.
full() {
	local owner max before lost
	web
	owner=$(lab open "f$F" udp cli "$VIP" 53 n=12 | cut -d= -f1)
	lab req "f$F" > /dev/null
	max=$(sysctl -n net.netfilter.nf_conntrack_max)
	drops_mark
	before=$(conntrack_counter conntrack-drop)
	sysctl -qw net.netfilter.nf_conntrack_max=1
	weir backend del "$WEB" "$(addr "$owner")"
	lost=$(val timeout "$(lab req "f$F" timeout=2)")
	sysctl -qw "net.netfilter.nf_conntrack_max=$max"
	between "a full table: flows of the removed backend find no place" "$lost" 1 12
	between "a full table: conntrack's own counter is shown, and knows all of them" \
		"$(($(conntrack_counter conntrack-drop) - before))" "$lost" 24
	like "a full table: weir counts no other drop" "$(drops)" "@(none|conntrack=+([0-9]))"
	lab close "f$F" > /dev/null
}

# The same for flows that leave an unhealthy backend: their entries are there until then, so that
# it is for weir to ask for new ones.
refused_anew() {
	local owner max lost
	web
	owner=$(lab open "g$F" udp cli "$VIP" 53 n=12 | cut -d= -f1)
	lab req "g$F" > /dev/null
	max=$(sysctl -n net.netfilter.nf_conntrack_max)
	drops_mark
	sysctl -qw net.netfilter.nf_conntrack_max=1
	weir backend set "$WEB" "$(addr "$owner")" health down
	lost=$(val timeout "$(lab req "g$F" timeout=2)")
	sysctl -qw "net.netfilter.nf_conntrack_max=$max"
	between "a full table: flows that leave their backend find no place" "$lost" 1 12
	drops_are "a full table: each is counted" "conntrack=$lost"
	lab close "g$F" > /dev/null
}

named() {
	is "every reason has a name and a text" "$(wjson "all(r['name'] and r['text']
		for r in J['reasons'])" stats)" true
}

counters() {
	sums
	after_removal
	no_forward
	clash
	full
	refused_anew
	named
}

lab_up 3 tcp:80 udp:53
for_families counters
finish
