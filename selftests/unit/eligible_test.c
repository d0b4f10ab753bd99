// SPDX-License-Identifier: GPL-2.0
/*
 * The eligible set: the worked numbers of the reference, the exact comparisons,
 * and every case up to eight backends against a model that is written
 * differently.
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
 * contents that must not matter. */
static struct weir_role_set choose(const struct weir_policy *p,
				   const struct weir_candidate *c, u32 n,
				   mask *eligible)
{
	unsigned long map[2] = { ~0UL, 0x5a5aUL };
	struct weir_role_set set;

	set = weir_eligible_choose(p, c, n, n ? map : map + 1);
	assert_true(map[1] == 0x5a5aUL);
	*eligible = n ? map[0] : 0;

	return set;
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
	    set.n != (u32)__builtin_popcount(v->eligible))
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

/*
 * The model: the first set of the reference's list that is not empty, each as a
 * set and not as numbers; and the ratio met means that it is at most the
 * largest number of millionths which the healthy share reaches.
 */
static mask model(mask all, mask healthy, mask failover, u32 ratio, bool drop,
		  u8 *reason)
{
	mask up_primary = healthy & all & ~failover;
	mask up_failover = healthy & failover;
	mask primary = all & ~failover;
	bool on = primary && failover;
	bool enough = primary && ratio <= count(up_primary) * 1000000 / count(primary);

	if (!all) {
		*reason = WEIR_ELIGIBLE_NO_BACKENDS;
		return 0;
	}
	if (!on) {
		*reason = healthy ? WEIR_ELIGIBLE_HEALTHY :
				    WEIR_ELIGIBLE_LAST_RESORT;
		return healthy ? healthy : all;
	}
	if (up_primary && (enough || !up_failover)) {
		*reason = WEIR_ELIGIBLE_PRIMARY;
		return up_primary;
	}
	if (up_failover) {
		*reason = WEIR_ELIGIBLE_FAILOVER;
		return up_failover;
	}
	*reason = drop ? WEIR_ELIGIBLE_DROP : WEIR_ELIGIBLE_LAST_PRIMARIES;

	return drop ? 0 : primary;
}

static void check_model(u32 n, mask healthy, mask failover)
{
	struct weir_candidate c[8];
	unsigned int i;
	int drop;

	for (i = 0; i < n; i++) {
		c[i].healthy = healthy >> i & 1;
		c[i].failover = failover >> i & 1;
	}
	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		for (drop = 0; drop < 2; drop++) {
			struct weir_policy p = {
				.failover_ratio = ratios[i],
				.drop_if_unhealthy = drop,
			};
			struct weir_role_set set;
			mask want, got;
			u8 reason;

			want = model((1U << n) - 1, healthy, failover,
				     ratios[i], drop, &reason);
			set = choose(&p, c, n, &got);
			if (got != want || set.n != count(want) ||
			    set.reason != reason)
				fail_msg("%u backends, healthy %#x, failover %#x, ratio %u, drop %d: set %#x (%u) for reason %u, expected %#x for %u",
					 n, healthy, failover, ratios[i], drop,
					 got, set.n, set.reason, want, reason);
		}
}

/* All roles, all states, in every order: up to eight backends, which is four
 * primaries and four failovers and more. */
static void set_is_that_of_the_model(void **state)
{
	mask healthy, failover;
	u32 n;

	(void)state;
	for (n = 0; n <= 8; n++)
		for (healthy = 0; healthy < 1U << n; healthy++)
			for (failover = 0; failover < 1U << n; failover++)
				check_model(n, healthy, failover);
}

static struct weir_candidate many[MANY];
static unsigned long many_map[BITS_TO_LONGS(MANY) + 1];

/* Products here are beyond 32 bits: @healthy of 8000 primaries at 0.75, with
 * 2000 healthy failovers among them. */
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
	set = weir_eligible_choose(&p, many, MANY, many_map);
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
	check_many(0, WEIR_ELIGIBLE_FAILOVER, 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_is_that_of_the_worked_numbers),
		cmocka_unit_test(set_is_that_of_the_model),
		cmocka_unit_test(set_is_exact_with_many_backends),
	};

	return cmocka_run_group_tests_name("eligible", tests, unit_seed, NULL);
}
