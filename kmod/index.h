/* SPDX-License-Identifier: GPL-2.0 */
/*
 * index - a configuration by address: VIPs, rules, and where backends answer
 *
 * Built with its configuration, from that of the one before, then only read: under
 * RCU, in softirq or process context.
 */
#ifndef WEIR_INDEX_H
#define WEIR_INDEX_H

#include <linux/bits.h>
#include <linux/types.h>

#include "keys.h"

struct weir_config;

/* Lengths of prefixes that are shorter than an address. */
#define WEIR_INDEX_PLENS	128

struct weir_index {
	struct weir_keys keys;
	/* Of direct mode, which sees every packet: a bit for each VIP and prefix, by a
	 * hash that costs next to nothing, and the lengths of prefixes, the longest
	 * first, with their masks.
	 */
	unsigned long *filter;
	u8 filter_shift;
	u8 nr_plens[2];		/* IPv4, IPv6 */
	u32 filter_room;	/* more bits that may be set */
	u32 prefixes[2][WEIR_INDEX_PLENS];	/* rules with that length */
	struct weir_index_mask4 {
		__be32 mask;
		u32 plen;
	} masks4[WEIR_INDEX_PLENS];
	struct weir_index_mask6 {
		u64 first;	/* as of weir_addr_pair() */
		u64 second;
		u64 plen;
	} masks6[WEIR_INDEX_PLENS];
};

/**
 * weir_index_build() - index all rules and backends of @cfg
 * @old: the live one, which it follows: what they have in common is shared
 * @clash: on -EEXIST the two rules that claim the same packets
 *
 * weir_net.lock; may sleep. Return: 0, -ENOMEM or -EEXIST; weir_index_free() in any case.
 */
int weir_index_build(struct weir_config *cfg, const struct weir_config *old,
		     struct weir_match clash[2]);

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

/* An address, or a prefix of that length, for the filter. Multiplying carries a difference
 * upwards only, and in the words of a header the last byte of an address is the highest
 * one: hence the shift.
 */
static inline u64 weir_index_fold4(__be32 addr, u32 plen)
{
	return ((__force u32)addr + (u64)plen) * 0x9e3779b97f4a7c15ULL;
}

static inline u64 weir_index_fold6(u64 first, u64 second, u64 plen)
{
	u64 h = first * 0x9e3779b97f4a7c15ULL;

	return ((h ^ h >> 32) + second + plen) * 0xc2b2ae3d27d4eb4fULL;
}

/* Where the filter has what was folded. */
static inline u32 weir_index_filter_bit(const struct weir_index *index, u64 folded)
{
	return folded >> index->filter_shift;
}

static inline bool weir_index_in_filter(const struct weir_index *index, u64 folded)
{
	u32 bit = weir_index_filter_bit(index, folded);

	return index->filter[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
}

/**
 * weir_index_may_be_prefix4() - is there one that this address may be in?
 * @index: with a filter, and at least one prefix of the family
 * Return: false for nearly all that are in none.
 */
bool weir_index_may_be_prefix4(const struct weir_index *index, __be32 addr);
bool weir_index_may_be_prefix6(const struct weir_index *index, u64 first, u64 second);

/**
 * weir_index_may_be_direct4() - can a packet to this address be of direct mode?
 * Return: false for nearly all that are not.
 */
static inline bool weir_index_may_be_direct4(const struct weir_index *index, __be32 addr)
{
	/* The first configuration of a namespace has none. */
	if (!index->filter)
		return false;
	return weir_index_in_filter(index, weir_index_fold4(addr, 0)) ||
	       (index->nr_plens[0] && weir_index_may_be_prefix4(index, addr));
}

/**
 * weir_index_may_be_direct6() - the same of IPv6
 */
static inline bool weir_index_may_be_direct6(const struct weir_index *index,
					     const __be32 addr[4])
{
	u64 first = weir_addr_pair(addr), second = weir_addr_pair(addr + 2);

	if (!index->filter)
		return false;
	return weir_index_in_filter(index, weir_index_fold6(first, second, 0)) ||
	       (index->nr_plens[1] && weir_index_may_be_prefix6(index, first, second));
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
