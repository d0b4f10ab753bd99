/* SPDX-License-Identifier: GPL-2.0 */
/*
 * netlink - the generic-netlink family, see uapi/linux/weir.h
 */
#ifndef WEIR_NETLINK_H
#define WEIR_NETLINK_H

#include <linux/types.h>

struct net;
struct sk_buff;
struct weir_change_item;

/**
 * weir_event_wanted() - does anybody listen to changes in @net?
 */
bool weir_event_wanted(struct net *net);

/**
 * weir_event_put() - add an event to a message, or another one behind it
 * @item: what changed; NULL for the hash key
 *
 * Return: 0, or -EMSGSIZE with the message as it was.
 */
int weir_event_put(struct sk_buff *skb, const struct weir_change_item *item);

/**
 * weir_event_send() - tell who listens
 * @skb: from weir_event_put(); freed
 * @generation: that the changes made
 *
 * May sleep.
 */
void weir_event_send(struct net *net, struct sk_buff *skb, u32 generation);

/**
 * weir_event_lost() - tell who listens that they have missed something
 *
 * As if their buffer had been full: they know to read anew.
 */
void weir_event_lost(struct net *net);

/**
 * weir_netlink_init() - register the family; module init, may sleep
 */
int weir_netlink_init(void);

/**
 * weir_netlink_exit() - unregister it: no command runs any more after this
 */
void weir_netlink_exit(void);

#endif /* WEIR_NETLINK_H */
