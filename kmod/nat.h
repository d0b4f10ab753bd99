/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nat - choose a backend for a new flow, and have the kernel translate it
 *
 * All functions: bottom halves off, RCU read lock.
 */
#ifndef WEIR_NAT_H
#define WEIR_NAT_H

#include <linux/types.h>

#include "choose.h"
#include "stats.h"

struct nf_conn;
struct nf_hook_state;
struct sk_buff;
struct weir_config;
struct weir_net;

/**
 * weir_select() - bind a new flow to a backend
 * @skb: its first packet, counted here
 * @ct: unconfirmed, original direction, not translated
 *
 * A flow without a rule is none of ours and passes. Return: netfilter verdict.
 */
unsigned int weir_select(struct weir_net *wn, const struct weir_config *cfg,
			 struct sk_buff *skb, const struct nf_hook_state *state,
			 struct nf_conn *ct, enum weir_why why);

/**
 * weir_reselect() - end a live flow and select for this same packet
 * @skb: in original direction; its conntrack reference is replaced
 *
 * Return: netfilter verdict.
 */
unsigned int weir_reselect(struct weir_net *wn, const struct weir_config *cfg,
			   struct sk_buff *skb,
			   const struct nf_hook_state *state, enum weir_why why);

/**
 * weir_nat_end() - end a flow in place
 * @ct: an entry of ours
 *
 * Its late answers are dropped from here on.
 */
void weir_nat_end(struct weir_net *wn, struct nf_conn *ct);

/**
 * weir_hairpin() - source-translate a new flow that would be answered past us
 * @skb: leaving through @state->out
 *
 * Return: netfilter verdict.
 */
unsigned int weir_hairpin(struct weir_net *wn, struct sk_buff *skb,
			  const struct nf_hook_state *state,
			  struct nf_conn *ct);

/**
 * weir_nat_remember_syn() - the entry has taken this SYN
 * @skb: a TCP SYN in original direction
 */
void weir_nat_remember_syn(struct nf_conn *ct, const struct sk_buff *skb,
			   u8 family);

/**
 * weir_nat_retransmitted() - does a SYN repeat the last one that the entry took?
 * @skb: a TCP SYN in original direction
 * @ct: an entry of ours
 *
 * Only while the entry is half-open (decision 2).
 */
bool weir_nat_retransmitted(const struct sk_buff *skb, u8 family,
			    const struct nf_conn *ct);

#endif /* WEIR_NAT_H */
