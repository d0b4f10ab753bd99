/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guard - nothing leaks: packets to a VIP, or from a backend's service port, that
 * belong to no flow
 */
#ifndef WEIR_GUARD_H
#define WEIR_GUARD_H

#include <linux/siphash.h>
#include <linux/types.h>

struct net;
struct nf_conn;
struct nf_hook_state;
struct sk_buff;
struct weir_config;
struct weir_net;
struct weir_tuple;

/* Fingerprints of flows that were ended, by the tuple of their answers. Fixed
 * memory; a newer one takes the place of the oldest of its line.
 */
/* Longer than a peer retransmits to somebody who does not answer in practice;
 * seconds.
 */
#define WEIR_TOMB_LIFE	120

struct weir_tombs {
	u64 *slots;		/* NULL until the first hook is registered */
	u32 nr;			/* of them, a power of two */
	siphash_key_t key;
	u32 cleaned;		/* the last slot that was looked at */
	bool any;		/* younger than their life, */
	unsigned long added;	/* since then: jiffies */
};

/**
 * weir_tombs_init() - allocate, by the size of @net's conntrack table; may sleep
 *
 * Return: 0 or -ENOMEM.
 */
int weir_tombs_init(struct weir_tombs *tombs, const struct net *net);

void weir_tombs_exit(struct weir_tombs *tombs);

/**
 * weir_tombs_clean() - remove old ones, before their time of day comes round again
 *
 * A few at each call, which come every TICK of limit.c. May run beside
 * weir_tombs_add(), not beside itself.
 */
void weir_tombs_clean(struct weir_tombs *tombs);

/**
 * weir_tombs_have() - is this packet a late answer of a flow that was ended?
 * @answer: its tuple
 *
 * RCU read lock; any context.
 */
bool weir_tombs_have(const struct weir_tombs *tombs, const struct weir_tuple *answer);

/**
 * weir_tombs_add() - remember that the flow of @ct was ended
 * @ct: an entry of ours; RCU read lock or a reference
 */
void weir_tombs_add(struct weir_tombs *tombs, const struct nf_conn *ct);

/**
 * weir_guard_no_entry() - a packet without a conntrack entry
 * @untracked: a notrack rule wants it so; else conntrack calls it invalid
 *
 * Bottom halves off, RCU read lock. Return: netfilter verdict.
 */
unsigned int weir_guard_no_entry(struct weir_net *wn,
				 const struct weir_config *cfg,
				 struct sk_buff *skb,
				 const struct nf_hook_state *state,
				 bool untracked);

/**
 * weir_guard_new() - the first packet of an entry, on its way through
 * @ct: unconfirmed, not ours
 *
 * Drops what a backend sends late for a flow that is gone; everything else from a
 * backend is its own traffic (decision 21).
 */
unsigned int weir_guard_new(struct weir_net *wn, const struct weir_config *cfg,
			    struct sk_buff *skb,
			    const struct nf_hook_state *state,
			    const struct nf_conn *ct);

/**
 * weir_guard_no_rule() - to an address that has no rule for the packet
 *
 * An exact VIP that is no local address drops it, else it would go back where it
 * came from by the default route (decision 20).
 */
unsigned int weir_guard_no_rule(struct weir_net *wn,
				const struct weir_config *cfg,
				struct sk_buff *skb,
				const struct nf_hook_state *state,
				const struct weir_tuple *tuple);

/**
 * weir_guard_is_local() - is it an address of this router?
 */
bool weir_guard_is_local(struct weir_net *wn, u8 family,
			 const void *addr);

#endif /* WEIR_GUARD_H */
