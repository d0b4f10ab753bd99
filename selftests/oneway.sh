#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A UDP stream that nobody answers, while backends come and go. It never pauses, so waiting for
# an entry to expire would wait for ever: what may stay is decided at each packet.
#
#   cli, one socket, 20 datagrams a second ==== lb ==== b1 (b2)
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

STREAM="udp and dport == 8125"

service() {		# BACKEND...
	{
		echo "service $WEB {"
		echo "rule $VIP udp 8125"
		printf 'backend %s\n' "$@"
		echo "}"
	} | conf
}

accounts() {		# SENT: each datagram is at a backend, or in the drop counters
	local seen lost
	seen=$(lab count "$STREAM" b1 b2)
	lost=$(val no-eligible-backend "$(drops)")
	is "datagrams sent = at the backends ($seen) + no-eligible-backend ($lost)" \
		"$((seen + lost))" "$1"
}

removal() {
	local before
	service "$B1"
	drops_mark
	lab mark > /dev/null
	load_up stream cli oneway "$VIP" 8125 every=0.02
	load_more stream sent 40
	is "the stream reaches b1" "$(lab await 40 "$STREAM" b1 > "$TMP/out"; lab tally "$STREAM" | cut -d= -f1)" b1

	weir backend del "$WEB" "$B1"
	before=$(lab count "$STREAM")
	load_more stream sent 60
	is "after the removal nothing reaches b1" "$(lab count "$STREAM")" "$before"
	between "the datagrams are dropped: no-eligible-backend" \
		"$(val no-eligible-backend "$(drops)")" 40 9999
	like "and for no other reason" "$(drops)" "no-eligible-backend=*([0-9])"

	weir backend add "$WEB" "$B2"
	before=$(val no-eligible-backend "$(drops)")
	load_more stream sent 40
	between "from the next datagram on they reach b2" "$(lab count "$STREAM" b2)" 38 9999
	is "none was dropped any more" "$(val no-eligible-backend "$(drops)")" "$before"
	accounts "$(val sent "$(load_down stream)")"
}

unhealthy() {
	local owner other before
	service "$B1" "$B2"
	drops_mark
	lab mark > /dev/null
	load_up stream cli oneway "$VIP" 8125 every=0.02
	load_more stream sent 20
	owner=$(lab tally "$STREAM" | cut -d= -f1)
	other=$(other "$owner")
	is "the stream reaches one of two" "$(lab owners "$STREAM" src)" "keys=1 split=0"

	weir backend set "$WEB" "$(addr "$owner")" health down
	before=$(lab count "$STREAM" "$owner")
	load_more stream sent 20
	is "once it is unhealthy nothing reaches it" "$(lab count "$STREAM" "$owner")" "$before"
	between "the other has the stream" "$(lab count "$STREAM" "$other")" 18 9999

	weir backend set "$WEB" "$(addr "$owner")" health up
	before=$(lab count "$STREAM" "$owner")
	load_more stream sent 20
	is "healthy again: the flow stays where it is" "$(lab count "$STREAM" "$owner")" "$before"
	accounts "$(val sent "$(load_down stream)")"
	drops_are "nothing was dropped" none
}

lab_up 2 udp:8125
for_families removal
for_families unhealthy
finish
