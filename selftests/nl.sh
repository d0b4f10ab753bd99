# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# For the tests that speak netlink themselves: one namespace, "lb", without a link, and
# programs in py/ that print what they found.

# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

nl_up() {
	[ "$(id -u)" = 0 ] || skip_all "needs root"
	need ip "$PYTHON"
	modprobe weir || bail "modprobe weir failed"
	LOG_MARK="weir test $ME $$ begins"
	echo "$LOG_MARK" > /dev/kmsg
	setup_ns lb
}

judge() {		# COMMAND...: turns its lines "ok<tab>NAME", "not ok<tab>NAME" into tests
	local verdict text before=$TESTS
	while IFS=$'\t' read -r verdict text; do
		case $verdict in
		ok) pass "$text" ;;
		"not ok") fail "$text" ;;
		exit) is "${*##*/} ran to its end" "$text" 0 ;;
		"#") note "$text" ;;
		*) note "$verdict $text" ;;
		esac
	done < <("$@" 2>&1; printf 'exit\t%s\n' $?)
	[ "$TESTS" -gt $((before + 1)) ] || fail "${*##*/} tested something"
}
