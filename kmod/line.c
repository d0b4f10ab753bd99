// SPDX-License-Identifier: GPL-2.0
/*
 * line - where the session and the backend of a running flow of direct mode are
 */
#include <linux/cache.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "line.h"
#include "netns.h"

/* One for each session that there may be: 2 MiB by default, 32 at most. */
#define LINES_MIN	(1 << 12)
#define LINES_MAX	(1 << 20)

int weir_lines_init(struct weir_net *wn)
{
	u32 n = roundup_pow_of_two(clamp_t(u32, wn->max_sessions, LINES_MIN, LINES_MAX));
	struct weir_lines *lines;

	if (rcu_access_pointer(wn->lines))
		return 0;
	lines = kzalloc(sizeof(*lines), GFP_KERNEL_ACCOUNT);
	if (!lines)
		return -ENOMEM;
	lines->places = kvcalloc(n, sizeof(*lines->places), GFP_KERNEL_ACCOUNT);
	if (!lines->places) {
		kfree(lines);
		return -ENOMEM;
	}
	lines->mask = n / WEIR_LINE_WAYS - 1;
	lines->seed = get_random_u64() | 1;
	rcu_assign_pointer(wn->lines, lines);
	return 0;
}

void weir_lines_exit(struct weir_net *wn)
{
	struct weir_lines *lines = rcu_dereference_protected(wn->lines, true);

	if (!lines)
		return;
	RCU_INIT_POINTER(wn->lines, NULL);
	kvfree(lines->places);
	kfree(lines);
}

/* Its own place, else one that no packet can use any more, else any. */
static struct weir_place *choose(struct weir_lines *lines, u32 hash, u32 iif, u64 serial)
{
	struct weir_place *set = weir_line_set(lines, hash), *best = NULL;
	int way;

	for (way = 0; way < WEIR_LINE_WAYS; way++) {
		if (READ_ONCE(set[way].hash) == weir_line_name(hash) &&
		    READ_ONCE(set[way].iif) == iif)
			return &set[way];
		if (!best && READ_ONCE(set[way].serial) != serial)
			best = &set[way];
	}
	return best ?: &set[hash >> 30];
}

static bool says(const struct weir_place *place, u32 hash, u32 iif, u64 serial,
		 const struct weir_line *line)
{
	return READ_ONCE(place->hash) == weir_line_name(hash) && READ_ONCE(place->iif) == iif &&
	       READ_ONCE(place->serial) == serial &&
	       READ_ONCE(place->dest) == line->dest && READ_ONCE(place->at) == line->at;
}

void weir_lines_put(struct weir_lines *lines, u32 hash, u32 iif, u64 serial,
		    const struct weir_line *line)
{
	struct weir_place *place = choose(lines, hash, iif, serial);
	u32 seq = READ_ONCE(place->seq);

	/* Some packets of a flow have to go the long way each time. */
	if (says(place, hash, iif, serial, line))
		return;
	/* Who finds somebody writing has written a hint less. */
	if (seq & 1 || cmpxchg(&place->seq, seq, seq + 1) != seq)
		return;
	smp_wmb();
	WRITE_ONCE(place->hash, weir_line_name(hash));
	WRITE_ONCE(place->serial, serial);
	WRITE_ONCE(place->dest, line->dest);
	WRITE_ONCE(place->at, line->at);
	WRITE_ONCE(place->iif, iif);
	smp_store_release(&place->seq, seq + 2);
}
