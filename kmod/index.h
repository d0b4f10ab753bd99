/* SPDX-License-Identifier: GPL-2.0 */
/*
 * index - a configuration by address: VIPs, rules, and where backends answer
 *
 * Built once with its configuration, then only read: under RCU, in softirq or
 * process context.
 */
#ifndef WEIR_INDEX_H
#define WEIR_INDEX_H

#include <linux/types.h>

#include "tuple.h"

struct weir_config;
struct weir_index_entry;
struct weir_rule;
struct weir_service;

struct weir_index {
	struct weir_index_entry *entries;
	u32 *buckets;		/* entry number + 1, 0 ends a chain */
	u32 nr_entries;
	u32 mask;
	u32 seed;
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
 * weir_index_is_vip() - is it an address of some rule?
 */
bool weir_index_is_vip(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr);

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
