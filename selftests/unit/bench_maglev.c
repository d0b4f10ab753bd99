// SPDX-License-Identifier: GPL-2.0
/*
 * What a table costs and how good it is, for both ways to fill one. Not a test:
 * `selftests/unit/run bench` builds and runs it.
 *
 * Columns: milliseconds of CPU to fill and to digest (median); the largest error
 * of any member's share, in per cent of its due (of those that are due 50 slots
 * or more) and of the table; slots that move and need not, in per cent of the
 * table, when a backend is added, is removed, or gains weight (once as much
 * again). Each is the mean over some keys.
 */
#include "tables.h"
#include "../../kmod/rendezvous.h"

#define FILLS	9

static const struct way {
	const char	*name;
	fill_t		fill;
} ways[] = {
	{ "maglev",	weir_maglev_fill },
	{ "rendezvous",	weir_rendezvous_fill },
};

static const struct {
	u32	n;
	u32	size;		/* 0: auto */
	u32	keys;
} cases[] = {
	{    2,      0, 100 },
	{    3,      0, 100 },
	{    5,      0, 100 },
	{   10,      0,  60 },
	{   50,      0,  20 },
	{  100,      0,  10 },
	{  250,      0,   5 },
	{ 1000,      0,   2 },
	{   10,  65537,  10 },
	{ 1000,  65537,   2 },
	{ 5120, 655373,   1 },
};

struct verdict {
	double	own;
	double	whole;
	double	added;
	double	removed;
	double	raised;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);

	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void *new_scratch(u32 n)
{
	size_t a = weir_maglev_scratch(n), b = weir_rendezvous_scratch(n);

	return malloc(a > b ? a : b);
}

static void fill(const struct way *way, struct table *t, siphash_key_t key)
{
	void *scratch = new_scratch(t->n);

	way->fill(t->slots, t->size, t->members, t->n, &key, scratch);
	free(scratch);
}

static void time_it(const struct way *way, struct table *t)
{
	struct weir_member *all = by_index(t);
	double filled[FILLS], digested[FILLS];
	void *scratch = new_scratch(t->n);
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < FILLS; i++) {
		siphash_key_t key = unit_key();
		double t0 = now_ms(), t1;

		way->fill(t->slots, t->size, t->members, t->n, &key, scratch);
		t1 = now_ms();
		sum ^= weir_maglev_digest(t->slots, t->size, all);
		filled[i] = t1 - t0;
		digested[i] = now_ms() - t1;
	}
	free(scratch);
	free(all);
	qsort(filled, FILLS, sizeof(*filled), by_size);
	qsort(digested, FILLS, sizeof(*digested), by_size);
	printf("%8.2f %7.2f%s", filled[FILLS / 2], digested[FILLS / 2],
	       sum ? "" : " (digests are all alike!)");
}

static void judge_shares(const struct table *t, u32 keys, struct verdict *v)
{
	double sum = sum_of_weights(t), own = 0, whole = 0;
	u32 *got = count_slots(t), i;

	for (i = 0; i < t->n; i++) {
		double due = t->size * t->members[i].weight / sum;
		double error = got[i] > due ? got[i] - due : due - got[i];

		if (error > whole)
			whole = error;
		if (due >= 50 && error / due > own)
			own = error / due;
	}
	free(got);
	v->own += 100 * own / keys;
	v->whole += 100 * whole / t->size / keys;
}

static double judge_moves(const struct way *way, const struct table *a,
			  struct table b, siphash_key_t key)
{
	double share;

	fill(way, &b, key);
	share = 100.0 * excess(a, &b) / a->size;
	free_table(&b);

	return share;
}

static struct verdict judge(const struct way *way, u32 n, u32 size,
			    enum profile p, u32 keys)
{
	struct verdict v = { 0 };
	u32 k;

	for (k = 0; k < keys; k++) {
		struct table more = rack(n + 1, size, AF_INET), t, heavier;
		siphash_key_t key = { { k, 0x77656972 } };
		u32 one = k % n;

		weigh_alike(&more, p, k);
		t = without(&more, n);
		heavier = same_set(&t);
		heavier.members[one].weight *= 2;

		fill(way, &t, key);
		judge_shares(&t, keys, &v);
		v.added += judge_moves(way, &t, more, key) / keys;
		v.removed += judge_moves(way, &t, without(&t, one), key) / keys;
		v.raised += judge_moves(way, &t, heavier, key) / keys;
		free_table(&t);
	}

	return v;
}

static void bench(enum profile p, const char *weights)
{
	unsigned int i, w;

	printf("\nweights %s\n"
	       "                          CPU ms          share error %%     moves %% of slots, beyond need\n"
	       "    n   slots  way         fill  digest     of own  of all    added removed  raised\n",
	       weights);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		for (w = 0; w < ARRAY_SIZE(ways); w++) {
			u32 n = cases[i].n;
			u32 size = cases[i].size ?: weir_maglev_auto_size(n);
			struct table t = rack(n, size, AF_INET);
			struct verdict v;

			weigh_alike(&t, p, 0);
			printf("%5u %7u  %-10s", n, size, ways[w].name);
			time_it(&ways[w], &t);
			v = judge(&ways[w], n, size, p, cases[i].keys);
			printf("  %9.3f %7.3f  %7.3f %7.3f %7.3f\n", v.own,
			       v.whole, v.added, v.removed, v.raised);
			free_table(&t);
		}
}

int main(void)
{
	unit_seed(NULL);
	bench(EQUAL, "equal");
	bench(FEW, "1 to 4");

	return 0;
}
