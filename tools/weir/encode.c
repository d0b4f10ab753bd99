// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "encode.h"
#include "words.h"

static void put_opts(struct nlmsghdr *nlh, const struct weir_options *options,
		     const struct weir_opts *opts)
{
	unsigned int i;

	for (i = 0; i < options->count; i++) {
		const struct weir_option *option = &options->option[i];
		uint32_t n = opts->num[option->attr];

		if (!weir_opts_has(opts, option->attr))
			continue;
		if (option->bytes == 1)
			mnl_attr_put_u8(nlh, option->attr, n);
		else if (option->bytes == 2)
			mnl_attr_put_u16(nlh, option->attr, n);
		else if (option->bytes == 4)
			mnl_attr_put_u32(nlh, option->attr, n);
		else
			mnl_attr_put_strz(nlh, option->attr, opts->str);
	}
}

void weir_put_addr(struct nlmsghdr *nlh, uint16_t attr,
		   const struct weir_addr *addr)
{
	mnl_attr_put(nlh, attr, addr->len, addr->b);
}

void weir_put_service(struct nlmsghdr *nlh, const struct weir_service *service)
{
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, service->name);
	nest = mnl_attr_nest_start(nlh, WEIR_A_SERVICE);
	put_opts(nlh, &weir_service_options, &service->opts);
	mnl_attr_nest_end(nlh, nest);
}

void weir_put_rule(struct nlmsghdr *nlh, const char *service,
		   const struct weir_rule *rule)
{
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, service);
	nest = mnl_attr_nest_start(nlh, WEIR_A_RULE);
	weir_put_addr(nlh, WEIR_RULE_A_VIP, &rule->vip.addr);
	if (rule->vip.plen != weir_addr_bits(&rule->vip.addr))
		mnl_attr_put_u8(nlh, WEIR_RULE_A_PLEN, rule->vip.plen);
	mnl_attr_put_u8(nlh, WEIR_RULE_A_PROTO, rule->proto);
	if (rule->n_ports)
		mnl_attr_put(nlh, WEIR_RULE_A_PORTS,
			     rule->n_ports * sizeof(rule->ports[0]),
			     rule->ports);
	mnl_attr_nest_end(nlh, nest);
}

void weir_put_group(struct nlmsghdr *nlh, const char *service,
		    const struct weir_group *group)
{
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, service);
	nest = mnl_attr_nest_start(nlh, WEIR_A_GROUP);
	mnl_attr_put_strz(nlh, WEIR_GROUP_A_NAME, group->name);
	put_opts(nlh, &weir_group_options, &group->opts);
	mnl_attr_nest_end(nlh, nest);
}

void weir_put_backend(struct nlmsghdr *nlh, const char *service,
		      const struct weir_backend *backend)
{
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, service);
	nest = mnl_attr_nest_start(nlh, WEIR_A_BACKEND);
	if (backend->addr.len)
		weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &backend->addr);
	put_opts(nlh, &weir_backend_options, &backend->opts);
	mnl_attr_nest_end(nlh, nest);
}

static void put_prefix(uint8_t *to, const struct weir_prefix *prefix)
{
	bool v4 = prefix->addr.len == 4;

	memset(to, 0, WEIR_PREFIX_RECORD);
	to[0] = prefix->plen + (v4 ? 96 : 0);
	if (v4)
		to[11] = to[12] = 0xff;
	memcpy(to + 1 + (v4 ? 12 : 0), prefix->addr.b, prefix->addr.len);
}

void weir_put_zone(struct nlmsghdr *nlh, const struct weir_zone *zone,
		   unsigned int first)
{
	uint8_t records[WEIR_ZONE_PART * WEIR_PREFIX_RECORD];
	struct nlattr *nest;
	unsigned int i, n;

	n = zone->n_prefixes - first;
	if (n > WEIR_ZONE_PART)
		n = WEIR_ZONE_PART;
	for (i = 0; i < n; i++)
		put_prefix(records + WEIR_PREFIX_RECORD * i,
			   &zone->prefixes[first + i].prefix);
	nest = mnl_attr_nest_start(nlh, WEIR_A_ZONE);
	mnl_attr_put_strz(nlh, WEIR_ZONE_A_NAME, zone->name);
	if (n)
		mnl_attr_put(nlh, WEIR_ZONE_A_PREFIXES, WEIR_PREFIX_RECORD * n,
			     records);
	mnl_attr_nest_end(nlh, nest);
}
