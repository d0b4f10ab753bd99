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
 *
 * Where weights differ, so does the pace: a member tries at the rate of its
 * weight times the part of the slots that it has not tried yet. Its k-th try is
 * then due when the k-th of as many exponential waits is, so that the slots it
 * would win are in proportion to its weight before anybody has to stop. At a
 * steady pace heavy members win too much, stop early, and how early depends on
 * everybody: with few members five times as many slots move.
 */
#include <linux/bits.h>
#include <linux/gcd.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/siphash.h>
#include <linux/types.h>

#include "maglev.h"

#define SLOTS_PER_BACKEND	128
#define SLOT_FREE		U16_MAX	/* members are fewer: no position */
#define TRIES_PER_RESCHED	4096
#define ONE_TRY			BIT_ULL(48)
#define VISITS_PER_TRY		8

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
	u64	credit;		/* tries that it may make, in ONE_TRY */
	u32	next;		/* slot that it prefers next */
	u32	skip;
	u32	pace;		/* weight times slots not tried yet */
	u32	lacks;		/* whole slots that it is due and has not got */
	u16	weight;
	u16	position;	/* in members[] */
	bool	fraction;	/* its due is not whole: it may get one more */
};

/* One among equals: nothing but turns decides. Its share is whole slots, and for
 * some one of the extra ones: for the first to have all else.
 */
struct peer {
	u32	next;
	s32	step;		/* skip less all slots, below 0 */
	u32	lacks;
	u32	position;
};

/* A table on its way. Free slots are what all lack, and the extra ones. */
struct filling {
	u16	*slots;
	u32	size;
	u32	free;
	u32	extra;		/* slots left over by rounding down */
	u32	fastest;	/* of the paces */
	u64	sum;		/* of the paces */
	u32	work;		/* since the CPU was offered */
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
	return n * max(sizeof(struct claimant), sizeof(struct peer));
}

u64 weir_member_hash(const struct weir_member *m, u8 purpose,
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
		.purpose = purpose,
	};

	return siphash(&id, sizeof(id), key);
}

/*
 * Two hashes of 64 bits each and not one that is split: offsets and skips of
 * different members shall coincide no more often than chance has it.
 */
static void prefer(const struct weir_member *m, u32 size,
		   const siphash_key_t *key, u32 *next, u32 *skip)
{
	div_u64_rem(weir_member_hash(m, WEIR_HASH_OFFSET, key), size, next);
	div_u64_rem(weir_member_hash(m, WEIR_HASH_SKIP, key), size - 1, skip);
	(*skip)++;
}

static void worked(struct filling *f)
{
	if (++f->work == TRIES_PER_RESCHED) {
		f->work = 0;
		cond_resched();
	}
}

static bool may_claim(const struct filling *f, const struct claimant *me)
{
	return me->lacks || (me->fraction && f->extra);
}

static void try_next(struct filling *f, struct claimant *me)
{
	u16 *slot = &f->slots[me->next];

	me->next += me->skip;
	if (me->next >= f->size)
		me->next -= f->size;
	me->pace -= me->weight;

	if (*slot != SLOT_FREE)
		return;

	*slot = me->position;
	f->free--;
	if (me->lacks) {
		me->lacks--;
	} else {
		me->fraction = false;
		f->extra--;
	}
}

/* Who may claim more stands in line at @place for the next turn. */
static u32 line_up(struct filling *f, struct claimant *c, u32 place,
		   const struct claimant *me)
{
	if (!may_claim(f, me))
		return place;

	f->fastest = max(f->fastest, me->pace);
	f->sum += me->pace;
	c[place] = *me;

	return place + 1;
}

/*
 * One turn of all who still claim; returns how many remain.
 *
 * The fastest has one try, or more where one heavy member would have hundreds
 * of turns alone: a try is worth some visits, no more. Fractions of a try are
 * kept; where all weights are equal there are none.
 */
static u32 take_turn(struct filling *f, struct claimant *c, u32 n)
{
	u64 credit = div_u64(ONE_TRY, f->fastest);
	u64 one_try = credit * f->fastest;
	u64 visits = f->sum * VISITS_PER_TRY;
	u32 i, left = 0;

	credit *= div64_u64((u64)n * f->fastest + visits - 1, visits);
	f->fastest = 0;
	f->sum = 0;

	for (i = 0; i < n; i++) {
		struct claimant me = c[i];

		worked(f);
		for (me.credit += me.pace * credit;
		     me.credit >= one_try && may_claim(f, &me);
		     me.credit -= one_try) {
			worked(f);
			try_next(f, &me);
		}
		left = line_up(f, c, left, &me);
	}

	return left;
}

/*
 * Dues are rounded down; of those whose due was not whole, the first to have
 * that much may have one more. Only the relations of the weights count.
 */
static u32 share_out(struct filling *f, struct claimant *c,
		     const struct weir_member *members, u32 n,
		     const siphash_key_t *key)
{
	u32 i, left = 0, sum = 0, unit = 0;

	for (i = 0; i < n; i++) {
		unit = gcd(unit, members[i].weight);
		sum += members[i].weight;
	}
	sum /= unit;

	f->extra = f->size;
	for (i = 0; i < n; i++) {
		u16 weight = members[i].weight / unit;
		u32 rest;
		struct claimant me = {
			.pace = weight * f->size,
			.lacks = div_u64_rem((u64)weight * f->size, sum, &rest),
			.weight = weight,
			.position = i,
		};

		worked(f);
		me.fraction = rest;
		f->extra -= me.lacks;
		prefer(&members[i], f->size, key, &me.next, &me.skip);
		c[i] = me;
	}
	for (i = 0; i < n; i++)
		left = line_up(f, c, left, &c[i]);

	return left;
}

/* It has claimed a slot, or may not: does it stay in line? */
static bool serve_peer(struct filling *f, struct peer *me, u16 *slot)
{
	if (!me->lacks && !f->extra)
		return false;
	*slot = me->position;
	f->free--;
	if (!me->lacks) {
		f->extra--;
		return false;
	}
	me->lacks--;

	return true;
}

/* A try each for those from @me to @end; who stays in line moves up to @left. */
static struct peer *take_equal_tries(struct filling *f, struct peer *me,
				     const struct peer *end, struct peer *left)
{
	u16 *slots = f->slots;
	s32 size = f->size;

	for (; me < end; me++) {
		s32 next = me->next + me->step;
		u16 *slot = &slots[me->next];

		me->next = next < 0 ? next + size : next;
		if (*slot == SLOT_FREE && !serve_peer(f, me, slot))
			continue;
		if (left != me)
			*left = *me;
		left++;
	}

	return left;
}

/* Where all paces are the same. Returns how many stay in line. */
static u32 take_equal_turn(struct filling *f, struct peer *p, u32 n)
{
	struct peer *left = p;
	u32 i, end;

	for (i = 0; i < n; i = end) {
		end = min(n, i + TRIES_PER_RESCHED - f->work);
		left = take_equal_tries(f, &p[i], &p[end], left);
		f->work += end - i - 1;
		worked(f);
	}

	return left - p;
}

/* The last of the extra slots has gone: who waited for one need not any more. */
static u32 send_home(struct peer *p, u32 n)
{
	u32 i, left = 0;

	for (i = 0; i < n; i++)
		if (p[i].lacks)
			p[left++] = p[i];

	return left;
}

static void fill_by_turns(struct filling *f, struct peer *p,
			  const struct weir_member *members, u32 n,
			  const siphash_key_t *key)
{
	u32 i, skip, each = f->size / n;
	bool extra;

	f->extra = f->size % n;
	for (i = 0; i < n; i++) {
		worked(f);
		prefer(&members[i], f->size, key, &p[i].next, &skip);
		p[i].step = skip - f->size;
		p[i].lacks = each;
		p[i].position = i;
	}
	while (f->free) {
		extra = f->extra;
		n = take_equal_turn(f, p, n);
		if (extra && !f->extra)
			n = send_home(p, n);
	}
}

static void fill_by_paces(struct filling *f, struct claimant *c,
			  const struct weir_member *members, u32 n,
			  const siphash_key_t *key)
{
	n = share_out(f, c, members, n, key);
	while (f->free)
		n = take_turn(f, c, n);
}

static bool equal_weights(const struct weir_member *members, u32 n)
{
	u32 i;

	for (i = 1; i < n; i++)
		if (members[i].weight != members[0].weight)
			return false;

	return true;
}

void weir_maglev_fill(u16 *slots, u32 size, const struct weir_member *members,
		      u32 n, const siphash_key_t *key, void *scratch)
{
	struct filling f = { .slots = slots, .size = size, .free = size };
	u32 i;

	for (i = 0; i < size; i++)
		slots[i] = SLOT_FREE;

	/*
	 * Ends: while a slot is free somebody may claim it who has not tried
	 * it, and the fastest of those tries something in every turn.
	 *
	 * Equals are at one pace all the time: plain turns give the same table
	 * for a third of the work.
	 */
	if (equal_weights(members, n))
		fill_by_turns(&f, scratch, members, n, key);
	else
		fill_by_paces(&f, scratch, members, n, key);

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
