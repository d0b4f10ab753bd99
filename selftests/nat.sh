#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Translation with no ruleset loaded: addresses and ports, both ways, for every protocol that a
# rule may name, checksums right at the receivers.
#
#   cli ==== lb ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

INNER='tcp or udp or sctp or gre or esp or ah or icmp and type in (0, 8)
	or icmp6 and type in (128, 129)'

sound() {		# NAME: every packet that arrived has right checksums
	local words
	words=$(lab count "($INNER) and not sum_ok" cli "${BACKENDS[@]}")
	is "$1: checksums are right at all receivers" "$words" 0
}

kept_ports() {
	web
	lab mark > /dev/null
	is "no ruleset is loaded" "$(in_ns lb nft list ruleset)" ""
	answers_all "TCP is answered" 60 tcp 80
	answers_all "UDP is answered" 60 udp 53
	is "the client sees the VIP and the port it asked" \
		"$(lab count "($INNER) and not (src == VIP and sport in (80, 53))" cli)" 0
	is "backends see the client, and the port kept" \
		"$(lab count "($INNER) and not (src == CLI and dport == (80 if tcp else 53))")" 0
	is "every backend had some" "$(lab distinct 'tcp and syn' ns)" 3
	sound "ports kept"
}

answers_all() {		# NAME NUMBER KIND PORT: so many exchanges succeed
	local words
	words=$(lab call "$3" cli "$VIP" "$4" n="$2")
	is "$1 ($words)" "$(answers "$words")" "$2"
}

other_ports() {
	conf <<- END
		service $WEB {
		    rule $VIP tcp 80
		    rule $VIP udp 53
		    backend $B1 port 8080
		    backend $B2 port 8080
		    backend $B3 port 8080
		}
	END
	lab mark > /dev/null
	answers_all "TCP to a backend's own port is answered" 30 tcp 80
	answers_all "UDP too" 30 udp 53
	is "backends see their port" \
		"$(lab count "(tcp or udp) and dport != 8080") of $(($(lab count tcp) > 90))" "0 of 1"
	is "the client sees the port that it asked" \
		"$(lab count "($INNER) and not (src == VIP and sport in (80, 53))" cli)" 0
	sound "ports translated"
}

# One service takes everything that has an address.
any_protocol() {
	conf <<- END
		service $WEB {
		    rule $VIP any all
		    backend $B1
		    backend $B2
		}
	END
	lab mark > /dev/null
	drops_mark
	answers_all "any: TCP" 10 tcp 80
	answers_all "any: TCP to another port" 10 tcp 8080
	answers_all "any: UDP" 10 udp 53
	lab raw cli echo "$CLI" "$VIP" ident=77 data=ping > /dev/null
	is "any: an echo request is answered by a backend, from the VIP" "$(lab await 1 \
		"src == VIP and type in (0, 129) and payload == b'ping' and rest >> 16 == 77" cli)" 1
	portless gre
	portless esp
	lab raw cli ah "$CLI" "$VIP" n=3 dport=53 data=quiet > /dev/null
	drops_are "any: AH is dropped and counted, for translation breaks it" "ah=3"
	is "any: no backend saw it, or what is in it" \
		"$(lab count "ah or udp and payload == b'quiet'")" 0
	sound "any"
}

portless() {		# gre|esp
	local owner
	lab mark > /dev/null
	lab raw cli "$1" "$MANY+20" "$VIP" n=40 data=there > /dev/null
	is "any: $1 reaches the backends" "$(lab await 40 "$1 and dst in (B1, B2)")" 40
	is "any: $1 of one client is at one backend" "$(lab owners "$1" src)" "keys=20 split=0"
	is "any: both have some" "$(lab distinct "$1" ns)" 2
	lab mark > /dev/null
	lab raw cli "$1" "$CLI" "$VIP" data=there > /dev/null
	lab await 1 "$1" > /dev/null
	owner=$(lab tally "$1" | cut -d= -f1)
	lab raw "$owner" "$1" "$(addr "$owner")" "$CLI" data=back > /dev/null
	is "any: $1 comes back from the VIP" "$(lab await 1 "$1 and src == VIP" cli)" 1
}

# Rules for single protocols, and what stays outside.
one_protocol() {
	local kind
	for kind in gre esp icmp; do
		conf <<- END
			service $WEB {
			    rule $VIP $kind all
			    backend $B1
			}
		END
		lab mark > /dev/null
		drops_mark
		if [ "$kind" = icmp ]; then
			lab raw cli echo "$CLI" "$VIP" > /dev/null
			is "a rule for $kind takes it" "$(lab await 1 "type in (8, 128)")" 1
		else
			lab raw cli "$kind" "$CLI" "$VIP" data=alone > /dev/null
			is "a rule for $kind takes it" "$(lab await 1 "$kind")" 1
		fi
		lab raw cli udp "$CLI" "$VIP" dport=53 data=quiet > /dev/null
		drops_are "and nothing else" no-rule=1
	done
	refused "AH needs direct forwarding, and the refusal says so" "*direct*" \
		weir rule add "$WEB" "$VIP" ah all
}

nat() {
	kept_ports
	other_ports
	any_protocol
	one_protocol
}

lab_up 3 tcp:80 tcp:8080 udp:53 udp:8080
for name in cli b1 b2 b3; do
	lab wire_sums "$name" eth0 > /dev/null
done
for_families nat
finish
