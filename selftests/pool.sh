# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the tests of failover: a service with four primaries and two failover members, and looks
# at where new flows go. Sourced after lib.sh.
#
#   cli ==== lb ==== b1 b2 b3 b4 (group main), b5 b6 (group spare, failover)

LOOK=40		# new flows of each kind in one look
# No two looks share a tuple, for what an earlier one left in the tables would decide. Below the
# ports that the kernel takes for others.
PORT=2000

pool() {		# [LINE...]: the service, with these options, and no other
	{
		echo "service $WEB {"
		echo "rule $VIP tcp 80"
		echo "rule $VIP udp 53"
		printf '%s\n' "$@"
		echo "group main"
		echo "group spare failover"
		printf 'backend %s group main\n' "$B1" "$B2" "$B3" "$B4"
		printf 'backend %s group spare\n' "$B5" "$B6"
		echo "}"
	} | conf
}

health() {		# up|down|auto NAME...: the operator's word
	local word=$1 name
	shift
	for name; do
		weir backend set "$WEB" "$(addr "$name")" health "$word"
	done
}

# Of six backends one is missed by all of 80 flows once in 300 000 looks.
reach() {		# NAME BACKEND...: new flows are served by all of these and by no other
	local name=$1 words at
	shift
	lab mark > /dev/null
	words="$(lab call tcp cli "$VIP" 80 "n=$LOOK" "sport=$PORT") $(lab call udp cli "$VIP" \
		53 "n=$LOOK" "sport=$PORT")"
	PORT=$((PORT + LOOK))
	at=$(lab values "src == CLI and (tcp and syn or udp and dport == 53)" ns | tr -d "[]',")
	is "$name: new flows go to $* ($words)" "$(answers "$words") $at" "$((2 * LOOK)) $*"
}
