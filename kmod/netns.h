/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netns - what weir keeps per network namespace
 */
#ifndef WEIR_NETNS_H
#define WEIR_NETNS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ratelimit.h>
#include <linux/rhashtable-types.h>
#include <linux/siphash.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include "guard.h"

struct ctl_table;
struct ctl_table_header;
struct weir_config;
struct weir_draft;
struct weir_lines;
struct weir_reasons;
struct weir_shortcuts;
struct weir_track;

struct weir_net {
	struct net *net;
	struct weir_config __rcu *config;	/* never NULL between init and exit */
	struct weir_reasons __percpu *reasons;
	struct weir_tombs tombs;
	struct weir_track __rcu *track;		/* NULL until the first hook */
	u32 max_sessions;			/* net.weir.max_sessions */
	struct weir_shortcuts __rcu *shortcuts;	/* NULL until fast_path is on, and nat mode in use */
	struct weir_lines __rcu *lines;		/* the same of direct mode */
	bool fast_path;				/* net.weir.fast_path */
	int log_drops;				/* net.weir.log_drops */
	struct ratelimit_state rejects;
	bool closing;				/* select nothing any more */

	struct mutex lock;			/* orders all writers */
	struct weir_draft *draft;		/* an open transaction, or NULL */
	u32 draft_portid;			/* the socket that opened it */
	struct hlist_head __rcu *pins;		/* NULL until the first one */
	u32 nr_pins;				/* those that are over, too */
	u32 last_owner_id;
	u32 last_dest_id;
	struct rhashtable sites;		/* addresses that backends have */
	unsigned long site_left;		/* jiffies: when the last one went, */
	bool any_site_left;			/* and whether one has */
	bool untracks;				/* net.weir.track_others is 0 */
	bool hooked[2];				/* IPv4, IPv6: hooks are registered */
	bool direct[2];				/* those of direct mode */
	bool fast[2];				/* those of the short way */
	spinlock_t route_lock;			/* of what dests know of routes */
	struct list_head routed;		/* dests that may have one */
	struct list_head bindings;		/* live ones, and held by entries */
	u32 nr_held;				/* of those, when last looked at */
	unsigned long flows_counted;		/* jiffies: when all were, for show */
	unsigned long sessions_counted;		/* jiffies, and how many there were */
	u32 nr_sessions;

	struct delayed_work sweep;		/* walks the conntrack table */
	u32 sweep_wanted;			/* generation that it is wanted for, */
	u32 sweep_wanted_layout;		/* both written under the lock */
	u32 sweep_generation;			/* what the last walk was for, */
	u32 sweep_walks;			/* and how many it has had */
	u32 sweep_layout;			/* for which sessions were looked at */

	struct delayed_work drain;		/* takes out what has drained */

	struct delayed_work limit;		/* looks how many flows there are */
	u32 max_flows;				/* net.weir.max_flows, */
	bool max_flows_written;			/* if it was written */
	u32 fullness;				/* that closed states know of, */
	u32 kernel_times;			/* and which timeouts of the kernel, */
	u32 fullness_generation;		/* and since which configuration */

	struct ctl_table *sysctl_table;
	struct ctl_table_header *sysctl_header;
};

extern unsigned int weir_net_id;

/* For all that walks the conntrack table, and for releases. From before the first
 * namespace's init to after the last one's exit.
 */
extern struct workqueue_struct *weir_wq;

/* The module is on its way out: no configuration is published any more. Whoever sets
 * it takes every weir_net.lock once before it relies on that.
 */
extern bool weir_unloading;

static inline struct weir_net *weir_net(const struct net *net)
{
	return net_generic(net, weir_net_id);
}

#endif /* WEIR_NETNS_H */
