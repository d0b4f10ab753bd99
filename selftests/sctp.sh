#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# SCTP on one path: selection and tracking use addresses and protocol only (semantics 1.3), so
# a client that starts again from the same ports, or from others, finds the same backend. An
# INIT restarts an association (RFC 9260 5.2); its verification tag is 0 (8.5.1).
#
#   cli:36412 ==== lb ==== b1 b2, each listening at its own address only (one path)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

PORT=36412
RTO=$((3000 * ${WEIR_PATIENCE:-1}))	# initial, in ms; the kernel's own is 3000
INIT='sctp and chunk == 1'

server() {		# b1|b2
	local at=$VIP
	is_direct || at=$(addr "$1")
	servers_up "$1$F" "$1" -- "sctp:$PORT@$at"
	servers_ready "$1$F"
}

associate() {		# NAME WANT
	local words
	words=$(lab open "s$F" sctp cli "$VIP" "$PORT" "src=$CLI" "sport=$PORT" timeout=10)
	is "$1" "$words" "$2"
}

# Nothing of SCTP leaves the namespace meanwhile, so that the other side hears no end.
silently() {		# NAME COMMAND...
	local place=$1
	shift
	in_ns "$place" nft "add table inet mute; add chain inet mute out { type filter hook output priority 0; }; add rule inet mute out meta l4proto sctp drop"
	"$@"
	in_ns "$place" nft delete table inet mute
}

kill_server() {		# NAME
	local pid
	pid=$(< "$TMP/servers.$1$F.pid")
	kill -USR1 "$pid"	# it aborts: see crash() of server.py
	busywait 10000 gone "$pid" > /dev/null || fail "the server does not end"
}

restart() {
	local owner words
	lab mark > /dev/null
	words=$(lab open "s$F" sctp cli "$VIP" "$PORT" "src=$CLI" "sport=$PORT")
	owner=${words%%=*}
	like "an association comes up" "$words" "b[12]=1"
	is "and carries data" "$(lab req "s$F") $(lab req "s$F")" "$owner=1 $owner=1"

	silently "$owner" kill_server "$owner"
	silently cli lab close "s$F" how=rst > /dev/null
	server "$owner"
	lab mark > /dev/null
	words=$(lab call sctp cli "$VIP" "$PORT" "src=$CLI" "sport=$PORT" ms=1)
	is "after a restart without SHUTDOWN, INIT on the same ports reaches the same backend" \
		"$(val "$owner" "$words")" 1
	between "within an initial RTO ($words)" "$(val max_ms "$words")" 0 $((RTO - 1))
	is "one INIT was enough" "$(lab tally "$INIT")" "$owner=1"

	associate "after an orderly SHUTDOWN the same ports work at once" "$owner=1"
	is "and carry data" "$(lab req "s$F")" "$owner=1"
	lab close "s$F" > /dev/null
	is_direct || server_side "$owner"
	is "other source ports of the client are at the same backend" \
		"$(lab call sctp cli "$VIP" "$PORT" n=10 "src=$CLI")" "$owner=10"
}

server_side() {		# BACKEND
	lab mark > /dev/null
	lab raw "$1" init "$(addr "$1")" "$CLI" "sport=$PORT" "dport=$PORT" > /dev/null
	is "an INIT of the server's side leaves with the VIP as its source" \
		"$(lab await 1 "$INIT and src == VIP and sport == $PORT" cli)" 1
}

many_clients() {
	local words
	lab mark > /dev/null
	words=$(lab call sctp cli "$VIP" "$PORT" n=60 "src=$MANY+20" sport=7000 window=8)
	is "60 associations of 20 clients come up ($words)" \
		"$(answers "$words")" 60
	is "each client has one backend" "$(lab owners "$INIT" src)" "keys=20 split=0"
	between "both backends have clients" "$(lab distinct "$INIT" ns)" 2 2
}

associations() {
	conf <<- END
		service $WEB {
		    rule $VIP sctp $PORT
		    backend $B1
		    backend $B2
		}
	END
	server b1
	server b2
	drops_mark
	restart
	many_clients
	is "every CRC32c is right" \
		"$(lab count "sctp and not sum_ok") of $((0 < $(lab count sctp)))" "0 of 1"
	drops_are "nothing was dropped" none
}

modprobe sctp || skip_all "the kernel has no SCTP"
lab_up 2 tcp:80
for name in cli b1 b2; do
	lab wire_sums "$name" eth0 > /dev/null
done
in_ns cli sysctl -qw "net.sctp.rto_initial=$RTO"
for_families associations
finish
