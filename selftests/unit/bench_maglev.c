// SPDX-License-Identifier: GPL-2.0
/*
 * What a table costs and how good it is, for the sizes that the documentation
 * quotes. Not a test: `selftests/unit/run bench` builds and runs it.
 *
 * Columns: backends, slots; milliseconds of CPU to fill and to digest (median);
 * largest and smallest share relative to 1/backends; slots of uninvolved
 * backends that move when one leaves, as a share of the table: mean and worst.
 */
#include <sys/socket.h>

#include "unit.h"
#include "../../kmod/maglev.h"

#define FILLS	15

static const struct {
	u32	n;
	u32	size;
	u32	keys;
} cases[] = {
	{    3,   1021, 200 }, {    3,  65537, 40 },
	{   10,   2039, 100 }, {   10,  65537, 40 },
	{   50,   8191,  40 }, {   50,  65537, 20 },
	{  100,  16381,  20 }, {  100,  65537, 20 },
	{  250,  32749,  10 }, {  250,  65537, 10 },
	{ 1000, 131071,   5 }, { 1000,  65537,  5 },
	{ 5120, 655373,   1 },
};

static struct weir_member members[65535], fewer[65535];
static u16 before[WEIR_TABLE_SIZE_MAX], after[WEIR_TABLE_SIZE_MAX];

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);

	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void name_members(u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		members[i].addr.ip = cpu_to_be32(0x0a020001 + i);
		members[i].family = AF_INET;
		members[i].index = i;
	}
}

static void time_it(u32 n, u32 size, void *scratch)
{
	double fill[FILLS], digest[FILLS];
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < FILLS; i++) {
		siphash_key_t key = unit_key();
		double t0 = now_ms(), t1;

		weir_maglev_fill(before, size, members, n, &key, scratch);
		t1 = now_ms();
		sum ^= weir_maglev_digest(before, size, members);
		fill[i] = t1 - t0;
		digest[i] = now_ms() - t1;
	}
	qsort(fill, FILLS, sizeof(*fill), compare);
	qsort(digest, FILLS, sizeof(*digest), compare);
	printf("%5u %7u %8.2f %8.2f %s", n, size, fill[FILLS / 2],
	       digest[FILLS / 2], sum ? "" : "digests are all alike!");
}

static void judge(u32 n, u32 size, u32 keys, void *scratch)
{
	double mean = 0, worst = 0, largest = 0, smallest = 2;
	static u32 got[65535];
	u32 k, i;

	for (k = 0; k < keys; k++) {
		siphash_key_t key = unit_key();
		u32 gone = unit_below(n), moved = 0;

		weir_maglev_fill(before, size, members, n, &key, scratch);
		memcpy(fewer, members, gone * sizeof(*members));
		memcpy(&fewer[gone], &members[gone + 1],
		       (n - gone - 1) * sizeof(*members));
		weir_maglev_fill(after, size, fewer, n - 1, &key, scratch);

		memset(got, 0, n * sizeof(*got));
		for (i = 0; i < size; i++) {
			got[before[i]]++;
			moved += before[i] != gone && before[i] != after[i];
		}
		for (i = 0; i < n; i++) {
			double share = (double)got[i] * n / size;

			largest = share > largest ? share : largest;
			smallest = share < smallest ? share : smallest;
		}
		mean += 100.0 * moved / size / keys;
		worst = 100.0 * moved / size > worst ? 100.0 * moved / size : worst;
	}
	printf("%8.3f %8.3f %7.2f %% %6.2f %%\n", largest, smallest, mean, worst);
}

int main(void)
{
	unsigned int i;

	unit_seed(NULL);
	printf("    n   slots  fill ms  dig. ms  largest smallest     moved     worst\n");
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		void *scratch = malloc(weir_maglev_scratch(cases[i].n));

		name_members(cases[i].n);
		time_it(cases[i].n, cases[i].size, scratch);
		judge(cases[i].n, cases[i].size, cases[i].keys, scratch);
		free(scratch);
	}

	return 0;
}
