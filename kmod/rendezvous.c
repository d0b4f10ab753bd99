// SPDX-License-Identifier: GPL-2.0
/*
 * weir - lookup tables by rendezvous hashing
 *
 * Pure: compiled in the module and, by selftests/unit, in userspace.
 *
 * Of the members' waiting times for a slot, each random with the exponential
 * distribution and divided by the member's weight, the shortest wins: that is
 * the usual -ln(hash) / weight. A member's waits depend on nothing but itself,
 * so another one can take slots from it or leave it some, but never moves any
 * between others.
 *
 * Most waits are too long to win. So they are not drawn slot by slot: members
 * arrive one after the other, each at random slots of a block and at random
 * times, as a Poisson process does. Its first arrival in a slot is the wait
 * there, with the same distribution and as independent of the other slots. Who
 * arrives after all slots of the block have been reached need not be drawn,
 * which leaves about eleven arrivals for a slot, however many members there are.
 * Drawn slot by slot, 1000 members cost six times as much, 65535 a minute.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "rendezvous.h"

#define BLOCK			1024	/* slots */
#define SLOT_FREE		U16_MAX	/* members are fewer: no position */
#define WORK_PER_RESCHED	4096
#define ONE			BIT_ULL(32)	/* the mean wait */

struct block {
	u16				*slots;	/* positions in members[] */
	u64				*waits;	/* of those, for their slots */
	u32				first;	/* number of the first slot */
	u32				len;
	u32				free;
	u32				work;	/* since the CPU was offered */
	const struct weir_member	*members;
};

size_t weir_rendezvous_scratch(u32 n)
{
	return (BLOCK + (size_t)n) * sizeof(u64);
}

static void worked(struct block *b)
{
	if (++b->work >= WORK_PER_RESCHED) {
		b->work = 0;
		cond_resched();
	}
}

/*
 * Random numbers of one member in one block: splitmix64. Blocks begin at states
 * near each other, which are far more steps apart than any block takes.
 */
static u32 draw(u64 *state)
{
	u64 x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;

	return x >> 32;
}

/*
 * An exponential wait with mean ONE, from comparisons of integers alone (von
 * Neumann, 1951): numbers that start with @first fall n times in a row, or more,
 * with probability first^n / n!, so an even number of times with exp(-first).
 * Each time that it is an odd one, the wait is longer by ONE.
 */
static u64 draw_wait(u64 *state)
{
	u64 wait = 0;

	for (;;) {
		u32 first = draw(state), last = first, next;
		bool even = true;

		for (next = draw(state); next < last; next = draw(state)) {
			last = next;
			even = !even;
		}
		if (even)
			return wait + first;

		wait += ONE;
	}
}

/*
 * All arrivals of a member until @until. Waits are compared as if divided by
 * weights, and stay far below 2^64 when multiplied by one; among equal ones the
 * lower position has come first.
 */
static void arrive(struct block *b, u16 position, u64 state, u64 until)
{
	const struct weir_member *me = &b->members[position];
	u64 wait;

	for (wait = draw_wait(&state); wait <= until;
	     wait += draw_wait(&state)) {
		u32 at = (u64)draw(&state) * b->len >> 32;
		u16 owner = b->slots[at];

		b->work++;
		if (owner == SLOT_FREE)
			b->free--;
		else if (wait * b->members[owner].weight >=
			 b->waits[at] * me->weight)
			continue;

		b->slots[at] = position;
		b->waits[at] = wait;
	}
}

/*
 * Eleven arrivals for a slot, in the mean, reach all of 1024 in 98 of 100 cases.
 * Otherwise everybody arrives again and for longer; what was won stays so.
 */
static void fill_block(struct block *b, const u64 *seeds, u32 n, u32 sum)
{
	u64 until = div_u64(b->len * fls(b->len) * ONE, sum);
	u32 i;

	for (i = 0; i < b->len; i++)
		b->slots[i] = SLOT_FREE;

	for (b->free = b->len; b->free; until *= 2)
		for (i = 0; i < n; i++) {
			worked(b);
			arrive(b, i, seeds[i] + b->first,
			       until * b->members[i].weight);
		}
}

void weir_rendezvous_fill(u16 *slots, u32 size,
			  const struct weir_member *members, u32 n,
			  const siphash_key_t *key, void *scratch)
{
	u64 *seeds = scratch;
	struct block b = { .waits = seeds + n, .members = members };
	u32 i, sum = 0;

	for (i = 0; i < n; i++) {
		worked(&b);
		seeds[i] = weir_member_hash(&members[i], WEIR_HASH_CONTEST, key);
		sum += members[i].weight;
	}
	for (b.first = 0; b.first < size; b.first += BLOCK) {
		b.slots = slots + b.first;
		b.len = min_t(u32, size - b.first, BLOCK);
		fill_block(&b, seeds, n, sum);
	}
	for (i = 0; i < size; i++)
		slots[i] = members[slots[i]].index;
}
