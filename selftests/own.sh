#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Connections that a backend opens itself pass as if weir were absent, from its service port and
# under a rule for everything too: NTP and DNS clients use their service port (decision 21).
# Without a flow, TCP from a service port is dropped only if it can open none.
#
#   cli (servers: TCP 8080, UDP 123, 53, 5000) ==== lb ==== b1 b2 (clients)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

untouched() {		# NAME EXPR: cli saw it as it was sent, and so did the answer's receiver
	is "$1: the client side sees the backend's own address" \
		"$(($(lab count "($2) and src == B1" cli) > 0)) $(lab count \
		"($2) and src != B1" cli)" "1 0"
}

service_ports() {
	conf <<- END
		service $WEB {
		    rule $VIP udp 123,53
		    rule $VIP tcp 8443
		    backend $B1
		    backend $B2
		}
	END
	drops_mark
	lab mark > /dev/null
	is "NTP client on the service port" "$(lab call udp b1 "$CLI" 123 sport=123)" cli=1
	untouched NTP 'udp and sport == 123'
	is "DNS client on the service port" "$(lab call udp b1 "$CLI" 53 sport=53)" cli=1
	untouched DNS 'udp and sport == 53'
	is "TCP client on a service port" "$(lab call tcp b1 "$CLI" 8080 sport=8443)" cli=1
	untouched TCP 'tcp and sport == 8443'
	is "TCP client on any port" "$(lab call tcp b1 "$CLI" 8080 n=5)" cli=5
	is "answers came from whom was asked" \
		"$(lab count "(tcp or udp) and src not in (CLI,)" b1)" 0
	drops_are "nothing was dropped" none
	is "none of them is a flow of weir" "$(wjson "len(J)" flows)" 0

	lab raw b1 tcp "$B1" "$CLI" sport=8443 dport=9 flags=A seq=9 ack=9 > /dev/null
	lab raw b1 tcp "$B1" "$CLI" sport=8443 dport=9 flags=SA seq=9 ack=9 > /dev/null
	drops_are "segments from a service port that open nothing are dropped" late-answer=2
	lab raw b1 tcp "$B1" "$CLI" sport=8444 dport=9 flags=A seq=9 ack=9 > /dev/null
	is "those from another port are not" \
		"$(lab await 1 'tcp and sport == 8444' cli)" 1
}

# One flow's late answer is dropped, the backend's own datagrams from the same port are not.
after_a_flow() {
	local owner port
	owner=$(lab open "o$F" udp cli "$VIP" 53 | cut -d= -f1)
	port=$(lab ends "o$F" | cut -d' ' -f2)
	weir backend del "$WEB" "$(addr "$owner")"
	weir backend add "$WEB" "$(addr "$owner")"
	lab mark > /dev/null
	drops_mark
	lab raw "$owner" udp "$(addr "$owner")" "$CLI" sport=53 "dport=$port" data=late > /dev/null
	is "its own datagram from the service port passes" \
		"$(lab raw "$owner" udp "$(addr "$owner")" "$CLI" sport=53 dport=5000 data=quiet
		lab await 1 "udp and payload == b'quiet'" cli)" "1
1"
	is "the late answer of an ended flow does not" \
		"$(lab count "udp and payload == b'late'" cli)" 0
	like "it is counted" "$(drops)" "@(ended|late-answer)=1"
	lab close "o$F" > /dev/null
}

everything() {
	conf <<- END
		service $WEB {
		    rule $VIP any all
		    backend $B1
		    backend $B2
		}
	END
	drops_mark
	lab mark > /dev/null
	is "rule for everything: TCP of a backend passes" \
		"$(lab call tcp b1 "$CLI" 8080 n=5)" cli=5
	is "rule for everything: UDP" "$(lab call udp b1 "$CLI" 5000 n=5)" cli=5
	is "rule for everything: NTP" "$(lab call udp b1 "$CLI" 123 sport=123)" cli=1
	lab raw b1 echo "$B1" "$CLI" ident=5 data=ping > /dev/null
	is "rule for everything: ping, and its answer" "$(lab await 1 \
		"src == CLI and type in (0, 129) and payload == b'ping'" b1)" 1
	untouched everything "udp or tcp or type in (8, 128)"
	is "rule for everything: nothing is a flow of weir" "$(wjson "len(J)" flows)" 0
	drops_are "rule for everything: nothing was dropped" none
	is "rule for everything: clients are balanced meanwhile" \
		"$(answers "$(lab call tcp cli "$VIP" 80 n=20)")" 20
}

own() {
	service_ports
	after_a_flow
	everything
}

# b1 and b2 do not listen where they are clients: a listener would own the port.
lab_up 2 udp:53 tcp:80
servers_up own cli -- tcp:8080 udp:123 udp:53 udp:5000
servers_ready own
# What backends send on their own account is for the client to see.
LEAK_OK='sport in (123, 8443, 8444) or sport == 53 and payload == b"quiet" or dport in (8080, 53,
	5000, 123) or type in (8, 128)'
for_families own
finish
