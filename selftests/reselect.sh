#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A backend, rule or service is removed while flows use it. What may stay is decided at the
# next packet: a TCP segment goes to another backend, whose reset reaches the client from the
# VIP, a datagram is simply served by another. Others are left alone, and what the removed
# backend still sends never reaches the client.
#
#   cli ==== lb ==== b1 b2 b3 (ports 80 and 53)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

tcp_moves() {
	local words owner number others
	web
	drops_mark
	lab mark > /dev/null
	words=$(lab open "t$F" tcp cli "$VIP" 80 n=24)
	is "24 connections are up ($words)" "$(answers "$words")" 24
	owner=${words%%=*} number=$(val "${words%%=*}" "$words")
	others=$(strip "$owner" "$words")
	lab mark > /dev/null
	weir backend del "$WEB" "$(addr "$owner")"
	is "only those of the removed backend end, by a reset" \
		"$(lab req "t$F")" "$others reset=$number"
	is "the resets came from the VIP" "$(lab count 'tcp and rst' cli) $(lab count \
		'tcp and rst and not (src == VIP and sport == 80)' cli)" "$number 0"
	is "their segments went to other backends" "$(lab distinct \
		"tcp and payload and not syn and ns != '$owner'" sport)" 24
	is "nothing more reached the removed one" "$(lab count tcp "$owner")" 0
	is "new connections do without it" \
		"$(val "$owner" "$(lab call tcp cli "$VIP" 80 n=24)")" 0
	lab close "t$F" > /dev/null
	drops_are "no packet was dropped" none
}

strip() {		# NAME WORDS: WORDS without that of NAME
	local word out=()
	for word in $2; do
		[ "${word%%=*}" = "$1" ] || out+=("$word")
	done
	echo "${out[*]}"
}

udp_moves() {
	local words owner number
	web
	words=$(lab open "u$F" udp cli "$VIP" 53 n=24)
	is "24 UDP flows are up ($words)" "$(answers "$words")" 24
	owner=${words%%=*} number=$(val "${words%%=*}" "$words")
	lab mark > /dev/null
	weir backend del "$WEB" "$(addr "$owner")"
	words=$(lab req "u$F")
	is "the next datagram of each is answered ($words)" "$(answers "$words")" 24
	is "not by the removed backend" "$(val "$owner" "$words")" 0
	is "nothing more reached it" "$(lab count udp "$owner")" 0
	is "flows of the others did not move" \
		"$(($(lab count udp) - number))" "$((24 - number))"
	lab close "u$F" > /dev/null
}

# What a removed backend sends late: before the flow's next packet, and after.
late_answers() {
	local owner seq ack port uport
	web
	drops_mark
	owner=$(lab open "l$F" tcp cli "$VIP" 80 | cut -d= -f1)
	read -r seq ack port <<< "$(lab last "tcp and sport == 80" cli \
		"seq + len(payload)" ackno dport)"
	lab open "k$F" udp cli "$VIP" 53 n=24 > /dev/null
	uport=$(lab ends "k$F" "only=$owner" | cut -d' ' -f2)
	weir backend del "$WEB" "$(addr "$owner")"
	lab mark > /dev/null
	late "$owner" tcp 80 "$port" flags=PA "seq=$seq" "ack=$ack"
	late "$owner" udp 53 "$uport"
	late_drops "late answers are dropped" 2
	late "$owner" tcp 80 "$port" flags=PA "seq=$seq" "ack=$ack"
	late "$owner" udp 53 "$uport"
	late_drops "and again" 4
	is "the client's next segment is answered by a reset" "$(lab req "l$F")" reset=1
	is "its next datagram by another backend" \
		"$(val "$owner" "$(lab req "k$F" "only=$owner")")" 0
	late "$owner" tcp 80 "$port" flags=PA "seq=$seq" "ack=$ack"
	late "$owner" tcp 80 "$port" flags=SA "seq=$seq" "ack=$ack"
	late "$owner" tcp 80 "$port" flags=RA "seq=$seq" "ack=$ack"
	late "$owner" udp 53 "$uport"
	late_drops "after the move they are dropped too" 8
	is "the client saw none of them" \
		"$(lab count "payload == b'late' or tcp and src != VIP" cli)" 0
	lab close "l$F" > /dev/null
	lab close "k$F" > /dev/null
}

# Echo replies have no ports to tell them by; the backend's own pings must pass all the same.
late_echo() {
	local owner
	conf <<- END
		service $WEB {
		    rule $VIP icmp all
		    backend $B1
		    backend $B2
		}
	END
	lab mark > /dev/null
	lab raw cli echo "$CLI" "$VIP" ident=31 data=ping > /dev/null
	is "a ping is answered" "$(lab await 1 "type in (0, 129) and src == VIP" cli)" 1
	owner=$(lab tally "type in (8, 128)" | cut -d= -f1)
	weir backend del "$WEB" "$(addr "$owner")"
	lab mark > /dev/null
	drops_mark
	lab raw "$owner" reply "$(addr "$owner")" "$CLI" ident=31 data=late > /dev/null
	lab raw "$owner" reply "$(addr "$owner")" "$CLI" ident=31 data=late > /dev/null
	late_drops "late echo replies of a removed backend are dropped" 2
	is "the client saw none" "$(lab count "payload == b'late'" cli)" 0
	lab raw "$owner" echo "$(addr "$owner")" "$CLI" ident=32 data=mine > /dev/null
	is "its own ping passes, and the answer" "$(lab await 1 \
		"type in (0, 129) and payload == b'mine'" "$owner")" 1
}

# With `now`, or without a drain-timeout, nothing waits; flush does the same without removing.
flush() {
	local owner
	web
	settle
	weir flush > /dev/null
	owner=$(lab open "f$F" tcp cli "$VIP" 80 | cut -d= -f1)
	lab open "g$F" udp cli "$VIP" 53 > /dev/null
	is "flows lists both" "$(wjson "len(J)" flows "$WEB")" 2
	weir flush "$WEB" > /dev/null
	is "flush leaves none" "$(wjson "len(J)" flows "$WEB")" 0
	is "a flushed connection is picked up again, by the same table" \
		"$(lab req "f$F")" "$owner=1"
	is "so is a UDP flow" "$(answers "$(lab req "g$F")")" 1
	lab close "f$F" > /dev/null
	lab close "g$F" > /dev/null
}

rule_goes() {
	web
	settle
	weir flush > /dev/null
	lab open "t$F" tcp cli "$VIP" 80 n=3 > /dev/null
	lab open "u$F" udp cli "$VIP" 53 n=3 > /dev/null
	drops_mark
	weir rule del "$WEB" "$VIP" udp 53
	is "with the rule its flows go" "$(wjson "[f['proto'] for f in J]" flows "$WEB")" \
		'["tcp", "tcp", "tcp"]'
	lab mark > /dev/null
	is "a datagram for it is not answered" "$(lab req "u$F" timeout=1)" timeout=3
	drops_are "but dropped: no rule has the port" no-rule=3
	is "no backend saw it" "$(lab count udp)" 0
	is "flows of other rules stay" "$(answers "$(lab req "t$F")")" 3

	weir service del "$WEB"
	is "with the service all flows go" "$(wjson "len(J)" flows)" 0
	lab mark > /dev/null
	lab send "t$F" "anybody?" > /dev/null
	settle
	is "nothing reaches a backend any more" "$(lab count tcp)" 0
	lab close "t$F" how=rst > /dev/null
	lab close "u$F" > /dev/null
}

reselect() {
	tcp_moves
	udp_moves
	late_answers
	late_echo
	flush
	rule_goes
}

lab_up 3 tcp:80 udp:53
LEAK_OK="payload == b'mine'"
for_families reselect
finish
