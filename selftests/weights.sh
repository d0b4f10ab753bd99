#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Weights (semantics 4): shares of new flows, by the operator's word or by what a checker
# reports. What exists stays, and a change moves no more than it must.
#
#   cli: crafted packets ==== lb ==== farm: captures what each backend gets
#
# timeout: 400
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

words() {
	weir service add web locality weighted-maglev
	check "a weight can be given" weir backend add web 10.2.0.11 weight 1000
	check "and changed" weir backend set web 10.2.0.11 weight 0
	weir backend add web 10.2.0.12
	like "save prints it, but not 1" "$(weir save)" \
		"*backend 10.2.0.11 weight 0*backend 10.2.0.12"$'\n'"*"
	weir save > "$TMP/saved"
	weir backend set web group default weight 7
	is "a group's members can be weighed at once" "$(weir save | grep -c "weight 7$")" 2
	check "apply sets weights back" weir apply "$TMP/saved"
	weir save > "$TMP/again"
	check "all of them" cmp "$TMP/saved" "$TMP/again"
	refused "1001 is refused with the range" "*weight*1001*0..1000*" \
		weir backend set web 10.2.0.11 weight 1001
	refused "so is half a weight" "*weight*1.5*0..1000*" \
		weir backend set web 10.2.0.11 weight 1.5
	weir service del web
}

wire_up
words
for family in 4 6; do
	crafted weights $family
done
finish
