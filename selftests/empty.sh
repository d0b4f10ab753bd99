#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# No backend may be chosen: the packet is dropped, or refused like a closed port; never passed
# on as it is. All unhealthy is another thing: the last resort is all of them (semantics 2.2).
# The operator's word on health beats everything.
#
#   cli ==== lb ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

drop() {
	conf <<- END
		service $WEB {
		    rule $VIP tcp 80
		    rule $VIP udp 53
		}
	END
	drops_mark
	lab mark > /dev/null
	lab raw cli tcp "$MANY+10" "$VIP" n=10 dport=80 > /dev/null
	lab raw cli udp "$MANY+10" "$VIP" n=10 dport=53 > /dev/null
	drops_are "no backend: new flows are dropped and counted" no-eligible-backend=20
	is "the client hears nothing" "$(lab count "(dst != CLI or src == VIP)
		and not (icmp6 and type in (133, 134, 135, 136, 143))" cli)" 0
}

reject() {
	weir service set "$WEB" when-empty reject
	lab mark > /dev/null
	drops_mark
	is "when-empty reject: TCP is refused" "$(lab call tcp cli "$VIP" 80)" refused=1
	is "by a reset from the VIP" "$(lab count 'tcp and rst and src == VIP' cli)" 1
	is "UDP is refused" "$(lab call udp cli "$VIP" 53)" refused=1
	is "by a port unreachable about its datagram" "$(lab count \
		"(icmp and type == 3 and code == 3 or icmp6 and type == 1 and code == 4)
		and inner['dst'] == VIP and inner['dport'] == 53" cli)" 1
	drops_are "both are counted as not forwarded" no-eligible-backend=2
	lab raw cli tcp "$CLI" "$VIP" dport=80 flags=R sport=5 > /dev/null
	is "a reset is answered by nothing" "$(lab count 'tcp and dport == 5' cli)" 0
	weir backend add "$WEB" "$B1"
	is "with a backend it is served" "$(lab call tcp cli "$VIP" 80 n=3)" b1=3
	weir backend del "$WEB" "$B1"
	is "without it is refused again" "$(lab call tcp cli "$VIP" 80)" refused=1
}

health() {
	local words
	web
	weir backend set "$WEB" "$B1" health down
	words=$(lab call tcp cli "$VIP" 80 n=30)
	is "a backend that the operator calls down gets no new flows ($words)" \
		"$(val b1 "$words") $(answers "$words")" "0 30"
	weir backend set "$WEB" "$B1" health auto
	words=$(lab call tcp cli "$VIP" 80 n=60)
	is "back to auto it is healthy, without a health-check ($words)" \
		"$(($(val b1 "$words") > 0))" 1

	weir backend set "$WEB" group default health down
	drops_mark
	words=$(lab call tcp cli "$VIP" 80 n=60)
	is "with all down the last resort is all of them ($words)" "$(answers "$words") \
$(($(val b1 "$words") > 0 && $(val b2 "$words") > 0 && $(val b3 "$words") > 0))" "60 1"
	is "counted as such" "$(wjson "sum(b['counters']['last-resort'] for s in J['services']
		for b in s['backends'])" stats "$WEB")" 60
	drops_are "and nothing is dropped" none
	is "show says so" "$(wjson "J[0]['eligible'], J[0]['n-healthy'], J[0]['n-eligible']" \
		show "$WEB")" '["last-resort", 0, 3]'
	weir backend set "$WEB" "$B2" health up
	is "one that the operator calls up gets everything" \
		"$(lab call tcp cli "$VIP" 80 n=30)" b2=30
}

# A service with a health-check starts with backends down until somebody reports.
checked() {
	conf < /dev/null
	web "health-check tcp"
	is "new backends of a checked service are down" \
		"$(wjson "J[0]['n-healthy'], J[0]['n-eligible']" show "$WEB")" "[0, 3]"
	is "and serve as last resort" "$(answers "$(lab call tcp cli "$VIP" 80 n=10)")" 10
	weir backend set "$WEB" "$B3" health up
	is "the operator's up is enough" "$(lab call tcp cli "$VIP" 80 n=10)" b3=10
}

empty() {
	drop
	reject
	health
	checked
}

lab_up 3 tcp:80 udp:53
for_families empty
finish
