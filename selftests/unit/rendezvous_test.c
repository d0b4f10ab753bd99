// SPDX-License-Identifier: GPL-2.0
/*
 * Lookup tables by rendezvous hashing: nothing moves but what has to, exactly;
 * shares are what independent draws in proportion to the weights give.
 */
#include <math.h>

#include <linux/sched.h>

#include "tables.h"
#include "../../kmod/rendezvous.h"

static const u32 counts[] = { 1, 2, 3, 5, 10, 50, 100, 250, 1000 };

static void fill(struct table *t, const siphash_key_t *key)
{
	table_fill(t, weir_rendezvous_fill, weir_rendezvous_scratch(t->n), key);
}

static struct table filled(u32 n, u32 size, enum profile profile,
			   const siphash_key_t *key)
{
	struct table t = rack(n, size, AF_INET);

	weigh(&t, profile);
	fill(&t, key);

	return t;
}

/*
 * The definition, without blocks of members and a time to stop at: every
 * member's arrivals in a block, until it has been in the slot in question; the
 * earliest of all wins, by wait over weight.
 */
static u32 draw(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;

	return x >> 32;
}

static u64 draw_wait(u64 *state)
{
	u64 whole = 0;

	for (;;) {
		u32 first = draw(state), run = 1, last = first, next;

		while ((next = draw(state)) < last) {
			last = next;
			run++;
		}
		if (run % 2)
			return whole << 32 | first;
		whole++;
	}
}

static u64 wait_in_slot(const struct weir_member *m, u32 slot, u32 size,
			const siphash_key_t *key)
{
	u32 first = slot - slot % 1024;
	u32 len = size - first < 1024 ? size - first : 1024;
	u64 state = weir_member_hash(m, WEIR_HASH_CONTEST, key) + first;
	u64 wait = 0;

	do
		wait += draw_wait(&state);
	while (((u64)draw(&state) * len >> 32) != slot - first);

	return wait;
}

static void check_slot(const struct table *t, u32 slot, const siphash_key_t *key)
{
	const struct weir_member *best = NULL;
	u64 least = 0;
	u32 i;

	for (i = 0; i < t->n; i++) {
		const struct weir_member *m = &t->members[i];
		u64 wait = wait_in_slot(m, slot, t->size, key);

		if (!best || wait * best->weight < least * m->weight) {
			best = m;
			least = wait;
		}
	}
	if (t->slots[slot] != best->index)
		fail_msg("slot %u of %u is %u's, and not %u's, of %u", slot,
			 t->size, t->slots[slot], best->index, t->n);
}

static void shortest_wait_wins(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 1021, 1024, 1025, 2039, 2049 };
	unsigned int i, round;
	enum profile p;

	(void)state;
	for (p = 0; p < PROFILES; p++)
		for (i = 0; i < ARRAY_SIZE(sizes); i++)
			for (round = 0; round < 20; round++) {
				u32 size = sizes[i], n = 1 + unit_below(20);
				siphash_key_t key = unit_key();
				struct table t = filled(n, size, p, &key);

				check_slot(&t, unit_below(size), &key);
				check_slot(&t, size - 1, &key);
				free_table(&t);
			}
}

static void tables_are_whole(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 11, 1021, 1024, 1025, 65537 };
	unsigned int i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			struct table t = rack(counts[i], sizes[j], AF_INET6);
			siphash_key_t key = unit_key();

			deal_indices(&t);
			weigh(&t, unit_below(PROFILES));
			fill(&t, &key);
			free(count_slots(&t));
			free_table(&t);
		}
}

static void largest_tables_are_whole(void **state)
{
	struct table one = rack(1, WEIR_TABLE_SIZE_MAX, AF_INET);
	struct table all = rack(MEMBERS_MAX, WEIR_TABLE_SIZE_MAX, AF_INET);
	siphash_key_t key = unit_key();

	(void)state;
	one.members[0].weight = WEIR_WEIGHT_MAX;
	weigh(&all, ONE_HEAVY);
	fill(&one, &key);
	fill(&all, &key);
	free(count_slots(&one));
	free(count_slots(&all));
	free_table(&one);
	free_table(&all);
}

static void tables_depend_on_the_set_and_not_on_its_order(void **state)
{
	unsigned int i, f;

	(void)state;
	for (f = 0; f < 2; f++)
		for (i = 0; i < ARRAY_SIZE(counts); i++) {
			u32 n = counts[i], size = weir_maglev_auto_size(n);
			struct table a = rack(n, size, f ? AF_INET6 : AF_INET);

			weigh(&a, unit_below(PROFILES));
			check_order(a, fill);
		}
}

/* Tables that have nothing to do with each other agree by chance only, in one
 * slot of ten. */
static void check_strangers(const struct table *a, const struct table *b)
{
	u32 n = differing(a, b), mean = a->size * 9 / 10;

	assert_in_range(n, mean - a->size / 20, mean + a->size / 20);
}

static void tables_depend_on_key_and_family(void **state)
{
	struct table a = rack(10, 4093, AF_INET), b = rack(10, 4093, AF_INET);
	siphash_key_t key = unit_key();
	unsigned int bit, i;

	(void)state;
	fill(&a, &key);
	for (bit = 0; bit < 128; bit++) {
		key.key[bit / 64] ^= 1ULL << bit % 64;
		fill(&b, &key);
		check_strangers(&a, &b);
		key.key[bit / 64] ^= 1ULL << bit % 64;
	}
	for (i = 0; i < b.n; i++)
		b.members[i].family = AF_INET6;
	fill(&b, &key);
	check_strangers(&a, &b);
	table_fill(&b, weir_maglev_fill, weir_maglev_scratch(b.n), &key);
	check_strangers(&a, &b);
	free_table(&a);
	free_table(&b);
}

static void tables_depend_on_every_bit_of_an_address(void **state)
{
	struct table a = rack(10, 16381, AF_INET6), b = same_set(&a);
	siphash_key_t key = unit_key();
	u32 bit, i;

	(void)state;
	/* Far from the others, so that no single bit makes it one of them. */
	a.members[9].addr.ip6[3] = cpu_to_be32(0xf0f0f0f0);
	fill(&a, &key);
	for (bit = 0; bit < 128; bit++) {
		u32 had = 0, kept = 0;

		memcpy(b.members, a.members, 10 * sizeof(*b.members));
		b.members[9].addr.raw[bit / 8] ^= 1U << bit % 8;
		qsort(b.members, 10, sizeof(*b.members), compare);
		fill(&b, &key);
		for (i = 0; i < a.size; i++) {
			had += a.slots[i] == 9;
			kept += a.slots[i] == 9 && b.slots[i] == 9;
		}
		/* The second of eleven wins two in eleven again, by chance. */
		assert_in_range(kept, had / 8, had / 4);
	}
	free_table(&a);
	free_table(&b);
}

static void only_relations_of_weights_count(void **state)
{
	static const u16 times[] = { 1, 2, 7, 250 };
	unsigned int i, j, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		u32 n = counts[i], size = weir_maglev_auto_size(n);
		siphash_key_t key = unit_key();
		struct table a = filled(n, size, FEW, &key);
		struct table b = same_set(&a);

		for (j = 0; j < ARRAY_SIZE(times); j++) {
			for (k = 0; k < n; k++)
				b.members[k].weight =
					a.members[k].weight * times[j];
			fill(&b, &key);
			assert_memory_equal(a.slots, b.slots,
					    size * sizeof(*a.slots));
		}
		free_table(&a);
		free_table(&b);
	}
}

static void check_removal(const struct table *a, u32 gone,
			  const siphash_key_t *key)
{
	struct table b = without(a, gone);
	u32 i;

	fill(&b, key);
	for (i = 0; i < a->size; i++)
		if (a->slots[i] == a->members[gone].index)
			assert_true(b.slots[i] != a->slots[i]);
		else
			assert_int_equal(b.slots[i], a->slots[i]);
	assert_int_equal(excess(a, &b), 0);
	free_table(&b);
}

/* Who gains weight takes slots and loses none; nobody else takes any. */
static void check_raise(const struct table *a, u32 who, u16 weight,
			const siphash_key_t *key)
{
	struct table b = same_set(a);
	u32 i;

	b.members[who].weight = weight;
	fill(&b, key);
	for (i = 0; i < a->size; i++)
		if (b.slots[i] != a->slots[i])
			assert_int_equal(b.slots[i], b.members[who].index);
	assert_int_equal(excess(a, &b), 0);
	free_table(&b);
}

/* Adding is removing, and lowering is raising, the other way round. */
static void only_slots_of_who_changes_move(void **state)
{
	static const u32 sizes[] = { 2, 1021, 1025, 2039, 8191 };
	unsigned int round;

	(void)state;
	for (round = 0; round < 500; round++) {
		u32 n = 2 + unit_below(round % 10 ? 20 : 200), who = unit_below(n);
		u32 size = sizes[unit_below(ARRAY_SIZE(sizes))];
		siphash_key_t key = unit_key();
		struct table t = filled(n, size, unit_below(PROFILES), &key);
		u16 weight = t.members[who].weight;

		check_removal(&t, who, &key);
		if (weight < WEIR_WEIGHT_MAX) {
			check_raise(&t, who, weight + 1, &key);
			check_raise(&t, who, WEIR_WEIGHT_MAX, &key);
			check_raise(&t, who, weight + 1 +
				    unit_below(WEIR_WEIGHT_MAX - weight), &key);
		}
		free_table(&t);
	}
}

/* Routers of different versions stand beside each other. Whoever changes what
 * fills a table changes this, and takes backends from under running flows. */
static void table_is_this_one(void **state)
{
	struct table t = rack(3, 1021, AF_INET), u = rack(50, 8191, AF_INET6);
	siphash_key_t key = unit_fixed_key();
	u32 i;

	(void)state;
	fill(&t, &key);
	for (i = 0; i < u.n; i++)
		u.members[i].weight = 1 + i * i % 11;
	fill(&u, &key);
	printf("# digests %#llx %#llx\n", digest(&t), digest(&u));
	assert_true(digest(&t) == 0x311264b0f6217e48ULL);
	assert_true(digest(&u) == 0xcfe2d9ba9515c48bULL);
	free_table(&t);
	free_table(&u);
}

/*
 * Statistics: with keys that are always the same, so that the bounds can be
 * close and chance fails nobody. @z is in standard deviations.
 */
static void check_z(const char *what, u32 n, enum profile p, double z)
{
	static const char *const weights[] = {
		[EQUAL]		= "equal",
		[FEW]		= "1 to 4",
		[ANY]		= "1 to 1000",
		[POWERS]	= "2^0 to 2^9",
		[ONE_HEAVY]	= "one 1000",
	};

	printf("# %s, %u backends, weights %s: %+.2f sigma\n", what, n,
	       weights[p], z);
	if (!(z > -4 && z < 4))
		fail_msg("%s: %.2f sigma", what, z);
}

/* Sums over many tables. */
struct sums {
	double	*got;		/* slots, by position */
	double	spread;		/* (slots - due)^2 / due, over all and tables */
	double	same[2];	/* slots of one owner: neighbours, next blocks */
	double	pairs[2];
};

static void add_table(struct sums *s, const struct table *t)
{
	static const u32 apart[] = { 1, 1024 };
	double sum = sum_of_weights(t);
	u32 *got = count_slots(t);
	u32 i, j;

	for (i = 0; i < t->n; i++) {
		double due = t->size * t->members[i].weight / sum;

		s->got[i] += got[i];
		s->spread += (got[i] - due) * (got[i] - due) / due;
	}
	free(got);
	for (j = 0; j < ARRAY_SIZE(apart); j++)
		for (i = 0; i + apart[j] < t->size; i++) {
			s->same[j] += t->slots[i] == t->slots[i + apart[j]];
			s->pairs[j]++;
		}
}

/*
 * Squares of deviations, over all keys together and key by key, and pairs of
 * slots with one owner: all as for independent draws, neither more nor less. A
 * sum of squares over dues has the variance 2 (n - 1) and for what is due
 * little a bit more: sum(sum / weight) over slots.
 */
static void check_draws(u32 n, enum profile p, u32 size, u32 keys)
{
	struct table t = rack(n, size, AF_INET);
	struct sums s = { .got = calloc(n, sizeof(double)) };
	double sum, all = 0, alike = 0, rare = 0, var;
	u32 i, k;

	assert_non_null(s.got);
	weigh_alike(&t, p, n);
	sum = sum_of_weights(&t);
	for (k = 0; k < keys; k++) {
		siphash_key_t key = { { k, 0x77656972 } };

		fill(&t, &key);
		add_table(&s, &t);
	}
	for (i = 0; i < n; i++) {
		double part = t.members[i].weight / sum;
		double due = part * size * keys;

		all += (s.got[i] - due) * (s.got[i] - due) / due;
		alike += part * part;
		rare += 1 / part;
	}
	var = 2.0 * (n - 1) + rare / size;
	check_z("shares over all keys", n, p, (all - (n - 1)) / sqrt(var));
	check_z("shares key by key", n, p,
		(s.spread - keys * (n - 1.0)) / sqrt(keys * var));
	for (i = 0; i < (size > 1024 ? 2 : 1); i++)
		check_z(i ? "slots 1024 apart" : "neighbours", n, p,
			(s.same[i] - s.pairs[i] * alike) /
			sqrt(s.pairs[i] * alike * (1 - alike)));
	free(s.got);
	free_table(&t);
}

static void shares_are_those_of_independent_draws(void **state)
{
	static const u32 numbers[] = { 2, 3, 10, 100 };
	enum profile p;
	unsigned int i;

	(void)state;
	for (p = 0; p < PROFILES; p++) {
		for (i = 0; i < ARRAY_SIZE(numbers); i++)
			check_draws(numbers[i], p, 8191, 40);
		check_draws(1000, p, 131071, 1);
	}
	check_draws(5, ANY, 1021, 500);
}

/* Some arrivals for each slot, however many members there are. */
static void long_work_offers_the_cpu_and_ends(void **state)
{
	(void)state;
	check_work(1, 65537, EQUAL, 30, fill);
	check_work(2, 65537, ONE_HEAVY, 30, fill);
	check_work(5000, 655373, ANY, 30, fill);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortest_wait_wins),
		cmocka_unit_test(tables_are_whole),
		cmocka_unit_test(largest_tables_are_whole),
		cmocka_unit_test(tables_depend_on_the_set_and_not_on_its_order),
		cmocka_unit_test(tables_depend_on_key_and_family),
		cmocka_unit_test(tables_depend_on_every_bit_of_an_address),
		cmocka_unit_test(only_relations_of_weights_count),
		cmocka_unit_test(only_slots_of_who_changes_move),
		cmocka_unit_test(table_is_this_one),
		cmocka_unit_test(shares_are_those_of_independent_draws),
		cmocka_unit_test(long_work_offers_the_cpu_and_ends),
	};

	return cmocka_run_group_tests_name("rendezvous", tests, unit_seed, NULL);
}
