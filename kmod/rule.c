// SPDX-License-Identifier: GPL-2.0
/*
 * rule - VIP, protocol and ports that lead to a service
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "refuse.h"
#include "service.h"

static const char *const proto_words[] = {
	[WEIR_PROTO_ANY]	= "any",
	[WEIR_PROTO_TCP]	= "tcp",
	[WEIR_PROTO_UDP]	= "udp",
	[WEIR_PROTO_SCTP]	= "sctp",
	[WEIR_PROTO_ICMP]	= "icmp",
	[WEIR_PROTO_ESP]	= "esp",
	[WEIR_PROTO_AH]		= "ah",
	[WEIR_PROTO_GRE]	= "gre",
};

static bool has_ports(u8 proto)
{
	return proto == WEIR_PROTO_TCP || proto == WEIR_PROTO_UDP ||
	       proto == WEIR_PROTO_SCTP;
}

bool weir_rule_equal(const struct weir_rule *a, const struct weir_rule *b)
{
	return a->family == b->family && a->plen == b->plen &&
	       a->proto == b->proto && a->nr_ports == b->nr_ports &&
	       !weir_addr_cmp(&a->vip, &b->vip) &&
	       !memcmp(a->ports, b->ports, a->nr_ports * sizeof(u16));
}

/* The order in which rules are listed: by VIP, protocol and ports. */
static int cmp_rule(const struct weir_rule *a, const struct weir_rule *b)
{
	int i, cmp = a->family - b->family;

	if (!cmp)
		cmp = weir_addr_cmp(&a->vip, &b->vip);
	if (!cmp)
		cmp = a->plen - b->plen;
	if (!cmp)
		cmp = a->proto - b->proto;
	for (i = 0; !cmp && i < min(a->nr_ports, b->nr_ports); i++)
		cmp = a->ports[i] - b->ports[i];
	return cmp ?: a->nr_ports - b->nr_ports;
}

struct weir_rule *weir_rule_find(const struct weir_service *svc,
				 const struct weir_rule *rule)
{
	u32 low = 0, high = svc->nr_rules;

	while (low < high) {
		u32 at = low + (high - low) / 2;
		int cmp = cmp_rule(&svc->rules[at], rule);

		if (!cmp)
			return &svc->rules[at];
		if (cmp < 0)
			low = at + 1;
		else
			high = at;
	}
	return NULL;
}

static int check_rule(const struct weir_service *svc,
		      const struct weir_rule *rule,
		      struct netlink_ext_ack *extack)
{
	char vip[WEIR_ADDR_TEXT];
	const char *word = proto_words[rule->proto];

	weir_addr_text(vip, rule->family, &rule->vip);
	if (rule->nr_ports && !has_ports(rule->proto))
		return weir_refuse(extack, -EINVAL,
				   "service %s: rule %s %s: %s has no ports here; write %s %s all",
				   svc->name, vip, word, word, vip, word);
	if (svc->family && svc->family != rule->family)
		return weir_refuse(extack, -EINVAL,
				   "service %s: rule %s: rules and backends of a service share one family, this one has %s",
				   svc->name, vip,
				   svc->family == AF_INET ? "IPv4" : "IPv6");
	if (weir_rule_find(svc, rule))
		return weir_refuse(extack, -EEXIST,
				   "service %s: rule %s %s: it is there already",
				   svc->name, vip, word);
	return 0;
}

int weir_rule_add(struct weir_service *svc, const struct weir_rule *rule,
		  struct netlink_ext_ack *extack)
{
	struct weir_rule *rules, copy = *rule;
	u32 at;
	int err;

	err = check_rule(svc, rule, extack);
	if (err)
		return err;
	rules = weir_grow(svc->rules, svc->nr_rules, &svc->max_rules,
			  sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	svc->rules = rules;

	copy.ports = NULL;
	if (rule->nr_ports) {
		copy.ports = kmemdup(rule->ports, rule->nr_ports * sizeof(u16),
				     GFP_KERNEL_ACCOUNT);
		if (!copy.ports)
			return -ENOMEM;
	}
	for (at = svc->nr_rules; at > 0; at--)
		if (cmp_rule(&rules[at - 1], rule) < 0)
			break;
	memmove(&rules[at + 1], &rules[at],
		(svc->nr_rules - at) * sizeof(*rules));
	rules[at] = copy;
	svc->nr_rules++;
	weir_service_set_family(svc);
	return 0;
}

int weir_rule_del(struct weir_service *svc, const struct weir_rule *rule,
		  struct netlink_ext_ack *extack)
{
	struct weir_rule *found = weir_rule_find(svc, rule);
	char vip[WEIR_ADDR_TEXT];
	u32 left;

	if (!found)
		return weir_refuse(extack, -ENOENT,
				   "service %s: rule %s %s with these ports: there is none; weir show %s lists them",
				   svc->name,
				   weir_addr_text(vip, rule->family, &rule->vip),
				   proto_words[rule->proto], svc->name);
	kfree(found->ports);
	left = svc->rules + svc->nr_rules - (found + 1);
	memmove(found, found + 1, left * sizeof(*found));
	svc->nr_rules--;
	weir_service_set_family(svc);
	return 0;
}
