// SPDX-License-Identifier: GPL-2.0
/*
 * track - sessions: tracking entries that are coarser than conntrack's own
 */
#include <linux/bitops.h>
#include <linux/bottom_half.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "lanes.h"
#include "track.h"

#define WAYS	8

/* Readers copy an entry and look at the count before and after. What an entry is of
 * stands here too, in sixteen bits each, so that nearly all that are not looked for are
 * passed over in one cache line. 0: the entry is free.
 */
struct weir_track_set {
	spinlock_t lock;		/* of its WAYS entries */
	seqcount_spinlock_t seq;
	struct weir_lanes tags;
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

static void fill_key(struct weir_track_key *key, const struct weir_tuple *tuple,
		     u32 owner, unsigned int fields)
{
	*key = (struct weir_track_key) {
		.src = tuple->src,
		.owner = owner,
		.family = tuple->family,
		.fields = fields,
	};
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
static void candidates(const struct weir_track *track, u64 hash, u32 set[2])
{
	u32 mask = track->nr_sets - 1;

	set[0] = hash & mask;
	set[1] = (set[0] + 1 + reciprocal_scale(hash >> 32, mask)) & mask;
}

/* Of bits that say little about the sets: there are at most 2^21 of those. */
static u16 tag_of(u64 hash)
{
	return (u16)(hash >> 24) | 1;
}

static u64 hash_of(const struct weir_track *track, const struct weir_track_key *key)
{
	/* Two keys may be alike in this: they are compared. */
	u32 about = key->fields << 16 | key->family << 8 | key->proto;

	if (key->family == AF_INET)
		return siphash_4u32((__force u32)key->src.ip, (__force u32)key->dst.ip,
				    (u32)(__force u16)key->sport << 16 |
				    (__force u16)key->dport,
				    key->owner ^ about << 8, &track->hash_key);
	return siphash(key, sizeof(*key), &track->hash_key);
}

void weir_track_refer(const struct weir_track *track, const struct weir_tuple *tuple,
		      u32 owner, unsigned int fields, struct weir_track_ref *ref)
{
	fill_key(&ref->key, tuple, owner, fields);
	ref->hash = hash_of(track, &ref->key);
}

static bool in_use(const struct weir_session *session, u32 idle, u32 now)
{
	/* Whole seconds: up to one late, never early. Another CPU may be in the next
	 * one already.
	 */
	return session->dest &&
	       (s32)(now - READ_ONCE(session->used)) <= (s32)idle;
}

/* As memcmp() of both, in six words. */
static __always_inline bool differ(const struct weir_track_key *a,
				   const struct weir_track_key *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;

	BUILD_BUG_ON(sizeof(*a) != 5 * sizeof(u64) + 2 * sizeof(a->sport));
	return (x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) |
	       (x[4] ^ y[4]) |
	       (*(const u32 *)&a->sport ^ *(const u32 *)&b->sport);
}

static bool read_entry(struct weir_track *track, u32 set, u32 at,
		       const struct weir_track_key *key,
		       struct weir_session *copy)
{
	const struct weir_session *entry = &track->sessions[at];
	unsigned int seq;

	do {
		seq = read_seqcount_begin(&track->sets[set].seq);
		if (differ(&entry->key, key))
			copy->dest = 0;
		else
			*copy = *entry;
	} while (read_seqcount_retry(&track->sets[set].seq, seq));
	return copy->dest;
}

static bool find_in(struct weir_track *track, u32 set, const struct weir_track_ref *ref,
		    struct weir_session *session, u32 *at)
{
	u64 lanes;
	int i;

	for (i = 0; i < WAYS / WEIR_LANES; i++) {
		lanes = weir_lanes_match(READ_ONCE(track->sets[set].tags.words[i]),
				   tag_of(ref->hash));
		for (; lanes; lanes &= lanes - 1) {
			*at = set * WAYS + i * WEIR_LANES + weir_lanes_first(lanes);
			if (read_entry(track, set, *at, &ref->key, session))
				return true;
		}
	}
	return false;
}

bool weir_track_find(struct weir_track *track, const struct weir_track_ref *ref,
		     u32 idle, u32 now, struct weir_session *session, u32 *at)
{
	u32 set[2];

	candidates(track, ref->hash, set);
	return (find_in(track, set[0], ref, session, at) ||
		find_in(track, set[1], ref, session, at)) &&
	       in_use(session, idle, now);
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

bool weir_track_renew(struct weir_track *track, u32 at, const struct weir_track_key *key,
		      u32 dest, u32 now)
{
	struct weir_session *entry;
	struct weir_track_set *set;
	unsigned int seq;
	bool good;

	if (at >= weir_track_size(track))
		return false;
	entry = &track->sessions[at];
	set = &track->sets[at / WAYS];
	seq = read_seqcount_begin(&set->seq);
	good = entry->dest == dest && entry->confirmed && !entry->opening &&
	       !differ(&entry->key, key) && in_use(entry, entry->idle, now);
	if (read_seqcount_retry(&set->seq, seq) || !good)
		return false;
	if (READ_ONCE(entry->used) != now)
		WRITE_ONCE(entry->used, now);
	return true;
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

/* Both sets locked. The entry of this key, or -1. */
static s64 find_same(const struct weir_track *track, const u32 set[2],
		     const struct weir_track_key *key, u16 tag)
{
	u64 lanes;
	u32 at;
	int i;

	for (i = 0; i < 2 * WAYS / WEIR_LANES; i++) {
		lanes = weir_lanes_match(track->sets[set[i & 1]].tags.words[i / 2], tag);
		for (; lanes; lanes &= lanes - 1) {
			at = set[i & 1] * WAYS + i / 2 * WEIR_LANES + weir_lanes_first(lanes);
			if (!differ(&track->sessions[at].key, key))
				return at;
		}
	}
	return -1;
}

/* Set locked. How many entries are free, and which is one of them. */
static u32 free_ways(const struct weir_track *track, u32 set, u32 *at)
{
	u32 i, n = 0;
	u64 lanes;

	for (i = 0; i < WAYS / WEIR_LANES; i++) {
		lanes = weir_lanes_match(track->sets[set].tags.words[i], 0);
		if (!lanes)
			continue;
		*at = set * WAYS + i * WEIR_LANES + weir_lanes_first(lanes);
		n += hweight64(lanes);
	}
	return n;
}

static u32 unused_ways(const struct weir_track *track, u32 set, u32 now)
{
	const struct weir_session *entry = &track->sessions[set * WAYS];
	u32 n = 0;
	int way;

	for (way = 0; way < WAYS; way++)
		n += !in_use(&entry[way], entry[way].idle, now);
	return n;
}

/* Both sets locked, and no entry is free: which one gives way? */
static u32 find_weakest(const struct weir_track *track, const u32 set[2], u32 now)
{
	u32 emptier = unused_ways(track, set[1], now) >
		      unused_ways(track, set[0], now);
	u32 best = set[emptier] * WAYS;
	int i, way;

	for (i = 0; i < 2; i++) {
		for (way = 0; way < WAYS; way++) {
			u32 at = set[i ^ emptier] * WAYS + way;

			if (weaker(&track->sessions[at], &track->sessions[best], now))
				best = at;
		}
	}
	return best;
}

/* Both sets locked, and this key has no entry: where to write one. */
static u32 find_place(const struct weir_track *track, const u32 set[2], u32 now)
{
	u32 at[2], n[2], i;

	for (i = 0; i < 2; i++)
		n[i] = free_ways(track, set[i], &at[i]);
	if (!n[0] && !n[1])
		return find_weakest(track, set, now);
	return at[n[1] > n[0]];
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
		    u64 hash, u32 now)
{
	struct weir_track_set *owner;
	struct weir_session *entry;
	spinlock_t *first, *second;
	bool same, evicted;
	u32 set[2], at;
	s64 known;

	candidates(track, hash, set);
	first = &track->sets[min(set[0], set[1])].lock;
	second = &track->sets[max(set[0], set[1])].lock;
	lock_sets(first, second);
	known = find_same(track, set, &session->key, tag_of(hash));
	same = known >= 0;
	at = same ? known : find_place(track, set, now);
	entry = &track->sessions[at];
	owner = &track->sets[at / WAYS];
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
	weir_lanes_write(&owner->tags, at % WAYS, tag_of(hash));
	write_seqcount_end(&owner->seq);
	unlock_sets(first, second);
	return evicted;
}

/* Set locked. */
static void free_entry(struct weir_track *track, u32 at)
{
	struct weir_track_set *set = &track->sets[at / WAYS];

	write_seqcount_begin(&set->seq);
	weir_lanes_write(&set->tags, at % WAYS, 0);
	track->sessions[at].dest = 0;
	write_seqcount_end(&set->seq);
}

void weir_track_drop(struct weir_track *track, u32 at,
		     const struct weir_track_key *key)
{
	struct weir_track_set *set = &track->sets[at / WAYS];
	struct weir_session *entry = &track->sessions[at];

	spin_lock(&set->lock);
	if (!differ(&entry->key, key))
		free_entry(track, at);
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
		if (!copy.dest)
			free_entry(track, *at);
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

	/* Whoever has a hash from the one table may use it with the other. */
	to->hash_key = from->hash_key;
	for (at = 0; at < from->nr_sets * WAYS; at++) {
		struct weir_track_set *set = &from->sets[at / WAYS];

		if (!READ_ONCE(from->sessions[at].dest))
			continue;
		local_bh_disable();
		spin_lock(&set->lock);
		copy = from->sessions[at];
		spin_unlock(&set->lock);
		if (in_use(&copy, copy.idle, now))
			weir_track_put(to, &copy, hash_of(to, &copy.key), now);
		local_bh_enable();
		cond_resched();
	}
}
