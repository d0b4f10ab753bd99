// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "decode.h"

#define ATTRS_MAX	32	/* of one level; a bit each in a u32 */

/* Kinds of attribute: a length in bytes, or one of these. */
enum { NONE, U8 = 1, U16 = 2, U32 = 4, U64 = 8, STRING = 100, ADDR, BYTES,
       NEST, FLAG };

typedef const uint8_t policy_t[ATTRS_MAX];

static policy_t top_policy = {
	[WEIR_A_SERVICE_NAME] = STRING,
	[WEIR_A_SERVICE] = NEST,
	[WEIR_A_RULE] = NEST,
	[WEIR_A_GROUP] = NEST,
	[WEIR_A_BACKEND] = NEST,
	[WEIR_A_ZONE] = NEST,
	[WEIR_A_GENERATION] = U32,
	[WEIR_A_HASH_KEY] = WEIR_HASH_KEY_LEN,
	[WEIR_A_VERSION] = STRING,
	[WEIR_A_N_ADDED] = U32,
	[WEIR_A_N_CHANGED] = U32,
	[WEIR_A_N_REMOVED] = U32,
	[WEIR_A_N_FLOWS] = U32,
	[WEIR_A_CHANGE] = NEST,
	[WEIR_A_VERDICT] = NEST,
	[WEIR_A_FLOW] = NEST,
	[WEIR_A_SESSION] = NEST,
	[WEIR_A_REASON] = NEST,
	[WEIR_A_N_SERVICES] = U32,
	[WEIR_A_N_HELD] = U32,
	[WEIR_A_N_SESSIONS] = U32,
	[WEIR_A_MAX_SESSIONS] = U32,
	[WEIR_A_N_ENTRIES] = U32,
	[WEIR_A_MAX_FLOWS] = U32,
	[WEIR_A_N_CHANGES] = U32,
};

static policy_t service_policy = {
	[WEIR_SERVICE_A_AFFINITY] = U8,
	[WEIR_SERVICE_A_TRACKING] = U8,
	[WEIR_SERVICE_A_PERSISTENCE] = U8,
	[WEIR_SERVICE_A_IDLE_TIMEOUT] = U32,
	[WEIR_SERVICE_A_DRAIN_TIMEOUT] = U32,
	[WEIR_SERVICE_A_FAILOVER_RATIO] = U32,
	[WEIR_SERVICE_A_DROP_IF_UNHEALTHY] = U8,
	[WEIR_SERVICE_A_DRAIN_ON_FAILOVER] = U8,
	[WEIR_SERVICE_A_ZONAL_AFFINITY] = U8,
	[WEIR_SERVICE_A_SPILL_RATIO] = U32,
	[WEIR_SERVICE_A_LOCALITY] = U8,
	[WEIR_SERVICE_A_FORWARD] = U8,
	[WEIR_SERVICE_A_WHEN_EMPTY] = U8,
	[WEIR_SERVICE_A_HAIRPIN] = U8,
	[WEIR_SERVICE_A_TABLE_SIZE] = U32,
	[WEIR_SERVICE_A_HEALTH_CHECK] = STRING,
	[WEIR_SERVICE_A_TABLE_SLOTS] = U32,
	[WEIR_SERVICE_A_DIGEST] = U64,
	[WEIR_SERVICE_A_ELIGIBLE] = U8,
	[WEIR_SERVICE_A_N_BACKENDS] = U32,
	[WEIR_SERVICE_A_N_HEALTHY] = U32,
	[WEIR_SERVICE_A_N_ELIGIBLE] = U32,
	[WEIR_SERVICE_A_COUNTERS] = NEST,
};

static policy_t rule_policy = {
	[WEIR_RULE_A_VIP] = ADDR,
	[WEIR_RULE_A_PLEN] = U8,
	[WEIR_RULE_A_PROTO] = U8,
	[WEIR_RULE_A_PORTS] = BYTES,
};

static policy_t group_policy = {
	[WEIR_GROUP_A_NAME] = STRING,
	[WEIR_GROUP_A_ZONE] = STRING,
	[WEIR_GROUP_A_FAILOVER] = U8,
};

static policy_t backend_policy = {
	[WEIR_BACKEND_A_ADDR] = ADDR,
	[WEIR_BACKEND_A_GROUP] = STRING,
	[WEIR_BACKEND_A_PORT] = U16,
	[WEIR_BACKEND_A_WEIGHT] = U32,
	[WEIR_BACKEND_A_HEALTH] = U8,
	[WEIR_BACKEND_A_CHECK] = U8,
	[WEIR_BACKEND_A_STATE] = U8,
	[WEIR_BACKEND_A_HEALTHY] = U8,
	[WEIR_BACKEND_A_ELIGIBLE] = U8,
	[WEIR_BACKEND_A_SLOTS] = U32,
	[WEIR_BACKEND_A_N_FLOWS] = U32,
	[WEIR_BACKEND_A_COUNTERS] = NEST,
};

static policy_t zone_policy = {
	[WEIR_ZONE_A_NAME] = STRING,
	[WEIR_ZONE_A_PREFIXES] = BYTES,
};

static policy_t counter_policy = {
	[WEIR_COUNTER_A_SELECTIONS] = U64,
	[WEIR_COUNTER_A_LAST_RESORT] = U64,
	[WEIR_COUNTER_A_PACKETS_IN] = U64,
	[WEIR_COUNTER_A_BYTES_IN] = U64,
	[WEIR_COUNTER_A_PACKETS_OUT] = U64,
	[WEIR_COUNTER_A_BYTES_OUT] = U64,
	[WEIR_COUNTER_A_RESELECTED_GONE] = U64,
	[WEIR_COUNTER_A_RESELECTED_UNHEALTHY] = U64,
	[WEIR_COUNTER_A_RESELECTED_ADOPTED] = U64,
	[WEIR_COUNTER_A_RESELECTED_SYN] = U64,
	[WEIR_COUNTER_A_RESELECTED_SESSION] = U64,
};

static policy_t change_policy = {
	[WEIR_CHANGE_A_KIND] = U8,
	[WEIR_CHANGE_A_SERVICE_NAME] = STRING,
	[WEIR_CHANGE_A_RULE] = NEST,
	[WEIR_CHANGE_A_GROUP] = NEST,
	[WEIR_CHANGE_A_BACKEND] = NEST,
};

static policy_t flow_policy = {
	[WEIR_FLOW_A_SERVICE_NAME] = STRING,
	[WEIR_FLOW_A_PROTO] = U8,
	[WEIR_FLOW_A_SRC] = ADDR,
	[WEIR_FLOW_A_SPORT] = U16,
	[WEIR_FLOW_A_DST] = ADDR,
	[WEIR_FLOW_A_DPORT] = U16,
	[WEIR_FLOW_A_BACKEND] = ADDR,
	[WEIR_FLOW_A_BACKEND_PORT] = U16,
	[WEIR_FLOW_A_EXPIRES] = U32,
	[WEIR_FLOW_A_TCP_STATE] = U8,
	[WEIR_FLOW_A_REPLIED] = U8,
	[WEIR_FLOW_A_STAY] = U8,
};

static policy_t session_policy = {
	[WEIR_SESSION_A_SERVICE_NAME] = STRING,
	[WEIR_SESSION_A_FIELDS] = U8,
	[WEIR_SESSION_A_SRC] = ADDR,
	[WEIR_SESSION_A_DST] = ADDR,
	[WEIR_SESSION_A_PROTO] = U8,
	[WEIR_SESSION_A_BACKEND] = ADDR,
	[WEIR_SESSION_A_EXPIRES] = U32,
	[WEIR_SESSION_A_CONFIRMED] = U8,
};

static policy_t verdict_policy = {
	[WEIR_VERDICT_A_OUTCOME] = U8,
	[WEIR_VERDICT_A_SERVICE_NAME] = STRING,
	[WEIR_VERDICT_A_RULE] = NEST,
	[WEIR_VERDICT_A_STAY] = U8,
	[WEIR_VERDICT_A_FLOW] = NEST,
	[WEIR_VERDICT_A_KEY_FIELDS] = U8,
	[WEIR_VERDICT_A_HASH] = U64,
	[WEIR_VERDICT_A_SLOT] = U32,
	[WEIR_VERDICT_A_TABLE_SLOTS] = U32,
	[WEIR_VERDICT_A_ELIGIBLE] = U8,
	[WEIR_VERDICT_A_N_ELIGIBLE] = U32,
	[WEIR_VERDICT_A_BACKEND] = NEST,
	[WEIR_VERDICT_A_TRACK_FIELDS] = U8,
	[WEIR_VERDICT_A_SESSION] = NEST,
	[WEIR_VERDICT_A_BY_SESSION] = FLAG,
};

static policy_t reason_policy = {
	[WEIR_REASON_A_NAME] = STRING,
	[WEIR_REASON_A_TEXT] = STRING,
	[WEIR_REASON_A_PACKETS] = U64,
	[WEIR_REASON_A_KERNEL] = FLAG,
};

/* The attributes of one level. A later one of the same type wins. */
struct attrs {
	const struct nlattr *a[ATTRS_MAX];
	uint32_t set;
};

static int check_attr(const struct nlattr *a, uint8_t kind)
{
	size_t len = mnl_attr_get_payload_len(a);

	switch (kind) {
	case STRING:
		return mnl_attr_validate(a, MNL_TYPE_NUL_STRING) < 0 ? -1 : 0;
	case ADDR:
		return len == 4 || len == 16 ? 0 : -1;
	case NEST:
		return mnl_attr_validate(a, MNL_TYPE_NESTED) < 0 ? -1 : 0;
	case BYTES:
	case FLAG:
		return 0;
	default:
		return len == kind ? 0 : -1;
	}
}

static int parse_attrs(const void *from, size_t len, policy_t policy,
		       struct attrs *attrs)
{
	const struct nlattr *attr;

	memset(attrs, 0, sizeof(*attrs));
	mnl_attr_for_each_payload(from, len) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type >= ATTRS_MAX || policy[type] == NONE)
			continue;
		if (check_attr(attr, policy[type]))
			return -1;
		attrs->a[type] = attr;
		attrs->set |= 1u << type;
	}
	return 0;
}

static int parse_nest(const struct nlattr *a, policy_t policy,
		      struct attrs *attrs)
{
	return parse_attrs(mnl_attr_get_payload(a),
			   mnl_attr_get_payload_len(a), policy, attrs);
}

static int parse_top(const struct nlmsghdr *nlh, struct attrs *attrs)
{
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	if (len < sizeof(struct genlmsghdr))
		return -1;
	return parse_attrs(mnl_nlmsg_get_payload_offset(nlh,
							sizeof(struct genlmsghdr)),
			   len - sizeof(struct genlmsghdr), top_policy, attrs);
}

/* Numbers are read bytewise: attributes are aligned to 4 bytes only. */
static uint64_t number(const struct attrs *attrs, unsigned int type)
{
	const struct nlattr *a = attrs->a[type];
	const void *from;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	if (!a)
		return 0;
	from = mnl_attr_get_payload(a);
	switch (mnl_attr_get_payload_len(a)) {
	case 1:
		return *(const uint8_t *)from;
	case 2:
		memcpy(&u16, from, 2);
		return u16;
	case 4:
		memcpy(&u32, from, 4);
		return u32;
	case 8:
		memcpy(&u64, from, 8);
		return u64;
	default:
		return 0;
	}
}

static void string(const struct attrs *attrs, unsigned int type, char *to,
		   size_t size)
{
	const struct nlattr *a = attrs->a[type];

	snprintf(to, size, "%s", a ? mnl_attr_get_str(a) : "");
}

static void address(const struct attrs *attrs, unsigned int type,
		    struct weir_addr *addr)
{
	const struct nlattr *a = attrs->a[type];

	memset(addr, 0, sizeof(*addr));
	if (!a)
		return;
	addr->len = mnl_attr_get_payload_len(a);
	memcpy(addr->b, mnl_attr_get_payload(a), addr->len);
}

/* Every number of an object by its attribute, and its one string. */
static void fill_opts(const struct attrs *attrs, policy_t policy,
		      struct weir_opts *opts, unsigned int str)
{
	unsigned int i;

	for (i = 0; i < ATTRS_MAX; i++)
		if (attrs->a[i] && (policy[i] == U8 || policy[i] == U16 ||
				    policy[i] == U32))
			weir_opts_num(opts, i, number(attrs, i));
	if (attrs->a[str])
		weir_opts_str(opts, str, mnl_attr_get_str(attrs->a[str]));
}

static int fill_counters(const struct nlattr *a, struct weir_counters *counters)
{
	struct attrs attrs;
	unsigned int i;

	if (!a)
		return 0;
	if (parse_nest(a, counter_policy, &attrs))
		return -1;
	counters->present = true;
	for (i = 0; i < __WEIR_COUNTER_A_MAX; i++)
		counters->value[i] = number(&attrs, i);
	return 0;
}

static int fill_service(const struct nlattr *a, struct weir_service *service)
{
	struct attrs attrs;

	if (parse_nest(a, service_policy, &attrs))
		return -1;
	fill_opts(&attrs, service_policy, &service->opts,
		  WEIR_SERVICE_A_HEALTH_CHECK);
	service->digest = number(&attrs, WEIR_SERVICE_A_DIGEST);
	return fill_counters(attrs.a[WEIR_SERVICE_A_COUNTERS],
			     &service->counters);
}

static int fill_rule(const struct nlattr *a, struct weir_rule *rule)
{
	const struct nlattr *ports;
	struct attrs attrs;
	size_t i, len;
	uint16_t port;

	memset(rule, 0, sizeof(*rule));
	if (parse_nest(a, rule_policy, &attrs))
		return -1;
	address(&attrs, WEIR_RULE_A_VIP, &rule->vip.addr);
	rule->vip.plen = weir_addr_bits(&rule->vip.addr);
	if (attrs.a[WEIR_RULE_A_PLEN])
		rule->vip.plen = number(&attrs, WEIR_RULE_A_PLEN);
	rule->proto = number(&attrs, WEIR_RULE_A_PROTO);
	ports = attrs.a[WEIR_RULE_A_PORTS];
	if (!ports)
		return 0;
	len = mnl_attr_get_payload_len(ports);
	if (len % sizeof(port))
		return -1;
	for (i = 0; i < len; i += sizeof(port)) {
		memcpy(&port, (char *)mnl_attr_get_payload(ports) + i,
		       sizeof(port));
		weir_rule_add_port(rule, port);
	}
	return 0;
}

static int fill_group(const struct nlattr *a, struct weir_group *group)
{
	struct attrs attrs;

	memset(group, 0, sizeof(*group));
	if (parse_nest(a, group_policy, &attrs))
		return -1;
	string(&attrs, WEIR_GROUP_A_NAME, group->name, sizeof(group->name));
	fill_opts(&attrs, group_policy, &group->opts, WEIR_GROUP_A_ZONE);
	return 0;
}

static int fill_backend(const struct nlattr *a, struct weir_backend *backend)
{
	struct attrs attrs;

	memset(backend, 0, sizeof(*backend));
	if (parse_nest(a, backend_policy, &attrs))
		return -1;
	address(&attrs, WEIR_BACKEND_A_ADDR, &backend->addr);
	if (fill_counters(attrs.a[WEIR_BACKEND_A_COUNTERS], &backend->counters))
		return -1;
	fill_opts(&attrs, backend_policy, &backend->opts, WEIR_BACKEND_A_GROUP);
	return 0;
}

/* A record of 17 bytes: length, then 16 bytes, IPv4 as ::ffff:a.b.c.d. */
static int fill_prefix(const uint8_t *from, struct weir_prefix *prefix)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	bool v4 = from[0] >= 96 && !memcmp(from + 1, mapped, sizeof(mapped));

	memset(prefix, 0, sizeof(*prefix));
	if (from[0] > 128)
		return -1;
	prefix->addr.len = v4 ? 4 : 16;
	prefix->plen = from[0] - (v4 ? 96 : 0);
	memcpy(prefix->addr.b, from + 1 + (v4 ? 12 : 0), prefix->addr.len);
	return 0;
}

static int fill_zone(const struct nlattr *a, struct weir_config *config)
{
	char name[WEIR_NAME_SIZE];
	struct weir_prefix prefix;
	struct weir_zone *zone;
	struct attrs attrs;
	const uint8_t *from;
	size_t i, len;

	if (parse_nest(a, zone_policy, &attrs))
		return -1;
	string(&attrs, WEIR_ZONE_A_NAME, name, sizeof(name));
	/* A zone that is too big for one message goes on in the next. */
	if (config->n_zones &&
	    !strcmp(config->zones[config->n_zones - 1].name, name))
		zone = &config->zones[config->n_zones - 1];
	else
		zone = weir_config_add_zone(config, name);
	if (!attrs.a[WEIR_ZONE_A_PREFIXES])
		return 0;
	from = mnl_attr_get_payload(attrs.a[WEIR_ZONE_A_PREFIXES]);
	len = mnl_attr_get_payload_len(attrs.a[WEIR_ZONE_A_PREFIXES]);
	if (len % 17)
		return -1;
	for (i = 0; i < len; i += 17) {
		if (fill_prefix(from + i, &prefix))
			return -1;
		weir_zone_add_prefix(zone, &prefix);
	}
	return 0;
}

/* What the members of a service bring: RULE, GROUP, BACKEND. Added first, so
 * that a half-filled one is freed with the rest. */
static int add_members(const struct attrs *top, struct weir_service *service)
{
	struct weir_backend backend = { 0 };
	struct weir_group group = { .name = "" };
	struct weir_rule rule = { 0 };

	if (top->a[WEIR_A_RULE] &&
	    fill_rule(top->a[WEIR_A_RULE],
		      weir_service_add_rule(service, &rule)))
		return -1;
	if (top->a[WEIR_A_GROUP] &&
	    fill_group(top->a[WEIR_A_GROUP],
		       weir_service_add_group(service, &group)))
		return -1;
	if (top->a[WEIR_A_BACKEND] &&
	    fill_backend(top->a[WEIR_A_BACKEND],
			 weir_service_add_backend(service, &backend)))
		return -1;
	return 0;
}

/* The service that the members which follow belong to. */
static struct weir_service *last_service(const struct weir_config *config,
					 const char *name)
{
	struct weir_service *last;

	if (!config->n_services)
		return NULL;
	last = &config->services[config->n_services - 1];
	return strcmp(last->name, name) ? NULL : last;
}

int weir_decode_config(const struct nlmsghdr *nlh, struct weir_config *config)
{
	struct weir_service *service;
	char name[WEIR_NAME_SIZE];
	struct attrs top;

	if (parse_top(nlh, &top))
		return -1;
	if (top.a[WEIR_A_GENERATION]) {
		config->has_generation = true;
		config->generation = number(&top, WEIR_A_GENERATION);
	}
	if (top.a[WEIR_A_ZONE] && fill_zone(top.a[WEIR_A_ZONE], config))
		return -1;
	if (!top.a[WEIR_A_SERVICE_NAME])
		return 0;
	string(&top, WEIR_A_SERVICE_NAME, name, sizeof(name));
	service = last_service(config, name);
	if (top.a[WEIR_A_SERVICE]) {
		if (!service)
			service = weir_config_add_service(config, name);
		if (fill_service(top.a[WEIR_A_SERVICE], service))
			return -1;
	}
	return service ? add_members(&top, service) : -1;
}

static int fill_change(const struct nlattr *a, struct weir_changes *changes)
{
	struct weir_change_record *change;
	struct attrs attrs;

	changes->change = weir_grow(changes->change, changes->n,
				    sizeof(*change));
	change = &changes->change[changes->n++];
	memset(change, 0, sizeof(*change));
	if (parse_nest(a, change_policy, &attrs))
		return -1;
	change->kind = number(&attrs, WEIR_CHANGE_A_KIND);
	string(&attrs, WEIR_CHANGE_A_SERVICE_NAME, change->service,
	       sizeof(change->service));
	if (attrs.a[WEIR_CHANGE_A_RULE]) {
		change->object = WEIR_OBJECT_RULE;
		return fill_rule(attrs.a[WEIR_CHANGE_A_RULE], &change->rule);
	}
	if (attrs.a[WEIR_CHANGE_A_GROUP]) {
		change->object = WEIR_OBJECT_GROUP;
		return fill_group(attrs.a[WEIR_CHANGE_A_GROUP], &change->group);
	}
	if (attrs.a[WEIR_CHANGE_A_BACKEND]) {
		change->object = WEIR_OBJECT_BACKEND;
		return fill_backend(attrs.a[WEIR_CHANGE_A_BACKEND],
				    &change->backend);
	}
	change->object = WEIR_OBJECT_SERVICE;
	return 0;
}

int weir_decode_changes(const struct nlmsghdr *nlh,
			struct weir_changes *changes)
{
	const struct nlattr *attr;
	struct attrs top;

	if (parse_top(nlh, &top))
		return -1;
	changes->has_generation = top.a[WEIR_A_GENERATION];
	changes->generation = number(&top, WEIR_A_GENERATION);
	changes->n_added = number(&top, WEIR_A_N_ADDED);
	changes->n_changed = number(&top, WEIR_A_N_CHANGED);
	changes->n_removed = number(&top, WEIR_A_N_REMOVED);
	changes->n_all = number(&top, WEIR_A_N_CHANGES);
	/* The only attribute that may come more than once. */
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == WEIR_A_CHANGE &&
		    fill_change(attr, changes))
			return -1;
	return 0;
}

int weir_decode_info(const struct nlmsghdr *nlh, struct weir_info *info)
{
	struct attrs top;

	memset(info, 0, sizeof(*info));
	if (parse_top(nlh, &top))
		return -1;
	string(&top, WEIR_A_VERSION, info->version, sizeof(info->version));
	info->has_generation = top.a[WEIR_A_GENERATION];
	info->generation = number(&top, WEIR_A_GENERATION);
	info->n_services = number(&top, WEIR_A_N_SERVICES);
	info->n_held = number(&top, WEIR_A_N_HELD);
	info->has_limits = top.a[WEIR_A_MAX_SESSIONS];
	info->n_sessions = number(&top, WEIR_A_N_SESSIONS);
	info->max_sessions = number(&top, WEIR_A_MAX_SESSIONS);
	info->n_entries = number(&top, WEIR_A_N_ENTRIES);
	info->max_flows = number(&top, WEIR_A_MAX_FLOWS);
	info->has_key = top.a[WEIR_A_HASH_KEY];
	if (info->has_key)
		memcpy(info->key, mnl_attr_get_payload(top.a[WEIR_A_HASH_KEY]),
		       sizeof(info->key));
	return 0;
}

static int fill_flow(const struct nlattr *a, struct weir_flow *flow)
{
	struct attrs attrs;

	memset(flow, 0, sizeof(*flow));
	if (parse_nest(a, flow_policy, &attrs))
		return -1;
	flow->set = attrs.set;
	string(&attrs, WEIR_FLOW_A_SERVICE_NAME, flow->service,
	       sizeof(flow->service));
	address(&attrs, WEIR_FLOW_A_SRC, &flow->src);
	address(&attrs, WEIR_FLOW_A_DST, &flow->dst);
	address(&attrs, WEIR_FLOW_A_BACKEND, &flow->backend);
	flow->sport = number(&attrs, WEIR_FLOW_A_SPORT);
	flow->dport = number(&attrs, WEIR_FLOW_A_DPORT);
	flow->backend_port = number(&attrs, WEIR_FLOW_A_BACKEND_PORT);
	flow->expires = number(&attrs, WEIR_FLOW_A_EXPIRES);
	flow->proto = number(&attrs, WEIR_FLOW_A_PROTO);
	flow->tcp_state = number(&attrs, WEIR_FLOW_A_TCP_STATE);
	flow->replied = number(&attrs, WEIR_FLOW_A_REPLIED);
	flow->stay = number(&attrs, WEIR_FLOW_A_STAY);
	return 0;
}

static int fill_session(const struct nlattr *a, struct weir_session *session)
{
	struct attrs attrs;

	memset(session, 0, sizeof(*session));
	if (parse_nest(a, session_policy, &attrs))
		return -1;
	session->set = attrs.set;
	string(&attrs, WEIR_SESSION_A_SERVICE_NAME, session->service,
	       sizeof(session->service));
	address(&attrs, WEIR_SESSION_A_SRC, &session->src);
	address(&attrs, WEIR_SESSION_A_DST, &session->dst);
	address(&attrs, WEIR_SESSION_A_BACKEND, &session->backend);
	session->fields = number(&attrs, WEIR_SESSION_A_FIELDS);
	session->proto = number(&attrs, WEIR_SESSION_A_PROTO);
	session->expires = number(&attrs, WEIR_SESSION_A_EXPIRES);
	session->confirmed = number(&attrs, WEIR_SESSION_A_CONFIRMED);
	return 0;
}

bool weir_decode_is_session(const struct nlmsghdr *nlh)
{
	struct attrs top;

	return !parse_top(nlh, &top) && top.a[WEIR_A_SESSION];
}

int weir_decode_flow(const struct nlmsghdr *nlh, struct weir_flow *flow)
{
	struct attrs top;

	if (parse_top(nlh, &top) || !top.a[WEIR_A_FLOW])
		return -1;
	return fill_flow(top.a[WEIR_A_FLOW], flow);
}

int weir_decode_session(const struct nlmsghdr *nlh,
			struct weir_session *session)
{
	struct attrs top;

	if (parse_top(nlh, &top) || !top.a[WEIR_A_SESSION])
		return -1;
	return fill_session(top.a[WEIR_A_SESSION], session);
}

int weir_decode_verdict(const struct nlmsghdr *nlh,
			struct weir_verdict *verdict)
{
	struct attrs top, attrs;

	memset(verdict, 0, sizeof(*verdict));
	if (parse_top(nlh, &top) || !top.a[WEIR_A_VERDICT] ||
	    parse_nest(top.a[WEIR_A_VERDICT], verdict_policy, &attrs))
		return -1;
	verdict->set = attrs.set;
	string(&attrs, WEIR_VERDICT_A_SERVICE_NAME, verdict->service,
	       sizeof(verdict->service));
	verdict->outcome = number(&attrs, WEIR_VERDICT_A_OUTCOME);
	verdict->stay = number(&attrs, WEIR_VERDICT_A_STAY);
	verdict->key_fields = number(&attrs, WEIR_VERDICT_A_KEY_FIELDS);
	verdict->track_fields = number(&attrs, WEIR_VERDICT_A_TRACK_FIELDS);
	verdict->eligible = number(&attrs, WEIR_VERDICT_A_ELIGIBLE);
	verdict->hash = number(&attrs, WEIR_VERDICT_A_HASH);
	verdict->slot = number(&attrs, WEIR_VERDICT_A_SLOT);
	verdict->table_slots = number(&attrs, WEIR_VERDICT_A_TABLE_SLOTS);
	verdict->n_eligible = number(&attrs, WEIR_VERDICT_A_N_ELIGIBLE);
	if (attrs.a[WEIR_VERDICT_A_RULE] &&
	    fill_rule(attrs.a[WEIR_VERDICT_A_RULE], &verdict->rule))
		return -1;
	if (attrs.a[WEIR_VERDICT_A_FLOW] &&
	    fill_flow(attrs.a[WEIR_VERDICT_A_FLOW], &verdict->flow))
		return -1;
	if (attrs.a[WEIR_VERDICT_A_SESSION] &&
	    fill_session(attrs.a[WEIR_VERDICT_A_SESSION], &verdict->session))
		return -1;
	if (attrs.a[WEIR_VERDICT_A_BACKEND] &&
	    fill_backend(attrs.a[WEIR_VERDICT_A_BACKEND], &verdict->backend))
		return -1;
	return 0;
}

int weir_decode_reason(const struct nlmsghdr *nlh, struct weir_reason *reason)
{
	struct attrs top, attrs;

	memset(reason, 0, sizeof(*reason));
	if (parse_top(nlh, &top) || !top.a[WEIR_A_REASON] ||
	    parse_nest(top.a[WEIR_A_REASON], reason_policy, &attrs))
		return -1;
	string(&attrs, WEIR_REASON_A_NAME, reason->name, sizeof(reason->name));
	string(&attrs, WEIR_REASON_A_TEXT, reason->text, sizeof(reason->text));
	reason->packets = number(&attrs, WEIR_REASON_A_PACKETS);
	reason->kernel = attrs.a[WEIR_REASON_A_KERNEL];
	return 0;
}

int weir_decode_flushed(const struct nlmsghdr *nlh, uint32_t *n_flows,
			uint32_t *n_sessions)
{
	struct attrs top;

	if (parse_top(nlh, &top) || !top.a[WEIR_A_N_FLOWS])
		return -1;
	*n_flows = number(&top, WEIR_A_N_FLOWS);
	*n_sessions = number(&top, WEIR_A_N_SESSIONS);
	return 0;
}

void weir_changes_free(struct weir_changes *changes)
{
	unsigned int i;

	for (i = 0; i < changes->n; i++) {
		weir_rule_free(&changes->change[i].rule);
		weir_opts_free(&changes->change[i].group.opts);
		weir_opts_free(&changes->change[i].backend.opts);
	}
	free(changes->change);
	memset(changes, 0, sizeof(*changes));
}

void weir_verdict_free(struct weir_verdict *verdict)
{
	weir_rule_free(&verdict->rule);
	weir_opts_free(&verdict->backend.opts);
}
