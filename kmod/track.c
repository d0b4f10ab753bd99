// SPDX-License-Identifier: GPL-2.0
/*
 * track - sessions: tracking entries that are coarser than conntrack's own
 */
#include <linux/bottom_half.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "track.h"

#define WAYS	8

/* Readers copy an entry and look at the count before and after. */
struct weir_track_set {
	spinlock_t lock;		/* of its WAYS entries */
	seqcount_spinlock_t seq;
};

struct weir_track *weir_track_new(u32 size)
{
	struct weir_track *track = kzalloc(sizeof(*track), GFP_KERNEL_ACCOUNT);
	u32 i;

	BUILD_BUG_ON(sizeof(struct weir_session) > 64);
	if (!track)
		return NULL;
	get_random_bytes(&track->hash_key, sizeof(track->hash_key));
	track->nr_sets = roundup_pow_of_two(DIV_ROUND_UP(size, WAYS));
	track->nr_sets = max(track->nr_sets, 2U);
	track->sets = kvcalloc(track->nr_sets, sizeof(*track->sets),
			       GFP_KERNEL_ACCOUNT);
	track->sessions = kvcalloc(track->nr_sets,
				   WAYS * sizeof(*track->sessions),
				   GFP_KERNEL_ACCOUNT);
	if (!track->sets || !track->sessions) {
		weir_track_free(track);
		return NULL;
	}
	for (i = 0; i < track->nr_sets; i++) {
		spin_lock_init(&track->sets[i].lock);
		seqcount_spinlock_init(&track->sets[i].seq,
				       &track->sets[i].lock);
	}
	return track;
}

void weir_track_free(struct weir_track *track)
{
	if (!track)
		return;
	kvfree(track->sets);
	kvfree(track->sessions);
	kfree_sensitive(track);
}

void weir_track_key(struct weir_track_key *key, const struct weir_tuple *tuple,
		    u32 owner, unsigned int fields)
{
	memset(key, 0, sizeof(*key));
	key->src = tuple->src;
	key->family = tuple->family;
	key->owner = owner;
	key->fields = fields;
	if (fields > 1)
		key->dst = tuple->dst;
	if (fields > 2)
		key->proto = tuple->proto;
	if (fields > 3) {
		key->sport = tuple->sport;
		key->dport = tuple->dport;
	}
}

/* Two different sets from independent halves of one hash: the fuller one is passed
 * over, so that nothing has to give way before the table is nearly full.
 */
static void candidates(const struct weir_track *track,
		       const struct weir_track_key *key, u32 set[2])
{
	u64 hash = siphash(key, sizeof(*key), &track->hash_key);
	u32 mask = track->nr_sets - 1;

	set[0] = hash & mask;
	set[1] = (set[0] + 1 + (u32)(hash >> 32) % mask) & mask;
}

static bool in_use(const struct weir_session *session, u32 idle, u32 now)
{
	/* Whole seconds: up to one late, never early. Another CPU may be in the next
	 * one already.
	 */
	return session->dest &&
	       (s32)(now - READ_ONCE(session->used)) <= (s32)idle;
}

static bool read_entry(struct weir_track *track, u32 set, u32 at,
		       const struct weir_track_key *key,
		       struct weir_session *copy)
{
	const struct weir_session *entry = &track->sessions[at];
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&track->sets[set].seq);
		if (memcmp(&entry->key, key, sizeof(*key)))
			copy->dest = 0;
		else
			*copy = *entry;
	} while (read_seqcount_retry(&track->sets[set].seq, seq));
	return copy->dest;
}

bool weir_track_find(struct weir_track *track, const struct weir_track_key *key,
		     u32 idle, u32 now, struct weir_session *session, u32 *at)
{
	u32 set[2];
	int i, way;

	candidates(track, key, set);
	for (i = 0; i < 2; i++) {
		for (way = 0; way < WAYS; way++) {
			*at = set[i] * WAYS + way;
			if (read_entry(track, set[i], *at, key, session))
				return in_use(session, idle, now);
		}
	}
	return false;
}

u32 weir_track_size(const struct weir_track *track)
{
	return track->nr_sets * WAYS;
}

void weir_track_touch(struct weir_track *track, u32 at, u16 hint, u32 idle,
		      u32 now, bool confirm)
{
	struct weir_session *entry = &track->sessions[at];

	/* Backends came or went. An entry that was replaced meanwhile gets a wrong
	 * one, which is looked at before it is believed.
	 */
	if (READ_ONCE(entry->hint) != hint)
		WRITE_ONCE(entry->hint, hint);
	if (READ_ONCE(entry->used) != now)
		WRITE_ONCE(entry->used, now);
	if (READ_ONCE(entry->idle) != idle)
		WRITE_ONCE(entry->idle, idle);
	if (!confirm)
		return;
	if (!READ_ONCE(entry->confirmed))
		WRITE_ONCE(entry->confirmed, 1);
	if (READ_ONCE(entry->opening))
		WRITE_ONCE(entry->opening, 0);
}

/* Which of two entries should rather give way: a free one, then one that has seen a
 * single packet, so that spoofed ones push out each other, then the older one.
 */
static bool weaker(const struct weir_session *a, const struct weir_session *b,
		   u32 now)
{
	bool a_used = in_use(a, a->idle, now), b_used = in_use(b, b->idle, now);

	if (a_used != b_used)
		return !a_used;
	if (!a_used)
		return false;
	if (a->confirmed != b->confirmed)
		return !a->confirmed;
	return (s32)(b->used - a->used) > 0;
}

static u32 free_ways(const struct weir_track *track, u32 set, u32 now)
{
	const struct weir_session *entry = &track->sessions[set * WAYS];
	u32 n = 0;
	int way;

	for (way = 0; way < WAYS; way++)
		n += !in_use(&entry[way], entry[way].idle, now);
	return n;
}

/* Both sets locked. The entry of this key, or the one to write over. */
static u32 find_place(const struct weir_track *track, const u32 set[2],
		      const struct weir_track_key *key, u32 now)
{
	u32 emptier = free_ways(track, set[1], now) >
		      free_ways(track, set[0], now);
	u32 best = set[emptier] * WAYS;
	int i, way;

	for (i = 0; i < 2; i++) {
		for (way = 0; way < WAYS; way++) {
			u32 at = set[i ^ emptier] * WAYS + way;

			if (track->sessions[at].dest &&
			    !memcmp(&track->sessions[at].key, key, sizeof(*key)))
				return at;
			if (weaker(&track->sessions[at],
				   &track->sessions[best], now))
				best = at;
		}
	}
	return best;
}

/* In order of their numbers, so that two CPUs never wait for each other. */
static void lock_sets(spinlock_t *first, spinlock_t *second)
	__acquires(first) __acquires(second)
{
	spin_lock(first);
	spin_lock_nested(second, SINGLE_DEPTH_NESTING);
}

static void unlock_sets(spinlock_t *first, spinlock_t *second)
	__releases(first) __releases(second)
{
	spin_unlock(second);
	spin_unlock(first);
}

bool weir_track_put(struct weir_track *track, const struct weir_session *session,
		    u32 now)
{
	struct weir_track_set *owner;
	struct weir_session *entry;
	spinlock_t *first, *second;
	u32 set[2], at;
	bool same, evicted;

	candidates(track, &session->key, set);
	first = &track->sets[min(set[0], set[1])].lock;
	second = &track->sets[max(set[0], set[1])].lock;
	lock_sets(first, second);
	at = find_place(track, set, &session->key, now);
	entry = &track->sessions[at];
	owner = &track->sets[at / WAYS];
	same = entry->dest &&
	       !memcmp(&entry->key, &session->key, sizeof(entry->key));
	evicted = !same && in_use(entry, entry->idle, now);

	write_seqcount_begin(&owner->seq);
	entry->key = session->key;
	entry->dest = session->dest;
	entry->hint = session->hint;
	entry->idle = session->idle;
	entry->used = session->used;
	entry->confirmed = session->confirmed || (same && entry->confirmed);
	entry->opening = session->opening;
	entry->isn = session->isn;
	write_seqcount_end(&owner->seq);
	unlock_sets(first, second);
	return evicted;
}

void weir_track_drop(struct weir_track *track, u32 at,
		     const struct weir_track_key *key)
{
	struct weir_track_set *set = &track->sets[at / WAYS];
	struct weir_session *entry = &track->sessions[at];

	spin_lock(&set->lock);
	if (!memcmp(&entry->key, key, sizeof(*key))) {
		write_seqcount_begin(&set->seq);
		entry->dest = 0;
		write_seqcount_end(&set->seq);
	}
	spin_unlock(&set->lock);
}

int weir_track_each(struct weir_track *track, u32 *at, u32 most, u32 now,
		    int (*fn)(struct weir_session *session, void *arg),
		    void *arg)
{
	u32 end = min(weir_track_size(track), *at + most);
	struct weir_session copy;
	int err = 0;

	for (; *at < end; (*at)++) {
		struct weir_track_set *set = &track->sets[*at / WAYS];
		struct weir_session *entry = &track->sessions[*at];

		if (!READ_ONCE(entry->dest))
			continue;
		spin_lock_bh(&set->lock);
		copy = *entry;
		if (in_use(&copy, copy.idle, now))
			err = fn(&copy, arg);
		if (!copy.dest && entry->dest) {
			write_seqcount_begin(&set->seq);
			entry->dest = 0;
			write_seqcount_end(&set->seq);
		}
		spin_unlock_bh(&set->lock);
		if (err)
			return err;
	}
	return 0;
}

void weir_track_copy(struct weir_track *to, struct weir_track *from, u32 now)
{
	struct weir_session copy;
	u32 at;

	for (at = 0; at < from->nr_sets * WAYS; at++) {
		struct weir_track_set *set = &from->sets[at / WAYS];

		if (!READ_ONCE(from->sessions[at].dest))
			continue;
		local_bh_disable();
		spin_lock(&set->lock);
		copy = from->sessions[at];
		spin_unlock(&set->lock);
		if (in_use(&copy, copy.idle, now))
			weir_track_put(to, &copy, now);
		local_bh_enable();
		cond_resched();
	}
}
