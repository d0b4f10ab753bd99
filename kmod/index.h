/* SPDX-License-Identifier: GPL-2.0 */
/*
 * index - a configuration by address: VIPs, rules, and where backends answer
 *
 * Built once with its configuration, then only read: under RCU, in softirq or
 * process context.
 */
#ifndef WEIR_INDEX_H
#define WEIR_INDEX_H

#include <linux/bits.h>
#include <linux/types.h>

#include "tuple.h"

struct weir_config;
struct weir_index_entry;
struct weir_rule;
struct weir_service;

/* Lengths of prefixes that are shorter than an address. */
#define WEIR_INDEX_PLENS	128

struct weir_index {
	struct weir_index_entry *entries;
	u32 *buckets;		/* entry number + 1, 0 ends a chain */
	u32 nr_entries;
	u32 mask;
	u32 seed;
	/* Of direct mode, which sees every packet: a bit for each VIP, by a hash that
	 * costs next to nothing, and the lengths of prefixes, the longest first.
	 */
	unsigned long *filter;
	u8 filter_order;
	u8 nr_plens[2];		/* IPv4, IPv6 */
	u8 plens[2][WEIR_INDEX_PLENS];
};

struct weir_match {
	struct weir_service *service;
	const struct weir_rule *rule;
};

/**
 * weir_index_build() - index all rules and backends of @cfg
 * @clash: on -EEXIST the two rules that claim the same packets
 *
 * May sleep. Return: 0, -ENOMEM or -EEXIST.
 */
int weir_index_build(struct weir_config *cfg, struct weir_match clash[2]);

/**
 * weir_index_free() - free what weir_index_build() allocated
 */
void weir_index_free(struct weir_index *index);

/**
 * weir_index_forwards() - the kinds of forwarding that an address has rules for
 * Return: bits by enum weir_forward, 0 if it is no exact VIP.
 */
u8 weir_index_forwards(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr);

/**
 * weir_index_is_vip() - is it an address of some rule of nat mode?
 */
bool weir_index_is_vip(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr);

/* An address for the filter: its words xored, of IPv4 the one that it has. */
static inline u32 weir_index_fold(const __be32 words[4])
{
	return (__force u32)(words[0] ^ words[1] ^ words[2] ^ words[3]);
}

/* Where the filter has an address; @folded: of weir_index_fold(). */
static inline u32 weir_index_filter_bit(const struct weir_index *index, u32 folded)
{
	return folded * 0x61c88647 >> (32 - index->filter_order);
}

/**
 * weir_index_may_be_direct() - can a packet to this address be of direct mode?
 * @v6: index of the family
 * @folded: the address, of weir_index_fold()
 *
 * Return: false for nearly all that are not.
 */
static inline bool weir_index_may_be_direct(const struct weir_index *index,
					    int v6, u32 folded)
{
	u32 bit;

	if (index->nr_plens[v6])
		return true;
	/* The first configuration of a namespace has none. */
	if (!index->filter)
		return false;
	bit = weir_index_filter_bit(index, folded);
	return index->filter[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
}

/**
 * weir_index_rule() - the most specific rule for a packet
 * @proto: IPPROTO_*
 * @port: destination port, host order; ignored where @proto has none
 * @match: written on success
 *
 * Port before protocol: (proto, port), then (proto, all), then (any, all).
 */
bool weir_index_rule(const struct weir_index *index, u8 family,
		     const struct weir_addr *vip, u8 proto, u16 port,
		     struct weir_match *match);

/**
 * weir_index_nat_rule() - as weir_index_rule(), if it is one of nat mode
 */
bool weir_index_nat_rule(const struct weir_index *index, u8 family,
			 const struct weir_addr *vip, u8 proto, u16 port,
			 struct weir_match *match);

/**
 * weir_index_prefix() - the rule with the longest prefix that has this address
 */
bool weir_index_prefix(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr, struct weir_match *match);

/**
 * weir_index_is_source() - does a service answer from this address and port?
 * @proto: IPPROTO_*
 * @port: source port, host order
 */
bool weir_index_is_source(const struct weir_index *index, u8 family,
			  const struct weir_addr *addr, u8 proto, u16 port);

/**
 * weir_index_owner() - the service with this id of its run-time half
 * Return: NULL if there is none.
 */
struct weir_service *weir_index_owner(const struct weir_index *index, u32 owner);

#endif /* WEIR_INDEX_H */
