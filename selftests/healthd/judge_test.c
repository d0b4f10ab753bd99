// SPDX-License-Identifier: GPL-2.0
/* Results of probes in a row, and what they make of a backend: P passed, F failed; after each
 * one ? not known, u up, d down. */
#include <stdio.h>
#include <string.h>

#include <linux/weir.h>

#include "judge.h"

static const struct {
	char before;
	unsigned int healthy, unhealthy;
	const char *results, *states;
	unsigned int run;
} cases[] = {
	{ '?', 2, 2, "P", "?", 1 },
	{ '?', 2, 2, "PP", "?u", 2 },
	{ '?', 2, 2, "FF", "?d", 2 },
	{ '?', 2, 2, "PFPFPF", "??????", 1 },
	{ '?', 1, 1, "PFPF", "udud", 1 },
	{ 'u', 2, 2, "FPFPFF", "uuuuud", 2 },
	{ 'd', 2, 2, "PFPFPP", "dddddu", 2 },
	{ 'u', 2, 3, "FFPFFF", "uuuuud", 3 },
	{ 'd', 3, 2, "PPFPPP", "dddddu", 3 },
	{ 'u', 2, 2, "PPPPPP", "uuuuuu", 6 },
	{ 'd', 2, 2, "FFFFPP", "dddddu", 2 },
	{ 'd', 10, 10, "PPPPPPPPPP", "dddddddddu", 10 },
	{ 'u', 10, 10, "FFFFFFFFFF", "uuuuuuuuud", 10 },
};

static char letter(uint8_t state)
{
	return state == WEIR_HEALTH_UP ? 'u' : state == WEIR_HEALTH_DOWN ? 'd' : '?';
}

static uint8_t state_of(char c)
{
	return c == 'u' ? WEIR_HEALTH_UP : c == 'd' ? WEIR_HEALTH_DOWN : WEIR_HEALTH_AUTO;
}

static int try_case(unsigned int i)
{
	struct weir_judge judge = { .state = state_of(cases[i].before) };
	char got[32] = "";
	size_t n;

	for (n = 0; cases[i].results[n]; n++) {
		uint8_t was = judge.state;
		bool changed = weir_judge_take(&judge, cases[i].results[n] == 'P',
					       cases[i].healthy, cases[i].unhealthy);

		got[n] = letter(judge.state);
		if (changed != (was != judge.state))
			return -1;
	}
	return strcmp(got, cases[i].states) || judge.run != cases[i].run;
}

/* A count that is full stays full. */
static int try_full(void)
{
	struct weir_judge judge = { WEIR_HEALTH_UP, true, UINT32_MAX };

	weir_judge_take(&judge, true, 2, 2);
	return judge.run != UINT32_MAX;
}

int main(void)
{
	unsigned int i, bad = 0, n = sizeof(cases) / sizeof(cases[0]);

	for (i = 0; i < n; i++) {
		int wrong = try_case(i);

		bad += !!wrong;
		printf("%s %c%s by %u and %u is %s\n", wrong ? "not ok" : "ok", cases[i].before,
		       cases[i].results, cases[i].healthy, cases[i].unhealthy, cases[i].states);
	}
	i = try_full();
	bad += i;
	printf("%s a count that is full\n", i ? "not ok" : "ok");
	return bad != 0;
}
