// SPDX-License-Identifier: GPL-2.0
/*
 * Lookup tables of backends that weigh differently: shares within a slot of what
 * is due, a function of the relations of the weights, and steady when a backend
 * comes, goes or gains weight.
 */
#include <linux/sched.h>

#include "tables.h"

static const u32 counts[] = { 1, 2, 3, 5, 10, 50, 100, 250, 1000 };

static void fill(struct table *t, const siphash_key_t *key)
{
	table_fill(t, weir_maglev_fill, weir_maglev_scratch(t->n), key);
}

/* What is due, rounded down or up, and exactly that if it is whole. */
static void check_shares(const struct table *t)
{
	u64 sum = sum_of_weights(t);
	u32 *got = count_slots(t);
	u32 i;

	for (i = 0; i < t->n; i++) {
		u64 due = (u64)t->size * t->members[i].weight;
		u64 most = (due + sum - 1) / sum;

		if (got[i] != due / sum && got[i] != most)
			fail_msg("member %u of %u, weight %u of %llu, has %u of %u slots",
				 i, t->n, t->members[i].weight, sum, got[i],
				 t->size);
		/* What the user is promised is far less. */
		if (due >= 100 * sum)
			assert_in_range(got[i], due / sum * 9 / 10,
					due / sum * 11 / 10);
	}
	free(got);
}

static void check_whole(u32 n, u32 size, u8 family, enum profile profile)
{
	struct table t = rack(n, size, family);
	siphash_key_t key = unit_key();

	deal_indices(&t);
	weigh(&t, profile);
	fill(&t, &key);
	check_shares(&t);
	free_table(&t);
}

static void shares_are_within_a_slot_of_what_is_due(void **state)
{
	enum profile p;
	unsigned int i;

	(void)state;
	for (p = 0; p < PROFILES; p++)
		for (i = 0; i < ARRAY_SIZE(counts); i++) {
			u32 size = weir_maglev_auto_size(counts[i]);

			check_whole(counts[i], size, AF_INET, p);
			check_whole(counts[i], size, AF_INET6, p);
			check_whole(counts[i], 65537, AF_INET, p);
		}
}

static void tables_of_extreme_sizes_are_whole(void **state)
{
	static const struct {
		u32	n;
		u32	size;
	} extremes[] = {
		{ 1, 2 }, { 2, 2 }, { 2, 3 }, { 3, 3 }, { 5, 5 }, { 10, 11 },
		{ 11, 11 }, { 11, 101 }, { 1, WEIR_TABLE_SIZE_MAX },
		{ 2, WEIR_TABLE_SIZE_MAX }, { 5120, WEIR_TABLE_SIZE_MAX },
		{ MEMBERS_MAX, WEIR_TABLE_SIZE_MAX },
	};
	unsigned int i, round;
	enum profile p;

	(void)state;
	for (p = 0; p < PROFILES; p++)
		for (i = 0; i < ARRAY_SIZE(extremes); i++)
			for (round = extremes[i].size < 1000 ? 50 : 1; round;
			     round--)
				check_whole(extremes[i].n, extremes[i].size,
					    AF_INET, p);
}

/* Any number of backends, slots and weights, so small that all corners come. */
static void small_tables_are_whole(void **state)
{
	static const u32 primes[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23 };
	unsigned int round;

	(void)state;
	for (round = 0; round < 1000; round++) {
		u32 size = primes[unit_below(ARRAY_SIZE(primes))];

		check_whole(1 + unit_below(size), size, AF_INET,
			    unit_below(PROFILES));
	}
}

/* A set with weights @times as large has the same table. */
static void check_scale(struct table *a, u16 times)
{
	struct table b = same_set(a);
	siphash_key_t key = unit_key();
	u32 i;

	for (i = 0; i < b.n; i++)
		b.members[i].weight *= times;
	fill(&b, &key);
	fill(a, &key);
	assert_memory_equal(a->slots, b.slots, a->size * sizeof(*a->slots));
	free_table(&b);
}

static void only_relations_of_weights_count(void **state)
{
	struct table pair = rack(2, 1021, AF_INET), one = rack(1, 3, AF_INET);
	unsigned int i, j;

	(void)state;
	pair.members[1].weight = 10;
	check_scale(&pair, 100);
	check_scale(&one, 1000);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		u32 n = counts[i], size = weir_maglev_auto_size(n);
		struct table t = rack(n, size, AF_INET);

		check_scale(&t, 1000);
		for (j = 0; j < n; j++)
			t.members[j].weight = 1 + unit_below(WEIR_WEIGHT_MAX / 7);
		check_scale(&t, 7);
		weigh(&t, FEW);
		check_scale(&t, 250);
		free_table(&t);
	}
	free_table(&pair);
	free_table(&one);
}

static void tables_depend_on_the_set_and_not_on_its_order(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		u32 n = counts[i], size = weir_maglev_auto_size(n);
		struct table a = rack(n, size, AF_INET6);

		weigh(&a, ANY);
		check_order(a, fill);
	}
}

/* As in maglev_test.c: routers of different versions stand beside each other. */
static void table_is_this_one(void **state)
{
	struct table t = rack(3, 1021, AF_INET), u = rack(50, 8191, AF_INET6);
	siphash_key_t key = unit_fixed_key();
	u32 i;

	(void)state;
	t.members[1].weight = 2;
	t.members[2].weight = 1000;
	for (i = 0; i < u.n; i++)
		u.members[i].weight = 1 + i * i % 11;
	fill(&t, &key);
	fill(&u, &key);
	printf("# digests %#llx %#llx\n", digest(&t), digest(&u));
	assert_true(digest(&t) == 0xf3f470c027d00252ULL);
	assert_true(digest(&u) == 0x4bb41429d78e7ca8ULL);
	free_table(&t);
	free_table(&u);
}

/*
 * What moves beyond the necessary, in per cent of the table, as the mean over
 * @keys keys, which are always the same ones: at most @left when one of @n
 * leaves or comes back, at most @weighed when one has half or twice its weight.
 * At a steady pace, by weight alone, @steady moves when one is weighed anew.
 */
static const struct figure {
	enum profile	profile;
	u32		n;
	u32		keys;
	double		left;
	double		weighed;
	double		steady;
} figures[] = {
	{ EQUAL,        3, 100, 0.19, 0.28, 1.37 },
	{ EQUAL,       10,  60, 1.12, 0.96, 0.97 },
	{ EQUAL,       50,  20, 0.81, 0.77, 0.69 },
	{ EQUAL,      250,   5, 0.64, 0.52, 0.46 },
	{ ANY,          3, 100, 0.23, 0.23, 1.53 },
	{ ANY,         10,  60, 0.77, 0.79, 0.90 },
	{ ANY,         50,  20, 0.66, 0.59, 0.53 },
	{ ANY,        250,   5, 0.54, 0.41, 0.37 },
	{ ANY,       1000,   2, 0.29, 0.20, 0.16 },
	{ POWERS,       3, 100, 0.14, 0.22, 0.71 },
	{ POWERS,      10,  60, 0.43, 0.41, 0.72 },
	{ POWERS,      50,  20, 0.39, 0.41, 0.39 },
	{ POWERS,     250,   5, 0.31, 0.29, 0.24 },
	{ ONE_HEAVY,    3, 100, 0.03, 0.07, 0.03 },
	{ ONE_HEAVY,   10,  60, 0.07, 0.08, 0.12 },
	{ ONE_HEAVY,   50,  20, 0.04, 0.06, 0.14 },
	{ ONE_HEAVY,  250,   5, 0.11, 0.11, 0.17 },
};

static void measure(const struct figure *f, double *left, double *weighed)
{
	u32 k, size = weir_maglev_auto_size(f->n);

	*left = *weighed = 0;
	for (k = 0; k < f->keys; k++) {
		siphash_key_t key = { { k, 0x77656972 } };
		struct table all = rack(f->n, size, AF_INET), less, more;
		u32 one = k % f->n;
		u16 *weight;

		weigh_alike(&all, f->profile, k);
		less = without(&all, one);
		more = same_set(&all);
		weight = &more.members[one].weight;
		*weight = *weight > WEIR_WEIGHT_MAX / 2 ? *weight / 2 : *weight * 2;

		fill(&all, &key);
		fill(&less, &key);
		fill(&more, &key);
		*left += 100.0 * excess(&all, &less) / size / f->keys;
		*weighed += 100.0 * excess(&all, &more) / size / f->keys;
		free_table(&all);
		free_table(&less);
		free_table(&more);
	}
}

static void few_slots_of_others_move(void **state)
{
	static const char *const names[] = {
		[EQUAL]		= "equal",
		[ANY]		= "1 to 1000",
		[POWERS]	= "2^0 to 2^9",
		[ONE_HEAVY]	= "one 1000",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		const struct figure *f = &figures[i];
		double left, weighed;

		measure(f, &left, &weighed);
		printf("# %u backends, weights %s: %.3f %% move when one leaves, %.3f %% when one is weighed anew (at a steady pace %.2f %%)\n",
		       f->n, names[f->profile], left, weighed, f->steady);
		assert_true(left <= f->left);
		assert_true(weighed <= f->weighed);
	}
}

/* One unit of a large weight moves next to nothing. */
static void small_changes_move_little(void **state)
{
	struct table a = rack(100, 16381, AF_INET), b;
	u32 round, sum = 0;

	(void)state;
	for (round = 0; round < 20; round++) {
		siphash_key_t key = unit_key();

		weigh(&a, ANY);
		a.members[round].weight = 500;
		b = same_set(&a);
		b.members[round].weight = 501;
		fill(&a, &key);
		fill(&b, &key);
		sum += differing(&a, &b);
		free_table(&b);
	}
	printf("# %.3f %% of slots move\n", 100.0 * sum / 20 / a.size);
	assert_true(sum / 20 < a.size / 250);
	free_table(&a);
}

/* One heavy member has turns to itself, but not while thousands wait. */
static void long_work_offers_the_cpu_and_ends(void **state)
{
	enum profile p;

	(void)state;
	for (p = 0; p < PROFILES; p++) {
		check_work(2, 65537, p, 100, fill);
		check_work(1000, 65537, p, 100, fill);
		check_work(5000, 655373, p, 100, fill);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_within_a_slot_of_what_is_due),
		cmocka_unit_test(tables_of_extreme_sizes_are_whole),
		cmocka_unit_test(small_tables_are_whole),
		cmocka_unit_test(only_relations_of_weights_count),
		cmocka_unit_test(tables_depend_on_the_set_and_not_on_its_order),
		cmocka_unit_test(table_is_this_one),
		cmocka_unit_test(few_slots_of_others_move),
		cmocka_unit_test(small_changes_move_little),
		cmocka_unit_test(long_work_offers_the_cpu_and_ends),
	};

	return cmocka_run_group_tests_name("maglev-weight", tests, unit_seed,
					   NULL);
}
