// SPDX-License-Identifier: GPL-2.0
/*
 * weir - which zone a client is in: the longest prefix wins
 *
 * Pure: compiled in the module and, by selftests/unit, in userspace.
 *
 * Prefixes either nest or do not touch. So a sweep over them in ascending order
 * opens each one behind those that hold it, and only the innermost of those
 * that are open counts.
 */
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/types.h>

#include "zone.h"

#define PREFIXES_PER_RESCHED	4096

/*
 * The open prefixes are a stack at the far end of the room for ranges, each
 * with its last address in @first. The two ends never meet: there is one range
 * from the beginning on, a prefix adds at most one where it opens and one where
 * it closes, and one that is open has not used the latter.
 */
struct sweep {
	struct weir_zone_range	*ranges;
	u32			n;
	struct weir_zone_range	*innermost;
	struct weir_zone_range	*bottom;	/* no prefix is open there */
};

struct weir_zone_addr weir_zone_addr(u8 family, const struct weir_addr *addr)
{
	if (family == AF_INET)
		return (struct weir_zone_addr) {
			.low = 0xffffULL << 32 | be32_to_cpu(addr->ip),
		};

	return (struct weir_zone_addr) {
		.high = (u64)be32_to_cpu(addr->ip6[0]) << 32 |
			be32_to_cpu(addr->ip6[1]),
		.low = (u64)be32_to_cpu(addr->ip6[2]) << 32 |
		       be32_to_cpu(addr->ip6[3]),
	};
}

static int addr_cmp(const struct weir_zone_addr *a,
		    const struct weir_zone_addr *b)
{
	if (a->high != b->high)
		return a->high < b->high ? -1 : 1;
	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;

	return 0;
}

int weir_zone_cmp(const struct weir_zone_prefix *a,
		  const struct weir_zone_prefix *b)
{
	int order = addr_cmp(&a->addr, &b->addr);

	return order ? order : a->plen - b->plen;
}

/*
 * The bits of a half that a prefix leaves open; @plen counts from that half on
 * and may be before or behind it.
 */
static u64 open_bits(int plen)
{
	if (plen <= 0)
		return ~0ULL;

	return plen < 64 ? ~0ULL >> plen : 0;
}

bool weir_zone_prefix_ok(const struct weir_zone_prefix *prefix)
{
	return prefix->plen <= 128 &&
	       !(prefix->addr.high & open_bits(prefix->plen)) &&
	       !(prefix->addr.low & open_bits(prefix->plen - 64));
}

static struct weir_zone_addr last_of(const struct weir_zone_prefix *prefix)
{
	return (struct weir_zone_addr) {
		.high = prefix->addr.high | open_bits(prefix->plen),
		.low = prefix->addr.low | open_bits(prefix->plen - 64),
	};
}

/*
 * From @first on it is @zone. What was said of the same address before, by a
 * wider prefix or one that closed there, is void.
 */
static void begin_range(struct sweep *s, const struct weir_zone_addr *first,
			u32 zone)
{
	if (s->n && !addr_cmp(&s->ranges[s->n - 1].first, first))
		s->n--;
	if (s->n && s->ranges[s->n - 1].zone == zone)
		return;

	s->ranges[s->n].first = *first;
	s->ranges[s->n].zone = zone;
	s->n++;
}

static void open_prefix(struct sweep *s, const struct weir_zone_prefix *prefix)
{
	s->innermost--;
	s->innermost->first = last_of(prefix);
	s->innermost->zone = prefix->zone;
	begin_range(s, &prefix->addr, prefix->zone);
}

/* Close what ends before @addr: so there is an address behind it. */
static void close_before(struct sweep *s, const struct weir_zone_addr *addr)
{
	while (s->innermost != s->bottom) {
		struct weir_zone_addr next = s->innermost->first;

		if (addr_cmp(&next, addr) >= 0)
			return;

		next.low++;
		if (!next.low)
			next.high++;
		s->innermost++;
		begin_range(s, &next,
			    s->innermost != s->bottom ? s->innermost->zone : 0);
	}
}

u32 weir_zone_ranges(const struct weir_zone_prefix *prefixes, u32 n,
		     struct weir_zone_range *ranges)
{
	static const struct weir_zone_addr lowest;
	static const struct weir_zone_addr highest = { ~0ULL, ~0ULL };
	struct sweep s = { .ranges = ranges };
	u32 i;

	if (!n)
		return 0;

	s.bottom = ranges + 2 * n + 1;
	s.innermost = s.bottom;

	begin_range(&s, &lowest, 0);
	for (i = 0; i < n; i++) {
		if (i % PREFIXES_PER_RESCHED == PREFIXES_PER_RESCHED - 1)
			cond_resched();

		close_before(&s, &prefixes[i].addr);
		open_prefix(&s, &prefixes[i]);
	}
	/* What reaches to the highest address stays open: nothing is behind. */
	close_before(&s, &highest);

	return s.n;
}

u32 weir_zone_of(const struct weir_zone_range *ranges, u32 n,
		 const struct weir_zone_addr *addr)
{
	u32 low = 0, high = n;

	if (!n)
		return 0;

	/* It begins at or before @addr with @low, behind it with @high. */
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (addr_cmp(&ranges[middle].first, addr) <= 0)
			low = middle;
		else
			high = middle;
	}

	return ranges[low].zone;
}
