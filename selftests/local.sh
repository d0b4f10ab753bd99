#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The router uses its own VIPs. If a VIP is an address of the router, its packets leave with
# the VIP as their source; the answer to that would be a martian, so they are source-NATed.
#
#   cli <== default route == lb (client) ==== b1 b2
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

reaches() {		# NAME
	is "$1: TCP" "$(answers "$(lab call tcp lb "$VIP" 80 n=20)")" 20
	is "$1: UDP" "$(answers "$(lab call udp lb "$VIP" 53 n=20)")" 20
	is "$1: both backends have some" "$(lab distinct "tcp and syn or udp" ns)" 2
}

elsewhere() {
	lab mark > /dev/null
	drops_mark
	reaches "the router reaches its VIP"
	is "nothing for the VIP went out by the default route" \
		"$(lab count 'dst == VIP' cli)" 0
	drops_are "nothing was dropped" none
}

removal() {
	local owner
	owner=$(lab open "r$F" tcp lb "$VIP" 80 | cut -d= -f1)
	weir backend del "$WEB" "$(addr "$owner")"
	is "an open connection of the router to a removed backend is reset" \
		"$(lab req "r$F")" reset=1
	is "a new one goes to the other" "$(lab call tcp lb "$VIP" 80)" "$(other "$owner")=1"
	weir backend add "$WEB" "$(addr "$owner")"
}

empty() {
	weir backend set "$WEB" group default health down
	weir service set "$WEB" when-empty reject
	is "with all backends down the last resort answers" \
		"$(answers "$(lab call tcp lb "$VIP" 80 n=4)")" 4
	weir backend del "$WEB" group default now
	is "with none at all the router is refused: TCP" "$(lab call tcp lb "$VIP" 80)" refused=1
	# the kernel says EPERM to the sender of a local datagram that a hook drops
	like "with none at all the router is refused: UDP" "$(lab call udp lb "$VIP" 53)" \
		"@(refused|eperm)=1"
	weir backend add "$WEB" "$B1"
	weir backend add "$WEB" "$B2"
}

on_loopback() {
	ips lb <<< "addr add $VIP/$HOST dev lo"
	lab mark > /dev/null
	drops_mark
	reaches "the VIP on lo: the router reaches it"
	is "the VIP on lo: backends see an address that they can answer" \
		"$(lab count "(tcp or udp) and src != LBB")" 0
	is "the VIP on lo: clients are still balanced" \
		"$(answers "$(lab call tcp cli "$VIP" 80 n=20)")" 20
	is "the VIP on lo: and seen as themselves" \
		"$(lab distinct "tcp and src not in (LBB, CLI)" src)" 0
	drops_are "the VIP on lo: nothing was dropped" none
	ips lb <<< "addr del $VIP/$HOST dev lo"
}

router() {
	web
	elsewhere
	removal
	on_loopback
	empty
}

lab_up 2 tcp:80 udp:53
ips lb <<- END
	route add default via 10.1.0.10
	route add default via fd00:1::10
END
for_families router
finish
