#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A configuration is a transaction: all or nothing, only the difference, and at every instant a
# packet meets the old or the new one. A hundred of them under traffic lose nothing.
#
#   cli, load ==== lb, weir apply again and again ==== b1 b2 b3
#
# timeout: 500
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Two configurations: the service under load is the same but for options that touch no choice;
# others come, go and change.
write_files() {
	cat > "$TMP/one" <<- END
		service $WEB {
		    idle-timeout 600
		    rule $VIP tcp 80
		    rule $VIP udp 53
		    backend $B1
		    backend $B2
		}
		service extra {
		    rule $VIP2 any all
		    backend $B1
		}
	END
	cat > "$TMP/two" <<- END
		service $WEB {
		    idle-timeout 300
		    hairpin off
		    rule $VIP tcp 80
		    rule $VIP udp 53
		    backend $B1
		    backend $B2
		}
		service another {
		    affinity client-ip
		    rule $VIP2 udp 1,2,3
		    rule $VIP tcp 8080
		    backend $B2
		    backend $B3
		}
	END
}

under_load() {
	local i bad=0 before
	weir apply "$TMP/one" > /dev/null
	load_up "t$F" cli tcp "$VIP" 80 conns=8 every=0.2
	load_up "n$F" cli new "$VIP" 80 conns=2 every=0.1
	load_up "u$F" cli udp "$VIP" 53 conns=4 every=0.1
	drops_mark
	before=$(generation)
	for ((i = 0; i < 50; i++)); do
		weir apply "$TMP/two" > /dev/null || bad=$((bad + 1))
		weir apply "$TMP/one" > /dev/null || bad=$((bad + 1))
	done
	is "a hundred applies under load succeed" "$bad" 0
	is "each was published" "$(($(generation) - before))" 100
	loads_lost_nothing t n u
	is "nothing went to a backend of another service" \
		"$(lab count 'dport in (80, 53)' b3)" 0
}

unchanged() {
	local before
	# a group that is there without being declared, and is declared all the same
	weir service add "plain$F"
	weir group add "plain$F" default
	before=$(generation)
	weir save > "$TMP/saved"
	check "apply of save succeeds" weir apply "$TMP/saved"
	weir save > "$TMP/again"
	check "and changes nothing: save is the same" cmp "$TMP/saved" "$TMP/again"
	is "the generation stays" "$(generation)" "$before"
	is "apply reports no change" "$(weir -j apply "$TMP/saved" > "$TMP/out"; lab json \
		"J['added'], J['changed'], J['removed'], J['changes']" cat "$TMP/out")" "[0, 0, 0, []]"
	weir service del "plain$F"
}

dry_run() {
	local before
	before=$(generation)
	is "--dry-run says what would happen" "$(wjson \
		"J['added'], J['changed'], J['removed']" apply --dry-run "$TMP/two")" "[1, 1, 1]"
	weir save > "$TMP/again"
	check "--dry-run changes nothing" cmp "$TMP/saved" "$TMP/again"
	is "--dry-run: the generation stays" "$(generation)" "$before"
}

# Each is wrong in its last lines only; all before them is good and must not be applied.
atomic() {
	local before i=0 line
	before=$(generation)
	while read -r line; do
		i=$((i + 1))
		{ cat "$TMP/two"; printf 'service last {\n%b\n}\n' "$line"; } > "$TMP/bad"
		refused "bad file $i is refused: ${line//\\n/; }" "*weir:*" weir apply "$TMP/bad"
	done <<- END
		rule $VIP tcp 80\nbackend $B1
		rule $VIP tcp 99999\nbackend $B1
		rule $VIP tcp 81\nbackend 192.0.2.300
		rule $VIP tcp 81\nbackend $B1\nbackend $B1
		rule $VIP tcp 81\nbackend $B1 group nowhere
		rule $VIP tcp 81\nbackend $B1 weight 1001
		rule $VIP tcp 81\nfailover-ratio 1.5\nbackend $B1
		rule $VIP tcp 81\ntable-size 1000\nbackend $B1
		rule $VIP tcp 81\nno-such-option 1
	END
	weir save > "$TMP/again"
	check "bad files change nothing" cmp "$TMP/saved" "$TMP/again"
	is "bad files: the generation stays" "$(generation)" "$before"
	refused "a backend of the other family is refused" "*famil*" \
		weir backend add "$WEB" "$(elsewhere)"
	{ cat "$TMP/two"; echo "service x {"; } > "$TMP/bad"
	refused "an unfinished file is refused" "*" weir apply "$TMP/bad"
	check "nothing changed either" prints "$before" generation
}

elsewhere() {		# an address of the other family
	if [ "$F" = 4 ]; then
		echo fd00:2::11
	else
		echo 10.2.0.11
	fi
}

apply() {
	write_files
	under_load
	unchanged
	dry_run
	atomic
	conf < /dev/null
}

lab_up 3 tcp:80 udp:53
for_families apply
finish
