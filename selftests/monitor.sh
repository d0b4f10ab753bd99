#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Changes are heard as they happen: each object that changed, and the generation.
#
#   lb, weir monitor and weir -j monitor
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

listen() {		# FILE [-j]
	command weir ${2:+"$2"} -n "$lb" monitor > "$TMP/$1" 2>&1 &
	PIDS+=($!)
	echo $! > "$TMP/$1.pid"
}

# A listener has joined once it prints what happens.
heard() {		# FILE: something
	weir service set probe idle-timeout $((60 + RANDOM % 500))
	[ -s "$TMP/$1" ]
}

line() {		# FILE PATTERN: it has such a line
	grep -qE -- "$2" "$TMP/$1"
}

event() {		# NAME PATTERN COMMAND...: both listeners hear of it
	local name=$1 pattern=$2
	shift 2
	weir "$@" || bail "weir $* fails"
	check "$name" busywait 5000 line text "$pattern"
}

objects() {
	event "a new service" "\+ service $WEB" service add "$WEB"
	event "a new rule" "\+ rule $WEB .*$VIP.* tcp 80" rule add "$WEB" "$VIP" tcp 80
	event "a new group" "\+ group $WEB east" group add "$WEB" east
	event "a new backend" "\+ backend $WEB .*$B1" backend add "$WEB" "$B1" group east
	event "a changed backend" "~ backend $WEB .*$B1.*down" \
		backend set "$WEB" "$B1" health down
	event "a changed service" "~ service $WEB" service set "$WEB" affinity client-ip
	event "a removed backend" "- backend $WEB .*$B1" backend del "$WEB" "$B1"
	event "a removed rule" "- rule $WEB .*$VIP" rule del "$WEB" "$VIP" tcp 80
	event "a removed service" "- service $WEB" service del "$WEB"
	in_ns lb sysctl -qw "net.weir.hash_key=$(printf '%032x' $((RANDOM + 1)))"
	check "another hash key" busywait 5000 line text \
		"generation $(generation): published"
}

# A whole file is one generation, whatever it changes.
transaction() {
	local last
	cat > "$TMP/file" <<- END
		service one$F {
		    rule $VIP tcp 80
		    backend $B1
		}
		service two$F {
		    rule $VIP udp 53
		    backend $B1
		}
		service probe {
		}
	END
	weir apply "$TMP/file" > /dev/null
	last=$(generation)
	check "a file: its services are heard of" busywait 5000 \
		line text "^generation $last: \+ service two$F"
	is "a file: as one generation" \
		"$(grep -E "(one|two)$F" "$TMP/text" | cut -d: -f1 | sort -u)" "generation $last"
	weir apply "$TMP/file" > /dev/null
	weir service set probe idle-timeout 333
	busywait 5000 line text "^generation $((last + 1)): ~ service probe" > /dev/null
	is "the same file again is no event" \
		"$(tail -n 1 "$TMP/text" | cut -d: -f1)" "generation $((last + 1))"
	weir apply --dry-run - < /dev/null > /dev/null
	refused "what is refused is no event" "*" weir backend add "one$F" "$B1"
	weir service del "one$F"
	weir service del "two$F"
}

machine_readable() {
	local pid
	pid=$(< "$TMP/json.pid")
	kill "$pid"
	busywait 10000 gone "$pid" > /dev/null
	is "-j prints one JSON object a line" "$("$PYTHON" - "$TMP/json" <<- 'END'
		import json, sys
		events = [json.loads(line) for line in open(sys.argv[1]) if line.strip() not in "[],"]
		print(len(events) > 10, all("generation" in event for event in events))
	END
	)" "True True"
}

monitor() {
	objects
	transaction
}

lab_up 1 tcp:80
weir service add probe
listen text
listen json -j
check "the listener has joined" busywait 20000 heard text
check "the other one too" busywait 20000 heard json
for_families monitor
machine_readable
finish
