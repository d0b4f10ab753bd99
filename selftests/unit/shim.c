// SPDX-License-Identifier: GPL-2.0
/*
 * What the pure files of the module need from a kernel: SipHash-2-4 after its
 * paper (Aumasson and Bernstein, 2012). siphash_test.c holds it to the
 * published vectors, which the kernel's own meets too.
 */
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/slab.h>

unsigned long weir_shim_rescheds;
unsigned long weir_shim_allocs, weir_shim_fail_at;

static u64 rotate(u64 x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static void rounds(u64 v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void compress(u64 v[4], u64 word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

u64 siphash(const void *data, size_t len, const siphash_key_t *key)
{
	const u8 *byte = data;
	u64 v[4] = {
		key->key[0] ^ 0x736f6d6570736575ULL,
		key->key[1] ^ 0x646f72616e646f6dULL,
		key->key[0] ^ 0x6c7967656e657261ULL,
		key->key[1] ^ 0x7465646279746573ULL,
	};
	u64 word = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		word |= (u64)byte[i] << 8 * (i % 8);
		if (i % 8 == 7) {
			compress(v, word);
			word = 0;
		}
	}
	compress(v, word | (u64)(len & 0xff) << 56);

	v[2] ^= 0xff;
	rounds(v, 4);

	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
