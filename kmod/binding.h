/* SPDX-License-Identifier: GPL-2.0 */
/*
 * binding - what a conntrack entry of ours carries
 *
 * Out-of-tree code cannot add a conntrack extension type. The timeout extension
 * holds a pointer to a struct nf_ct_timeout whose data array is the idle timeout
 * per protocol state; a binding begins with one. So the kernel keeps the entry
 * as long as the service says, and the same pointer gives the backend with no
 * second lookup per packet.
 *
 * A binding belongs to one backend of one service, one port and one protocol
 * class, and is never given to another. It is made with its dest and outlives
 * it as long as entries point to it.
 */
#ifndef WEIR_BINDING_H
#define WEIR_BINDING_H

#include <linux/bits.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_l4proto.h>
#include <net/netfilter/nf_conntrack_timeout.h>

#include "dest.h"

struct weir_backend;
struct weir_service;

/* At least the states of every protocol that conntrack knows. */
#define WEIR_BINDING_STATES	16

/* weir_binding.state: tested for each packet, written under weir_net.lock. */
#define WEIR_BINDING_ENDED	BIT(0)	/* no packet passes any more */
#define WEIR_BINDING_LEAVE	BIT(1)	/* unhealthy: the next packet re-selects, if
					 * its client would not choose it again
					 */
#define WEIR_BINDING_CHECK	BIT(2)	/* rules changed: does it still match? */
#define WEIR_BINDING_ROLE	BIT(3)	/* of a role that is not in use any more */
#define WEIR_BINDING_DRAIN	BIT(4)	/* ends at drain_until */

struct weir_binding {
	/* struct nf_ct_timeout, up to its data array: the kernel frees the
	 * whole by this address where it counts references.
	 */
	u8 timeout[sizeof(struct nf_ct_timeout)] __aligned(8);
	unsigned int data[WEIR_BINDING_STATES];

	u32 state;
	u8 class;			/* enum weir_class */
	bool hairpin;
	u8 session;			/* fields of the session's key, 0 none */
	bool sticky;			/* a session carries idle-timeout */
	struct weir_dest __rcu *dest;	/* NULL once the backend is forgotten */
	struct list_head list;		/* all of this namespace */
	unsigned long drain_until;	/* jiffies */
};

/* Its address in timeout->l4proto tells our bindings from other policies. */
extern const struct nf_conntrack_l4proto weir_binding_tag;

static inline struct nf_ct_timeout *
weir_binding_timeout(struct weir_binding *binding)
{
	return (struct nf_ct_timeout *)binding->timeout;
}

/**
 * weir_binding_of() - the binding of a conntrack entry
 * RCU read lock. Return: NULL if the entry is not ours.
 */
static inline struct weir_binding *weir_binding_of(const struct nf_conn *ct)
{
	const struct nf_conn_timeout *ext = nf_ct_timeout_find(ct);
	struct nf_ct_timeout *timeout;

	if (!ext)
		return NULL;
	timeout = rcu_dereference(ext->timeout);
	if (!timeout || READ_ONCE(timeout->l4proto) != &weir_binding_tag)
		return NULL;
	return container_of((u8 (*)[sizeof(*timeout)])timeout,
			    struct weir_binding, timeout);
}

/**
 * weir_class() - protocol class of a packet
 * @proto: IPPROTO_*
 */
enum weir_class weir_class(u8 proto);

/**
 * weir_binding_new() - a binding for flows of @class to @dest
 * May sleep, weir_net.lock held. Return: NULL when there is no memory.
 */
struct weir_binding *weir_binding_new(struct weir_dest *dest,
				      enum weir_class class);

/**
 * weir_binding_configure() - what the live configuration says of it
 * @binding: of @be
 * @svc: finished service
 * @be: its backend
 *
 * In force from the next packet of each flow on (decision 19). weir_net.lock.
 */
void weir_binding_configure(struct weir_binding *binding,
			    const struct weir_service *svc,
			    const struct weir_backend *be);

/**
 * weir_binding_has_drained() - has its deadline come, if it has one?
 * @state: what was read of its state word
 *
 * Any context.
 */
static inline bool weir_binding_has_drained(const struct weir_binding *binding,
					    u32 state)
{
	return state & WEIR_BINDING_DRAIN &&
	       time_after_eq(jiffies, READ_ONCE(binding->drain_until));
}

/**
 * weir_binding_half_open() - is it a state before the handshake is over?
 * @state: of the protocol that @class is for
 */
bool weir_binding_half_open(enum weir_class class, unsigned int state);

/**
 * weir_binding_kernel_times() - a hash of what the kernel's timeouts are
 *
 * Any context: a timeout that is being written counts as old or new.
 */
u32 weir_binding_kernel_times(const struct net *net);

/**
 * weir_binding_retime() - how long half-open and closed connections live
 * @step: of @steps from idle-timeout down to what the kernel gives closed ones
 *
 * weir_net.lock.
 */
void weir_binding_retime(struct weir_binding *binding, const struct net *net,
			 u32 step, u32 steps);

/**
 * weir_binding_mark() - set flags of the state word; weir_net.lock
 */
void weir_binding_mark(struct weir_binding *binding, u32 flags);

/**
 * weir_binding_forget() - the dest is going away
 *
 * A grace period later nobody reaches the dest through @binding.
 */
void weir_binding_forget(struct weir_binding *binding);

/**
 * weir_binding_attach() - bind an entry
 * @ct: unconfirmed and held by this CPU
 *
 * A policy that somebody attached before is replaced. RCU read lock. Return:
 * false when there is no room for the extension, or the binding is ending.
 */
bool weir_binding_attach(struct weir_binding *binding, struct nf_conn *ct);

/**
 * weir_binding_adopt() - take over the timeout extension of a live entry
 * @ct: confirmed, already translated to the backend of @binding
 *
 * Another module may store its own policy over ours after we attached it. RCU
 * read lock. Return: false if the entry has no such extension to point at us.
 */
bool weir_binding_adopt(struct weir_binding *binding, struct nf_conn *ct);

/**
 * weir_binding_first_timeout() - lifetime of an entry that has seen one packet
 * @ct: unconfirmed, its timeout is what conntrack gave it
 * Return: jiffies (decision 13).
 */
unsigned long weir_binding_first_timeout(const struct weir_binding *binding,
					 const struct nf_conn *ct);

/**
 * weir_binding_discard() - free a binding that was never published
 *
 * No entry has ever met it, so nobody needs to count. weir_net.lock held.
 */
void weir_binding_discard(struct weir_binding *binding);

/**
 * weir_binding_refresh() - timeouts of a protocol that keeps copies of them
 * @binding: of the class for other protocols
 *
 * GRE reads them from the entry, where conntrack copied its own with the first
 * packet. Return: nothing; entries of other protocols are left alone.
 */
void weir_binding_refresh(const struct weir_binding *binding, struct nf_conn *ct);

/**
 * weir_binding_prolong() - a packet that conntrack ignored was the flow's all the same
 * @binding: of the class for TCP, and of @ct
 * @ct: confirmed
 *
 * A SYN in a connection that is open changes nothing in conntrack, the time that is
 * left neither; here it is activity (decision 16).
 */
void weir_binding_prolong(const struct weir_binding *binding, struct nf_conn *ct);

/**
 * weir_binding_reap() - free bindings that no entry points to any more
 * weir_net.lock; may sleep. Return: how many forgotten ones are still held, also in
 * weir_net.nr_held.
 */
u32 weir_binding_reap(struct weir_net *wn);

/**
 * weir_binding_exit_net() - let go of all bindings of a namespace
 *
 * No packet of it is looked at by us any more. Those that an entry may still point
 * to are kept for weir_binding_exit(), if not for the next namespace that goes.
 */
void weir_binding_exit_net(struct weir_net *wn);

/**
 * weir_binding_exit() - module exit, after nf_ct_iterate_destroy() and a grace
 *	period: where nobody counts, no entry points to us any more
 */
void weir_binding_exit(void);

#endif /* WEIR_BINDING_H */
