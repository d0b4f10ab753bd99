#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The reference's tables of selection and connection tracking, row by row and column by column:
# tables/tracking.tbl says what must happen, py/tracking_*.py send the packets and judge by what
# arrives at the backends.
#
#   cli: crafted packets of many clients ==== lb ==== farm: captures what each backend gets
#
# timeout: 600
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

# What is refused says the range; what would cut connections is pointed out.
words() {
	weir service add limits
	refused "idle-timeout 59 is refused with the range" "*59*60..57600*" \
		weir service set limits idle-timeout 59
	refused "idle-timeout 601 is refused with what it depends on" \
		"*601*60 to 600*tracking*affinity*" weir service set limits idle-timeout 601
	check "57600 goes with sessions of few fields" weir service set limits \
		tracking per-session affinity client-ip idle-timeout 57600
	refused "57601 is too long for anybody" "*57601*60..57600*" \
		weir service set limits idle-timeout 57601
	weir service del limits
}

# Without tcp_loose, connections that lose their entry cannot go on.
loose() {
	weir service add strict
	weir rule add strict 10.9.9.9 tcp 80
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0
	like "weir check points out tcp_loose=0, with what to type" "$(weir check 2>&1)" \
		"*sysctl -w net.netfilter.nf_conntrack_tcp_loose=1*"
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_loose=1
	case $(weir check 2>&1) in
	*tcp_loose*) fail "and says nothing of it when it is 1" ;;
	*) pass "and says nothing of it when it is 1" ;;
	esac
	weir service del strict
}

wire_up
words
loose
for family in 4 6; do
	crafted tracking_keys $family
	crafted tracking_syn $family
	crafted tracking_life $family
done
crafted tracking_idle
finish
