// SPDX-License-Identifier: GPL-2.0
/*
 * index - a configuration by address: VIPs, rules, and where backends answer
 *
 * One chained hash for all kinds. The keys are the operator's, not a client's, so
 * a seeded product is enough.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "config.h"
#include "dest.h"
#include "index.h"

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

struct index_key {
	struct weir_addr addr;
	u16 port;
	u8 proto;		/* IPPROTO_* or ANY_PROTO */
	u8 family:6, kind:2;
};

struct weir_index_entry {
	struct index_key key;
	u32 next;		/* entry number + 1 */
	u8 forwards;		/* of a VIP: bits by enum weir_forward */
	struct weir_match match;
};

static u32 hash_key(const struct weir_index *index, const struct index_key *key)
{
	const u32 *words = (const u32 *)key;
	u64 h = index->seed;

	BUILD_BUG_ON(sizeof(*key) != 20);
	h = (h + (words[0] | (u64)words[1] << 32)) * 0x9e3779b97f4a7c15ULL;
	h = ((h ^ h >> 32) + (words[2] | (u64)words[3] << 32)) *
	    0xc2b2ae3d27d4eb4fULL;
	h = ((h ^ h >> 32) + words[4]) * 0x9e3779b97f4a7c15ULL;
	return h >> 32 & index->mask;
}

static bool is_same(const struct index_key *a, const struct index_key *b)
{
	const u32 *x = (const u32 *)a, *y = (const u32 *)b;

	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) |
		 (x[4] ^ y[4]));
}

static struct weir_index_entry *find_in(const struct weir_index *index, u32 bucket,
					const struct index_key *key)
{
	struct weir_index_entry *entry;
	u32 n;

	for (n = index->buckets[bucket]; n; n = entry->next) {
		entry = &index->entries[n - 1];
		if (is_same(&entry->key, key))
			return entry;
	}
	return NULL;
}

static struct weir_index_entry *find(const struct weir_index *index,
				     const struct index_key *key)
{
	return index->nr_entries ? find_in(index, hash_key(index, key), key) : NULL;
}

/* Return: false if there is one with this key, *at in any case the one that is there. */
static bool add_at(struct weir_index *index, const struct index_key *key,
		   struct weir_service *svc, const struct weir_rule *rule,
		   struct weir_index_entry **at)
{
	u32 hash = hash_key(index, key);
	struct weir_index_entry *entry;
	u32 *bucket;

	*at = find_in(index, hash, key);
	if (*at)
		return false;
	entry = &index->entries[index->nr_entries++];
	bucket = &index->buckets[hash];
	*at = entry;
	entry->key = *key;
	entry->match.service = svc;
	entry->match.rule = rule;
	entry->forwards = 0;
	entry->next = *bucket;
	*bucket = index->nr_entries;
	return true;
}

static bool add(struct weir_index *index, const struct index_key *key,
		struct weir_service *svc, const struct weir_rule *rule)
{
	struct weir_index_entry *at;

	return add_at(index, key, svc, rule, &at);
}

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

static void init_key(struct index_key *key, enum kind kind, u8 family,
		     const struct weir_addr *addr)
{
	*key = (struct index_key) {
		.addr = *addr,
		.family = family,
		.kind = kind,
	};
}

static u32 nr_keys(const struct weir_rule *rule)
{
	return rule->nr_ports ? rule->nr_ports : 1;
}

static int count(const struct weir_config *cfg, u32 *total, u32 *nr_direct)
{
	u64 sum = 0, direct = 0;
	u32 s, r;

	for (s = 0; s < cfg->nr_services; s++) {
		const struct weir_service *svc = cfg->services[s];

		sum++;
		if (svc->opt.forward == WEIR_FORWARD_DIRECT)
			direct += svc->nr_rules;
		for (r = 0; r < svc->nr_rules; r++)
			sum += 1 + (u64)nr_keys(&svc->rules[r]) *
				   (1 + svc->nr_backends);
	}
	if (sum > INT_MAX / sizeof(struct weir_index_entry))
		return -ENOMEM;
	*total = sum;
	*nr_direct = direct;
	return 0;
}

static int alloc(struct weir_index *index, u32 total, u32 nr_direct)
{
	u32 buckets = roundup_pow_of_two(max(total, 16U));
	unsigned int order;

	index->entries = kvcalloc(max(total, 1U), sizeof(*index->entries),
				  GFP_KERNEL_ACCOUNT);
	index->buckets = kvcalloc(buckets, sizeof(*index->buckets),
				  GFP_KERNEL_ACCOUNT);
	index->mask = buckets - 1;
	index->seed = get_random_u32();
	order = clamp(order_base_2(nr_direct) + ilog2(FILTER_BITS),
		      FILTER_ORDER_MIN, FILTER_ORDER_MAX);
	index->filter_shift = 64 - order;
	index->filter = kvcalloc(BITS_TO_LONGS(1UL << order),
				 sizeof(long), GFP_KERNEL_ACCOUNT);
	return index->entries && index->buckets && index->filter ? 0 : -ENOMEM;
}

static void init_owner(struct index_key *key, u32 owner)
{
	memset(key, 0, sizeof(*key));
	key->kind = KIND_OWNER;
	memcpy(&key->addr, &owner, sizeof(owner));
}

static void add_to_filter(struct weir_index *index, u8 family, const struct weir_addr *addr,
			  u8 plen)
{
	u64 folded;

	if (family == AF_INET)
		folded = weir_index_fold4(addr->ip, plen);
	else
		folded = weir_index_fold6(weir_index_pair(addr->ip6),
					  weir_index_pair(addr->ip6 + 2), plen);
	__set_bit(weir_index_filter_bit(index, folded), index->filter);
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

static void write_masks(struct weir_index *index)
{
	unsigned int i;

	for (i = 0; i < index->nr_plens[0]; i++) {
		struct weir_addr mask = { .ip = htonl(~0U) };

		mask_addr(&mask, index->plens[0][i]);
		index->masks4[i].mask = mask.ip;
		index->masks4[i].plen = index->plens[0][i];
	}
	for (i = 0; i < index->nr_plens[1]; i++) {
		struct weir_addr mask;

		memset(&mask, 0xff, sizeof(mask));
		mask_addr(&mask, index->plens[1][i]);
		index->masks6[i].first = weir_index_pair(mask.ip6);
		index->masks6[i].second = weir_index_pair(mask.ip6 + 2);
		index->masks6[i].plen = index->plens[1][i];
	}
}

/* Descending, each once. */
static void add_plen(struct weir_index *index, const struct weir_rule *rule)
{
	int v6 = rule->family == AF_INET6;
	u8 *plens = index->plens[v6];
	int i, n = index->nr_plens[v6];

	for (i = 0; i < n && plens[i] > rule->plen; i++)
		;
	if (i < n && plens[i] == rule->plen)
		return;
	memmove(&plens[i + 1], &plens[i], n - i);
	plens[i] = rule->plen;
	index->nr_plens[v6]++;
}

static void prefix_key(struct index_key *key, u8 family,
		       const struct weir_addr *addr, u8 plen)
{
	init_key(key, KIND_RULE, family, addr);
	key->proto = PREFIX_PROTO;
	key->port = plen;
	mask_addr(&key->addr, plen);
}

static void add_vip(struct weir_index *index, struct weir_service *svc,
		    const struct weir_rule *rule)
{
	struct weir_index_entry *vip;
	struct index_key key;

	init_key(&key, KIND_VIP, rule->family, &rule->vip);
	add_at(index, &key, svc, rule, &vip);
	vip->forwards |= BIT(svc->opt.forward);
	if (svc->opt.forward == WEIR_FORWARD_DIRECT)
		add_to_filter(index, rule->family, &rule->vip, 0);
}

static int add_rule(struct weir_index *index, struct weir_service *svc,
		    const struct weir_rule *rule, struct weir_match clash[2])
{
	struct index_key key;
	u32 i;

	if (weir_rule_is_prefix(rule)) {
		add_plen(index, rule);
		prefix_key(&key, rule->family, &rule->vip, rule->plen);
		add_to_filter(index, rule->family, &key.addr, rule->plen);
		if (add(index, &key, svc, rule))
			return 0;
		clash[0] = find(index, &key)->match;
		clash[1].service = svc;
		clash[1].rule = rule;
		return -EEXIST;
	}
	add_vip(index, svc, rule);
	init_key(&key, KIND_RULE, rule->family, &rule->vip);
	key.proto = ipproto(rule->proto, rule->family);
	for (i = 0; i < nr_keys(rule); i++) {
		key.port = rule->nr_ports ? rule->ports[i] : ALL_PORTS;
		if (add(index, &key, svc, rule))
			continue;
		clash[0] = find(index, &key)->match;
		clash[1].service = svc;
		clash[1].rule = rule;
		return -EEXIST;
	}
	return 0;
}

/* Where the backends of a service answer from: the port that their packets
 * came to, which is the rule's unless the backend translates it.
 */
static void add_sources(struct weir_index *index, struct weir_service *svc,
			const struct weir_rule *rule)
{
	u8 proto = ipproto(rule->proto, rule->family);
	struct index_key key;
	u32 b, i;

	for (b = 0; b < svc->nr_backends; b++) {
		const struct weir_backend *be = &svc->backends[b];

		init_key(&key, KIND_SOURCE, be->family, &be->addr);
		key.proto = proto;
		if (be->port && proto_has_ports(proto)) {
			key.port = be->port;
			add(index, &key, svc, rule);
			continue;
		}
		for (i = 0; i < nr_keys(rule); i++) {
			key.port = rule->nr_ports ? rule->ports[i] : ALL_PORTS;
			add(index, &key, svc, rule);
		}
	}
}

int weir_index_build(struct weir_config *cfg, struct weir_match clash[2])
{
	struct weir_index *index = &cfg->index;
	u32 total, nr_direct, s, r;
	int err;

	err = count(cfg, &total, &nr_direct);
	if (!err)
		err = alloc(index, total, nr_direct);
	if (err)
		return err;

	for (s = 0; s < cfg->nr_services; s++) {
		struct weir_service *svc = cfg->services[s];
		struct index_key key;

		init_owner(&key, svc->owner->id);
		add(index, &key, svc, NULL);
		for (r = 0; r < svc->nr_rules; r++) {
			err = add_rule(index, svc, &svc->rules[r], clash);
			if (err)
				return err;
			/* They answer their clients past us. */
			if (svc->opt.forward == WEIR_FORWARD_NAT)
				add_sources(index, svc, &svc->rules[r]);
		}
		cond_resched();
	}
	write_masks(index);
	return 0;
}

void weir_index_free(struct weir_index *index)
{
	kvfree(index->entries);
	kvfree(index->buckets);
	kvfree(index->filter);
	memset(index, 0, sizeof(*index));
}

u8 weir_index_forwards(const struct weir_index *index, u8 family,
		       const struct weir_addr *addr)
{
	const struct weir_index_entry *entry;
	struct index_key key;

	init_key(&key, KIND_VIP, family, addr);
	entry = find(index, &key);
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
	const struct weir_index_entry *entry = NULL;
	struct index_key key;

	init_key(&key, KIND_RULE, family, vip);
	key.proto = proto;
	if (proto_has_ports(proto) && port) {
		key.port = port;
		entry = find(index, &key);
	}
	if (!entry) {
		key.port = ALL_PORTS;
		entry = find(index, &key);
	}
	if (!entry) {
		key.proto = ANY_PROTO;
		entry = find(index, &key);
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
	const struct weir_index_entry *entry;
	struct index_key key;
	int i;

	for (i = 0; i < index->nr_plens[v6]; i++) {
		prefix_key(&key, family, addr, index->plens[v6][i]);
		entry = find(index, &key);
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
	struct index_key key;

	init_key(&key, KIND_SOURCE, family, addr);
	key.proto = proto;
	key.port = port;
	if (proto_has_ports(proto) && port && find(index, &key))
		return true;
	key.port = ALL_PORTS;
	if (find(index, &key))
		return true;
	/* Under an `any` rule a backend that translates ports answers from
	 * that one port only, but tells it from its own traffic no better
	 * than one that keeps them.
	 */
	key.proto = ANY_PROTO;
	return find(index, &key);
}

struct weir_service *weir_index_owner(const struct weir_index *index, u32 owner)
{
	const struct weir_index_entry *entry;
	struct index_key key;

	init_owner(&key, owner);
	entry = find(index, &key);
	return entry ? entry->match.service : NULL;
}
