/* SPDX-License-Identifier: GPL-2.0 */
/*
 * straight - the short way of a running flow of direct mode
 *
 * A running packet (plain.h) whose flow has a line (line.h) goes to its backend with
 * neither rule nor hash looked up. The hooks at FORWARD and POSTROUTING see it as they see
 * any other.
 */
#ifndef WEIR_STRAIGHT_H
#define WEIR_STRAIGHT_H

#include <linux/rcupdate.h>
#include <linux/types.h>

#include "line.h"
#include "netns.h"

struct nf_hook_state;
struct sk_buff;
struct weir_choice;
struct weir_config;
struct weir_net;
struct weir_plain;
struct weir_tuple;

/**
 * weir_straight_seed() - for weir_plain_read4() and weir_plain_read6(); RCU read lock
 */
static inline u64 weir_straight_seed(const struct weir_net *wn)
{
	const struct weir_lines *lines = rcu_dereference(wn->lines);

	return lines ? lines->seed : 0;
}

/**
 * weir_straight() - send a packet the short way
 * @cfg: the live configuration
 * @skb: at PREROUTING, not one that passes by (packet.h)
 * @plain: of it; it is running
 *
 * Bottom halves off, RCU read lock. Return: NF_STOLEN, or NF_ACCEPT: it has to go the long
 * way.
 */
unsigned int weir_straight(struct weir_net *wn, const struct weir_config *cfg,
			   struct sk_buff *skb, const struct nf_hook_state *state,
			   const struct weir_plain *plain);

/**
 * weir_straight_learn() - a packet went the long way, by an exact VIP, with its session
 * @tuple: of the packet; whole, TCP but a SYN, or UDP
 * @choice: of weir_choose(), @choice->kept
 *
 * Bottom halves off, the RCU read lock under which @cfg was read.
 */
void weir_straight_learn(struct weir_net *wn, const struct weir_config *cfg,
			 const struct nf_hook_state *state,
			 const struct weir_tuple *tuple,
			 const struct weir_choice *choice);

#endif /* WEIR_STRAIGHT_H */
