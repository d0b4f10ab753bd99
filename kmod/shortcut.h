/* SPDX-License-Identifier: GPL-2.0 */
/*
 * shortcut - which conntrack entry and which route a running flow of nat mode has
 *
 * A packet that has a shortcut needs neither conntrack's lookup nor that of the route.
 * A shortcut is only a hint: what it says is held against the entry itself, its binding
 * and its route for each packet (fast.c), so nothing has to be torn down in time, and
 * what is not found here takes the long way.
 *
 * A set-associative table of fixed size per namespace. What is written to a place stays
 * as it is until the place is given up, and a place is used again a grace period after
 * that: readers need no lock and no reference. Each shortcut holds a reference on its
 * entry and on its route.
 */
#ifndef WEIR_SHORTCUT_H
#define WEIR_SHORTCUT_H

#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "lanes.h"

struct dst_entry;
struct nf_conn;
struct weir_net;

#define WEIR_SHORTCUT_WAYS	8

struct weir_shortcut {
	struct nf_conn *ct;	/* NULL: free, or given up */
	struct dst_entry *dst;
	u32 cookie;		/* of @dst */
	u32 iif;		/* where the flow's packets come in */
	u8 dir;			/* enum ip_conntrack_dir */
	u8 age;			/* since it was given up; 0: in use or free */
	struct nf_conn *held;	/* the reference; NULL: free */
};

struct weir_shortcut_set {
	spinlock_t lock;			/* of writers */
	struct weir_lanes tags;
	struct weir_shortcut ways[WEIR_SHORTCUT_WAYS];
} ____cacheline_aligned;

struct weir_shortcuts {
	struct weir_net *wn;
	u64 seed;				/* as that of lines (line.h) */
	u32 mask;
	bool crowded;				/* somebody found no place */
	struct delayed_work work;
	struct weir_shortcut_set *sets;
};

/* Which of the ways have this hash: its bits that say nothing of the set. */
static inline u16 weir_shortcut_tag(u32 hash)
{
	return hash >> 16 | 1;
}

static inline struct weir_shortcut_set *
weir_shortcut_set(const struct weir_shortcuts *table, u32 hash)
{
	return &table->sets[hash & table->mask];
}

/**
 * weir_shortcut_init() - a table by the size of the namespace's conntrack table, once
 * weir_net.lock held, may sleep. Return: 0 or -ENOMEM.
 */
int weir_shortcut_init(struct weir_net *wn);

/**
 * weir_shortcut_exit() - free the table with all references
 *
 * No hook of ours runs any more, and a grace period is over. May sleep.
 */
void weir_shortcut_exit(struct weir_net *wn);

/**
 * weir_shortcut_add() - a packet of @ct has come through by the long way
 * @hash: of the packet's addresses and ports as it came in
 * @dst: the route that it got; references are taken on both
 *
 * Bottom halves off. If there is no place nothing happens.
 */
void weir_shortcut_add(struct weir_shortcuts *table, u32 hash, struct nf_conn *ct,
		       u8 dir, u32 iif, struct dst_entry *dst);

/**
 * weir_shortcut_flush() - give up all, now
 *
 * Routes are let go at once, as their devices may wait for it; entries a grace period
 * later. Any context that may take a lock for long.
 */
void weir_shortcut_flush(struct weir_net *wn);

#endif /* WEIR_SHORTCUT_H */
