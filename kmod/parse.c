// SPDX-License-Identifier: GPL-2.0
/*
 * parse - attributes of a request as structures, each value checked
 */
#include <linux/ctype.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <net/ipv6.h>
#include <net/netlink.h>

#include "flows.h"
#include "maglev.h"
#include "parse.h"
#include "policy.h"
#include "refuse.h"
#include "zones.h"

/* Enough for "service NAME: backend ADDRESS" and its like. */
#define LABEL_LEN	128

#define QUOTE_LEN	40

#define DRAIN_MAX	3600

/* An option that is one of a few words, or off or on. */
struct choice {
	u8 attr;
	u8 offset;			/* in struct weir_options */
	u8 nr;
	u8 supported;			/* bit per value */
	const char *name;
	const char *const *words;
};

/* An option that is a number. */
struct number {
	u8 attr;
	u8 offset;
	const char *name;
	u32 min, max;
};

static const char *const affinity_words[] = {
	[WEIR_AFFINITY_NONE]			= "none",
	[WEIR_AFFINITY_CLIENT_IP_PORT_PROTO]	= "client-ip-port-proto",
	[WEIR_AFFINITY_CLIENT_IP_PROTO]		= "client-ip-proto",
	[WEIR_AFFINITY_CLIENT_IP]		= "client-ip",
	[WEIR_AFFINITY_CLIENT_IP_NO_DESTINATION] = "client-ip-no-destination",
};

static const char *const tracking_words[] = {
	[WEIR_TRACKING_PER_CONNECTION]	= "per-connection",
	[WEIR_TRACKING_PER_SESSION]	= "per-session",
};

static const char *const persistence_words[] = {
	[WEIR_PERSISTENCE_DEFAULT_FOR_PROTOCOL]	= "default-for-protocol",
	[WEIR_PERSISTENCE_NEVER_PERSIST]	= "never-persist",
	[WEIR_PERSISTENCE_ALWAYS_PERSIST]	= "always-persist",
};

static const char *const zonal_affinity_words[] = {
	[WEIR_ZONAL_AFFINITY_DISABLED]		= "disabled",
	[WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE]	= "stay-within-zone",
	[WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE]	= "spill-cross-zone",
};

static const char *const locality_words[] = {
	[WEIR_LOCALITY_MAGLEV]			= "maglev",
	[WEIR_LOCALITY_WEIGHTED_MAGLEV]		= "weighted-maglev",
	[WEIR_LOCALITY_RENDEZVOUS]		= "rendezvous",
	[WEIR_LOCALITY_WEIGHTED_RENDEZVOUS]	= "weighted-rendezvous",
};

static const char *const forward_words[] = {
	[WEIR_FORWARD_NAT]	= "nat",
	[WEIR_FORWARD_DIRECT]	= "direct",
};

static const char *const when_empty_words[] = {
	[WEIR_WHEN_EMPTY_DROP]		= "drop",
	[WEIR_WHEN_EMPTY_REJECT]	= "reject",
};

static const char *const health_words[] = {
	[WEIR_HEALTH_AUTO]	= "auto",
	[WEIR_HEALTH_UP]	= "up",
	[WEIR_HEALTH_DOWN]	= "down",
};

static const char *const weight_state_words[] = {
	[WEIR_WEIGHT_STATE_NONE]	= "none",
	[WEIR_WEIGHT_STATE_VALID]	= "valid",
	[WEIR_WEIGHT_STATE_MISSING]	= "missing",
	[WEIR_WEIGHT_STATE_INVALID]	= "invalid",
	[WEIR_WEIGHT_STATE_UNAVAILABLE]	= "unavailable",
};

static const char *const switch_words[] = { "off", "on" };

#define ALL(words)	(BIT(ARRAY_SIZE(words)) - 1)
#define OPTION(_attr, _field, _name)				\
	.attr = WEIR_SERVICE_A_##_attr,				\
	.offset = offsetof(struct weir_options, _field), .name = _name
#define WORDS(_words, _supported)				\
	.words = _words, .nr = ARRAY_SIZE(_words), .supported = _supported

static const struct choice choices[] = {
	{ OPTION(AFFINITY, affinity, "affinity"),
	  WORDS(affinity_words, ALL(affinity_words)) },
	{ OPTION(TRACKING, tracking, "tracking"),
	  WORDS(tracking_words, ALL(tracking_words)) },
	{ OPTION(PERSISTENCE, persistence, "persistence"),
	  WORDS(persistence_words, ALL(persistence_words)) },
	{ OPTION(DROP_IF_UNHEALTHY, drop_if_unhealthy, "drop-if-unhealthy"),
	  WORDS(switch_words, ALL(switch_words)) },
	{ OPTION(DRAIN_ON_FAILOVER, drain_on_failover, "drain-on-failover"),
	  WORDS(switch_words, ALL(switch_words)) },
	{ OPTION(ZONAL_AFFINITY, zonal_affinity, "zonal-affinity"),
	  WORDS(zonal_affinity_words, ALL(zonal_affinity_words)) },
	{ OPTION(LOCALITY, locality, "locality"),
	  WORDS(locality_words, ALL(locality_words)) },
	{ OPTION(FORWARD, forward, "forward"),
	  WORDS(forward_words, ALL(forward_words)) },
	{ OPTION(WHEN_EMPTY, when_empty, "when-empty"),
	  WORDS(when_empty_words, ALL(when_empty_words)) },
	{ OPTION(HAIRPIN, hairpin, "hairpin"),
	  WORDS(switch_words, ALL(switch_words)) },
};

static const struct number numbers[] = {
	/* How much of it a service may use is up to its other options. */
	{ OPTION(IDLE_TIMEOUT, idle_timeout, "idle-timeout"),
	  .min = WEIR_IDLE_MIN, .max = WEIR_IDLE_SESSION_MAX },
	{ OPTION(DRAIN_TIMEOUT, drain_timeout, "drain-timeout"),
	  .max = DRAIN_MAX },
	{ OPTION(FAILOVER_RATIO, failover_ratio, "failover-ratio"),
	  .max = WEIR_RATIO_ONE },
	{ OPTION(SPILL_RATIO, spill_ratio, "spill-ratio"),
	  .max = WEIR_RATIO_ONE },
};

/* A choice outside the options of a service. */
static const struct choice backend_health = {
	.name = "health", WORDS(health_words, ALL(health_words)),
};

static const struct choice backend_check = {
	.name = "check", WORDS(health_words, ALL(health_words)),
};

static const struct choice group_failover = {
	.name = "failover", WORDS(switch_words, ALL(switch_words)),
};

static const struct choice backend_weight_state = {
	.name = "weight-state",
	WORDS(weight_state_words, ALL(weight_state_words)),
};

int weir_parse_missing(struct netlink_ext_ack *extack,
		       const struct nlattr *nest, int type, const char *what)
{
	if (extack)
		NL_SET_ERR_ATTR_MISS(extack, nest, type);
	return weir_refuse(extack, -EINVAL, "%s is missing", what);
}

static int parse_choice(const struct nlattr *attr, const struct choice *choice,
			const char *label, u8 *value,
			struct netlink_ext_ack *extack)
{
	u8 n = nla_get_u8(attr);

	if (n >= choice->nr)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: %s %u: 0 to %u are defined, %s is the first and %s the last",
					label, choice->name, n, choice->nr - 1,
					choice->words[0],
					choice->words[choice->nr - 1]);
	if (!(choice->supported & BIT(n)))
		return weir_refuse_attr(extack, attr, -EOPNOTSUPP,
					"%s: %s %s is not supported by this version of weir",
					label, choice->name, choice->words[n]);
	*value = n;
	return 0;
}

static int parse_number(const struct nlattr *attr, const struct number *number,
			const char *label, u32 *value,
			struct netlink_ext_ack *extack)
{
	u32 n = nla_get_u32(attr);

	if (n < number->min || n > number->max)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: %s %u: it goes from %u to %u",
					label, number->name, n, number->min,
					number->max);
	*value = n;
	return 0;
}

/* What of a bad name a message repeats: as much as helps, and nothing that does
 * something to a terminal.
 */
static void quote(char out[QUOTE_LEN + 1], const char *text, int len)
{
	int i;

	len = min(len, QUOTE_LEN);
	for (i = 0; i < len; i++)
		out[i] = isascii(text[i]) && isprint(text[i]) ? text[i] : '?';
	out[i] = '\0';
}

static int parse_name(const struct nlattr *attr, const char *label,
		      char name[WEIR_NAME_MAX + 1],
		      struct netlink_ext_ack *extack)
{
	const char *text = nla_data(attr);
	int len = nla_len(attr) - 1;
	char quoted[QUOTE_LEN + 1];

	if (len <= WEIR_NAME_MAX && !text[len] && strlen(text) == len) {
		memcpy(name, text, len + 1);
		if (weir_name_ok(name))
			return 0;
	}
	quote(quoted, text, len);
	return weir_refuse_attr(extack, attr, -EINVAL,
				"%s \"%s\"%s: a name is 1 to %d of letters, digits, '.', '_', '-'",
				label, quoted, len > QUOTE_LEN ? "..." : "",
				WEIR_NAME_MAX);
}

int weir_parse_service_name(const struct nlattr *attr,
			    char name[WEIR_NAME_MAX + 1],
			    struct netlink_ext_ack *extack)
{
	if (!attr)
		return weir_parse_missing(extack, NULL, WEIR_A_SERVICE_NAME,
					  "SERVICE_NAME, the service's name,");
	return parse_name(attr, "service", name, extack);
}

static bool host_address(u8 family, const struct weir_addr *addr)
{
	struct in6_addr in6;

	if (family == AF_INET)
		return addr->ip && !ipv4_is_multicast(addr->ip) &&
		       !ipv4_is_lbcast(addr->ip);
	memcpy(&in6, addr->raw, sizeof(in6));
	return !ipv6_addr_any(&in6) && !ipv6_addr_is_multicast(&in6) &&
	       !ipv6_addr_v4mapped(&in6);
}

int weir_parse_addr(const struct nlattr *attr, const char *label, u8 *family,
		    struct weir_addr *addr, struct netlink_ext_ack *extack)
{
	int len = nla_len(attr);

	memset(addr, 0, sizeof(*addr));
	if (len != 4 && len != 16)
		return weir_refuse_attr(extack, attr, -EINVAL,
					"%s: an address of %d bytes: IPv4 has 4, IPv6 has 16",
					label, len);
	memcpy(addr->raw, nla_data(attr), len);
	*family = len == 4 ? AF_INET : AF_INET6;
	return 0;
}

/* An address that a rule or a backend may have. */
static int parse_host(const struct nlattr *attr, const char *label,
		      u8 *family, struct weir_addr *addr,
		      struct netlink_ext_ack *extack)
{
	char text[WEIR_ADDR_TEXT];
	int err;

	err = weir_parse_addr(attr, label, family, addr, extack);
	if (err)
		return err;
	if (host_address(*family, addr))
		return 0;
	return weir_refuse_attr(extack, attr, -EINVAL,
				"%s %s: it is not the address of one host",
				label, weir_addr_text(text, *family, addr));
}

static int parse_table_size(const struct nlattr *attr, const char *label,
			    u32 *value, struct netlink_ext_ack *extack)
{
	u32 size = nla_get_u32(attr);

	if (size && !weir_maglev_size_ok(size))
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: table-size %u: it is auto (0) or a prime up to %u",
					label, size, WEIR_TABLE_SIZE_MAX);
	*value = size;
	return 0;
}

/* The line is opaque to us, but it has to come back as one line of a file. */
static int parse_health_check(const struct nlattr *attr, const char *label,
			      const char **value,
			      struct netlink_ext_ack *extack)
{
	const char *line = nla_data(attr);
	int i, len = nla_len(attr) - 1;

	if (len > WEIR_HEALTH_CHECK_MAX)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: health-check of %d bytes: at most %d",
					label, len, WEIR_HEALTH_CHECK_MAX);
	for (i = 0; i < len; i++)
		if ((u8)line[i] < ' ' || line[i] == 0x7f)
			return weir_refuse_attr(extack, attr, -EINVAL,
						"%s: health-check: byte %d is the control character 0x%02x",
						label, i, (u8)line[i]);
	if (line[len])
		return weir_refuse_attr(extack, attr, -EINVAL,
					"%s: health-check: it does not end with a NUL",
					label);
	*value = line;
	return 0;
}

int weir_parse_service(const struct nlattr *nest, const char *service,
		       struct weir_settings *set,
		       struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_SERVICE_A_MAX + 1];
	u8 *opt = (u8 *)&set->opt;
	char label[LABEL_LEN];
	int i, err;

	if (!nest)
		return 0;
	err = nla_parse_nested(tb, WEIR_SERVICE_A_MAX, nest, weir_nest_service,
			       extack);
	snprintf(label, sizeof(label), "service %s", service);
	for (i = 0; i < ARRAY_SIZE(choices) && !err; i++)
		if (tb[choices[i].attr])
			err = parse_choice(tb[choices[i].attr], &choices[i],
					   label, opt + choices[i].offset,
					   extack);
	for (i = 0; i < ARRAY_SIZE(numbers) && !err; i++)
		if (tb[numbers[i].attr])
			err = parse_number(tb[numbers[i].attr], &numbers[i],
					   label,
					   (u32 *)(opt + numbers[i].offset),
					   extack);
	if (!err && tb[WEIR_SERVICE_A_TABLE_SIZE])
		err = parse_table_size(tb[WEIR_SERVICE_A_TABLE_SIZE], label,
				       &set->opt.table_size, extack);
	if (!err && tb[WEIR_SERVICE_A_HEALTH_CHECK])
		err = parse_health_check(tb[WEIR_SERVICE_A_HEALTH_CHECK], label,
					 &set->health_check, extack);
	return err;
}

static int cmp_port(const void *a, const void *b)
{
	return *(const u16 *)a - *(const u16 *)b;
}

static int check_ports(const struct nlattr *attr, const char *label,
		       const struct weir_rule *rule,
		       struct netlink_ext_ack *extack)
{
	u32 i;

	if (!rule->ports[0])
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: port 0: ports go from 1 to 65535",
					label);
	for (i = 1; i < rule->nr_ports; i++)
		if (rule->ports[i] == rule->ports[i - 1])
			return weir_refuse_attr(extack, attr, -EINVAL,
						"%s: port %u stands there twice",
						label, rule->ports[i]);
	return 0;
}

static int parse_ports(const struct nlattr *attr, const char *label,
		       struct weir_rule *rule, struct netlink_ext_ack *extack)
{
	int err, len = nla_len(attr), nr = len / sizeof(u16);

	if (len % sizeof(u16))
		return weir_refuse_attr(extack, attr, -EINVAL,
					"%s: ports of %d bytes: each has 2",
					label, len);
	if (nr > WEIR_PORTS_MAX)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: %d ports: a rule has at most %d, a service may have more rules",
					label, nr, WEIR_PORTS_MAX);
	rule->ports = kmemdup(nla_data(attr), len, GFP_KERNEL);
	if (!rule->ports)
		return -ENOMEM;
	rule->nr_ports = nr;
	sort(rule->ports, nr, sizeof(u16), cmp_port, NULL);
	err = check_ports(attr, label, rule, extack);
	if (err) {
		kfree(rule->ports);
		rule->ports = NULL;
	}
	return err;
}

static int parse_plen(const struct nlattr *attr, const char *label,
		      struct weir_rule *rule, struct netlink_ext_ack *extack)
{
	u8 full = rule->family == AF_INET ? 32 : 128;
	int i;

	rule->plen = attr ? nla_get_u8(attr) : full;
	if (rule->plen > full)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: prefix length %u: at most %u",
					label, rule->plen, full);
	for (i = 0; i < full; i++)
		if (i >= rule->plen &&
		    rule->vip.raw[i / 8] & BIT(7 - i % 8))
			return weir_refuse_attr(extack, attr, -EINVAL,
						"%s/%u: bits behind the length of the prefix are set",
						label, rule->plen);
	return 0;
}

/* All but the whole address may be a prefix, of no host. */
static int parse_vip(struct nlattr **tb, const char *label,
		     struct weir_rule *rule, struct netlink_ext_ack *extack)
{
	const struct nlattr *plen = tb[WEIR_RULE_A_PLEN];
	int err = weir_parse_addr(tb[WEIR_RULE_A_VIP], label, &rule->family,
			     &rule->vip, extack);

	if (err || (plen && nla_get_u8(plen) <
			    (rule->family == AF_INET ? 32 : 128)))
		return err;
	return parse_host(tb[WEIR_RULE_A_VIP], label, &rule->family, &rule->vip,
			  extack);
}

int weir_parse_rule(const struct nlattr *nest, const char *service,
		    struct weir_rule *rule, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_RULE_A_MAX + 1];
	char label[LABEL_LEN], text[WEIR_ADDR_TEXT];
	int err;

	memset(rule, 0, sizeof(*rule));
	err = nla_parse_nested(tb, WEIR_RULE_A_MAX, nest, weir_nest_rule,
			       extack);
	if (err)
		return err;
	snprintf(label, sizeof(label), "service %s: rule", service);
	if (!tb[WEIR_RULE_A_VIP]) {
		strlcat(label, ": its VIP", sizeof(label));
		return weir_parse_missing(extack, nest, WEIR_RULE_A_VIP, label);
	}
	err = parse_vip(tb, label, rule, extack);
	if (err)
		return err;
	snprintf(label, sizeof(label), "service %s: rule %s", service,
		 weir_addr_text(text, rule->family, &rule->vip));
	err = parse_plen(tb[WEIR_RULE_A_PLEN], label, rule, extack);
	if (err)
		return err;
	if (!tb[WEIR_RULE_A_PROTO]) {
		strlcat(label, ": its protocol", sizeof(label));
		return weir_parse_missing(extack, nest, WEIR_RULE_A_PROTO,
					  label);
	}
	rule->proto = nla_get_u8(tb[WEIR_RULE_A_PROTO]);
	if (rule->proto >= __WEIR_PROTO_MAX)
		return weir_refuse_attr(extack, tb[WEIR_RULE_A_PROTO], -ERANGE,
					"%s: protocol word %u: 0 (any) to %u (gre) are defined",
					label, rule->proto,
					__WEIR_PROTO_MAX - 1);
	if (tb[WEIR_RULE_A_PORTS])
		return parse_ports(tb[WEIR_RULE_A_PORTS], label, rule, extack);
	return 0;
}

int weir_parse_group_name(const struct nlattr *nest, const char *service,
			  char name[WEIR_NAME_MAX + 1],
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_GROUP_A_MAX + 1];
	char label[LABEL_LEN];
	int err;

	err = nla_parse_nested(tb, WEIR_GROUP_A_MAX, nest, weir_nest_group,
			       extack);
	if (err)
		return err;
	snprintf(label, sizeof(label), "service %s: group", service);
	if (tb[WEIR_GROUP_A_NAME])
		return parse_name(tb[WEIR_GROUP_A_NAME], label, name, extack);
	strlcat(label, ": its name", sizeof(label));
	return weir_parse_missing(extack, nest, WEIR_GROUP_A_NAME, label);
}

static int parse_group_zone(const struct nlattr *attr, const char *label,
			    struct weir_group *group,
			    struct netlink_ext_ack *extack)
{
	char zone_label[LABEL_LEN];

	group->zone[0] = '\0';
	if (nla_len(attr) == 1)
		return 0;
	snprintf(zone_label, sizeof(zone_label), "%s: zone", label);
	return parse_name(attr, zone_label, group->zone, extack);
}

int weir_parse_group(const struct nlattr *nest, const char *service,
		     struct weir_group *group, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_GROUP_A_MAX + 1];
	char label[LABEL_LEN];
	u8 failover = group->failover;
	int err;

	err = nla_parse_nested(tb, WEIR_GROUP_A_MAX, nest, weir_nest_group,
			       extack);
	if (err)
		return err;
	snprintf(label, sizeof(label), "service %s: group %s", service,
		 group->name);
	if (tb[WEIR_GROUP_A_ZONE])
		err = parse_group_zone(tb[WEIR_GROUP_A_ZONE], label, group,
				       extack);
	if (!err && tb[WEIR_GROUP_A_FAILOVER])
		err = parse_choice(tb[WEIR_GROUP_A_FAILOVER], &group_failover,
				   label, &failover, extack);
	group->failover = failover;
	return err;
}

int weir_parse_backend_which(const struct nlattr *nest, const char *service,
			     struct weir_backend_which *which,
			     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_BACKEND_A_MAX + 1];
	char label[LABEL_LEN];
	int err;

	memset(which, 0, sizeof(*which));
	err = nla_parse_nested(tb, WEIR_BACKEND_A_MAX, nest, weir_nest_backend,
			       extack);
	if (err)
		return err;
	if (tb[WEIR_BACKEND_A_ADDR]) {
		snprintf(label, sizeof(label), "%s%s%sbackend",
			 service ? "service " : "", service ?: "",
			 service ? ": " : "");
		err = parse_host(tb[WEIR_BACKEND_A_ADDR], label, &which->family,
				 &which->addr, extack);
		if (err)
			return err;
		which->has_addr = true;
	}
	if (tb[WEIR_BACKEND_A_GROUP]) {
		snprintf(label, sizeof(label), "service %s: group", service);
		err = parse_name(tb[WEIR_BACKEND_A_GROUP], label, which->group,
				 extack);
		if (err)
			return err;
		which->has_group = true;
	}
	return 0;
}

static int parse_weight(const struct nlattr *attr, const char *label,
			const char *what, u16 *value,
			struct netlink_ext_ack *extack)
{
	u32 weight = nla_get_u32(attr);

	if (weight > WEIR_WEIGHT_MAX)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: %s %u: it goes from 0 to %u",
					label, what, weight, WEIR_WEIGHT_MAX);
	*value = weight;
	return 0;
}

/* What the checker says: a state, and with a valid one the weight. */
static int parse_report(struct nlattr **tb, const char *label,
			struct weir_weight *weight,
			struct netlink_ext_ack *extack)
{
	const struct nlattr *reported = tb[WEIR_BACKEND_A_REPORTED];
	const struct nlattr *state = tb[WEIR_BACKEND_A_WEIGHT_STATE];
	int err = 0;

	if (reported) {
		err = parse_weight(reported, label, "reported weight",
				   &weight->reported, extack);
		if (err)
			return err;
		weight->has_report = true;
		if (!state)
			weight->state = WEIR_WEIGHT_STATE_VALID;
	}
	if (state)
		err = parse_choice(state, &backend_weight_state, label,
				   &weight->state, extack);
	if (!err && weight->state == WEIR_WEIGHT_STATE_NONE) {
		weight->has_report = false;
		weight->reported = 0;
	}
	if (!err && weight->state == WEIR_WEIGHT_STATE_VALID &&
	    !weight->has_report)
		err = weir_refuse_attr(extack, state, -EINVAL,
				       "%s: weight-state valid: REPORTED says which weight, and is missing",
				       label);
	return err;
}

static void label_backend(char label[LABEL_LEN], const char *service,
			  const struct weir_backend_which *which)
{
	char text[WEIR_ADDR_TEXT];

	if (which->has_addr)
		snprintf(label, LABEL_LEN, "service %s: backend %s", service,
			 weir_addr_text(text, which->family, &which->addr));
	else
		snprintf(label, LABEL_LEN, "service %s: backends of group %s",
			 service, which->group);
}

int weir_parse_backend(const struct nlattr *nest, const char *service,
		       const struct weir_backend_which *which,
		       struct weir_backend *be, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_BACKEND_A_MAX + 1];
	char label[LABEL_LEN];
	int err;

	err = nla_parse_nested(tb, WEIR_BACKEND_A_MAX, nest, weir_nest_backend,
			       extack);
	if (err)
		return err;
	label_backend(label, service, which);
	if (tb[WEIR_BACKEND_A_PORT])
		be->port = nla_get_u16(tb[WEIR_BACKEND_A_PORT]);
	if (tb[WEIR_BACKEND_A_WEIGHT])
		err = parse_weight(tb[WEIR_BACKEND_A_WEIGHT], label, "weight",
				   &be->weight.configured, extack);
	if (!err)
		err = parse_report(tb, label, &be->weight, extack);
	if (tb[WEIR_BACKEND_A_REPORTED] || tb[WEIR_BACKEND_A_WEIGHT_STATE])
		be->weight_said = true;
	if (tb[WEIR_BACKEND_A_CHECK])
		be->check_said = true;
	if (!err && tb[WEIR_BACKEND_A_HEALTH])
		err = parse_choice(tb[WEIR_BACKEND_A_HEALTH], &backend_health,
				   label, &be->health, extack);
	if (!err && tb[WEIR_BACKEND_A_CHECK])
		err = parse_choice(tb[WEIR_BACKEND_A_CHECK], &backend_check,
				   label, &be->check, extack);
	return err;
}

int weir_parse_zone_name(const struct nlattr *nest,
			 char name[WEIR_NAME_MAX + 1],
			 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_ZONE_A_MAX + 1];
	int err;

	err = nla_parse_nested(tb, WEIR_ZONE_A_MAX, nest, weir_nest_zone,
			       extack);
	if (err)
		return err;
	if (!tb[WEIR_ZONE_A_NAME])
		return weir_parse_missing(extack, nest, WEIR_ZONE_A_NAME,
					  "zone: its name");
	return parse_name(tb[WEIR_ZONE_A_NAME], "zone", name, extack);
}

static int check_prefix(const struct nlattr *attr, const char *zone,
			const struct weir_zone_prefix *prefix,
			struct netlink_ext_ack *extack)
{
	char text[WEIR_PREFIX_TEXT];

	if (prefix->plen > 128)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"zone %s: prefix length %u: at most 128",
					zone, prefix->plen);
	if (weir_zone_prefix_ok(prefix))
		return 0;
	return weir_refuse_attr(extack, attr, -EINVAL,
				"zone %s: prefix %s: bits behind its length are set",
				zone, weir_zone_text(text, prefix));
}

int weir_parse_zone(const struct nlattr *nest, const char *zone,
		    struct weir_zone_prefix **prefixes, u32 *n,
		    struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_ZONE_A_MAX + 1], *attr;
	const struct weir_zone_record *records;
	u32 i;
	int err;

	*prefixes = NULL;
	*n = 0;
	err = nla_parse_nested(tb, WEIR_ZONE_A_MAX, nest, weir_nest_zone,
			       extack);
	attr = err ? NULL : tb[WEIR_ZONE_A_PREFIXES];
	if (!attr)
		return err;
	if (nla_len(attr) % sizeof(*records))
		return weir_refuse_attr(extack, attr, -EINVAL,
					"zone %s: prefixes of %d bytes: each has %zu",
					zone, nla_len(attr), sizeof(*records));
	*n = nla_len(attr) / sizeof(*records);
	*prefixes = kvmalloc_array(*n, sizeof(**prefixes), GFP_KERNEL);
	if (!*prefixes)
		return -ENOMEM;
	records = nla_data(attr);
	for (i = 0; i < *n && !err; i++) {
		weir_zone_read(&(*prefixes)[i], &records[i]);
		err = check_prefix(attr, zone, &(*prefixes)[i], extack);
	}
	if (err) {
		kvfree(*prefixes);
		*prefixes = NULL;
	}
	return err;
}

int weir_parse_flow_filter(struct nlattr **attrs,
			   struct weir_flow_filter *filter,
			   char name[WEIR_NAME_MAX + 1],
			   struct netlink_ext_ack *extack)
{
	struct weir_backend_which which;
	int err;

	memset(filter, 0, sizeof(*filter));
	if (attrs[WEIR_A_SERVICE_NAME]) {
		err = weir_parse_service_name(attrs[WEIR_A_SERVICE_NAME], name,
					      extack);
		if (err)
			return err;
		filter->service = name;
	}
	if (!attrs[WEIR_A_BACKEND])
		return 0;
	err = weir_parse_backend_which(attrs[WEIR_A_BACKEND], filter->service,
				       &which, extack);
	if (err)
		return err;
	if (!which.has_addr)
		return weir_parse_missing(extack, attrs[WEIR_A_BACKEND],
					  WEIR_BACKEND_A_ADDR,
					  "ADDR, the backend's address,");
	filter->has_backend = true;
	filter->family = which.family;
	filter->backend = which.addr;
	return 0;
}
