/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all unit tests share: cmocka with the headers it wants first, and random
 * numbers that can be had again. A test that uses them takes WEIR_SEED from the
 * environment, or a new seed, and prints it.
 */
#ifndef WEIR_UNIT_H
#define WEIR_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/siphash.h>
#include <linux/types.h>

static u64 unit_state;

/* The group setup of every test program. */
static inline int unit_seed(void **state)
{
	const char *given = getenv("WEIR_SEED");

	(void)state;
	if (given)
		unit_state = strtoull(given, NULL, 0);
	else
		unit_state = (u64)time(NULL) << 20 ^ getpid();
	printf("# WEIR_SEED=%llu\n", unit_state);

	return 0;
}

/* 64 random bits (splitmix64). */
static inline u64 unit_random(void)
{
	u64 x = unit_state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;

	return x ^ x >> 31;
}

/* A number below @n. */
static inline u32 unit_below(u32 n)
{
	return unit_random() % n;
}

static inline void unit_fill(void *at, size_t len)
{
	u8 *byte = at;

	while (len--)
		*byte++ = unit_random();
}

static inline siphash_key_t unit_key(void)
{
	siphash_key_t key = { { unit_random(), unit_random() } };

	return key;
}

/* The key of all published vectors: bytes 00 to 0f. */
static inline siphash_key_t unit_fixed_key(void)
{
	siphash_key_t key = { { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL } };

	return key;
}

#endif /* WEIR_UNIT_H */
