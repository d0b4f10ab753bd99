/* SPDX-License-Identifier: GPL-2.0 */
/*
 * weir - what of a packet decides: addresses, ports, protocol, and the keys
 * that selection and tracking make of them.
 *
 * Pure: no netfilter, no allocation, no lock; may be called in any context.
 * Everything is hashed as the bytes that were on the wire, so that routers of
 * either byte order which share the hash key choose alike.
 */
#ifndef WEIR_TUPLE_H
#define WEIR_TUPLE_H

#include <linux/siphash.h>
#include <linux/types.h>
#include <linux/weir.h>

/**
 * struct weir_addr - an IPv4 or an IPv6 address
 * @ip: IPv4, network order; the twelve bytes behind it are zero
 * @ip6: IPv6, network order
 * @raw: its bytes, as on the wire
 */
struct weir_addr {
	union {
		__be32	ip;
		__be32	ip6[4];
		u8	raw[16];
	};
};

/* Two words of an IPv6 address, which may stand at a multiple of four only. */
static inline u64 weir_addr_pair(const __be32 *words)
{
	return (__force u32)words[0] | (u64)(__force u32)words[1] << 32;
}

/**
 * struct weir_tuple - a packet in the original direction, before translation
 * @src: the client
 * @dst: the VIP
 * @sport: network order; 0 where the protocol has no ports
 * @dport: as @sport
 * @proto: IPPROTO_*, of the payload behind all IPv6 extension headers
 * @family: AF_INET or AF_INET6
 * @fragmented: came as fragments (the first one too); an IPv6 atomic fragment
 *	counts as whole
 */
struct weir_tuple {
	struct weir_addr	src;
	struct weir_addr	dst;
	__be16			sport;
	__be16			dport;
	u8			proto;
	u8			family;
	bool			fragmented;
};

/**
 * weir_addr_cmp() - order of two addresses
 * @a: one address
 * @b: the other, of the same family
 *
 * The order of their bytes on the wire: the same on every machine.
 *
 * Context: any.
 * Return: less than, equal to or greater than 0, as memcmp().
 */
int weir_addr_cmp(const struct weir_addr *a, const struct weir_addr *b);

/* The same, as sort() and bsearch() call it. */
static inline int weir_addr_order(const void *a, const void *b)
{
	return weir_addr_cmp(a, b);
}

/**
 * weir_select_fields() - how many fields choose the backend (semantics 1.3)
 * @affinity: enum weir_affinity; a value out of range counts as NONE
 * @t: the packet; only @proto and @fragmented are read
 *
 * Context: any.
 * Return: 5 (source, destination, protocol, both ports), 3 (source,
 * destination, protocol), 2 (source, destination) or 1 (source).
 */
unsigned int weir_select_fields(u8 affinity, const struct weir_tuple *t);

/**
 * weir_track_fields() - how many fields name the tracking entry (semantics 1.4)
 * @affinity: enum weir_affinity; a value out of range counts as NONE
 * @tracking: enum weir_tracking; a value out of range counts as per-connection
 * @t: the packet; only @proto and @fragmented are read
 *
 * Context: any.
 * Return: 5, 3, 2 or 1, as weir_select_fields().
 */
unsigned int weir_track_fields(u8 affinity, u8 tracking,
			       const struct weir_tuple *t);

/**
 * weir_tuple_hash() - hash of just the named fields of a packet
 * @t: the packet, owned by the caller; of an IPv4 address only @ip is read
 * @fields: 1, 2, 3 or 5, from weir_select_fields() or weir_track_fields()
 * @key: the hash key of the network namespace
 *
 * Fields that are not in the set do not change the result; the family and the
 * number of fields do, so that keys of different kinds never coincide by
 * construction.
 *
 * Context: any.
 * Return: 64 bits, all of them usable.
 */
u64 weir_tuple_hash(const struct weir_tuple *t, unsigned int fields,
		    const siphash_key_t *key);

/**
 * weir_key_read() - hash key from its WEIR_HASH_KEY_LEN bytes
 * weir_key_write() - and back
 *
 * The bytes are siphash's own order, little-endian, on machines of either.
 */
void weir_key_read(siphash_key_t *key, const u8 *bytes);
void weir_key_write(u8 *bytes, const siphash_key_t *key);

#endif /* WEIR_TUPLE_H */
