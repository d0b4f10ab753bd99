// SPDX-License-Identifier: GPL-2.0
/*
 * weir - lookup tables by consistent hashing
 *
 * Pure: compiled in the module and, by selftests/unit, in userspace.
 *
 * As in Maglev (Eisenbud et al., NSDI 2016) every member has an order of
 * preference over all slots, offset + k * skip modulo a prime, from hashes of
 * its address; members take turns to claim their next preference.
 *
 * Unlike there, a turn is one try: a member whose preference is taken waits for
 * the next turn instead of trying on at once, and who has its share stops. So
 * in turn k exactly the k-th preferences compete, whoever else has succeeded
 * before, and one member more or less changes little for the others: about half
 * as many slots move as in the original, shares are as exact, and fewer tries
 * are needed.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "maglev.h"

#define SLOTS_PER_BACKEND	128
#define SLOT_FREE		U16_MAX	/* members are fewer: no position */
#define TRIES_PER_RESCHED	4096

/*
 * The last primes below powers of two, but for 65537, which 512 backends
 * still fit in, and for the largest one.
 */
static const u32 auto_sizes[] = {
	1021, 2039, 4093, 8191, 16381, 32749, 65537, 131071, 262139, 524287,
	WEIR_TABLE_SIZE_MAX,
};

/* A member that has not got its share yet. */
struct claimant {
	u32	next;		/* slot that it prefers next */
	u32	skip;
	u32	got;		/* slots that it has */
	u16	position;	/* in members[] */
};

u32 weir_maglev_auto_size(u32 n_configured)
{
	u64 want = (u64)n_configured * SLOTS_PER_BACKEND;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(auto_sizes); i++)
		if (auto_sizes[i] >= want)
			return auto_sizes[i];

	return WEIR_TABLE_SIZE_MAX;
}

bool weir_maglev_size_ok(u32 size)
{
	u32 i;

	if (size < 2 || size > WEIR_TABLE_SIZE_MAX)
		return false;

	for (i = 2; i * i <= size; i++)
		if (size % i == 0)
			return false;

	return true;
}

size_t weir_maglev_scratch(u32 n)
{
	return n * sizeof(struct claimant);
}

/*
 * Two hashes of 64 bits each and not one that is split: offsets and skips of
 * different members shall coincide no more often than chance has it.
 */
static void prefer(struct claimant *c, const struct weir_member *m, u32 size,
		   const siphash_key_t *key)
{
	struct {
		struct weir_addr	addr;
		u8			family;
		u8			purpose;
		u8			zero[6];
	} __aligned(8) id = {
		.addr = m->addr,
		.family = m->family,
	};
	u32 rest;

	div_u64_rem(siphash(&id, sizeof(id), key), size, &rest);
	c->next = rest;

	id.purpose = 1;
	div_u64_rem(siphash(&id, sizeof(id), key), size - 1, &rest);
	c->skip = rest + 1;
}

static u32 step(u32 slot, u32 skip, u32 size)
{
	slot += skip;

	return slot < size ? slot : slot - size;
}

/*
 * One turn of all who still claim; returns how many remain. @share slots are
 * everybody's due, and the first @extra to reach it may have one more.
 */
static u32 take_turn(u16 *slots, u32 size, struct claimant *c, u32 n,
		     u32 share, u32 *extra)
{
	u32 i, left = 0;

	for (i = 0; i < n; i++) {
		struct claimant me = c[i];

		if (i % TRIES_PER_RESCHED == TRIES_PER_RESCHED - 1)
			cond_resched();

		if (me.got == share && !*extra)
			continue;

		if (slots[me.next] == SLOT_FREE) {
			slots[me.next] = me.position;
			if (me.got == share) {
				(*extra)--;
				continue;
			}
			me.got++;
		}
		me.next = step(me.next, me.skip, size);
		c[left++] = me;
	}

	return left;
}

void weir_maglev_fill(u16 *slots, u32 size, const struct weir_member *members,
		      u32 n, const siphash_key_t *key, void *scratch)
{
	struct claimant *c = scratch;
	u32 share = size / n;
	u32 extra = size % n;
	u32 i, left, tries = 0;

	for (i = 0; i < n; i++) {
		prefer(&c[i], &members[i], size, key);
		c[i].got = 0;
		c[i].position = i;
	}
	for (i = 0; i < size; i++)
		slots[i] = SLOT_FREE;

	/*
	 * Ends: the shares add up to the size, and who lacks something tries
	 * every slot within @size turns.
	 */
	for (left = n; left; ) {
		tries += left;
		if (tries >= TRIES_PER_RESCHED) {
			tries = 0;
			cond_resched();
		}
		left = take_turn(slots, size, c, left, share, &extra);
	}

	for (i = 0; i < size; i++)
		slots[i] = members[slots[i]].index;
}

static u64 mix(u64 h, u64 v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ULL;	/* 2^64 / golden ratio */

	return h ^ h >> 32;
}

static u64 mix_words(u64 h, __be32 high, __be32 low)
{
	return mix(h, (u64)be32_to_cpu(high) << 32 | be32_to_cpu(low));
}

u64 weir_maglev_digest(const u16 *slots, u32 size,
		       const struct weir_member *by_index)
{
	u64 h = mix(0, size);
	u32 i;

	for (i = 0; i < size; i++) {
		const struct weir_member *m = &by_index[slots[i]];

		if (i % TRIES_PER_RESCHED == 0)
			cond_resched();

		h = mix_words(h, m->addr.ip6[0], m->addr.ip6[1]);
		h = mix_words(h, m->addr.ip6[2], m->addr.ip6[3]);
		h = mix(h, m->family);
	}

	return h;
}
