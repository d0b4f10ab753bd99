# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Run check/run more than once and add up. Sourced by check/ci, check/debug and
# check/kernels.
#
#   several_run TITLE KERNEL [-j MACHINES] [-x NAME]... [NAME...]
#   several_count TITLE COMMAND...   something else that prints TAP
#   several_names NAME...            sets names: the guest tests that these are
#   several_end                      the failures in short, a table, and "N passed, N failed"

# "$tests" is where the tests are.
several_rows=() several_failures=()
several_passed=0 several_failed=0 several_skipped=0

# The guest tests, by name, that suit a kernel. What says "# only: debug" needs one of those.
several_guest_tests() {
	local script

	for script in "$tests"/*.sh; do
		[ -x "$script" ] || continue
		[[ $1 == debug-* ]] || ! grep -q '^# only: debug' "$script" || continue
		echo "${script##*/}"
	done
}

# A NAME without .sh may also be that of a host suite, which no kernel makes a difference to.
several_names() {
	names=("${@%.sh}")
	names=("${names[@]/%/.sh}")
}

several_row() {
	several_rows+=("$(printf '%-24s %-28s %7d %7d %7d %6d s' "$@")")
	several_passed=$((several_passed + $3))
	several_failed=$((several_failed + $4))
	several_skipped=$((several_skipped + $5))
}

several_failure() {	# TITLE COMMAND...: prints what failed under that title, if anything
	local title=$1 text; shift

	text=$("$@" 2>/dev/null)
	[ -z "$text" ] || several_failures+=("== failures, in short: $title" "$text")
}

several_run() {
	local title=$1 kernel=$2 out start=$EPOCHSECONDS code line release passed=0 failed=0 skipped=0
	shift 2

	echo "== $title"
	out=$(mktemp)
	"$tests/check/run" -k "$kernel" "$@" | tee "$out" | sed -u '/^[0-9]* passed, [0-9]* failed/d'
	code=${PIPESTATUS[0]}
	line=$(tail -n 1 "$out")
	release=$(sed -n 's/^kernel \([^,]*\),.*/\1/p' "$out" | head -n 1)
	rm -f "$out"
	several_failure "$title" cat "$tests/../build/log/failures"
	if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
		passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[4]:-0}
	fi
	[ "$code" = 0 ] || [ "$failed" != 0 ] || [ "$skipped" != 0 ] || failed=1
	[ "$passed" != 0 ] || [ "$failed" != 0 ] || failed=1
	several_row "$title" "${release:--}" "$passed" "$failed" "$skipped" $((EPOCHSECONDS - start))
	[ ! -d "$tests/../build/log" ] || {
		rm -rf "$tests/../build/log-${title// /-}"
		mv "$tests/../build/log" "$tests/../build/log-${title// /-}"
	}
}

several_count() {
	local title=$1 out start=$EPOCHSECONDS code passed failed; shift

	echo "== $title"
	out=$(mktemp)
	"$@" | tee "$out"
	code=${PIPESTATUS[0]}
	passed=$(grep -c '^ok ' "$out") failed=$(grep -c '^not ok ' "$out")
	several_failure "$title" "$tests/check/failures" "$out"
	rm -f "$out"
	[ "$code" = 0 ] || [ "$failed" != 0 ] || failed=1
	several_row "$title" - "$passed" "$failed" 0 $((EPOCHSECONDS - start))
}

several_end() {
	local summary="$several_passed passed, $several_failed failed"

	echo
	[ ${#several_failures[@]} = 0 ] || printf '%s\n' "${several_failures[@]}" ''
	printf '%-24s %-28s %7s %7s %7s %8s\n' what kernel passed failed skipped time
	printf '%s\n' "${several_rows[@]}"
	echo
	[ $several_skipped = 0 ] || summary+=", $several_skipped skipped"
	echo "$summary"
	[ $several_failed = 0 ] && [ $several_passed -gt 0 ] &&
		{ [ $several_skipped = 0 ] || [ "${CI:-}" != true ]; }
}
