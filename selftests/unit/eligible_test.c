// SPDX-License-Identifier: GPL-2.0
/*
 * The eligible set: the worked numbers of the reference, every cell of its tables
 * of zones, every rule of its weights, and the exact comparisons. The models are
 * in eligible_property_test.c.
 */
#include <linux/bitops.h>

#include "unit.h"
#include "../../kmod/eligible.h"

#define MANY	10000

/* A set of up to eight backends, bit i for backend i. */
typedef unsigned int mask;

/* Backends are primaries first, the healthy ones of each role first. */
struct vector {
	const char	*rule;
	u32		primary;
	u32		primary_healthy;
	u32		failover;
	u32		failover_healthy;
	u32		ratio;
	int		drop;		/* -1: whether or not */
	u8		reason;
	mask		eligible;
};

#define ANY	(-1)
#define ANY_RATIO	UINT32_MAX

/* The role in use after each reason, by the role before. */
static const u8 roles[__WEIR_ELIGIBLE_MAX][__WEIR_ROLE_MAX] = {
	[WEIR_ELIGIBLE_NO_BACKENDS] = {
		WEIR_ROLE_ALL, WEIR_ROLE_ALL, WEIR_ROLE_ALL },
	[WEIR_ELIGIBLE_HEALTHY] = {
		WEIR_ROLE_ALL, WEIR_ROLE_ALL, WEIR_ROLE_ALL },
	[WEIR_ELIGIBLE_LAST_RESORT] = {
		WEIR_ROLE_ALL, WEIR_ROLE_ALL, WEIR_ROLE_ALL },
	[WEIR_ELIGIBLE_PRIMARY] = {
		WEIR_ROLE_PRIMARY, WEIR_ROLE_PRIMARY, WEIR_ROLE_PRIMARY },
	[WEIR_ELIGIBLE_FAILOVER] = {
		WEIR_ROLE_FAILOVER, WEIR_ROLE_FAILOVER, WEIR_ROLE_FAILOVER },
	[WEIR_ELIGIBLE_LAST_PRIMARIES] = {
		WEIR_ROLE_PRIMARY, WEIR_ROLE_PRIMARY, WEIR_ROLE_PRIMARY },
	[WEIR_ELIGIBLE_DROP] = {
		WEIR_ROLE_PRIMARY, WEIR_ROLE_PRIMARY, WEIR_ROLE_FAILOVER },
};

static const u32 ratios[] = {
	0, 1, 333333, 500000, 666666, 670000, 750000, 1000000,
};

static const struct vector vectors[] = {
	{ "3 of 4 is 0.75", 4, 3, 2, 2, 750000, ANY,
	  WEIR_ELIGIBLE_PRIMARY, 0x07 },
	{ "2 of 4 is below 0.75", 4, 2, 2, 2, 750000, ANY,
	  WEIR_ELIGIBLE_FAILOVER, 0x30 },
	{ "no healthy failover beats the ratio", 4, 2, 2, 0, 750000, ANY,
	  WEIR_ELIGIBLE_PRIMARY, 0x03 },
	{ "ratio 0, one healthy primary", 4, 1, 2, 2, 0, ANY,
	  WEIR_ELIGIBLE_PRIMARY, 0x01 },
	{ "ratio 0, no healthy primary", 4, 0, 2, 1, 0, ANY,
	  WEIR_ELIGIBLE_FAILOVER, 0x10 },
	{ "ratio 1, all primaries", 4, 4, 2, 2, 1000000, ANY,
	  WEIR_ELIGIBLE_PRIMARY, 0x0f },
	{ "ratio 1, one primary down", 4, 3, 2, 2, 1000000, ANY,
	  WEIR_ELIGIBLE_FAILOVER, 0x30 },
	{ "2 of 3 is below 0.67", 3, 2, 1, 1, 670000, ANY,
	  WEIR_ELIGIBLE_FAILOVER, 0x08 },
	{ "nobody healthy", 4, 0, 2, 0, ANY_RATIO, false,
	  WEIR_ELIGIBLE_LAST_PRIMARIES, 0x0f },
	{ "nobody healthy, drop", 4, 0, 2, 0, ANY_RATIO, true,
	  WEIR_ELIGIBLE_DROP, 0x00 },
	{ "no failover member: drop means nothing", 4, 0, 0, 0, ANY_RATIO, true,
	  WEIR_ELIGIBLE_LAST_RESORT, 0x0f },
	{ "no primary member, one healthy", 0, 0, 2, 1, ANY_RATIO, true,
	  WEIR_ELIGIBLE_HEALTHY, 0x01 },
	{ "no primary member, nobody healthy", 0, 0, 2, 0, ANY_RATIO, true,
	  WEIR_ELIGIBLE_LAST_RESORT, 0x03 },

	{ "no backends", 0, 0, 0, 0, ANY_RATIO, ANY,
	  WEIR_ELIGIBLE_NO_BACKENDS, 0x00 },
	{ "no failover member: the ratio means nothing", 4, 1, 0, 0, ANY_RATIO,
	  ANY, WEIR_ELIGIBLE_HEALTHY, 0x01 },
	{ "2 of 3 is above 0.666666", 3, 2, 1, 1, 666666, ANY,
	  WEIR_ELIGIBLE_PRIMARY, 0x03 },
	{ "2 of 3 is below 0.666667", 3, 2, 1, 1, 666667, ANY,
	  WEIR_ELIGIBLE_FAILOVER, 0x08 },
	{ "1 of 3 is above 0.333333", 3, 1, 1, 1, 333333, ANY,
	  WEIR_ELIGIBLE_PRIMARY, 0x01 },
	{ "1 of 3 is below 0.333334", 3, 1, 1, 1, 333334, ANY,
	  WEIR_ELIGIBLE_FAILOVER, 0x08 },
	{ "3 of 4 is below 0.750001", 4, 3, 2, 2, 750001, ANY,
	  WEIR_ELIGIBLE_FAILOVER, 0x30 },
};

/* Run it on a bitmap with a word behind it that must not be touched, from
 * contents that must not matter. The role before matters to the role alone.
 */
static struct weir_role_set choose(const struct weir_policy *p,
				   const struct weir_candidate *c, u32 n,
				   mask *eligible)
{
	struct weir_role_set set = {};
	unsigned long map[2];
	u8 last;

	for (last = 0; last < __WEIR_ROLE_MAX; last++) {
		map[0] = ~0UL;
		map[1] = 0x5a5aUL;
		set = weir_eligible_choose(p, c, n, last, n ? map : map + 1);
		assert_true(map[1] == 0x5a5aUL);
		assert_in_range(set.reason, 0, __WEIR_ELIGIBLE_MAX - 1);
		assert_int_equal(set.role, roles[set.reason][last]);
		assert_true(!last || *eligible == (n ? map[0] : 0));
		*eligible = n ? map[0] : 0;
	}

	return set;
}

static bool tally_is(const struct weir_tally *tally, u32 all, u32 healthy)
{
	return tally->all == all && tally->healthy == healthy;
}

static void check_vector(const struct vector *v, u32 ratio, bool drop)
{
	struct weir_policy p = {
		.failover_ratio = ratio,
		.drop_if_unhealthy = drop,
	};
	struct weir_candidate c[8] = {};
	struct weir_role_set set;
	mask eligible;
	u32 i;

	for (i = 0; i < v->primary; i++)
		c[i].healthy = i < v->primary_healthy;
	for (i = 0; i < v->failover; i++) {
		c[v->primary + i].healthy = i < v->failover_healthy;
		c[v->primary + i].failover = true;
	}

	set = choose(&p, c, v->primary + v->failover, &eligible);
	if (set.reason != v->reason || eligible != v->eligible ||
	    set.n != (u32)__builtin_popcount(v->eligible) ||
	    !tally_is(&set.primary, v->primary, v->primary_healthy) ||
	    !tally_is(&set.failover, v->failover, v->failover_healthy))
		fail_msg("%s (ratio %u, drop %d): reason %u, set %#x of %u",
			 v->rule, ratio, drop, set.reason, eligible, set.n);
}

static void set_is_that_of_the_worked_numbers(void **state)
{
	unsigned int i, r;
	int drop;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		for (drop = 0; drop < 2; drop++) {
			const struct vector *v = &vectors[i];

			if (v->drop != ANY && v->drop != drop)
				continue;
			if (v->ratio != ANY_RATIO) {
				check_vector(v, v->ratio, drop);
				continue;
			}
			for (r = 0; r < ARRAY_SIZE(ratios); r++)
				check_vector(v, ratios[r], drop);
		}
}

static u32 count(mask m)
{
	return __builtin_popcount(m);
}

static struct weir_candidate many[MANY];
static unsigned long many_map[BITS_TO_LONGS(MANY) + 1];

/* Products here are beyond 32 bits: @healthy of 8000 primaries at 0.75, with
 * 2000 healthy failovers among them.
 */
static struct weir_role_set choose_many(u32 healthy)
{
	struct weir_policy p = { .failover_ratio = 750000 };
	struct weir_role_set set;
	u32 i, primaries = 0;

	for (i = 0; i < MANY; i++) {
		many[i].failover = i % 5 == 4;
		many[i].healthy = many[i].failover || primaries < healthy;
		primaries += !many[i].failover;
	}
	memset(many_map, 0xff, sizeof(many_map));
	set = weir_eligible_choose(&p, many, MANY, WEIR_ROLE_ALL, many_map);
	assert_true(many_map[BITS_TO_LONGS(MANY)] == ~0UL);

	return set;
}

static void check_many(u32 healthy, u8 reason, u32 n)
{
	struct weir_role_set set = choose_many(healthy);
	bool failover = reason == WEIR_ELIGIBLE_FAILOVER;
	u32 i;

	assert_int_equal(set.reason, reason);
	assert_int_equal(set.n, n);
	for (i = 0; i < MANY; i++)
		assert_int_equal(test_bit(i, many_map),
				 many[i].healthy && many[i].failover == failover);
}

static void set_is_exact_with_many_backends(void **state)
{
	(void)state;
	check_many(8000, WEIR_ELIGIBLE_PRIMARY, 8000);
	check_many(6000, WEIR_ELIGIBLE_PRIMARY, 6000);
	check_many(5999, WEIR_ELIGIBLE_FAILOVER, 2000);
	check_many(4000, WEIR_ELIGIBLE_FAILOVER, 2000);
	check_many(0, WEIR_ELIGIBLE_FAILOVER, 2000);
}

/*
 * Pools from here on are words, one for each backend: role p or f, zone a to c or
 * "." for none, health + or -, and ~ if it drains. A set is a mark for each: x in,
 * . out.
 */
static u32 parse(const char *pool, struct weir_candidate *c)
{
	u32 n = 0;

	while (*pool) {
		struct weir_candidate *one = &c[n++];

		one->failover = *pool++ == 'f';
		one->zone = *pool == '.' ? 0 : *pool - 'a' + 1;
		pool++;
		one->healthy = *pool++ == '+';
		one->draining = *pool == '~';
		pool += one->draining;
		pool += *pool == ' ';
	}

	return n;
}

static mask parse_set(const char *marks)
{
	mask m = 0;
	u32 i;

	for (i = 0; marks[i]; i++)
		if (marks[i] == 'x')
			m |= 1U << i;

	return m;
}

struct drain_row {
	const char		*rule;
	const char		*pool;
	u32			ratio;
	bool			drop;
	u8			reason;
	const char		*set;
	struct weir_tally	primary;
	struct weir_tally	failover;
};

/* Decision 4. */
static const struct drain_row drain_rows[] = {
	{ "never chosen, though healthy", "p.+ p.+~ p.+", 0, false,
	  WEIR_ELIGIBLE_HEALTHY, "x.x", { 2, 2 }, { 0, 0 } },
	{ "nor as a last resort", "p.- p.-~ p.+~", 0, true,
	  WEIR_ELIGIBLE_LAST_RESORT, "x..", { 1, 0 }, { 0, 0 } },
	{ "nor as one of the last primaries", "p.- p.-~ p.+~ f.-", 0, false,
	  WEIR_ELIGIBLE_LAST_PRIMARIES, "x...", { 1, 0 }, { 1, 0 } },
	{ "its health prevents no drop", "p.- p.+~ f.- f.+~", 0, true,
	  WEIR_ELIGIBLE_DROP, "....", { 1, 0 }, { 1, 0 } },
	{ "all drain: nothing is configured", "p.+~ f.+~ p.-~", 0, true,
	  WEIR_ELIGIBLE_NO_BACKENDS, "...", { 0, 0 }, { 0, 0 } },
	{ "a failover that drains does not turn failover on",
	  "p.- p.- f.+~", 0, true,
	  WEIR_ELIGIBLE_LAST_RESORT, "xx.", { 2, 0 }, { 0, 0 } },
	{ "a primary that drains does not turn failover on",
	  "p.+~ f.- f.+", 1000000, true,
	  WEIR_ELIGIBLE_HEALTHY, "..x", { 0, 0 }, { 2, 1 } },
	{ "unhealthy, not below the ratio's bar", "p.+ p.+ p.+ p.-~ f.+",
	  1000000, false,
	  WEIR_ELIGIBLE_PRIMARY, "xxx..", { 3, 3 }, { 1, 1 } },
	{ "healthy, no help to the ratio", "p.+ p.+~ p.+~ p.- f.+",
	  750000, false,
	  WEIR_ELIGIBLE_FAILOVER, "....x", { 2, 1 }, { 1, 1 } },
	{ "the only healthy failover drains", "p.+ p.- p.- f.- f.+~",
	  750000, false,
	  WEIR_ELIGIBLE_PRIMARY, "x....", { 3, 1 }, { 1, 0 } },
	{ "the only healthy primary drains", "p.- p.+~ f.+", 0, false,
	  WEIR_ELIGIBLE_FAILOVER, "..x", { 1, 0 }, { 1, 1 } },
};

static void draining_counts_nowhere(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(drain_rows); i++) {
		const struct drain_row *r = &drain_rows[i];
		struct weir_candidate c[8] = {};
		struct weir_policy p = {
			.failover_ratio = r->ratio,
			.drop_if_unhealthy = r->drop,
		};
		struct weir_role_set set;
		u32 n = parse(r->pool, c);
		mask got;

		set = choose(&p, c, n, &got);
		if (set.reason != r->reason || got != parse_set(r->set) ||
		    set.n != count(got) ||
		    !tally_is(&set.primary, r->primary.all, r->primary.healthy) ||
		    !tally_is(&set.failover, r->failover.all, r->failover.healthy))
			fail_msg("%s: reason %u, set %#x (%u)", r->rule,
				 set.reason, got, set.n);
	}
}

struct zone_row {
	const char	*rule;
	const char	*pool;
	u32		ratio;		/* of failover */
	bool		drop;
	int		spill;		/* the ratio, or STAY */
	char		zone;
	u8		eligible;	/* the cell of the table */
	u8		reason;
	const char	*set;
	struct weir_tally in_zone;
};

#define STAY	(-1)
#define SPILL_0	0

static const struct zone_row zone_rows[] = {
	/* 3.2: the match, by the role in use and never by health */
	{ "no match: nobody there", "pb+ pc+", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_NO_MATCH, "xx", { 0, 0 } },
	{ "no match: spill the same", "pb+ pc+", 0, false, SPILL_0, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_NO_MATCH, "xx", { 0, 0 } },
	{ "no match: a group without zone is in none", "p.+ pb+", 0, false,
	  STAY, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_NO_MATCH, "xx", { 0, 0 } },
	{ "no match: failovers there, primaries in use", "pb+ fa+", 0, false,
	  STAY, 'a',
	  WEIR_ELIGIBLE_PRIMARY, WEIR_ZONAL_NO_MATCH, "x.", { 0, 0 } },
	{ "no match: healthy primaries there, failovers in use",
	  "pa+ pb- fb+", 1000000, false, STAY, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_NO_MATCH, "..x", { 0, 0 } },
	{ "no match: failovers there, last primaries", "pb- fa-", 0, false,
	  STAY, 'a',
	  WEIR_ELIGIBLE_LAST_PRIMARIES, WEIR_ZONAL_NO_MATCH, "x.", { 0, 0 } },
	{ "no match: only one that drains there", "pa+~ pb+", 0, false,
	  STAY, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_NO_MATCH, ".x", { 0, 0 } },
	{ "match: failovers there while they are in use",
	  "pb- fa+ fb+", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_WITHIN, ".x.", { 1, 1 } },
	{ "match: failover off, so a failover member matches",
	  "fa+ fb+", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_WITHIN, "x.", { 1, 1 } },

	/* 3.3: stay */
	{ "3.3 all healthy, some there", "pa+ pa- pb+", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_WITHIN, "x..", { 2, 1 } },
	{ "3.3 all healthy, none there", "pa- pa- pb+ pb-", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_UNHEALTHY, "xx..", { 2, 0 } },
	{ "3.3 all", "pa- pb- pa-~ p.-", 0, true, STAY, 'a',
	  WEIR_ELIGIBLE_LAST_RESORT, WEIR_ZONAL_WITHIN, "x...", { 1, 0 } },
	{ "3.3 healthy primaries, some there", "pa+ pa- pb+ fa+", 0, false,
	  STAY, 'a',
	  WEIR_ELIGIBLE_PRIMARY, WEIR_ZONAL_WITHIN, "x...", { 2, 1 } },
	{ "3.3 healthy primaries, none there: not the failover",
	  "pa- pa- pb+ fa+ fa-", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_PRIMARY, WEIR_ZONAL_UNHEALTHY, "xx...", { 2, 0 } },
	{ "3.3 healthy failovers, some there",
	  "pa- pb- fa+ fa- fb+", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_WITHIN, "..x..", { 2, 1 } },
	{ "3.3 healthy failovers, none there: not the healthy primary",
	  "pa+ pb- fa- fb+ fa-~", 1000000, false, STAY, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_UNHEALTHY, "..x..", { 1, 0 } },
	{ "3.3 all primaries", "pa- pb- fa- pa-", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_LAST_PRIMARIES, WEIR_ZONAL_WITHIN, "x..x", { 2, 0 } },
	{ "3.3 one that drains is no replacement", "pa- pa-~ pb+", 0, false,
	  STAY, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_UNHEALTHY, "x..", { 1, 0 } },

	/* 3.4: spill, ratio 0 */
	{ "3.4 all healthy, one there is enough", "pa+ pa- pa- pb+", 0, false,
	  SPILL_0, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_WITHIN, "x...", { 3, 1 } },
	{ "3.4 all healthy, none there", "pa- pa- pb+ pc+", 0, false,
	  SPILL_0, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_SPILL, "..xx", { 2, 0 } },
	{ "3.4 healthy primaries, some there", "pa+ pa- pb+ fa+", 0, false,
	  SPILL_0, 'a',
	  WEIR_ELIGIBLE_PRIMARY, WEIR_ZONAL_WITHIN, "x...", { 2, 1 } },
	{ "3.4 healthy primaries, none there", "pa- pb+ fa+", 0, false,
	  SPILL_0, 'a',
	  WEIR_ELIGIBLE_PRIMARY, WEIR_ZONAL_SPILL, ".x.", { 1, 0 } },
	{ "3.4 healthy failovers, some there", "pa- fa+ fb+ fa-", 0, false,
	  SPILL_0, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_WITHIN, ".x..", { 2, 1 } },
	{ "3.4 healthy failovers, none there", "pa+ pb- fa- fb+", 1000000,
	  false, SPILL_0, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_SPILL, "...x", { 1, 0 } },
	{ "3.4 all", "pa- pb-", 0, false, SPILL_0, 'a',
	  WEIR_ELIGIBLE_LAST_RESORT, WEIR_ZONAL_NOBODY, "xx", { 1, 0 } },
	{ "3.4 all primaries", "pa- pb- fa-", 0, false, SPILL_0, 'a',
	  WEIR_ELIGIBLE_LAST_PRIMARIES, WEIR_ZONAL_NOBODY, "xx.", { 1, 0 } },

	/* 3.5: spill, ratio above 0 */
	{ "3.5 all healthy, 3 of 4 is 0.75", "pa+ pa+ pa+ pa- pb+", 0, false,
	  750000, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_WITHIN, "xxx..", { 4, 3 } },
	{ "3.5 all healthy, 3 of 4 is below 0.750001", "pa+ pa+ pa+ pa- pb+",
	  0, false, 750001, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_SPILL, "xxx.x", { 4, 3 } },
	{ "3.5 all healthy, none there, least ratio", "pa- pb+", 0, false,
	  1, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_SPILL, ".x", { 1, 0 } },
	{ "3.5 healthy primaries, 2 of 3 is above 0.666666",
	  "pa+ pa+ pa- pb+ fa+", 0, false, 666666, 'a',
	  WEIR_ELIGIBLE_PRIMARY, WEIR_ZONAL_WITHIN, "xx...", { 3, 2 } },
	{ "3.5 healthy primaries, 2 of 3 is below 0.67",
	  "pa+ pa+ pa- pb+ fa+", 0, false, 670000, 'a',
	  WEIR_ELIGIBLE_PRIMARY, WEIR_ZONAL_SPILL, "xx.x.", { 3, 2 } },
	{ "3.5 healthy failovers, enough", "pa- pa- fa+ fa- fb+", 0, false,
	  500000, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_WITHIN, "..x..", { 2, 1 } },
	{ "3.5 healthy failovers, too few: q is of failovers alone",
	  "pa+ pb- pb- fa+ fa- fb+", 1000000, false, 500001, 'a',
	  WEIR_ELIGIBLE_FAILOVER, WEIR_ZONAL_SPILL, "...x.x", { 2, 1 } },
	{ "3.5 all", "pa- pb-", 0, false, 500000, 'a',
	  WEIR_ELIGIBLE_LAST_RESORT, WEIR_ZONAL_NOBODY, "xx", { 1, 0 } },
	{ "3.5 all primaries", "pa- pb- fa-", 0, false, 500000, 'a',
	  WEIR_ELIGIBLE_LAST_PRIMARIES, WEIR_ZONAL_NOBODY, "xx.", { 1, 0 } },
	{ "3.5 ratio 1, all there", "pa+ pa+ pb-", 0, false, 1000000, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_WITHIN, "xx.", { 2, 2 } },
	{ "3.5 ratio 1, one down", "pa+ pa- pb+", 0, false, 1000000, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_SPILL, "x.x", { 2, 1 } },
	{ "3.5 one that drains is not in q", "pa+ pa-~ pb+", 0, false,
	  1000000, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_WITHIN, "x..", { 1, 1 } },
	{ "3.5 spill while nobody else is healthy", "pa+ pa- pb-", 0, false,
	  1000000, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_SPILL, "x..", { 2, 1 } },

	/* 3.6: the documented example */
	{ "3.6 zone 1", "pa+ pa+ pa+ pa+ pa+ pb+ pb+ pb+ pb- pb-", 0, false,
	  800000, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_WITHIN, "xxxxx.....", { 5, 5 } },
	{ "3.6 zone 2", "pa+ pa+ pa+ pa+ pa+ pb+ pb+ pb+ pb- pb-", 0, false,
	  800000, 'b',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_SPILL, "xxxxxxxx..", { 5, 3 } },
	{ "3.6 ratio 0, nobody healthy there", "pa- pa- pb+ pc+ pc-", 0, false,
	  SPILL_0, 'a',
	  WEIR_ELIGIBLE_HEALTHY, WEIR_ZONAL_SPILL, "..xx.", { 2, 0 } },

	/* trap 25: nothing to narrow */
	{ "drop, stay", "pa- pb- fa- p.-", 0, true, STAY, 'a',
	  WEIR_ELIGIBLE_DROP, WEIR_ZONAL_NO_MATCH, "....", { 1, 0 } },
	{ "drop", "pa- pb- fb-", 0, true, 500000, 'a',
	  WEIR_ELIGIBLE_DROP, WEIR_ZONAL_NO_MATCH, "...", { 1, 0 } },
	{ "drop, ratio 0", "pa- pb- fb-", 0, true, SPILL_0, 'a',
	  WEIR_ELIGIBLE_DROP, WEIR_ZONAL_NO_MATCH, "...", { 1, 0 } },
	{ "no backends", "pa+~", 0, false, STAY, 'a',
	  WEIR_ELIGIBLE_NO_BACKENDS, WEIR_ZONAL_NO_MATCH, ".", { 0, 0 } },
	{ "nothing at all", "", 0, false, SPILL_0, 'a',
	  WEIR_ELIGIBLE_NO_BACKENDS, WEIR_ZONAL_NO_MATCH, "", { 0, 0 } },
};

static void check_zone(const struct zone_row *r, u32 spill)
{
	unsigned long map = 0, in_zone[2] = { ~0UL, 0x5a5aUL };
	struct weir_candidate c[10] = {};
	struct weir_policy p = {
		.failover_ratio = r->ratio,
		.drop_if_unhealthy = r->drop,
		.zonal_affinity = r->spill == STAY ?
				  WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE :
				  WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE,
		.spill_ratio = spill,
	};
	u32 n = parse(r->pool, c);
	struct weir_role_set set;
	struct weir_zone_set zone;

	set = weir_eligible_choose(&p, c, n, WEIR_ROLE_ALL, &map);
	if (set.reason != r->eligible)
		fail_msg("%s: eligible for %u", r->rule, set.reason);
	zone = weir_eligible_zone(&p, &set, c, n, &map, r->zone - 'a' + 1,
				  n ? in_zone : in_zone + 1);
	assert_true(in_zone[1] == 0x5a5aUL);
	if (!n)
		in_zone[0] = 0;
	if (zone.reason != r->reason || in_zone[0] != parse_set(r->set) ||
	    zone.n != count(in_zone[0]) ||
	    !tally_is(&zone.in_zone, r->in_zone.all, r->in_zone.healthy))
		fail_msg("%s (spill %u): reason %u, set %#lx (%u), %u of %u there",
			 r->rule, spill, zone.reason, in_zone[0], zone.n,
			 zone.in_zone.healthy, zone.in_zone.all);
}

/* To stay, the spill ratio means nothing. */
static void zone_is_that_of_the_tables(void **state)
{
	unsigned int i, s;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(zone_rows); i++) {
		if (zone_rows[i].spill != STAY) {
			check_zone(&zone_rows[i], zone_rows[i].spill);
			continue;
		}
		for (s = 0; s < ARRAY_SIZE(ratios); s++)
			check_zone(&zone_rows[i], ratios[s]);
	}
}

/* Three of four backends are in a zone whose number differs from the others' in
 * the highest bit alone; of these 7500, @healthy are.
 */
static void check_many_there(u32 healthy, u32 spill, u8 reason)
{
	static unsigned long in_zone[BITS_TO_LONGS(MANY) + 1];
	struct weir_policy p = {
		.zonal_affinity = WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE,
		.spill_ratio = spill,
	};
	u32 i, there = 0, zone = 0x80000001;
	struct weir_role_set set;
	struct weir_zone_set got;

	memset(many, 0, sizeof(many));
	for (i = 0; i < MANY; i++) {
		many[i].zone = i % 4 ? zone : 1;
		many[i].healthy = !(i % 4) || there < healthy;
		there += i % 4 != 0;
	}
	memset(in_zone, 0xff, sizeof(in_zone));
	set = weir_eligible_choose(&p, many, MANY, WEIR_ROLE_ALL, many_map);
	got = weir_eligible_zone(&p, &set, many, MANY, many_map, zone, in_zone);

	assert_true(in_zone[BITS_TO_LONGS(MANY)] == ~0UL);
	assert_int_equal(got.reason, reason);
	assert_true(tally_is(&got.in_zone, there, healthy));
	assert_int_equal(got.n, healthy + (reason == WEIR_ZONAL_SPILL ?
					   MANY - there : 0));
	for (i = 0; i < MANY; i++)
		assert_int_equal(test_bit(i, in_zone), many[i].healthy &&
				 (reason == WEIR_ZONAL_SPILL || i % 4));
}

static void zone_is_exact_with_many_backends(void **state)
{
	(void)state;
	check_many_there(7500, 1000000, WEIR_ZONAL_WITHIN);
	check_many_there(7499, 1000000, WEIR_ZONAL_SPILL);
	check_many_there(6000, 800000, WEIR_ZONAL_WITHIN);
	check_many_there(5999, 800000, WEIR_ZONAL_SPILL);
	check_many_there(4000, 800000, WEIR_ZONAL_SPILL);
	check_many_there(5000, 666666, WEIR_ZONAL_WITHIN);
	check_many_there(5000, 666667, WEIR_ZONAL_SPILL);
	check_many_there(1, 0, WEIR_ZONAL_WITHIN);
	check_many_there(0, 0, WEIR_ZONAL_SPILL);
}

enum {
	NONE = WEIR_WEIGHT_STATE_NONE,
	VALID = WEIR_WEIGHT_STATE_VALID,
	MISSING = WEIR_WEIGHT_STATE_MISSING,
	INVALID = WEIR_WEIGHT_STATE_INVALID,
	AWAY = WEIR_WEIGHT_STATE_UNAVAILABLE,
};

/* @who: x eligible, . not, ~ draining. */
struct weight_row {
	const char		*rule;
	bool			weighted;
	bool			reports;
	const char		*who;
	struct weir_weight	w[3];
	u8			kind;
	u16			effective[3];
};

static const struct weight_row weight_rows[] = {
	{ "no weighted kind: equal", false, false, "xxx",
	  { { 5, 0, false, NONE }, { 0, 0, false, NONE }, { 1000, 0, false, NONE } },
	  WEIR_WEIGHTING_OFF, { 1, 1, 1 } },
	{ "no weighted kind: reports mean nothing", false, true, "x.x",
	  { { 5, 9, true, VALID }, { 7, 0, false, MISSING }, { 1, 0, true, INVALID } },
	  WEIR_WEIGHTING_OFF, { 1, 0, 1 } },
	{ "the operator's", true, false, "xxx",
	  { { 5, 0, false, NONE }, { 1, 0, false, NONE }, { 1000, 0, false, NONE } },
	  WEIR_WEIGHTING_ON, { 5, 1, 1000 } },
	{ "the operator's, whatever is reported", true, false, "xxx",
	  { { 5, 9, true, VALID }, { 7, 0, false, MISSING }, { 2, 4, true, INVALID } },
	  WEIR_WEIGHTING_ON, { 5, 7, 2 } },
	{ "only the eligible ones have one", true, false, "x.~",
	  { { 5, 0, false, NONE }, { 6, 0, false, NONE }, { 7, 0, false, NONE } },
	  WEIR_WEIGHTING_ON, { 5, 0, 0 } },
	{ "the checker's", true, true, "xxx",
	  { { 5, 9, true, VALID }, { 7, 1000, true, VALID }, { 0, 1, true, VALID } },
	  WEIR_WEIGHTING_ON, { 9, 1000, 1 } },
	{ "no probe answered: the last valid one", true, true, "xxx",
	  { { 5, 9, true, VALID }, { 7, 3, true, AWAY }, { 2, 0, true, AWAY } },
	  WEIR_WEIGHTING_ON, { 9, 3, 0 } },
	{ "no probe answered, none before: the operator's", true, true, "xxx",
	  { { 5, 9, true, VALID }, { 7, 0, false, AWAY }, { 0, 0, false, AWAY } },
	  WEIR_WEIGHTING_ON, { 9, 7, 0 } },
	{ "no report yet: the operator's", true, true, "xxx",
	  { { 5, 9, true, VALID }, { 7, 0, false, NONE }, { 2, 0, false, NONE } },
	  WEIR_WEIGHTING_ON, { 9, 7, 2 } },
	{ "no report from this checker: the last valid one", true, true, "xxx",
	  { { 5, 9, true, VALID }, { 7, 3, true, NONE }, { 2, 0, true, NONE } },
	  WEIR_WEIGHTING_ON, { 9, 3, 0 } },
	{ "one is missing: all equal", true, true, "xxx",
	  { { 5, 9, true, VALID }, { 7, 3, true, MISSING }, { 2, 8, true, VALID } },
	  WEIR_WEIGHTING_REPORTS, { 1, 1, 1 } },
	{ "one is invalid: all equal", true, true, "xxx",
	  { { 5, 9, true, VALID }, { 7, 3, true, VALID }, { 2, 8, true, INVALID } },
	  WEIR_WEIGHTING_REPORTS, { 1, 1, 1 } },
	{ "missing, of one that is not eligible", true, true, "x.x",
	  { { 5, 9, true, VALID }, { 7, 0, false, MISSING }, { 2, 8, true, VALID } },
	  WEIR_WEIGHTING_REPORTS, { 1, 0, 1 } },
	{ "invalid, of one that is not eligible", true, true, ".xx",
	  { { 5, 0, false, INVALID }, { 7, 3, true, VALID }, { 2, 8, true, VALID } },
	  WEIR_WEIGHTING_REPORTS, { 0, 1, 1 } },
	{ "missing or invalid, of those that drain", true, true, "~x~",
	  { { 5, 0, false, MISSING }, { 7, 3, true, VALID }, { 2, 8, true, INVALID } },
	  WEIR_WEIGHTING_ON, { 0, 3, 0 } },
	{ "one is 0: no new flows", true, true, "xxx",
	  { { 5, 0, true, VALID }, { 7, 3, true, VALID }, { 2, 0, true, VALID } },
	  WEIR_WEIGHTING_ON, { 0, 3, 0 } },
	{ "one of the operator's is 0", true, false, "xxx",
	  { { 0, 9, true, VALID }, { 7, 0, false, NONE }, { 1, 0, false, NONE } },
	  WEIR_WEIGHTING_ON, { 0, 7, 1 } },
	{ "all are 0: equal", true, true, "xxx",
	  { { 5, 0, true, VALID }, { 7, 0, true, AWAY }, { 0, 0, false, NONE } },
	  WEIR_WEIGHTING_ZERO, { 1, 1, 1 } },
	{ "all of the operator's are 0", true, false, "xxx",
	  { { 0, 9, true, VALID }, { 0, 0, false, NONE }, { 0, 8, true, AWAY } },
	  WEIR_WEIGHTING_ZERO, { 1, 1, 1 } },
	{ "all eligible ones are 0, others are not", true, false, "x.~",
	  { { 0, 0, false, NONE }, { 9, 0, false, NONE }, { 9, 0, false, NONE } },
	  WEIR_WEIGHTING_ZERO, { 1, 0, 0 } },
	{ "all are 0 and one is missing", true, true, "xx.",
	  { { 0, 0, true, VALID }, { 0, 0, true, VALID }, { 0, 0, true, MISSING } },
	  WEIR_WEIGHTING_REPORTS, { 1, 1, 0 } },
	{ "nobody is eligible: no fault of weights", true, false, ".~.",
	  { { 0, 0, false, NONE }, { 0, 0, false, NONE }, { 3, 0, false, NONE } },
	  WEIR_WEIGHTING_ON, { 0, 0, 0 } },
};

static void check_weights(const struct weight_row *r)
{
	u16 effective[4] = { 0xdead, 0xdead, 0xdead, 0xbeef };
	struct weir_candidate c[3] = {};
	unsigned long map = parse_set(r->who);
	u32 i;
	u8 kind;

	for (i = 0; i < 3; i++)
		c[i].draining = r->who[i] == '~';
	kind = weir_weights(r->weighted, r->reports, r->w, c, 3, &map,
			    effective);
	assert_int_equal(effective[3], 0xbeef);
	if (kind != r->kind ||
	    memcmp(effective, r->effective, sizeof(r->effective)))
		fail_msg("%s: %u, weights %u %u %u", r->rule, kind,
			 effective[0], effective[1], effective[2]);
}

static void weights_are_those_of_the_rules(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(weight_rows); i++)
		check_weights(&weight_rows[i]);
}

/* One weight, or one spoilt report, at the very end of many. */
static void weights_are_those_with_many_backends(void **state)
{
	static struct weir_weight w[MANY];
	static u16 effective[MANY];
	u32 i;

	(void)state;
	memset(many, 0, sizeof(many));
	memset(many_map, 0xff, sizeof(many_map));
	assert_int_equal(weir_weights(true, true, w, many, MANY, many_map,
				      effective), WEIR_WEIGHTING_ZERO);
	for (i = 0; i < MANY; i++)
		assert_int_equal(effective[i], 1);

	w[MANY - 1].configured = WEIR_WEIGHT_MAX;
	assert_int_equal(weir_weights(true, true, w, many, MANY, many_map,
				      effective), WEIR_WEIGHTING_ON);
	for (i = 0; i < MANY; i++)
		assert_int_equal(effective[i], i == MANY - 1 ? 1000 : 0);

	w[MANY - 1].state = WEIR_WEIGHT_STATE_INVALID;
	assert_int_equal(weir_weights(true, true, w, many, MANY, many_map,
				      effective), WEIR_WEIGHTING_REPORTS);
	for (i = 0; i < MANY; i++)
		assert_int_equal(effective[i], 1);
	assert_int_equal(weir_weights(true, true, NULL, NULL, 0, NULL, NULL),
			 WEIR_WEIGHTING_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_is_that_of_the_worked_numbers),
		cmocka_unit_test(set_is_exact_with_many_backends),
		cmocka_unit_test(draining_counts_nowhere),
		cmocka_unit_test(zone_is_that_of_the_tables),
		cmocka_unit_test(zone_is_exact_with_many_backends),
		cmocka_unit_test(weights_are_those_of_the_rules),
		cmocka_unit_test(weights_are_those_with_many_backends),
	};

	return cmocka_run_group_tests_name("eligible", tests, unit_seed, NULL);
}
