/* SPDX-License-Identifier: GPL-2.0 */
/*
 * transmit - forward a packet to a backend as it is
 *
 * What ip_forward() does, in its order, with the backend as the next hop instead of
 * the packet's destination: TTL, MTU, the FORWARD hooks, policies, and counters.
 */
#ifndef WEIR_TRANSMIT_H
#define WEIR_TRANSMIT_H

#include <linux/types.h>

struct dst_entry;
struct net;
struct net_device;
struct nf_hook_state;
struct sk_buff;
struct weir_dest;
struct weir_net;

/**
 * weir_transmit() - send a packet on its way
 * @skb: at PREROUTING, validated by the kernel's IP input; owned by the caller until
 *	NF_STOLEN is returned
 * @state: of the hook
 *
 * Bottom halves off, RCU read lock. Return: NF_STOLEN, or NF_DROP, counted.
 */
unsigned int weir_transmit(struct weir_net *wn, struct sk_buff *skb,
			   const struct nf_hook_state *state,
			   struct weir_dest *dest);

/**
 * weir_transmit_local() - a packet of this router's own: give it the way to @dest
 * @skb: at OUTPUT
 *
 * Bottom halves off, RCU read lock. Return: NF_ACCEPT, or NF_DROP, counted.
 */
unsigned int weir_transmit_local(struct weir_net *wn, struct sk_buff *skb,
				 const struct nf_hook_state *state,
				 struct weir_dest *dest);

/**
 * weir_transmit_forwards() - does this router forward what comes in at @in?
 *
 * For IPv6 one switch says it for all. RCU read lock.
 */
bool weir_transmit_forwards(struct net *net, const struct net_device *in, u8 family);

/**
 * weir_transmit_cookie() - what dst_check() wants to know of a route that is kept
 */
u32 weir_transmit_cookie(const struct dst_entry *dst);

/**
 * weir_transmit_came_from() - was it @dest that sent us this packet?
 * @in: where it came in
 *
 * By the address of its neighbour entry, so only where @dest is on that link. RCU read
 * lock.
 */
bool weir_transmit_came_from(const struct sk_buff *skb,
			     const struct net_device *in,
			     const struct weir_dest *dest);

/**
 * weir_transmit_remember() - @dest may have a route from now on
 * weir_net.lock held.
 */
void weir_transmit_remember(struct weir_dest *dest);

/**
 * weir_transmit_forget() - @dest is freed; nobody sends to it any more
 */
void weir_transmit_forget(struct weir_dest *dest);

/**
 * weir_transmit_init() - listen to devices that go
 * Return: 0 or an errno.
 */
int weir_transmit_init(void);
void weir_transmit_exit(void);

#endif /* WEIR_TRANSMIT_H */
