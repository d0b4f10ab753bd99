/* SPDX-License-Identifier: GPL-2.0 */
/*
 * track - sessions: tracking entries that are coarser than conntrack's own
 *
 * The 1-, 2- and 3-tuples of per-session tracking, the 3-tuples of protocols
 * without ports and of fragmented UDP (semantics 1.4), and in direct mode, which has
 * no conntrack, the 5-tuples too. A set-associative table of
 * fixed size: two candidate sets of eight entries for each key, the least recently
 * used gives way. Nothing is allocated per packet, and no lock is held longer than
 * it takes to look at sixteen entries.
 */
#ifndef WEIR_TRACK_H
#define WEIR_TRACK_H

#include <linux/siphash.h>
#include <linux/types.h>

#include "tuple.h"

#define WEIR_SESSIONS_MIN	1024
#define WEIR_SESSIONS_DEFAULT	65536
#define WEIR_SESSIONS_MAX	(1 << 24)

/* Unused fields are zero, so that keys compare as words: they start at a multiple of 8. */
struct weir_track_key {
	struct weir_addr src, dst;
	u32 owner;		/* id of the service's run-time half */
	u8 family;
	u8 proto;		/* IPPROTO_*, 0 below three fields */
	u8 fields;		/* 1, 2, 3 or 5 */
	u8 unused;
	__be16 sport, dport;	/* 0 below five fields */
};

struct weir_session {
	struct weir_track_key key;
	u32 dest;		/* id, 0 for a free entry */
	u32 used;		/* second of the last incoming packet */
	u16 hint;		/* where the backend was in its service */
	u16 idle;		/* seconds that it may go unused */
	u8 confirmed;		/* more than one packet came */
	u8 opening;		/* a SYN came, and nothing since: */
	__be32 isn;		/* its sequence number */
} __aligned(64);

/* A key, and the hash by which every table of a namespace has it. */
struct weir_track_ref {
	struct weir_track_key key;
	u64 hash;
};

struct weir_track_set;

struct weir_track {
	siphash_key_t hash_key;
	u32 nr_sets;			/* power of two */
	struct weir_track_set *sets;
	struct weir_session *sessions;	/* eight for each set, in cache lines */
};

/**
 * weir_track_new() - a table for at least @size sessions
 * May sleep. Return: the table, or NULL when there is no memory.
 */
struct weir_track *weir_track_new(u32 size);

/**
 * weir_track_free() - @track may be NULL; nobody uses it any more
 */
void weir_track_free(struct weir_track *track);

/**
 * weir_track_copy() - take over the sessions of another table, and its way to hash
 * @to: not in use yet
 * @now: second
 *
 * What is written to @from meanwhile may be missed. May sleep.
 */
void weir_track_copy(struct weir_track *to, struct weir_track *from, u32 now);

/**
 * weir_track_refer() - the key of a packet, hashed
 * @ref: written whole
 * @owner: id of the service
 * @fields: 1, 2, 3 or 5
 */
void weir_track_refer(const struct weir_track *track, const struct weir_tuple *tuple,
		      u32 owner, unsigned int fields, struct weir_track_ref *ref);

/**
 * weir_track_find() - the session of a key
 * @idle: seconds that it may have gone unused, by the configuration of now
 * @now: second
 * @session: a copy is written
 * @at: written: where it is, for weir_track_touch()
 *
 * RCU read lock; any context. Return: false if there is none, or it is too old.
 */
bool weir_track_find(struct weir_track *track, const struct weir_track_ref *ref,
		     u32 idle, u32 now, struct weir_session *session, u32 *at);

/**
 * weir_track_size() - entries, in use or not
 */
u32 weir_track_size(const struct weir_track *track);

/**
 * weir_track_touch() - an incoming packet of the session
 * @at: from weir_track_find()
 * @hint: where the backend is in its service now
 * @confirm: it is not the first one
 *
 * Writes once a second at most. If the entry changed hands since it was found, the
 * other session gets a second that it has not earned, and no more.
 */
void weir_track_touch(struct weir_track *track, u32 at, u16 hint, u32 idle,
		      u32 now, bool confirm);

/**
 * weir_track_renew() - an incoming packet of a session of which one knows where it is
 * @at: where it was found before, of this table or of one that had its place
 * @key: it has to have this key, and
 * @dest: lead there
 *
 * RCU read lock. Return: false if there is no such session, it is too old, or has not
 * seen two packets since it began.
 */
bool weir_track_renew(struct weir_track *track, u32 at, const struct weir_track_key *key,
		      u32 dest, u32 now);

/**
 * weir_track_put() - write a session, in the place of its predecessor if any
 * @session: all of it is read; @used is the second of the packet
 * @hash: of its key, of weir_track_refer()
 *
 * Bottom halves off, RCU read lock. Return: true if a session that was still in
 * use had to give way.
 */
bool weir_track_put(struct weir_track *track, const struct weir_session *session,
		    u64 hash, u32 now);

/**
 * weir_track_drop() - remove a session
 * @at: from weir_track_find()
 * @key: its key; if another one stands there by now, that stays
 *
 * Bottom halves off, RCU read lock.
 */
void weir_track_drop(struct weir_track *track, u32 at,
		     const struct weir_track_key *key);

/**
 * weir_track_each() - call @fn for sessions in use, from *@at on
 * @most: entries to look at
 * @fn: returns 0 to go on; else the walk stops with *@at at that entry. It may
 *	set @session->dest to 0: then the entry is freed. Called with the entry
 *	locked, must not sleep
 *
 * RCU read lock, process context. Return: 0, or what @fn returned.
 */
int weir_track_each(struct weir_track *track, u32 *at, u32 most, u32 now,
		    int (*fn)(struct weir_session *session, void *arg),
		    void *arg);

#endif /* WEIR_TRACK_H */
