#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Shows what weir does, with real web servers, in a virtual machine of its own:
#
#	selftests/vm/run selftests/demo/demo.sh
#
#   client             router, weir           web servers (nginx), UDP echo
#   10.1.0.10 ======== VIP 10.9.9.9 ========= b1 b2 b3, later b4: 10.2.0.11 .. 14
#
# Exits with 1 if anything that it shows is not what it should be.
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh"

REQUESTS=120
DOWNLOADS=18
SIZE=240000 RATE=32k	# a download takes over seven seconds
WRONG=()

tap_begins() { :; }
bail() {
	echo "The demo cannot go on: $*" >&2
	FINISHED=1
	exit 1
}

title() {
	printf '\n%s\n' "--- $*"
}

say() {
	printf '    %s\n' "$*"
}

type_it() {		# WORD...: shows a command on the router and runs it
	printf '    router# weir %s\n' "$*"
	weir "$@" > "$TMP/said" || WRONG+=("weir $* failed")
	sed 's/^/    /' "$TMP/said"
}

expect() {		# WHAT COMMAND...: notes WHAT as wrong if the command fails
	local what=$1
	shift
	if "$@"; then
		say "  as it should: $what"
	else
		say "  WRONG: not so: $what"
		WRONG+=("$what")
	fi
}

web_server() {		# NAME
	local dir=$TMP/$1
	mkdir -p "$dir/www"
	head -c "$SIZE" /dev/zero > "$dir/www/big"
	cat > "$dir/conf" <<- END
		user root;
		worker_processes 1;
		pid $dir/pid;
		error_log stderr;
		events { }
		http {
		    access_log off;
		    server {
		        listen 80;
		        listen [::]:80;
		        add_header X-Backend $1 always;
		        location / { return 200 "$1\n"; }
		        location /big { root $dir/www; limit_rate $RATE; }
		    }
		}
	END
	in_ns "$1" nginx -p "$dir" -c "$dir/conf" -g "daemon off;" 2> "$dir/log" &
	PIDS+=($!)
}

serving() {		# NAME: its web server answers on its own address
	in_ns cli curl -s -m 2 -o /dev/null "http://$(addr "$1")/" || in_ns cli curl -s -m 2 \
		-o /dev/null "http://10.2.0.1${1#b}/"
}

requests() {		# NUMBER [HOST]: who answers, "b1=40 b2=41 ..."; each has its own connection
	in_ns cli curl -s -m 30 -H "Connection: close" "http://${2:-$VIP}/?[1-$1]" |
		sort | uniq -c | while read -r number name; do
			printf '%s=%s ' "$name" "$number"
		done
}

bars() {		# WORDS
	local word number
	for word in $1; do
		number=${word#*=}
		say "  ${word%%=*}  $(printf '%4d' "$number")  $(printf '%*s' \
			$((number / 2)) '' | tr ' ' '#')"
	done
}

shares_are_fair() {	# WORDS LOW HIGH NAME...
	local words=$1 low=$2 high=$3 name
	shift 3
	for name; do
		[ "$(val "$name" "$words")" -ge "$low" ] || return 1
		[ "$(val "$name" "$words")" -le "$high" ] || return 1
	done
}

begin() {
	lab_up 4 udp:53
	use 4
	for name in b1 b2 b3 b4; do
		web_server "$name"
	done
	for name in b1 b2 b3 b4; do
		busywait 30000 serving "$name" > /dev/null || bail "nginx in $name: $(< "$TMP/$name/log")"
	done
	say "client 10.1.0.10 === router === b1 10.2.0.11, b2 10.2.0.12, b3 10.2.0.13 (b4 10.2.0.14)"
	say "each a network namespace of its own; all run nginx on port 80, an echo on UDP 53"
	say "$(uname -sr); no nft or iptables rule is loaded: $(in_ns lb nft list ruleset | wc -l) lines"
}

configure() {
	title "1. A service: one virtual address, three web servers"
	cat > "$TMP/config" <<- END
		service web {
		    rule 10.9.9.9 tcp 80
		    rule 10.9.9.9 udp 53
		    backend 10.2.0.11
		    backend 10.2.0.12
		    backend 10.2.0.13
		}
		service web6 {
		    rule fd00:9::9 tcp 80
		    backend fd00:2::11
		    backend fd00:2::12
		    backend fd00:2::13
		}
	END
	sed 's/^/    | /' "$TMP/config"
	type_it apply "$TMP/config"
}

# Even shares of 120 are 40; 4 sigma of it are 21.
balance() {
	local words
	title "2. $REQUESTS connections from one client, by curl to http://$VIP/"
	words=$(requests "$REQUESTS")
	bars "$words"
	expect "every request was answered" [ "$(answers "$words")" = "$REQUESTS" ]
	expect "each server has its share, within 4 sigma" shares_are_fair "$words" 19 61 b1 b2 b3
	words=$(lab call udp cli "$VIP" 53 n="$REQUESTS")
	say "and $REQUESTS UDP datagrams:"
	bars "$words"
	expect "every datagram was answered" [ "$(answers "$words")" = "$REQUESTS" ]
	words=$(requests 30 "[fd00:9::9]" 2> /dev/null)
	say "IPv6: 30 requests to http://[fd00:9::9]/: $words"
	expect "all of them were answered" [ "$(answers "$words")" = 30 ]
}

# One line per download: server, curl's exit code, bytes.
start_downloads() {
	local i list=()
	for ((i = 0; i < DOWNLOADS; i++)); do
		list+=(-o /dev/null "http://$VIP/big?$i")
	done
	in_ns cli curl -Z --no-progress-meter --parallel-immediate --parallel-max 50 \
		--speed-limit 1 --speed-time 5 \
		-w '%header{x-backend} %{exitcode} %{size_download}\n' \
		"${list[@]}" > "$TMP/downloads" 2> /dev/null &
	DOWNLOADING=$!
	PIDS+=($!)
	busywait 20000 at_least "$DOWNLOADS" established > /dev/null
}

established() {
	wjson "sum(f.get('tcp-state') == 'established' for f in J)" flows web
}

remove() {
	local words b2 other broken
	title "3. $DOWNLOADS slow downloads and a UDP load are running; b2 is removed"
	load_up udp cli udp "$VIP" 53 conns=8 every=0.25
	start_downloads
	b2=$(wjson "sum(f['proto'] == 'tcp' and f['backend'] == '$B2'
		and f.get('tcp-state') == 'established' for f in J)" flows web)
	say "$(established) downloads are open, $b2 of them on b2"
	type_it backend del web "$B2"
	words=$(requests 60)
	say "60 new connections at once:"
	bars "$words"
	expect "all are answered, by b1 and b3 alone" \
		[ "$(answers "$words") $(val b2 "$words")" = "60 0" ]
	wait "$DOWNLOADING"
	other=$(grep -c "^b[13] 0 $SIZE\$" "$TMP/downloads")
	broken=$(grep -cv "^b[13] 0 $SIZE\$" "$TMP/downloads")
	say "downloads: $other of b1 and b3 complete, $broken cut off"
	expect "downloads from b1 and b3 went on to their last byte" \
		[ "$other" = $((DOWNLOADS - b2)) ]
	# 56: reset by the VIP; 28: curl itself gave up, five seconds after the last byte
	expect "those from b2 ended with it" \
		[ "$(grep -cE '^b2 (56|28) ' "$TMP/downloads")" = "$b2" ]
	SAVED=$other CUT=$broken
}

add() {
	local words
	title "4. b4 is added, connections are open"
	start_downloads
	type_it backend add web "$B4"
	words=$(requests "$REQUESTS")
	say "$REQUESTS new connections:"
	bars "$words"
	expect "all are answered, each of b1, b3, b4 has its share" \
		shares_are_fair "$words" 19 61 b1 b3 b4
	wait "$DOWNLOADING"
	expect "open downloads stay where they are and finish, all $DOWNLOADS" \
		[ "$(grep -c "^b[13] 0 $SIZE\$" "$TMP/downloads")" = "$DOWNLOADS" ]
	words=$(load_down udp)
	say "the UDP load over all that: $(val ok "$words") of $(val sent "$words") answered"
	expect "its datagrams were answered, at most what was under way to b2 is lost" \
		[ "$(val lost "$words")" -le 8 ]
	UDP_OK=$(val ok "$words") UDP_LOST=$(val lost "$words")
}

sum_up() {
	title "What happened"
	type_it show web
	drops=$(drops_now)
	say ""
	say "packets not forwarded, by reason: ${drops:-none}"
	expect "the client never saw a packet from a server's own address" \
		[ "$(lab count "src and src.startswith('10.2.') and not ($LEAK_OK)" cli)" = 0 ]
	expect "no server saw a packet to the virtual address" [ "$(lab count 'dst == VIP')" = 0 ]
	expect "the kernel log is clean" [ -z "$(kernel_complaints)" ]
	say ""
	say "$((2 * REQUESTS + 60)) web requests and $((REQUESTS + UDP_OK)) datagrams were answered"
	say "(datagrams lost on the way to the removed server: $UDP_LOST);"
	say "$((SAVED + DOWNLOADS)) downloads came through two changes of servers, $CUT ended with theirs."
}

begin
lab mark > /dev/null
configure
balance
remove
add
sum_up
FINISHED=1
if [ ${#WRONG[@]} -gt 0 ]; then
	printf '\nNOT as it should be:\n'
	printf '    %s\n' "${WRONG[@]}"
	exit 1
fi
printf '\nAll of it is as it should be. Took %s seconds.\n' "$SECONDS"
