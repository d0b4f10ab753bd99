/* SPDX-License-Identifier: GPL-2.0 */
/*
 * line - where the session and the backend of a running flow of direct mode are
 *
 * A line saves the look for the rule, for the session and for the backend. It is a hint,
 * of one configuration: what it says is held against the session, the backend's state
 * and its route for each packet (straight.c), and with the next configuration it is void.
 * So nothing has to be torn down, and what is not found here takes the long way.
 *
 * A set-associative table of fixed size per namespace. Nothing in it holds a reference:
 * the backend of a line belongs to its configuration, which lives as long as the RCU
 * read lock is held under which that was found to be the live one.
 */
#ifndef WEIR_LINE_H
#define WEIR_LINE_H

#include <asm/barrier.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define WEIR_LINE_WAYS	4

struct weir_dest;
struct weir_net;

/* Half a cache line. */
struct weir_place {
	u32 seq;		/* odd while somebody writes */
	u32 hash;		/* 0: nothing was written yet */
	u64 serial;
	struct weir_dest *dest;
	u32 at;
	u32 iif;
} __aligned(32);

struct weir_lines {
	u64 seed;		/* for weir_plain_hash4() and weir_plain_hash6(), odd */
	u32 mask;		/* of sets */
	struct weir_place *places;
};

struct weir_line {
	struct weir_dest *dest;
	u32 at;			/* of weir_track_find() */
};

/**
 * weir_lines_init() - a table by net.weir.max_sessions, once
 * weir_net.lock held, may sleep. Return: 0 or -ENOMEM.
 */
int weir_lines_init(struct weir_net *wn);

/**
 * weir_lines_exit() - free it; nobody uses it any more
 */
void weir_lines_exit(struct weir_net *wn);

static inline struct weir_place *weir_line_set(const struct weir_lines *lines, u32 hash)
{
	return &lines->places[(hash >> 1 & lines->mask) * WEIR_LINE_WAYS];
}

/* What a place has of a hash; 0 is none. */
static inline u32 weir_line_name(u32 hash)
{
	return hash | 1;
}

/**
 * weir_lines_find() - the line of a packet
 * @hash: of weir_plain_read4() or weir_plain_read6()
 * @iif: where it came in
 * @serial: of the live configuration
 * @line: written; if there is one it is of the packet, or of another one of that hash
 *
 * RCU read lock.
 */
static inline bool weir_lines_find(const struct weir_lines *lines, u32 hash, u32 iif,
				   u64 serial, struct weir_line *line)
{
	const struct weir_place *place = weir_line_set(lines, hash);
	const struct weir_place *end = place + WEIR_LINE_WAYS;
	bool same;
	u32 seq;

	for (; place < end; place++) {
		if (READ_ONCE(place->hash) != weir_line_name(hash))
			continue;
		seq = smp_load_acquire(&place->seq);
		line->dest = READ_ONCE(place->dest);
		line->at = READ_ONCE(place->at);
		same = READ_ONCE(place->hash) == weir_line_name(hash) &&
		       READ_ONCE(place->iif) == iif &&
		       READ_ONCE(place->serial) == serial;
		/* Pairs with the barrier behind the first change of the number. */
		smp_rmb();
		if (same && !(seq & 1) && READ_ONCE(place->seq) == seq)
			return true;
	}
	return false;
}

/**
 * weir_lines_put() - a packet has gone the long way, with this result
 *
 * RCU read lock, under which the configuration was read; bottom halves off.
 */
void weir_lines_put(struct weir_lines *lines, u32 hash, u32 iif, u64 serial,
		    const struct weir_line *line);

#endif /* WEIR_LINE_H */
