// SPDX-License-Identifier: GPL-2.0
/*
 * index - a configuration by address: VIPs, rules, and where backends answer
 *
 * One table for all kinds. Where the next configuration differs little from the live
 * one, its index is that one's, less the keys of services that went or changed, with
 * those of services that came or changed.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "config.h"
#include "dest.h"
#include "index.h"
#include "source.h"

enum kind {
	KIND_VIP,
	KIND_RULE,
	KIND_SOURCE,
	KIND_OWNER,	/* addr holds the id */
};

/* Stands for "all ports, and packets without ports": no packet of ours has it,
 * as 0 is no valid port.
 */
#define ALL_PORTS	0

/* Stands for "any protocol": IPPROTO_RAW is no protocol on the wire. */
#define ANY_PROTO	IPPROTO_RAW

/* A prefix: its length stands in the place of the port. No protocol either. */
#define PREFIX_PROTO	254

/* A filter has so many bits for each address, and not more than 2^20. */
#define FILTER_BITS	16
#define FILTER_ORDER_MIN 12
#define FILTER_ORDER_MAX 20

/* Keys come, or go. */
struct change {
	struct weir_index *index;
	struct weir_match *clash;
	int by;				/* 1 or -1 */
};

static u8 ipproto(u8 proto, u8 family)
{
	switch (proto) {
	case WEIR_PROTO_TCP:
		return IPPROTO_TCP;
	case WEIR_PROTO_UDP:
		return IPPROTO_UDP;
	case WEIR_PROTO_SCTP:
		return IPPROTO_SCTP;
	case WEIR_PROTO_ICMP:
		return family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;
	case WEIR_PROTO_ESP:
		return IPPROTO_ESP;
	case WEIR_PROTO_AH:
		return IPPROTO_AH;
	case WEIR_PROTO_GRE:
		return IPPROTO_GRE;
	default:
		return ANY_PROTO;
	}
}

static bool proto_has_ports(u8 proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP ||
	       proto == IPPROTO_SCTP;
}

static void init_key(struct weir_key *key, enum kind kind, u8 family,
		     const struct weir_addr *addr)
{
	*key = (struct weir_key) {
		.addr = *addr,
		.family = family,
		.kind = kind,
	};
}

static u32 nr_keys(const struct weir_rule *rule)
{
	return rule->nr_ports ? rule->nr_ports : 1;
}

/* Upper bounds: backends that several services have are counted for each. */
static u32 count_keys(const struct weir_service *svc)
{
	u64 sum = 1 + (u64)svc->nr_sources * svc->nr_backends;
	u32 r;

	for (r = 0; r < svc->nr_rules; r++)
		sum += 1 + nr_keys(&svc->rules[r]);
	return min_t(u64, sum, INT_MAX);
}

static void init_owner(struct weir_key *key, u32 owner)
{
	memset(key, 0, sizeof(*key));
	key->kind = KIND_OWNER;
	memcpy(&key->addr, &owner, sizeof(owner));
}

static void set_in_filter(struct weir_index *index, u8 family,
			  const struct weir_addr *addr, u8 plen)
{
	u64 folded;

	if (family == AF_INET)
		folded = weir_index_fold4(addr->ip, plen);
	else
		folded = weir_index_fold6(weir_addr_pair(addr->ip6),
					  weir_addr_pair(addr->ip6 + 2), plen);
	/* What is taken out leaves its bit: no harm, until the filter is built anew. */
	if (!__test_and_set_bit(weir_index_filter_bit(index, folded), index->filter) &&
	    index->filter_room)
		index->filter_room--;
}

/* What is left of an address. */
static void mask_addr(struct weir_addr *addr, u8 plen)
{
	int i;

	for (i = 0; i < 4; i++) {
		int bits = clamp(plen - 32 * i, 0, 32);

		addr->ip6[i] &= bits ? htonl(~0U << (32 - bits)) : 0;
	}
}

/* The lengths that there are, the longest first. */
static void write_masks(struct weir_index *index)
{
	struct weir_index_mask4 *m4 = index->masks4;
	struct weir_index_mask6 *m6 = index->masks6;
	struct weir_addr mask;
	int plen;

	for (plen = WEIR_INDEX_PLENS - 1; plen >= 0; plen--) {
		memset(&mask, 0xff, sizeof(mask));
		mask_addr(&mask, plen);
		if (index->prefixes[0][plen]) {
			m4->mask = mask.ip;
			m4++->plen = plen;
		}
		if (index->prefixes[1][plen]) {
			m6->first = weir_addr_pair(mask.ip6);
			m6->second = weir_addr_pair(mask.ip6 + 2);
			m6++->plen = plen;
		}
	}
	index->nr_plens[0] = m4 - index->masks4;
	index->nr_plens[1] = m6 - index->masks6;
}

static void prefix_key(struct weir_key *key, u8 family,
		       const struct weir_addr *addr, u8 plen)
{
	init_key(key, KIND_RULE, family, addr);
	key->proto = PREFIX_PROTO;
	key->port = plen;
	mask_addr(&key->addr, plen);
}

/* A key that only one may have: it comes, or with @by less than 0 it goes. */
static int change_key(struct change *change, const struct weir_key *key,
		      struct weir_service *svc, const struct weir_rule *rule)
{
	struct weir_entry *entry;

	if (change->by < 0)
		return weir_keys_del(&change->index->keys, key);
	entry = weir_keys_get(&change->index->keys, key);
	if (!entry)
		return -ENOMEM;
	if (entry->match.service) {
		change->clash[0] = entry->match;
		change->clash[1].service = svc;
		change->clash[1].rule = rule;
		return -EEXIST;
	}
	entry->match.service = svc;
	entry->match.rule = rule;
	return 0;
}

/* A key that many may have, for one kind of forwarding or another. */
static int change_use(struct change *change, const struct weir_key *key, u8 forward)
{
	struct weir_entry *entry = weir_keys_get(&change->index->keys, key);

	if (!entry)
		return -ENOMEM;
	entry->uses[forward] += change->by;
	if (entry->uses[forward])
		entry->forwards |= BIT(forward);
	else
		entry->forwards &= ~BIT(forward);
	return entry->forwards ? 0 : weir_keys_del(&change->index->keys, key);
}

static int change_prefix(struct change *change, struct weir_service *svc,
			 const struct weir_rule *rule)
{
	struct weir_key key;

	prefix_key(&key, rule->family, &rule->vip, rule->plen);
	change->index->prefixes[rule->family == AF_INET6][rule->plen] += change->by;
	if (change->by > 0)
		set_in_filter(change->index, rule->family, &key.addr, rule->plen);
	return change_key(change, &key, svc, rule);
}

static int change_rule(struct change *change, struct weir_service *svc,
		       const struct weir_rule *rule)
{
	struct weir_key key;
	u32 i;
	int err;

	if (weir_rule_is_prefix(rule))
		return change_prefix(change, svc, rule);
	if (change->by > 0 && svc->opt.forward == WEIR_FORWARD_DIRECT)
		set_in_filter(change->index, rule->family, &rule->vip, 0);
	init_key(&key, KIND_VIP, rule->family, &rule->vip);
	err = change_use(change, &key, svc->opt.forward);
	init_key(&key, KIND_RULE, rule->family, &rule->vip);
	key.proto = ipproto(rule->proto, rule->family);
	for (i = 0; i < nr_keys(rule) && !err; i++) {
		key.port = rule->nr_ports ? rule->ports[i] : ALL_PORTS;
		err = change_key(change, &key, svc, rule);
	}
	return err;
}

/* Where a backend answers from: the port that its packets came to, which is the rule's
 * unless the backend translates it.
 */
static int change_sources(struct change *change, const struct weir_service *svc,
			  const struct weir_backend *be)
{
	struct weir_key key;
	u8 before = 0;
	u32 i;
	int err = 0;

	init_key(&key, KIND_SOURCE, be->family, &be->addr);
	for (i = 0; i < svc->nr_sources && !err; i++) {
		u8 proto = weir_source_proto(svc->sources[i]);
		bool translates;

		key.proto = ipproto(proto, be->family);
		translates = be->port && proto_has_ports(key.proto);
		key.port = translates ? be->port : weir_source_port(svc->sources[i]);
		/* One port for all of a protocol, which lie side by side. */
		if (!i || !translates || proto != before)
			err = change_use(change, &key, WEIR_FORWARD_NAT);
		before = proto;
	}
	return err;
}

static int change_service(struct change *change, struct weir_service *svc)
{
	struct weir_key key;
	u32 r, b;
	int err;

	init_owner(&key, svc->owner->id);
	err = change_key(change, &key, svc, NULL);
	for (r = 0; r < svc->nr_rules && !err; r++) {
		err = change_rule(change, svc, &svc->rules[r]);
		cond_resched();
	}
	for (b = 0; svc->nr_sources && b < svc->nr_backends && !err; b++) {
		err = change_sources(change, svc, &svc->backends[b]);
		cond_resched();
	}
	return err;
}

/* How much of @of is not in @other, in keys; and in bits of the filter. */
static void count_changes(const struct weir_config *of, const struct weir_config *other,
			  u64 *keys, u64 *direct)
{
	u32 s;

	*keys = 0;
	*direct = 0;
	for (s = 0; s < of->nr_services; s++) {
		const struct weir_service *svc = of->services[s];

		if (other && weir_config_counterpart(other, svc, s) == svc)
			continue;
		*keys += count_keys(svc);
		if (svc->opt.forward == WEIR_FORWARD_DIRECT)
			*direct += svc->nr_rules;
	}
}

/* Of all services, or but those that are the same in @other. */
static int change_services(struct change *change, const struct weir_config *of,
			   const struct weir_config *other)
{
	u32 s;
	int err = 0;

	for (s = 0; s < of->nr_services && !err; s++) {
		struct weir_service *svc = of->services[s];

		if (other && weir_config_counterpart(other, svc, s) == svc)
			continue;
		err = change_service(change, svc);
		cond_resched();
	}
	return err;
}

static int alloc_filter(struct weir_index *index, unsigned int order)
{
	index->filter_shift = 64 - order;
	index->filter = kvcalloc(BITS_TO_LONGS(1UL << order), sizeof(long),
				 GFP_KERNEL_ACCOUNT);
	return index->filter ? 0 : -ENOMEM;
}

static int build_whole(struct weir_config *cfg, struct change *change)
{
	struct weir_index *index = change->index;
	unsigned int order;
	u64 keys, direct;
	int err;

	count_changes(cfg, NULL, &keys, &direct);
	if (keys > INT_MAX)
		return -ENOMEM;
	order = clamp(order_base_2(direct) + ilog2(FILTER_BITS), FILTER_ORDER_MIN,
		      FILTER_ORDER_MAX);
	index->filter_room = max_t(u64, 1 << (order - ilog2(FILTER_BITS)), direct + direct / 4);
	err = weir_keys_init(&index->keys, keys) ?: alloc_filter(index, order);
	return err ?: change_services(change, cfg, NULL);
}

static int build_from(struct weir_config *cfg, const struct weir_config *old,
		      struct change *change)
{
	struct weir_index *index = change->index;
	const struct weir_index *was = &old->index;
	unsigned int order = 64 - was->filter_shift;
	int err;

	memcpy(index->prefixes, was->prefixes, sizeof(index->prefixes));
	index->filter_room = was->filter_room;
	err = weir_keys_share(&index->keys, &was->keys) ?: alloc_filter(index, order);
	if (err)
		return err;
	memcpy(index->filter, was->filter, BITS_TO_LONGS(1UL << order) * sizeof(long));
	change->by = -1;
	err = change_services(change, old, cfg);
	change->by = 1;
	return err ?: change_services(change, cfg, old);
}

/* Is it worth while, and will what comes fit in? */
static bool differs_little(const struct weir_config *cfg, const struct weir_config *old)
{
	const struct weir_index *was = &old->index;
	u64 gone, come, direct, unused;

	if (!was->keys.parts)
		return false;
	count_changes(old, cfg, &gone, &unused);
	count_changes(cfg, old, &come, &direct);
	return gone + come <= was->keys.nr / 2 && direct <= was->filter_room &&
	       weir_keys_suits(&was->keys, was->keys.nr + come);
}

int weir_index_build(struct weir_config *cfg, const struct weir_config *old,
		     struct weir_match clash[2])
{
	struct change change = { .index = &cfg->index, .clash = clash, .by = 1 };
	int err;

	if (differs_little(cfg, old))
		err = build_from(cfg, old, &change);
	else
		err = build_whole(cfg, &change);
	write_masks(&cfg->index);
	return err;
}

void weir_index_free(struct weir_index *index)
{
	weir_keys_free(&index->keys);
	kvfree(index->filter);
	memset(index, 0, sizeof(*index));
}

u8 weir_index_forwards(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr)
{
	const struct weir_entry *entry;
	struct weir_key key;

	init_key(&key, KIND_VIP, family, addr);
	entry = weir_keys_find(&index->keys, &key);
	return entry ? entry->forwards : 0;
}

bool weir_index_is_vip(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr)
{
	return weir_index_forwards(index, family, addr) & BIT(WEIR_FORWARD_NAT);
}

bool weir_index_rule(const struct weir_index *index, u8 family,
		     const struct weir_addr *vip, u8 proto, u16 port,
		     struct weir_match *match)
{
	const struct weir_entry *entry = NULL;
	struct weir_key key;

	init_key(&key, KIND_RULE, family, vip);
	key.proto = proto;
	if (proto_has_ports(proto) && port) {
		key.port = port;
		entry = weir_keys_find(&index->keys, &key);
	}
	if (!entry) {
		key.port = ALL_PORTS;
		entry = weir_keys_find(&index->keys, &key);
	}
	if (!entry) {
		key.proto = ANY_PROTO;
		entry = weir_keys_find(&index->keys, &key);
	}
	if (!entry)
		return false;
	*match = entry->match;
	return true;
}

bool weir_index_nat_rule(const struct weir_index *index, u8 family,
			 const struct weir_addr *vip, u8 proto, u16 port,
			 struct weir_match *match)
{
	return weir_index_rule(index, family, vip, proto, port, match) &&
	       match->service->opt.forward == WEIR_FORWARD_NAT;
}

bool weir_index_may_be_prefix4(const struct weir_index *index, __be32 addr)
{
	const struct weir_index_mask4 *m = index->masks4;
	const struct weir_index_mask4 *end = m + index->nr_plens[0];

	do {
		if (weir_index_in_filter(index, weir_index_fold4(addr & m->mask, m->plen)))
			return true;
	} while (++m < end);
	return false;
}

bool weir_index_may_be_prefix6(const struct weir_index *index, u64 first, u64 second)
{
	const struct weir_index_mask6 *m = index->masks6;
	const struct weir_index_mask6 *end = m + index->nr_plens[1];

	do {
		if (weir_index_in_filter(index, weir_index_fold6(first & m->first,
								 second & m->second,
								 m->plen)))
			return true;
	} while (++m < end);
	return false;
}

bool weir_index_prefix(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr, struct weir_match *match)
{
	int v6 = family == AF_INET6;
	const struct weir_entry *entry;
	struct weir_key key;
	int i;

	for (i = 0; i < index->nr_plens[v6]; i++) {
		prefix_key(&key, family, addr,
			   v6 ? index->masks6[i].plen : index->masks4[i].plen);
		entry = weir_keys_find(&index->keys, &key);
		if (!entry)
			continue;
		*match = entry->match;
		return true;
	}
	return false;
}

bool weir_index_is_source(const struct weir_index *index, u8 family,
			  const struct weir_addr *addr, u8 proto, u16 port)
{
	struct weir_key key;

	init_key(&key, KIND_SOURCE, family, addr);
	key.proto = proto;
	key.port = port;
	if (proto_has_ports(proto) && port && weir_keys_find(&index->keys, &key))
		return true;
	key.port = ALL_PORTS;
	if (weir_keys_find(&index->keys, &key))
		return true;
	/* Under an `any` rule a backend that translates ports answers from
	 * that one port only, but tells it from its own traffic no better
	 * than one that keeps them.
	 */
	key.proto = ANY_PROTO;
	return weir_keys_find(&index->keys, &key);
}

struct weir_service *weir_index_owner(const struct weir_index *index, u32 owner)
{
	const struct weir_entry *entry;
	struct weir_key key;

	init_owner(&key, owner);
	entry = weir_keys_find(&index->keys, &key);
	return entry ? entry->match.service : NULL;
}
