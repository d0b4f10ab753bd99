#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A flood of SYNs from addresses that exist nowhere fills conntrack's table. Connections that
# are there never break, every lost SYN is counted once, new connections work again as soon as
# there is room, at once with the sweeper, and nothing is left behind; the module can be unloaded
# in the middle of it.
#
#   cli: 40 connections, a new one each second, ==== lb (room for 1000 flows) ==== b1 b2 b3
#        and SYNs from 172.16.0.0/12, fd00:f::/64
#
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

CONNS=40
MAX=1000		# of conntrack
RATE=350 LENGTH=8	# SYNs per second, seconds: nearly three times as many as there is room

# The kernel has one maximum for all namespaces.
conntrack_max() {
	sysctl -qw net.netfilter.nf_conntrack_max="$1"
}

# Half-open flows die soon, so that a test can see it.
prepare() {
	local name
	flood_routes
	web	# brings conntrack, whose settings follow
	BEFORE=$(sysctl -n net.netfilter.nf_conntrack_max)
	conntrack_max "$MAX"
	trap 'status=$?; conntrack_max "$BEFORE"; (exit $status); cleanup' EXIT
	in_ns lb sysctl -qw net.netfilter.nf_conntrack_tcp_timeout_syn_sent=8 \
		net.netfilter.nf_conntrack_tcp_timeout_syn_recv=8
	for name in "${BACKENDS[@]}"; do
		in_ns "$name" sysctl -qw net.ipv4.tcp_synack_retries=0
	done
}

mute() {		# add|delete: the backends do not answer the flood any more
	local name
	for name in "${BACKENDS[@]}"; do
		case $1 in
		add) in_ns "$name" nft "add table inet mute; add chain inet mute in { type filter hook input priority 0; }; add rule inet mute in ip saddr 172.16.0.0/12 drop; add rule inet mute in ip6 saddr fd00:f::/64 drop" ;;
		delete) in_ns "$name" nft delete table inet mute ;;
		esac
	done
}

flood_up() {		# [SECONDS]
	: > "$TMP/flood"
	"$PYTHON" "$HERE/py/flood.py" "$cli" "$lb" tcp "$F" "$VIP" 80 "$RATE" "${1:-$LENGTH}" \
		> "$TMP/flood" 2>&1 &
	PIDS+=($!)
	FLOOD=$!
}

kernel_drops() {	# what conntrack could not take, as weir counts it beside its own
	val conntrack-drop "$(lab drops lb kernel=1)"
}

flood_end() {		# sets SENT
	wait "$FLOOD"
	SENT=$(< "$TMP/flood")
	[[ $SENT =~ ^[0-9]+$ ]] || bail "the flood failed: $SENT"
}

seen() {		# SYNs of the flood at the backends
	lab count "tcp and syn and not ack and src.startswith(('172.', 'fd00:f:'))"
}

# Connections that would be selected elsewhere, had they no entry: b2 and b3 come after them.
connections_up() {
	WEB_BACKENDS=1 web
	load_up est cli tcp "$VIP" 80 conns="$CONNS" every=4
	busywait 60000 at_least "$CONNS" load est ok > /dev/null || bail "no connections: $(load est)"
	weir backend add "$WEB" "$B2"
	weir backend add "$WEB" "$B3"
}

# The SYNs of cli's own connections, which the table may refuse too. The flood goes past
# these hooks.
legit_up() {
	in_ns cli nft -f - <<- END
		table inet legit {
			chain out {
				type filter hook output priority 0
				tcp dport 80 tcp flags & (syn | ack) == syn counter
			}
		}
	END
}

legit_sent() {
	lab packets cli legit out
}

legit_seen() {
	lab count "tcp and syn and not ack and src == CLI"
}

# Every SYN that was lost is in one counter: of weir, or of the kernel, shown beside.
accounts() {		# NAME
	local arrived legit lost ours theirs
	arrived=$(busywait 20000 stable seen)
	legit=$(($(legit_sent) - $(legit_seen)))
	in_ns cli nft delete table inet legit
	lost=$((SENT - arrived + legit))
	ours=$(drops) theirs=$(($(kernel_drops) - KERNEL))
	note "$SENT sent, $arrived arrived, $legit of cli's own lost; weir: $ours; conntrack-drop: $theirs"
	is "$1: every lost SYN is counted" "$theirs" "$lost"
	# an answer is late if conntrack gave its entry to another meanwhile
	like "$1: weir dropped none of them itself" "$ours" \
		"?(none)?(flow-evicted=+([0-9]))?( )?(late-answer=+([0-9]))"
}

stable() {		# COMMAND...: prints a number that did not change for a second
	local one two
	one=$("$@")
	nap 1
	two=$("$@")
	echo "$two"
	[ "$one" = "$two" ]
}

entries() {
	lab sysctl lb net/netfilter/nf_conntrack_count
}

# The kernel without the sweeper: what is half-open expires 8 seconds after the last packet of
# the flood, but stays in the table until the kernel's collector comes round. Its pace is what
# entries have left on average, and a minute at most.
room_comes() {		# NAME
	local start=$EPOCHSECONDS
	check "$1: the kernel has made room, half of the table" \
		busywait 70000 at_most $((MAX / 2)) entries
	note "$((EPOCHSECONDS - start)) s after the flood"
}

# A client whose SYN was lost sends it again after a second, and gives up after another for the
# next connection. So the first SYN that finds room comes within a second, the next connection
# follows a second later, and as much again is for the emulator.
flood() {		# NAME [COMMAND NAME]: it waits until there is room again
	local words peak now
	connections_up
	drops_mark
	KERNEL=$(kernel_drops)
	lab mark > /dev/null
	legit_up
	load_up legit cli new "$VIP" 80 every=1
	flood_up
	peak=0
	until gone "$FLOOD"; do
		now=$(entries)
		peak=$((now > peak ? now : peak))
		nap 0.2
	done
	flood_end
	# conntrack counts an entry before it refuses it, on each CPU
	between "$1: the table was full, or kept from it" "$peak" $((MAX * 3 / 4)) \
		$((MAX + $(nproc)))
	[ -z "${2:-}" ] || "$2" "$1"
	check "$1: new connections work within 5 s" \
		busywait 5000 at_least $(($(load legit ok) + 2)) load legit ok
	load_more est ok "$CONNS"
	words=$(load_down est)
	is "$1: no connection broke ($words)" \
		"$(val lost "$words") $(val moved "$words") $(val reset "$words")" "0 0 0"
	is "$1: all of them stayed at b1" "$(val at_b1 "$words")" "$(val ok "$words")"
	words=$(load_down legit)
	note "new connections meanwhile: $words"
	accounts "$1"
	is "$1: lb answers none itself" "$(lab count "dst and dst.startswith(('172.', 'fd00:f:'))
		and not (tcp and syn and ack and src == VIP)" cli)" 0
	weir service del "$WEB"
	check "$1: with the service its flows are gone" busywait 20000 at_most 5 entries
}

answered() {
	flood "answered SYNs"
	like "the sweeper made room" "$(weir stats)" "*flow-evicted*"
}

without_sweeper() {
	in_ns lb sysctl -qw net.weir.max_flows=0
	flood "max_flows=0, answered SYNs" room_comes
	mute add
	flood "max_flows=0, unanswered SYNs" room_comes
	mute delete
	in_ns lb sysctl -qw net.weir.max_flows=$((MAX * 9 / 10))
}

# KiB that code of the kernel has asked for. What is free says less: each CPU keeps pages for
# itself, tens of MiB, which nothing in /proc/meminfo counts.
kernel_memory() {
	lab mark > /dev/null	# takes what its sockets have received
	awk '/^(Slab|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo
}

unload() {
	local before
	# it has tables of the size that conntrack's had when it came
	rmmod weir
	modprobe weir || bail "the module does not come back"
	before=$(kernel_memory)
	web
	flood_up 3
	busywait 10000 at_least $((MAX / 2)) entries > /dev/null
	check "the module goes in the middle of a flood" timeout 20 rmmod weir
	flood_end
	nap 0.2
	is "and none of its flows stays" "$(in_ns lb conntrack -L -d "$VIP" 2> /dev/null | grep -c .)" 0
	# an entry that is in no table any more counts as long as somebody holds it
	check "nor is one held" busywait 10000 at_most 0 entries
	check "it comes back" modprobe weir
	# Some of it a grace period later. Where kmemleak looks, which guest does at the end, what is
	# free is kept in quarantine.
	[ -e /sys/kernel/debug/kmemleak ] ||
		check "memory is back, to 1 MiB" \
			busywait 10000 at_most $((before + 1024)) kernel_memory
}

lab_up 3 tcp:80
use 4
prepare
answered
use 6
without_sweeper
for_families unload
finish
