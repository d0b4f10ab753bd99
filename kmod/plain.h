/* SPDX-License-Identifier: GPL-2.0 */
/*
 * plain - a packet like most: TCP or UDP right behind an IP header without options, whole
 *
 * One that neither opens nor closes its connection, and has hops left, is running: it may
 * take a short way.
 */
#ifndef WEIR_PLAIN_H
#define WEIR_PLAIN_H

#include <linux/in6.h>
#include <linux/socket.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <linux/udp.h>

#include "tuple.h"

struct sk_buff;

struct weir_plain {
	u32 hash;		/* if it is running */
	u32 ports;		/* both, as they stand in the header */
	unsigned int thoff;
	u8 proto;
	bool running;
	bool opens;		/* as weir_packet_opens() has it */
};

/* What finds a hint, and proves nothing: whoever has one compares. A secret odd factor, so
 * that nobody can say whose hints share a place; each product is folded, as its lower half
 * knows nothing of the upper halves of its factors.
 */
static inline u64 weir_plain_mix(u64 hash, u64 word, u64 seed)
{
	return ((hash ^ hash >> 32) + word) * seed;
}

static inline u32 weir_plain_hash4(u64 seed, __be32 src, __be32 dst, u32 ports, u8 proto)
{
	u64 hash = weir_plain_mix(0, (__force u32)src | (u64)(__force u32)dst << 32, seed);

	return weir_plain_mix(hash, ports | (u64)proto << 32, seed) >> 32;
}

static inline u32 weir_plain_hash6(u64 seed, const struct in6_addr *src,
				   const struct in6_addr *dst, u32 ports, u8 proto)
{
	u64 hash = weir_plain_mix(0, weir_addr_pair(src->s6_addr32), seed);

	hash = weir_plain_mix(hash, weir_addr_pair(src->s6_addr32 + 2), seed);
	hash = weir_plain_mix(hash, weir_addr_pair(dst->s6_addr32), seed);
	hash = weir_plain_mix(hash, weir_addr_pair(dst->s6_addr32 + 2), seed);
	return weir_plain_mix(hash, ports | (u64)proto << 32, seed) >> 32;
}

/* The same, of addresses of either family. */
static inline u32 weir_plain_hash(u64 seed, u8 family, const void *src, const void *dst,
				  u32 ports, u8 proto)
{
	if (family == AF_INET)
		return weir_plain_hash4(seed, *(const __be32 *)src, *(const __be32 *)dst,
					ports, proto);
	return weir_plain_hash6(seed, src, dst, ports, proto);
}

/* Two ports as they stand in a header. */
static inline u32 weir_plain_ports(__be16 src, __be16 dst)
{
	union {
		__be16 port[2];
		u32 both;
	} ports = { .port = { src, dst } };

	return ports.both;
}

/* Bytes of the header behind that of IP. */
static inline unsigned int weir_plain_hlen(const struct weir_plain *plain)
{
	return plain->proto == IPPROTO_TCP ? sizeof(struct tcphdr) :
					     sizeof(struct udphdr);
}

/**
 * weir_plain_read4() - is it plain?
 * @skb: IPv4 at PREROUTING; its header may move
 * @seed: of the table that @plain->hash is for
 * @plain: written if it is, with @plain->hash only if it is running
 *
 * The payload's own header is in the linear part then.
 */
bool weir_plain_read4(struct sk_buff *skb, u64 seed, struct weir_plain *plain);

/**
 * weir_plain_read6() - the same of IPv6
 */
bool weir_plain_read6(struct sk_buff *skb, u64 seed, struct weir_plain *plain);

#endif /* WEIR_PLAIN_H */
