#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each network namespace is a load balancer of its own; one that goes away under traffic takes
# its flows along and leaves nothing behind.
#
#              ,== eth0 lb  eth1 ==.
#   cli =====<                      >== sw ==== b1 b2
#              `== eth0 lb2 eth1 ==´
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

service() {		# BACKEND
	cat <<- END
		service $WEB {
		    rule $VIP tcp 80
		    rule $VIP udp 53
		    backend $1
		}
	END
}

apart() {
	local key
	service "$B1" | conf
	is "another namespace starts empty" "$(on lb2 -j show)" "[]"
	service "$B2" > "$TMP/two"
	on lb2 apply "$TMP/two" > /dev/null
	via lb
	is "through lb: the configuration of lb" "$(lab call tcp cli "$VIP" 80 n=4)" b1=4
	is "a datagram too" "$(lab open "u$F" udp cli "$VIP" 53 n=4)" b1=4
	is "lb has the flows" "$(wjson "len(J)" flows)" 8
	is "lb2 has none" "$(on lb2 -j flows)" "[]"
	via lb2
	is "through lb2: that of lb2" "$(lab call tcp cli "$VIP" 80 n=4)" b2=4
	key=$(in_ns lb sysctl -n net.weir.hash_key)
	isnt "keys are random, one for each" "$(in_ns lb2 sysctl -n net.weir.hash_key)" "$key"
	on lb2 service del "$WEB"
	is "a change in lb2 is none in lb" "$(wjson "len(J)" show)" 1
	is "and its flows stay" "$(wjson "len(J)" flows)" 8
	via lb
	is "they work" "$(lab req "u$F")" b1=4
	lab close "u$F" > /dev/null
	conf < /dev/null
}

# One namespace with both families under load is deleted; the other one works on.
deleted() {
	local words
	use 4
	service "$B1" > "$TMP/both"
	service "$B2" > "$TMP/two"
	use 6
	service "$B1" >> "$TMP/both"
	service "$B2" >> "$TMP/two"
	conf < "$TMP/both"
	on lb2 apply "$TMP/two" > /dev/null
	via lb
	use 4
	via lb2
	load_up t4 cli tcp "$VIP" 80 conns=8 every=0.05
	load_up u4 cli udp "$VIP" 53 conns=8 every=0.05
	use 6
	load_up t6 cli tcp "$VIP" 80 conns=8 every=0.05
	load_more t4 ok 40
	load_more u4 ok 40
	drop_ns lb2
	check "a namespace with flows under load goes" \
		busywait 60000 no_link eth1
	load_more t6 ok 40
	load_down t4 > /dev/null
	load_down u4 > /dev/null
	words=$(load_down t6)
	is "lb serves on meanwhile ($words)" "$(val lost "$words") $(val moved "$words")" "0 0"
	F='' FAMILY=''
	check "the module can go after that" rmmod weir
	check "and come back" modprobe weir
}

no_link() {		# NAME: cli has no such interface any more
	! ip -n "$cli" link show "$1" > /dev/null 2>&1
}

lab_up 2 tcp:80 udp:53
second_router
# b2 belongs to lb2, answers included
ips b2 <<- END
	route replace default via 10.2.0.2
	route replace default via fd00:2::2
END
ips lb2 <<- END
	route add 10.1.0.10 via 10.1.1.10
	route add fd00:1::10 via fd00:1:0:1::10
END
for_families apart
deleted
finish
