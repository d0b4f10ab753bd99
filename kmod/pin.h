/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pin - a TCP connection of this router to a VIP of direct mode that goes to a backend
 * which somebody has named, not to one that was chosen
 *
 * That is how a health checker talks to a VIP at one backend.
 */
#ifndef WEIR_PIN_H
#define WEIR_PIN_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "netns.h"

struct netlink_ext_ack;
struct nf_hook_state;
struct nlattr;
struct sk_buff;
struct weir_config;
struct weir_dest;

/**
 * weir_pin_add() - what WEIR_CMD_PIN asks for
 * @attrs: of the message
 * @portid: the socket that it came from, with which it goes
 *
 * Takes the place of an earlier pin of the same port. May sleep; takes weir_net.lock.
 * Return: 0, or the errno of the refusal.
 */
int weir_pin_add(struct weir_net *wn, struct nlattr **attrs, u32 portid,
		 struct netlink_ext_ack *extack);

/**
 * weir_pin_release() - a netlink socket is closed
 *
 * May sleep; takes weir_net.lock if it had any.
 */
void weir_pin_release(struct weir_net *wn, u32 portid);

/**
 * weir_pin_exit() - free all; nobody looks for one any more
 */
void weir_pin_exit(struct weir_net *wn);

/* Are there any? A packet that is looked up in vain does no harm. */
static inline bool weir_pin_any(const struct weir_net *wn)
{
	return READ_ONCE(wn->nr_pins);
}

/**
 * weir_pin_find() - does the packet belong to a connection that is pinned?
 * @skb: at OUTPUT
 *
 * Bottom halves off, RCU read lock. Return: where it goes, in @cfg, or NULL.
 */
struct weir_dest *weir_pin_find(const struct weir_net *wn,
				const struct weir_config *cfg,
				const struct sk_buff *skb,
				const struct nf_hook_state *state);

#endif /* WEIR_PIN_H */
