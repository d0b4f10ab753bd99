/* SPDX-License-Identifier: GPL-2.0 */
/*
 * packet - what is read from a packet or from its conntrack entry
 */
#ifndef WEIR_PACKET_H
#define WEIR_PACKET_H

#include <linux/if_packet.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_bridge.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/netfilter/nf_conntrack_tuple.h>

#include "tuple.h"

/* A packet that has no conntrack entry. */
struct weir_packet {
	struct weir_tuple tuple;
	bool icmp_error;
	struct weir_tuple inner;	/* written of an ICMP error: the packet that
					 * it is about, as that one was sent
					 */
	bool opens;			/* TCP SYN without ACK, SCTP INIT */
	bool tcp_rst;
	bool ndp;			/* neighbour discovery, multicast listener */
};

/**
 * weir_packet_tuple() - a conntrack tuple as ours
 * @from: of an entry, any direction
 * @to: written whole; not marked as fragmented
 */
void weir_packet_tuple(const struct nf_conntrack_tuple *from,
		       struct weir_tuple *to);

/**
 * weir_packet_find_entry() - the entry for the tuple of a packet that has been given none
 *
 * RCU read lock; any context. Return: with a reference, or NULL.
 */
struct nf_conn *weir_packet_find_entry(const struct sk_buff *skb,
				       const struct nf_hook_state *state);

/**
 * weir_packet_addresses() - what the IP header says
 * @tuple: written whole: addresses, and the protocol right behind that header
 */
void weir_packet_addresses(const struct sk_buff *skb, u8 family,
			   struct weir_tuple *tuple);

/* Of what weir_packet_parse() finds in a payload: nothing yet. */
static inline void weir_packet_clear(struct weir_packet *packet)
{
	packet->icmp_error = false;
	packet->opens = false;
	packet->tcp_rst = false;
	packet->ndp = false;
}

/**
 * weir_packet_parse() - read what decides about a packet without an entry
 * @skb: at its network header, reassembled; trusts no length in it
 * @state: of the hook
 * @packet: written whole, but for @packet->inner
 *
 * RCU read lock, softirq. Return: false if it is too short to be judged.
 */
bool weir_packet_parse(const struct sk_buff *skb,
		       const struct nf_hook_state *state,
		       struct weir_packet *packet);

/**
 * weir_packet_opens() - can it open a TCP connection or SCTP association?
 * @proto: IPPROTO_*
 *
 * SYN set and ACK clear is a SYN (decision 3). Return: true for protocols that
 * have no such notion, false for a packet that is too short.
 */
bool weir_packet_opens(const struct sk_buff *skb, u8 family, u8 proto);

/**
 * weir_packet_opens_tcp() - the same of one that is TCP
 */
bool weir_packet_opens_tcp(const struct sk_buff *skb, u8 family);

/**
 * weir_packet_seq() - sequence number of a TCP segment
 * @seq: written on success
 * Return: false if it is too short.
 */
bool weir_packet_seq(const struct sk_buff *skb, u8 family, __be32 *seq);

/**
 * weir_packet_fragmented() - did this datagram come in fragments?
 *
 * Conntrack's defragmentation has put it together and left the size of the
 * largest piece. An atomic fragment counts as whole (decision 10).
 */
bool weir_packet_fragmented(const struct sk_buff *skb, u8 family);

/* An IPv6 extension header that a packet to a VIP must not have. */
enum weir_extension {
	WEIR_EXTENSION_NONE,
	WEIR_EXTENSION_SOURCE_ROUTE,	/* type 0, with segments left */
	WEIR_EXTENSION_AH,		/* authenticates what we translate */
};

/**
 * weir_packet_extension() - look for one
 * @skb: IPv6
 */
enum weir_extension weir_packet_extension(const struct sk_buff *skb);

static inline bool weir_packet_is_bridged(const struct sk_buff *skb)
{
#if IS_ENABLED(CONFIG_BRIDGE_NETFILTER)
	return nf_bridge_info_get(skb);
#else
	return false;
#endif
}

/**
 * weir_packet_passes_by() - is it nobody's to route, here?
 * @state: of the hook, at PREROUTING
 *
 * What is not for this router's own link-layer address, or on its way through a bridge;
 * and what comes in a VRF comes twice.
 */
static inline bool weir_packet_passes_by(const struct sk_buff *skb,
					 const struct nf_hook_state *state)
{
	return skb->pkt_type != PACKET_HOST || skb->sk ||
	       weir_packet_is_bridged(skb) || netif_is_l3_master(state->in);
}

#endif /* WEIR_PACKET_H */
