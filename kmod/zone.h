/* SPDX-License-Identifier: GPL-2.0 */
/*
 * weir - which zone a client is in: the longest prefix wins
 *
 * Pure but for memory, which callers bring: compiled in the module and, by
 * selftests/unit, in userspace.
 */
#ifndef WEIR_ZONE_H
#define WEIR_ZONE_H

#include <linux/types.h>
#include <linux/weir.h>

#include "tuple.h"

/* Address of a prefix, IPv4 as ::ffff:a.b.c.d with its length plus 96; as halves in
 * host order, so that they compare as numbers.
 */
struct weir_zone_addr {
	u64	high;
	u64	low;
};

/**
 * struct weir_zone_prefix - a prefix of client addresses
 * @addr: bits behind @plen are 0
 * @plen: 0 to 128
 * @zone: number of its zone, not 0
 */
struct weir_zone_prefix {
	struct weir_zone_addr	addr;
	u8			plen;
	u32			zone;
};

/**
 * struct weir_zone_range - addresses from @first up to the next range
 * @zone: 0 for no zone
 */
struct weir_zone_range {
	struct weir_zone_addr	first;
	u32			zone;
};

/**
 * weir_zone_addr() - an address as zones know it
 * @family: AF_INET or AF_INET6
 * @addr: the address
 *
 * Context: any.
 */
struct weir_zone_addr weir_zone_addr(u8 family, const struct weir_addr *addr);

/**
 * weir_zone_cmp() - order of prefixes: by address, the shorter one first
 * Return: less than, equal to or greater than 0.
 */
int weir_zone_cmp(const struct weir_zone_prefix *a,
		  const struct weir_zone_prefix *b);

/**
 * weir_zone_prefix_ok() - is the length in range, and no bit behind it set?
 */
bool weir_zone_prefix_ok(const struct weir_zone_prefix *prefix);

/**
 * weir_zone_ranges() - from prefixes to ranges that do not overlap
 * @prefixes: ascending by weir_zone_cmp(), none twice
 * @n: how many
 * @ranges: room for 2 * @n + 1, overwritten: ascending, the first one from address 0
 *	on; neighbours differ in their zone
 *
 * Context: process; calls cond_resched().
 * Return: how many ranges; 0 without prefixes, and @ranges is untouched.
 */
u32 weir_zone_ranges(const struct weir_zone_prefix *prefixes, u32 n,
		     struct weir_zone_range *ranges);

/**
 * weir_zone_of() - the zone of an address
 * @ranges: from weir_zone_ranges()
 * @n: how many, 0 if there are no prefixes
 * @addr: the address
 *
 * log2(@n) steps. Context: any.
 * Return: its number, 0 for none.
 */
u32 weir_zone_of(const struct weir_zone_range *ranges, u32 n,
		 const struct weir_zone_addr *addr);

#endif /* WEIR_ZONE_H */
