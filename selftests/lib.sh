# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the guest tests share: TAP, namespaces, the lab, captures, loads, and the state that
# explains a failure.  A test sources this file, calls lab_up, makes its checks and ends with
# "finish".
#
#   cli                 lb                            sw                b1 .. b6
#   10.1.0.10     eth0  10.1.0.1     10.2.0.1  eth1   (bridge)          10.2.0.11 .. 16
#   fd00:1::10 ======== fd00:1::1    fd00:2::1 ====== lb b1 .. b6 ====  fd00:2::11 .. 16
#   10.1.16.0/20        weir lives here               one segment       echo servers; default
#   fd00:1:1::/64       no route to any VIP                             route via lb
#
# cli owns every address of the two last prefixes. The VIPs are 10.9.9.9, 10.9.9.10 and
# fd00:9::9, fd00:9::10; they are on no interface and cli reaches them by its default route.
#
# WEIR_FAST=0 in the environment: no packet takes the short way, but where a test says so.

set -u
KSFT_PASS=0 KSFT_FAIL=1 KSFT_SKIP=4
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ME=$(basename "$0" .sh)
PYTHON=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C
TMP=$(mktemp -d "${TMPDIR:-/tmp}/weir-$ME.XXXXXX")

NETNS=()		# every namespace that cleanup has to delete
PIDS=()			# every process that it has to end
declare -A PLACE=()	# short name -> namespace
BACKENDS=()		# b1 b2 ...
TESTS=0 FAILED=0 FINISHED=
F='' FAMILY=''		# 4 or 6, "IPv4: " or "IPv6: " while a test runs for one family
LEAK_OK=False		# expression: packets from backends that cli is right to see
RAW_OK=False		# expression: packets to a VIP that backends are right to see
LAB_IN='' LAB_OUT=''

exec {NAP_FD}<> <(:)
nap() {			# SECONDS: waits without starting a process
	read -rt "$1" -u "$NAP_FD" || :
}

# TAP ---------------------------------------------------------------------------------------

note() {
	printf '# %s\n' "$*"
}

pass() {
	TESTS=$((TESTS + 1))
	echo "ok $TESTS - $FAMILY$*"
}

fail() {
	TESTS=$((TESTS + 1)) FAILED=$((FAILED + 1))
	echo "not ok $TESTS - $FAMILY$*"
	[ "$FAILED" -gt 2 ] || dump_state
}

is() {			# NAME GOT WANT
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		note "got:  $2"
		note "want: $3"
		fail "$1"
	fi
}

isnt() {		# NAME GOT UNWANTED
	if [ "$2" != "$3" ]; then
		pass "$1"
	else
		note "got, and should not be: $2"
		fail "$1"
	fi
}

like() {		# NAME GOT PATTERN: a shell pattern
	# shellcheck disable=SC2053 # a pattern is what the caller means
	if [[ $2 == $3 ]]; then
		pass "$1"
	else
		note "got:  $2"
		note "want: $3 (pattern)"
		fail "$1"
	fi
}

between() {		# NAME GOT LOW HIGH: integers
	if [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ]; then
		pass "$1"
	else
		note "got:  $2"
		note "want: $3..$4"
		fail "$1"
	fi
}

check() {		# NAME COMMAND...: succeeds
	local name=$1 out
	shift
	if out=$("$@" 2>&1); then
		pass "$name"
	else
		note "$*: exit $?: $out"
		fail "$name"
	fi
}

refused() {		# NAME PATTERN COMMAND...: fails with exit 1 and a message like PATTERN
	local name=$1 pattern=$2 out status=0
	shift 2
	out=$("$@" 2>&1) || status=$?
	# shellcheck disable=SC2053 # a pattern is what the caller means
	if [ "$status" = 1 ] && [[ $out == $pattern ]]; then
		pass "$name"
	else
		note "got:  exit $status: $out"
		note "want: exit 1: $pattern"
		fail "$name"
	fi
}

tap_begins() {
	echo "TAP version 13"
}

skip_all() {
	tap_begins
	echo "1..0 # SKIP $*"
	FINISHED=1
	exit "$KSFT_SKIP"
}

need() {		# PROGRAM...
	local program
	for program; do
		type -P "$program" > /dev/null || skip_all "$program is not installed"
	done
}

bail() {
	echo "Bail out! $*"
	dump_state
	FINISHED=1
	exit "$KSFT_FAIL"
}

# Waiting -----------------------------------------------------------------------------------
#
# WEIR_PATIENCE multiplies how long is waited for what has to come: a kernel full of checks under
# emulation is several times slower.

busywait() {		# MILLISECONDS COMMAND...: until it succeeds; prints its last output
	local end=$((${EPOCHREALTIME/./} + $1 * 1000 * ${WEIR_PATIENCE:-1})) out
	shift
	while :; do
		if out=$("$@"); then
			echo "$out"
			return 0
		fi
		if [ "${EPOCHREALTIME/./}" -ge "$end" ]; then
			echo "$out"
			return 1
		fi
		nap 0.05
	done
}

val() {			# KEY WORDS: the value of KEY in "key=value ...", 0 if it is not there
	local word
	for word in $2; do
		if [ "${word%%=*}" = "$1" ]; then
			echo "${word#*=}"
			return
		fi
	done
	echo 0
}

answers() {		# WORDS: how many of "b1=3 b2=4 timeout=1" are answers of backends
	local word sum=0
	for word in $1; do
		[[ $word != b[1-9]=* ]] || sum=$((sum + ${word#*=}))
	done
	echo "$sum"
}

at_least() {		# NUMBER COMMAND...: it prints that number or more
	local least=$1 out
	shift
	out=$("$@")
	echo "$out"
	[[ $out =~ ^[0-9]+$ ]] && [ "$out" -ge "$least" ]
}

at_most() {		# NUMBER COMMAND...: it prints that number or less
	local most=$1 out
	shift
	out=$("$@")
	echo "$out"
	[[ $out =~ ^[0-9]+$ ]] && [ "$out" -le "$most" ]
}

says() {		# LINE FILE: it has exactly that line
	local line
	while read -r line; do
		[ "$line" != "$1" ] || return 0
	done < "$2"
	return 1
} 2> /dev/null

prints() {		# TEXT COMMAND...: it prints exactly that
	local want=$1 out
	shift
	out=$("$@")
	echo "$out"
	[ "$out" = "$want" ]
}

settle() {		# waits until the captures have been still for 300 ms
	local before now
	now=$(lab count "not icmp6" cli "${BACKENDS[@]}")
	while [ "$now" != "${before:-}" ]; do
		before=$now
		nap 0.3
		now=$(lab count "not icmp6" cli "${BACKENDS[@]}")
	done
}

# Namespaces --------------------------------------------------------------------------------

setup_ns() {		# NAME...: makes a namespace for each; $NAME and ${PLACE[NAME]} are it
	local name netns
	for name; do
		netns=$(mktemp -u "weir-$name-XXXXXX")
		ip netns add "$netns" || bail "cannot add a network namespace"
		NETNS+=("$netns")
		PLACE[$name]=$netns
		printf -v "$name" %s "$netns"
		[ -z "$LAB_IN" ] || lab place "$name" "$netns" > /dev/null
	done
}

drop_ns() {		# NAME...: deletes them now
	local name
	for name; do
		ip netns del "${PLACE[$name]}"
	done
}

# Not "ip netns exec", which takes longer than most commands, and gives them another /sys. With
# a path, as busybox would take an applet of its own for a name.
declare -A PROGRAM=()
for name in conntrack ethtool ip nft ping sysctl; do
	PROGRAM[$name]=$(type -P "$name")
done
in_ns() {		# NAME COMMAND...
	local name=$1 program=$2
	shift 2
	[ -n "${PROGRAM[$program]:-}" ] || PROGRAM[$program]=$(type -P "$program") || return
	busybox nsenter --net="/run/netns/${PLACE[$name]}" -- "${PROGRAM[$program]}" "$@"
}

ips() {			# NAME: runs the lines of standard input as commands of ip there
	ip -n "${PLACE[$1]}" -batch - || bail "ip in $1 failed"
}

ruleset() {		# NAME: standard input becomes a ruleset there
	in_ns "$1" nft -f - || bail "nft in $1 failed"
}

cleanup() {
	local status=$? pid netns
	trap - EXIT
	if [ -z "$FINISHED" ]; then
		echo "Bail out! $ME ended early, with status $status"
		dump_state
		status=$KSFT_FAIL
	fi
	for pid in "${PIDS[@]}"; do
		kill "$pid" 2> /dev/null
	done
	[ -z "$LAB_IN" ] || exec {LAB_IN}>&-
	for netns in "${NETNS[@]}"; do
		[ ! -e "/run/netns/$netns" ] || echo "netns del $netns"
	done | ip -batch - 2> /dev/null
	wait
	rm -rf "$TMP"
	exit "$status"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# The lab -----------------------------------------------------------------------------------

lab() {			# COMMAND...: asks the agent (py/lab.py) and prints its answer
	local answer line=("${@//[$'\n\t']/ }")
	printf '%s\n' "${line[*]@Q}" >&"$LAB_IN"
	if ! read -r -t $((150 * ${WEIR_PATIENCE:-1})) -u "$LAB_OUT" answer; then
		answer="! the agent died or hangs"
	fi
	printf '%s\n' "$answer"
	[[ $answer != "!"* ]]
}

agent_up() {
	local list=() name
	for name in "${!PLACE[@]}"; do
		list+=("$name=${PLACE[$name]}")
	done
	coproc AGENT { exec "$PYTHON" "$HERE/py/lab.py" "${list[@]}"; }
	# subshells do not get the descriptors of a coprocess, but copies of them
	# shellcheck disable=SC2153 # bash makes AGENT
	exec {LAB_IN}>&"${AGENT[1]}" {LAB_OUT}<&"${AGENT[0]}"
	PIDS+=("$AGENT_PID")
}

servers_up() {		# FILE NAME... -- KIND:PORT[@ADDR]...: starts echo servers there
	local file=$TMP/servers.$1 list=()
	shift
	while [ "$1" != -- ]; do
		list+=("$1=${PLACE[$1]}")
		shift
	done
	"$PYTHON" "$HERE/py/server.py" "${list[@]}" "$@" > "$file" 2>&1 &
	PIDS+=($!)
	echo $! > "$file.pid"
}

servers_ready() {	# FILE: waits until they can answer
	busywait 60000 says ready "$TMP/servers.$1" ||
		bail "the echo servers fail: $(cat "$TMP/servers.$1")"
}

lab_links() {
	local name
	{
		echo "link add eth0 netns $cli type veth peer name eth0 netns $lb"
		echo "link add eth1 netns $lb type veth peer name lb netns $sw"
		for name in "${BACKENDS[@]}"; do
			echo "link add eth0 netns ${PLACE[$name]} type veth peer name $name netns $sw"
		done
	} | ip -batch - || bail "cannot add veth pairs"
	{
		echo "link add br0 type bridge mcast_snooping 0"
		echo "link set br0 up"
		for name in lb "${BACKENDS[@]}"; do
			echo "link set $name master br0 up"
		done
	} | ips sw
}

lab_addresses() {
	local name i=11
	ips cli <<- END
		link set lo up
		link set eth0 up
		addr add 10.1.0.10/24 dev eth0
		addr add fd00:1::10/64 dev eth0 nodad
		route add default via 10.1.0.1
		route add default via fd00:1::1
		route add local 10.1.16.0/20 dev lo
		route add local fd00:1:1::/64 dev lo
	END
	ips lb <<- END
		link set lo up
		link set eth0 up
		link set eth1 up
		addr add 10.1.0.1/24 dev eth0
		addr add fd00:1::1/64 dev eth0 nodad
		addr add 10.2.0.1/24 dev eth1
		addr add fd00:2::1/64 dev eth1 nodad
		route add 10.1.16.0/20 via 10.1.0.10
		route add fd00:1:1::/64 via fd00:1::10
	END
	for name in "${BACKENDS[@]}"; do
		ips "$name" <<- END
			link set lo up
			link set eth0 up
			addr add 10.2.0.$i/24 dev eth0
			addr add fd00:2::$i/64 dev eth0 nodad
			route add default via 10.2.0.1
			route add default via fd00:2::1
		END
		i=$((i + 1))
	done
}

lab_up() {		# [NUMBER of backends] [KIND:PORT...]
	local number=${1:-3} i places=()
	tap_begins
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	need ip weir conntrack nft "$PYTHON"
	shift $(($# ? 1 : 0))
	modprobe weir || bail "modprobe weir failed"
	LOG_MARK="weir test $ME $$ begins"
	echo "$LOG_MARK" > /dev/kmsg
	for ((i = 1; i <= number; i++)); do
		BACKENDS+=("b$i")
	done
	setup_ns cli lb sw "${BACKENDS[@]}"
	[ $# -gt 0 ] || set -- tcp:80 udp:53
	servers_up backends "${BACKENDS[@]}" -- "$@"
	agent_up
	lab_links
	lab_addresses
	in_ns lb sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	[ -z "${WEIR_FAST:-}" ] || in_ns lb sysctl -qw net.weir.fast_path="$WEIR_FAST"
	lab_warm
	for i in cli "${BACKENDS[@]}"; do
		places+=("$i:eth0")
	done
	lab capture "${places[@]}" > "$TMP/out" || bail "$(cat "$TMP/out")"
	servers_ready backends
	! is_direct || direct_up "$@"
}

# The agent and the servers share one CPU from here on. Across CPUs a packet may overtake the
# one before it, since each has a backlog of its own.
one_cpu() {
	local pid
	for pid in "$AGENT_PID" "$(< "$TMP/servers.backends.pid")"; do
		taskset -apc 0 "$pid" > /dev/null || bail "taskset fails"
	done
}

# Beside lb, between cli and the backends; the route of cli decides which one is used.
second_router() {
	setup_ns lb2
	ip -batch - <<- END
		link add eth1 netns $cli type veth peer name eth0 netns $lb2
		link add eth1 netns $lb2 type veth peer name lb2 netns $sw
	END
	ips sw <<< "link set lb2 master br0 up"
	ips cli <<- END
		link set eth1 up
		addr add 10.1.1.10/24 dev eth1
		addr add fd00:1:0:1::10/64 dev eth1 nodad
	END
	ips lb2 <<- END
		link set lo up
		link set eth0 up
		link set eth1 up
		addr add 10.1.1.1/24 dev eth0
		addr add fd00:1:0:1::1/64 dev eth0 nodad
		addr add 10.2.0.2/24 dev eth1
		addr add fd00:2::2/64 dev eth1 nodad
	END
	in_ns lb2 sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	# A kernel without CONFIG_IPV6_ROUTER_PREF, such as debug-uml, takes the next best route
	# while it looks for the neighbour that the best one leads through: here that of lb.
	[ "$(lab reach cli 10.1.1.1 fd00:1:0:1::1)" = ok ] || bail "cli does not reach lb2"
	lab_warm lb2
}

# Direct mode: backends have the VIPs, and answer clients themselves.
vips_up() {
	local name
	for name in "${BACKENDS[@]}"; do
		ips "$name" <<- END
			addr add 10.9.9.9/32 dev lo
			addr add 10.9.9.10/32 dev lo
			addr add fd00:9::9/128 dev lo nodad
			addr add fd00:9::a/128 dev lo nodad
		END
	done
}

# Else the router itself would not know where to.
vip_routes() {
	ips lb <<- END
		route add 10.9.9.9 via 10.2.0.11
		route add fd00:9::9 via fd00:2::11
	END
}

# A datagram's answer comes from the address that its server is bound to.
direct_up() {		# KIND:PORT...
	local addr kind list=()
	vips_up
	RAW_OK=True
	for addr in 10.9.9.9 10.9.9.10 fd00:9::9 fd00:9::a; do
		for kind; do
			[[ $kind != udp:* ]] || list+=("$kind@$addr")
		done
	done
	[ ${#list[@]} = 0 ] || servers_up vips "${BACKENDS[@]}" -- "${list[@]}"
	[ ${#list[@]} = 0 ] || servers_ready vips
}

via() {			# lb|lb2: the way of cli to the VIP
	local gate
	case $1$F in
	lb4) gate=10.1.0.1 ;;
	lb6) gate=fd00:1::1 ;;
	lb24) gate=10.1.1.1 ;;
	lb26) gate=fd00:1:0:1::1 ;;
	esac
	ips cli <<< "route replace $VIP via $gate"
}

# Neighbours are resolved before any test counts packets or milliseconds.
lab_warm() {		# [NAME]: of cli and those on the way, or of NAME
	local i place=${1:-cli} hosts=()
	for ((i = 1; i <= ${#BACKENDS[@]}; i++)); do
		hosts+=("10.2.0.1$i" "fd00:2::1$i")
	done
	[ "$(lab reach "$place" "${hosts[@]}")" = ok ] || bail "$place does not reach the backends"
}

# shellcheck disable=SC2034 # for the tests
use() {			# 4|6: the addresses of that family, for the test and its expressions
	local i
	F=$1 FAMILY="IPv$1: "
	if [ "$F" = 4 ]; then
		CLI=10.1.0.10 MANY=10.1.16.1 LBC=10.1.0.1 LBB=10.2.0.1 ICMP=icmp
		VIP=10.9.9.9 VIP2=10.9.9.10 B=10.2.0.1 HOST=32
	else
		CLI=fd00:1::10 MANY=fd00:1:1::1 LBC=fd00:1::1 LBB=fd00:2::1 ICMP=icmp6
		VIP=fd00:9::9 VIP2=fd00:9::a B=fd00:2::1 HOST=128
	fi
	for i in 1 2 3 4 5 6; do
		printf -v "B$i" %s "$B$i"
	done
	WEB=web$F
	lab let "CLI=$CLI" "VIP=$VIP" "VIP2=$VIP2" "LBC=$LBC" "LBB=$LBB" "B1=$B1" "B2=$B2" \
		"B3=$B3" "B4=$B4" "B5=$B5" "B6=$B6" > /dev/null
}

addr() {		# NAME: the address of that backend, for the family in use
	echo "$B${1#b}"
}

other() {		# NAME: the first backend that is another
	if [ "$1" = b1 ]; then
		echo b2
	else
		echo b1
	fi
}

for_families() {	# FUNCTION
	local family
	for family in 4 6; do
		use "$family"
		"$1"
	done
	F='' FAMILY=''
}

weir() {
	command weir -n "$lb" "$@"
}

on() {			# lb|lb2 WORD...: the tool there
	local place=${PLACE[$1]}
	shift
	command weir -n "$place" "$@"
}

# A queue for user space in lb that holds packets until $TMP/go exists, as nfqueue.py says.
queue_up() {
	rm -f "$TMP/go"
	: > "$TMP/queue"
	"$PYTHON" "$HERE/py/nfqueue.py" "$lb" 0 "$TMP/go" > "$TMP/queue" 2>&1 &
	PIDS+=($!)
	QUEUE=$!
	busywait 20000 grep -q bound "$TMP/queue" > /dev/null || bail "no queue: $(cat "$TMP/queue")"
}

queue_down() {
	kill "$QUEUE"
	busywait 10000 gone "$QUEUE" > /dev/null
}

# A test that has a sibling for direct mode is run there with WEIR_FORWARD=direct.
is_direct() {
	[ "${WEIR_FORWARD:-nat}" = direct ]
}

conf() {		# standard input becomes the whole configuration
	if is_direct; then
		sed 's/^[[:space:]]*service .*{$/&\nforward direct/'
	else
		cat
	fi | weir apply - > "$TMP/out" 2>&1 || bail "weir apply: $(cat "$TMP/out")"
}

web() {			# [LINE...]: the usual service for this family, and no other
	local name i=0
	{
		echo "service $WEB {"
		echo "rule $VIP tcp 80"
		echo "rule $VIP udp 53"
		printf '%s\n' "$@"
		for name in "${BACKENDS[@]}"; do
			i=$((i + 1))
			[ "$i" -gt "${WEB_BACKENDS:-9}" ] || echo "backend $B$i"
		done
		echo "}"
	} | conf
}

# Where the sources of py/flood.py would be, if they were anywhere.
flood_routes() {
	ips lb <<- END
		route add 172.16.0.0/12 via 10.1.0.10
		route add fd00:f::/64 via fd00:1::10
	END
}

# A server for health checks, on port 8080; $TMP/health.NAME says how it is.
declare -A SERVER=()
server_up() {		# NAME [ADDR...]
	local name=$1
	shift
	rm -f "$TMP/health.$name.out"
	# not in_ns: what is ended must be the server, and no shell around it
	ip netns exec "${PLACE[$name]}" "$PYTHON" "$HERE/py/health.py" 8080 "$TMP/health.$name" "$@" \
		> "$TMP/health.$name.out" 2>&1 &
	SERVER[$name]=$!
	PIDS+=($!)
	busywait 30000 says ready "$TMP/health.$name.out" ||
		bail "health.py: $(cat "$TMP/health.$name.out")"
}

server_down() {		# NAME
	kill "${SERVER[$1]}"
	wait "${SERVER[$1]}" 2> /dev/null
}

# Loads -------------------------------------------------------------------------------------

load_up() {		# NAME PLACE KIND DST PORT [key=value...]: starts py/load.py
	local name=$1 place=${PLACE[$2]}
	shift 2
	rm -f "$TMP/load.$name"
	"$PYTHON" "$HERE/py/load.py" "$TMP/load.$name" "$place" "$@" 2> "$TMP/load.$name.err" &
	PIDS+=($!)
	echo $! > "$TMP/load.$name.pid"
	busywait 60000 at_least 1 load "$name" sent > /dev/null ||
		bail "load $name fails: $(cat "$TMP/load.$name.err")"
}

load() {		# NAME [KEY]: its figures so far
	local figures=''
	[ ! -e "$TMP/load.$1" ] || figures=$(< "$TMP/load.$1")
	if [ $# -gt 1 ]; then
		val "$2" "$figures"
	else
		echo "$figures"
	fi
}

load_more() {		# NAME KEY NUMBER: waits until the figure has grown by that much
	local least=$(($(load "$1" "$2") + $3))
	busywait 60000 at_least "$least" load "$1" "$2" > /dev/null ||
		fail "load $1: $2 does not grow to $least: $(load "$1")"
}

load_down() {		# NAME: ends it and prints its last figures
	local pid
	pid=$(< "$TMP/load.$1.pid")
	kill "$pid"
	busywait 20000 gone "$pid" > /dev/null || fail "load $1 does not end"
	load "$1"
}

gone() {		# PID: that process is no more (or waits for its parent only)
	[[ ! -e /proc/$1 || $(< "/proc/$1/stat") == *") Z "* ]]
} 2> /dev/null

# What the tool knows -----------------------------------------------------------------------

wjson() {		# EXPR ARG...: evaluates EXPR over the JSON that "weir -j ARG..." prints as J
	local text=$1
	shift
	lab json "$text" weir -j -n "$lb" "$@"
}

shown() {		# EXPR: over what the kernel shows of the service: S, of its backends by
			# address: B, of zones by name: Z; see py/view.py for the names
	lab shown lb "$WEB" "$1"
}

endpoint() {		# ADDR PORT: as the tool writes and reads it
	if [ "$F" = 6 ]; then
		echo "[$1]:$2"
	else
		echo "$1:$2"
	fi
}

drops_now() {		# every drop reason of weir's own that has counted: "invalid=3 ..."
	lab drops lb
}

drops_mark() {
	DROPS=$(drops_now)
}

drops() {		# what was dropped since drops_mark: "invalid=3 no-rule=1", or "none"
	local now word name before out=()
	now=$(drops_now) || { echo "$now"; return; }
	for word in $now; do
		name=${word%%=*} before=$(val "${word%%=*}" "$DROPS")
		[ "${word#*=}" = "$before" ] || out+=("$name=$((${word#*=} - before))")
	done
	echo "${out[*]:-none}"
}

drops_are() {		# NAME WANT: polls, since a count may be a moment behind the packet
	is "$1" "$(busywait 5000 prints "$2" drops)" "$2"
}

# What a backend says late is counted as "ended" while the entry stands and as "late-answer"
# once it is swept.
late_drops() {		# NAME NUMBER: so many since drops_mark, and nothing else
	is "$1" "$(busywait 5000 prints "$2" late_sum): $(drops | tr ' ' '\n' |
		grep -vcE '^(ended|late-answer)=')" "$2: 0"
}

late_sum() {
	local words
	words=$(drops)
	echo $(($(val ended "$words") + $(val late-answer "$words")))
}

late() {		# BACKEND KIND SPORT DPORT WORD...: a packet of it, for the client
	local place=$1 kind=$2 sport=$3 dport=$4
	shift 4
	lab raw "$place" "$kind" "$(addr "$place")" "$CLI" "sport=$sport" "dport=$dport" \
		data=late "$@" > /dev/null
}

# The loads of this family end; all that they asked was answered, and nothing was dropped.
loads_lost_nothing() {	# NAME...
	local i words
	for i; do
		words=$(load_down "$i$F")
		is "load $i: every exchange was answered ($words)" \
			"$(val ok "$words")" "$(val sent "$words")"
		is "load $i: nothing lost, moved, reset or refused" "$(val lost "$words") $(val \
			moved "$words") $(val reset "$words") $(val refused "$words")" "0 0 0 0"
	done
	drops_are "nothing was dropped" none
}

generation() {		# how many configurations have been published
	weir save > "$TMP/saved"
	wjson "J['generation']" apply --dry-run "$TMP/saved"
}

tracked() {		# ARG...: entries in lb's conntrack table that conntrack -L ARG... finds
	in_ns lb conntrack -L -f "ipv$F" "$@" 2> /dev/null | grep -c .
}

kernel_log() {		# the kernel's messages since the test began
	dmesg | sed -n "/$LOG_MARK/,\$p" | tail -n +2
}

kernel_complaints() {	# what no healthy kernel writes, and no healthy test makes it write
	kernel_log | "$HERE/vm/klog"
	kernel_log | grep martian
}

# The end -----------------------------------------------------------------------------------

dump_state() {
	local name
	echo "# --- what explains it ---"
	{
		if [ -n "${lb:-}" ]; then
			for name in save "-s show" stats flows; do
				echo "--- weir $name"
				# shellcheck disable=SC2086 # options and command
				weir $name
			done
			echo "--- conntrack"
			in_ns lb conntrack -L -o extended | head -40
			in_ns lb conntrack -S
			echo "--- nft list ruleset"
			in_ns lb nft list ruleset
			echo "--- routes of lb"
			in_ns lb ip route
			in_ns lb ip -6 route
		fi
		if [ -n "$LAB_IN" ]; then
			echo "--- last packets that arrived"
			lab pcap "$TMP"
			for name in cli "${BACKENDS[@]}"; do
				echo "$name:"
				tcpdump -nr "$TMP/$name.pcap" -ttt "not icmp6 or ip6[40] < 133" \
					2> /dev/null | tail -12
			done
		fi
		echo "--- kernel log"
		kernel_log | tail -30
	} 2>&1 | sed 's/^/#   /'
}

common_checks() {
	lab rewind > /dev/null
	is "no packet from a backend's address reached the client" \
		"$(lab count "src and (src.startswith('10.2.') or src.startswith('fd00:2:'))
			and not (icmp6 and type in (133, 134, 135, 136, 143)) and not ($LEAK_OK)" cli)" 0
	is "no packet to a VIP reached a backend untranslated" \
		"$(lab count "dst and (dst.startswith('10.9.') or dst.startswith('fd00:9:'))
			and not ($RAW_OK)" "${BACKENDS[@]}")" 0
	is "the captures missed nothing" "$(lab lost)" 0
}

finish() {
	local complaints
	F='' FAMILY=''
	[ -z "$LAB_IN" ] || common_checks
	complaints=$(kernel_complaints)
	is "the kernel log is clean" "$complaints" ""
	echo "1..$TESTS"
	echo "# $ME: $((TESTS - FAILED)) passed, $FAILED failed, $SECONDS s"
	FINISHED=1
	[ "$FAILED" = 0 ] || exit "$KSFT_FAIL"
	exit "$KSFT_PASS"
}
