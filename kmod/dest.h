/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dest - the run-time half of a backend and of a service
 *
 * Configurations come and go; what has been counted, and the bindings that
 * conntrack entries point to, stay as long as the backend does. An owner is to
 * a service what a dest is to a backend.
 */
#ifndef WEIR_DEST_H
#define WEIR_DEST_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/weir.h>
#include <linux/workqueue.h>

#include "stats.h"
#include "tuple.h"

struct dst_entry;
struct weir_binding;
struct weir_net;
struct weir_probe;
struct weir_site;

/* A binding's timeouts are indexed by the states of one protocol. */
enum weir_class {
	WEIR_CLASS_TCP,
	WEIR_CLASS_UDP,
	WEIR_CLASS_SCTP,
	WEIR_CLASS_OTHER,

	WEIR_NR_CLASSES
};

struct weir_owner {
	refcount_t ref;
	u32 id;			/* never used again in this namespace */
	/* Of backends that are gone, so that a service's sums never shrink;
	 * written under weir_net.lock.
	 */
	u64 gone[WEIR_NR_COUNTERS];
	char name[WEIR_NAME_MAX + 1];
};

struct weir_dest {
	refcount_t ref;		/* services, and the release work */
	struct weir_net *wn;
	struct weir_owner *owner;
	struct weir_addr addr;
	u32 id;			/* never used again in this namespace, not 0 */
	u8 family;
	u16 port;		/* host order, 0 keeps the packet's */
	/* Under weir_net.lock: */
	bool fresh;		/* in no configuration yet */
	bool ended;		/* in none any more */
	bool folded;		/* counters were added to the owner's */
	bool healthy;
	u32 nr_flips;		/* how often that changed, */
	unsigned long flipped;	/* and when it did last: jiffies */
	struct weir_probe *probe;	/* the last one, NULL if none was reported */
	/* Direct mode: the way to it, outside of VRFs; see transmit.c. */
	struct dst_entry __rcu *route;
	u32 route_cookie;
	struct list_head routed;	/* of weir_net.routed, if it may have one */
	u32 nr_flows;		/* scratch of weir_flow_count(), weir_net.lock */
	struct weir_site *site;	/* its address, until it is released */
	struct weir_counters __percpu *counters;
	struct weir_binding *bindings[WEIR_NR_CLASSES];
	struct rcu_work release;
};

/**
 * weir_owner_new() - the run-time half of a new service
 * May sleep, weir_net.lock held. Return: with one reference, or NULL.
 */
struct weir_owner *weir_owner_new(struct weir_net *wn, const char *name);

void weir_owner_get(struct weir_owner *owner);

/**
 * weir_owner_put() - drop a reference
 * @owner: may be NULL
 */
void weir_owner_put(struct weir_owner *owner);

/**
 * weir_dest_new() - the run-time half of a new backend, with its bindings
 * @owner: a reference is taken
 * May sleep, weir_net.lock held. Return: with one reference, or NULL.
 */
struct weir_dest *weir_dest_new(struct weir_net *wn, struct weir_owner *owner,
				const struct weir_addr *addr, u8 family,
				u16 port);

void weir_dest_get(struct weir_dest *dest);

/**
 * weir_dest_put() - drop a reference
 * @dest: may be NULL
 *
 * The last one lets go of the bindings a grace period later, in a work item
 * that weir_dest_flush() waits for. Any context that may take a spinlock.
 */
void weir_dest_put(struct weir_dest *dest);

/**
 * weir_dest_end() - the backend is in no configuration any more
 *
 * No packet that begins after this passes to or from it. weir_net.lock held.
 */
void weir_dest_end(struct weir_dest *dest);

/**
 * weir_dest_note_health() - what a configuration that is published says of it
 *
 * Counts changes. weir_net.lock held.
 */
void weir_dest_note_health(struct weir_dest *dest, bool healthy);

/**
 * weir_dest_forget_probe() - nobody probes it any more; weir_net.lock held
 */
void weir_dest_forget_probe(struct weir_dest *dest);

/**
 * weir_dest_fold() - add its counters to those of its owner, once
 *
 * A grace period after weir_dest_end(), when nobody counts any more.
 * weir_net.lock held.
 */
void weir_dest_fold(struct weir_dest *dest);

/**
 * weir_dest_flush() - wait until every dest that was put is freed
 * May sleep.
 */
void weir_dest_flush(void);

#endif /* WEIR_DEST_H */
