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
 * weir_transmit_by() - the same, for most packets, if the way is known
 * @dst: of weir_transmit_route()
 *
 * Return: false, and nothing has happened, if it takes weir_transmit().
 */
bool weir_transmit_by(struct weir_net *wn, struct sk_buff *skb,
		      const struct nf_hook_state *state, struct dst_entry *dst);

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
 * weir_transmit_route() - the way to @dest that is known, outside of VRFs
 * Return: a route for as long as the RCU read lock is held, or NULL.
 */
struct dst_entry *weir_transmit_route(const struct weir_dest *dest);

/**
 * weir_transmit_is_easy() - can a packet go by @dst with nobody else asked?
 * @skb: at PREROUTING, whole
 *
 * Forwarding is on, nothing but a neighbour is behind the route, there is no IPsec policy,
 * the packet fits, and nothing is known of it that others would want to see. RCU read lock.
 */
bool weir_transmit_is_easy(const struct weir_net *wn, const struct sk_buff *skb,
			   const struct nf_hook_state *state,
			   const struct dst_entry *dst);

/**
 * weir_transmit_step() - one hop less, and counted as forwarded
 * @skb: its IP header is writable
 * @dst: its route
 */
void weir_transmit_step(struct net *net, struct sk_buff *skb,
			struct dst_entry *dst);

/**
 * weir_transmit_hand_over() - give a packet to the neighbour that a route leads to
 * @skb: it fits, and has room for the link's header; gone afterwards
 * @dst: without a reference. Bottom halves off, RCU read lock.
 */
void weir_transmit_hand_over(struct sk_buff *skb, struct dst_entry *dst);

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
