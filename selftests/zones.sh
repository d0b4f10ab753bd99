#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Zonal affinity (semantics 3): clients of a zone are kept in it, by prefixes of client
# addresses, the longest of which wins; clients of no zone have no zone.
#
#   cli: crafted packets of clients in a, in b, in none ==== lb ==== farm: backends in a and b
#
# timeout: 400
# shellcheck source=wire.sh
. "$(dirname "$0")/wire.sh"

words() {
	check "a zone can be added" weir zone add a 10.1.0.0/16 fd00:1::/64
	check "and get more prefixes" weir zone add a 10.3.0.0/16
	weir zone add b 10.1.2.0/24
	like "save prints them" "$(weir save)" \
		"*zone a 10.1.0.0/16 10.3.0.0/16 fd00:1::/64"$'\n'"zone b 10.1.2.0/24"*
	weir save > "$TMP/saved"
	check "a prefix can be taken out" weir zone del a 10.3.0.0/16
	like "and is gone" "$(weir save)" "*zone a 10.1.0.0/16 fd00:1::/64"$'\n'*
	check "apply sets zones back" weir apply "$TMP/saved"
	weir save > "$TMP/again"
	check "all of them" cmp "$TMP/saved" "$TMP/again"
	refused "a prefix is in one zone only" "*10.1.2.0/24*" weir zone add a 10.1.2.0/24
	refused "a prefix that the zone does not have" "*10.4.0.0/16*" weir zone del a 10.4.0.0/16
	refused "a zone that is not there" "*nowhere*" weir zone del nowhere 10.1.0.0/16
	refused "bits behind the length" "*10.1.2.3/24*10.1.2.0/24*" weir zone add c 10.1.2.3/24
	weir save > "$TMP/again"
	check "what is refused changes nothing" cmp "$TMP/saved" "$TMP/again"
	weir zone del b 10.1.2.0/24
	is "without a prefix a zone is gone" "$(weir save | grep -c "^zone b")" 0
	weir apply - < /dev/null > /dev/null
	is "an empty file removes all" "$(weir save | grep -c "^zone")" 0
}

# 5000 prefixes in one file: 4000 of them single clients, in two zones in turn.
many() {
	"$PYTHON" - > "$TMP/many" <<- 'END'
		clients = [f"10.1.{16 + (n >> 8)}.{n & 255}/32" for n in range(1, 2001)] + \
		    [f"fd00:1:1::{n:x}/128" for n in range(1, 2001)]
		print("zone even", *clients[1::2])
		print("zone odd", *clients[::2])
		print("zone far", *(f"100.64.{n >> 4}.{(n & 15) << 4}/28" for n in range(1000)))
		print("zone all 0.0.0.0/0")
		for family in 4, 6:
		    print(f"service many{family} {{")
		    print("zonal-affinity stay-within-zone")
		    print("rule", "10.9.9.40 any all" if family == 4 else "fd00:9::40 any all")
		    for group, number in ("odd", 1), ("even", 2), ("far", 3):
		        addr = f"10.2.0.{10 + number}" if family == 4 else f"fd00:2::{10 + number}"
		        print(f"group {group} zone {group}\nbackend {addr} group {group}")
		    print("}")
	END
	check "5000 prefixes apply" weir apply "$TMP/many"
	weir save > "$TMP/saved"
	check "what was saved applies" weir apply "$TMP/saved"
	weir save > "$TMP/again"
	check "and is the same" cmp "$TMP/saved" "$TMP/again"
	is "no prefix is lost" "$(awk '/^zone / { n += NF - 2 } END { print n }' "$TMP/saved")" 5001
	crafted zones_many
	check "and all can be removed" weir apply - < /dev/null
}

wire_up
words
for family in 4 6; do
	crafted zones $family
done
many
finish
