// SPDX-License-Identifier: GPL-2.0
/*
 * Print the rate of this processor's time stamp counter in kHz.
 *
 * An emulated guest reads the host's counter and finds its rate by counting for a few
 * milliseconds against an emulated timer. On a busy machine it is not running for part of
 * them, and its clock is then wrong by any factor. Here both are read back to back, the closest
 * of many pairs counts, and how long it takes in between does not matter.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

struct instant {
	unsigned long long ticks;
	double ns;
};

static struct instant now(void)
{
	unsigned long long before, width, closest = ~0ULL;
	struct instant instant = { 0 };
	struct timespec ts;
	int i;

	for (i = 0; i < 1000; i++) {
		before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC, &ts);
		width = __rdtsc() - before;
		if (width >= closest)
			continue;
		closest = width;
		instant.ticks = before + width / 2;
		instant.ns = ts.tv_sec * 1e9 + ts.tv_nsec;
	}
	return instant;
}

int main(void)
{
	const struct timespec wait = { .tv_nsec = 50000000 };
	struct instant from, to;

	from = now();
	nanosleep(&wait, NULL);
	to = now();
	printf("%.0f\n", (to.ticks - from.ticks) / (to.ns - from.ns) * 1e6);
	return 0;
}
