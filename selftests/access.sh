#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Who may read and who may change: everybody reads the configuration and its counters; the key,
# other people's flows (as with conntrack) and changes need CAP_NET_ADMIN in the user namespace
# that owns the network namespace, which a user has in one of their own.
#
#   nobody in lb: reads           nobody in a user and network namespace of their own: all
#
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

nobody() {		# COMMAND...: as a user without capabilities, in lb
	in_ns lb setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all \
		--bounding-set=-all "$@"
}

tool() {
	nobody weir "$@"
}

reading() {
	local command
	for command in show "show $WEB" stats save "-j show" "-s show"; do
		# shellcheck disable=SC2086 # options and words
		check "a user without rights: weir $command" tool $command
	done
	is "save shows no key to them" "$(tool save | grep -c hash-key)" 0
	is "but everything else" "$(tool save)" "$(weir save | grep -v hash-key)"
	is "root sees the key" "$(weir save | grep -c hash-key)" 1
	is "the key is for root alone" \
		"$(in_ns lb stat -c %a /proc/sys/net/weir/hash_key)" 600
	check "a user cannot read it" not nobody cat /proc/sys/net/weir/hash_key
}

not() {
	! "$@"
}

writing() {
	local before
	weir save > "$TMP/before"
	before=$(generation)
	forbidden service add mine
	forbidden service set "$WEB" affinity client-ip
	forbidden service del "$WEB"
	forbidden rule add "$WEB" "$VIP2" tcp 80
	forbidden rule del "$WEB" "$VIP" tcp 80
	forbidden group add "$WEB" east
	forbidden backend add "$WEB" "$B3"
	forbidden backend set "$WEB" "$B1" health down
	forbidden backend del "$WEB" "$B1"
	forbidden flush
	forbidden flows
	forbidden lookup gre "$CLI" "$VIP"
	forbidden apply "$TMP/before"
	weir save > "$TMP/after"
	check "nothing changed" cmp "$TMP/before" "$TMP/after"
	is "no generation passed" "$(generation)" "$before"
	check "a user cannot change sysctls" \
		not nobody sh -c 'echo 1 > /proc/sys/net/weir/log_drops'
}

forbidden() {		# WORD...
	refused "a user without rights: weir $1 ${2:-} is refused, and told why" \
		"*@(CAP_NET_ADMIN|ermission|ermitted|root)*" tool "$@"
}

# Root over a user namespace, but not over the one that owns lb.
wrong_namespace() {
	refused "root of a user namespace has no rights in the network namespace of others" \
		"*CAP_NET_ADMIN*" in_ns lb setpriv --reuid 65534 --regid 65534 --clear-groups \
		unshare -U -r "$TMP/weir" service add mine
}

own_namespace() {
	local out
	cat > "$TMP/own.sh" <<- END
		set -e
		weir() { "$TMP/weir" "\$@"; }
		weir service add web
		weir rule add web $VIP tcp 80
		weir backend add web $B1
		weir save | grep -v '^hash-key'
		cat /proc/sys/net/weir/hash_key > /dev/null && echo key
	END
	out=$(setpriv --reuid 65534 --regid 65534 --clear-groups \
		unshare -U -r -n bash "$TMP/own.sh" 2>&1)
	is "in namespaces of their own a user may do all that" "$out" "service web {
    rule $VIP tcp 80
    backend $B1
}
key"
	is "and it is nobody else's business" "$(wjson "[s['name'] for s in J]" show)" "[\"$WEB\"]"
}

access() {
	web
	reading
	writing
	wrong_namespace
	own_namespace
}

need setpriv unshare
lab_up 2 tcp:80
# The tool, where any user may run it.
chmod 755 "$TMP"
install -m 755 "$(type -P weir)" "$TMP/weir"
for_families access
finish
