#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A client that uses its source port again at once. Conntrack still holds the closed entry; a
# SYN opens it anew (RFC 9293 3.6.1, RFC 6191) and selection runs for that very segment: the
# first SYN reaches a backend that may be chosen now. Dropping it would cost a second.
#
#   cli:20000, again and again ==== lb ==== b1 b2
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

ROUNDS=200
PORT=20000
STRAIGHT=19999
# shellcheck disable=SC2034 # common_checks evaluates it
LEAK_OK="tcp and dport == $STRAIGHT"

# Without TIME-WAIT in the client itself, its stack would refuse to use the port.
prepare() {
	one_cpu
	in_ns cli sysctl -qw net.ipv4.tcp_max_tw_buckets=0
}

repeated() {		# SYNs that the client has sent more than once
	lab stack cli TcpExt TCPSynRetrans
}

# The stack of Linux 7.2 itself passes over a SYN now and then that comes this early, without
# anybody in between: 20 of 200. Then there is no telling from the client's SYNs.
straight() {
	local words before
	before=$(repeated)
	words=$(lab cycle cli "$B1" 80 "$STRAIGHT" n="$ROUNDS")
	PATIENT=$(($(repeated) - before))
	note "straight to b1: $words, $PATIENT SYNs repeated"
}

reuse() {
	local words owner other before
	straight
	web
	lab mark > /dev/null
	before=$(repeated)
	words=$(lab cycle cli "$VIP" 80 "$PORT" n="$ROUNDS")
	is "$ROUNDS connections from one port succeed" \
		"$(answers "$words")" "$ROUNDS"
	prompt "none waited for a retransmission" "$before" "$words"
	is "each SYN that was sent has reached a backend" \
		"$(lab count 'tcp and syn and not ack')" $((ROUNDS + $(repeated) - before))

	owner=${words%%=*}
	other=$(other "$owner")
	drops_mark
	moves "after its backend was removed" "$other" \
		weir backend del "$WEB" "$(addr "$owner")" now
	weir backend add "$WEB" "$(addr "$owner")"
	is "with the backend back, the port leads there again" \
		"$(val "$owner" "$(lab cycle cli "$VIP" 80 "$PORT")")" 1
	moves "after its backend became unhealthy" "$other" \
		weir backend set "$WEB" "$(addr "$owner")" health down
	drops_are "nothing was dropped" none
}

# Who waits sends his SYN again. How long it took says less: a busy machine is slow, too.
prompt() {		# NAME BEFORE WORDS: no SYN has been repeated since there were so many
	if [ "$PATIENT" = 0 ]; then
		is "$1 ($3)" "$(($(repeated) - $2))" 0
	else
		note "not judged: $1 ($3)"
	fi
}

moves() {		# NAME BACKEND COMMAND...: the very next SYN reaches BACKEND
	local name=$1 other=$2 words before
	shift 2
	"$@"
	lab mark > /dev/null
	before=$(repeated)
	words=$(lab cycle cli "$VIP" 80 "$PORT")
	is "$name, the next connection goes to the other" "$(val "$other" "$words")" 1
	prompt "$name, it did not wait" "$before" "$words"
	like "$name, the first SYN reached the other" \
		"$(lab tally 'tcp and syn and not ack')" "$other=$([ "$PATIENT" = 0 ] && echo 1 || echo '[1-9]')"
}

lab_up 2 tcp:80 udp:53
prepare
for_families reuse
finish
