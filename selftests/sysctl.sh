#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# net.weir.*, for each network namespace: the key of the hash, the log of drops, and limits.
#
#   cli ==== lb ==== b1 b2 b3
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

KEY=00112233445566778899aabbccddeeff

get() {
	in_ns lb sysctl -n "net.weir.$1"
}

set_to() {		# NAME VALUE
	in_ns lb sysctl -qw "net.weir.$1=$2" 2> /dev/null
}

digest() {
	wjson "J[0]['digest']" show "$WEB"
}

hash_key() {
	local before flows value
	web
	is "the key's mode" "$(in_ns lb stat -c %a /proc/sys/net/weir/hash_key)" 600
	like "a random key is there from the beginning" "$(get hash_key)" \
		"+([0-9a-f])"
	set_to hash_key "8899aabbccddeeff00112233445566$((RANDOM % 90 + 10))"
	flows=$(lab open "k$F" udp cli "$VIP" 53 n=24)
	before=$(digest)
	check "a key can be set" set_to hash_key "$KEY"
	is "and read" "$(get hash_key)" "$KEY"
	is "save prints it" "$(weir save | grep hash-key)" "hash-key $KEY"
	isnt "tables are built anew" "$(digest)" "$before"
	is "tracked flows stay where they are" "$(lab req "k$F")" "$flows"
	lab close "k$F" > /dev/null
	before=$(digest)
	for value in "" 0 0011 "${KEY}00" "${KEY%f}g" "zz${KEY#00}" "$KEY $KEY" "0x$KEY"; do
		if set_to hash_key "$value"; then
			fail "the key \"$value\" is refused"
		else
			is "the key \"$value\" is refused and changes nothing" "$(get hash_key)" "$KEY"
		fi
	done
	is "nor the tables" "$(digest)" "$before"
	check "upper case is the same key" set_to hash_key "${KEY^^}"
	is "written as the tool writes it" "$(get hash_key)" "$KEY"
	is "the same key again gives the same tables" "$(digest)" "$before"
	set_to hash_key 8899aabbccddeeff0011223344556677
	isnt "both halves count" "$(digest)" "$before"
	set_to hash_key "$KEY"
	is "and back" "$(digest)" "$before"
}

log_drops() {
	local lines
	web
	is "log_drops is off by default" "$(get log_drops)" 0
	lab raw cli udp "$CLI" "$VIP" n=3 dport=99 > /dev/null
	lines=$(logged)
	check "it can be turned on" set_to log_drops 1
	check "drops are logged then, with reason and addresses" busywait 15000 logs_more_than "$lines"
	like "the line names both ends" "$(kernel_log | grep no-rule | tail -n 1)" \
		"*weir*no-rule*$CLI*$VIP*"
	lines=$(logged)
	drops_mark
	lab raw cli udp "$CLI" "$VIP" n=500 dport=99 > /dev/null
	drops_are "a flood is counted" no-rule=500
	between "but not logged one by one: the log is rate-limited" \
		"$(($(logged) - lines))" 0 50
	check "bad values are refused" not set_to log_drops 2
	check "bad values are refused: -1" not set_to log_drops -1
	check "bad values are refused: words" not set_to log_drops on
	set_to log_drops 0
	lines=$(logged)
	drops_mark
	lab raw cli udp "$CLI" "$VIP" n=3 dport=99 > /dev/null
	drops_are "off again: drops are counted" no-rule=3
	is "and not logged" "$(logged)" "$lines"
}

logged() {
	kernel_log | grep -c no-rule
}

# The limit of the log's rate is one for the machine: a flood just before may have used it up.
logs_more_than() {
	lab raw cli udp "$CLI" "$VIP" dport=99 > /dev/null
	[ "$(logged)" -gt "$1" ]
}

not() {
	! "$@"
}

fast_path() {
	is "fast_path is on by default" "$(get fast_path)" 1
	check "it can be turned off" set_to fast_path 0
	is "and reads as that" "$(get fast_path)" 0
	check "bad values are refused: 2" not set_to fast_path 2
	check "bad values are refused: -1" not set_to fast_path -1
	is "and change nothing" "$(get fast_path)" 0
	check "and on again" set_to fast_path 1
}

track_others() {
	is "track_others is on by default" "$(get track_others)" 1
	check "it can be turned off" set_to track_others 0
	is "and reads as that" "$(get track_others)" 0
	check "bad values are refused: 2" not set_to track_others 2
	check "bad values are refused: -1" not set_to track_others -1
	is "and change nothing" "$(get track_others)" 0
	check "and on again" set_to track_others 1
}

settings() {
	hash_key
	log_drops
	fast_path
	track_others
}

unset WEIR_FAST
lab_up 3 tcp:80 udp:53
for_families settings
finish
