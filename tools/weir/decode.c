// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>

#include "attr.h"
#include "decode.h"

_Static_assert(WEIR_SERVICE_A_MAX < WEIR_OPTS_MAX &&
	       WEIR_BACKEND_A_MAX < WEIR_OPTS_MAX,
	       "struct weir_opts has a place for each attribute");

static weir_policy service_policy = {
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
	[WEIR_SERVICE_A_ROLE] = U8,
	[WEIR_SERVICE_A_N_PRIMARY] = U32,
	[WEIR_SERVICE_A_N_PRIMARY_HEALTHY] = U32,
	[WEIR_SERVICE_A_N_FAILOVER] = U32,
	[WEIR_SERVICE_A_N_FAILOVER_HEALTHY] = U32,
	[WEIR_SERVICE_A_WEIGHTING] = U8,
};

static weir_policy rule_policy = {
	[WEIR_RULE_A_VIP] = ADDR,
	[WEIR_RULE_A_PLEN] = U8,
	[WEIR_RULE_A_PROTO] = U8,
	[WEIR_RULE_A_PORTS] = BYTES,
};

static weir_policy group_policy = {
	[WEIR_GROUP_A_NAME] = STRING,
	[WEIR_GROUP_A_ZONE] = STRING,
	[WEIR_GROUP_A_FAILOVER] = U8,
};

static weir_policy backend_policy = {
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
	[WEIR_BACKEND_A_WEIGHT_STATE] = U8,
	[WEIR_BACKEND_A_REPORTED] = U32,
	[WEIR_BACKEND_A_DRAIN_LEFT] = U32,
	[WEIR_BACKEND_A_N_FLIPS] = U32,
	[WEIR_BACKEND_A_FLIPPED] = U32,
	[WEIR_BACKEND_A_PROBE_PASSED] = U8,
	[WEIR_BACKEND_A_PROBE_RUN] = U32,
	[WEIR_BACKEND_A_PROBE_TEXT] = STRING,
	[WEIR_BACKEND_A_PROBE_AGE] = U32,
};

static weir_policy zone_policy = {
	[WEIR_ZONE_A_NAME] = STRING,
	[WEIR_ZONE_A_PREFIXES] = BYTES,
};

static weir_policy zonal_policy = {
	[WEIR_ZONAL_A_ZONE] = STRING,
	[WEIR_ZONAL_A_REASON] = U8,
	[WEIR_ZONAL_A_N_CONFIGURED] = U32,
	[WEIR_ZONAL_A_N_HEALTHY] = U32,
	[WEIR_ZONAL_A_N_ELIGIBLE] = U32,
	[WEIR_ZONAL_A_DIGEST] = U64,
};

static weir_policy counter_policy = {
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
	[WEIR_COUNTER_A_RESELECTED_FAILOVER] = U64,
};

static weir_policy change_policy = {
	[WEIR_CHANGE_A_KIND] = U8,
	[WEIR_CHANGE_A_SERVICE_NAME] = STRING,
	[WEIR_CHANGE_A_RULE] = NEST,
	[WEIR_CHANGE_A_GROUP] = NEST,
	[WEIR_CHANGE_A_BACKEND] = NEST,
	[WEIR_CHANGE_A_ZONE] = NEST,
};

/* Every number of an object by its attribute, and its one string. */
static void fill_opts(const struct weir_attrs *attrs, weir_policy policy,
		      struct weir_opts *opts, unsigned int str)
{
	unsigned int i;

	for (i = 0; i < WEIR_ATTRS_MAX; i++)
		if (attrs->a[i] && (policy[i] == U8 || policy[i] == U16 ||
				    policy[i] == U32))
			weir_opts_num(opts, i, weir_attr_num(attrs, i));
	if (attrs->a[str])
		weir_opts_str(opts, str, mnl_attr_get_str(attrs->a[str]));
}

static int fill_counters(const struct nlattr *a, struct weir_counters *counters)
{
	struct weir_attrs attrs;
	unsigned int i;

	if (!a)
		return 0;
	if (weir_attrs_nest(a, counter_policy, &attrs))
		return -1;
	counters->present = true;
	for (i = 0; i < __WEIR_COUNTER_A_MAX; i++)
		counters->value[i] = weir_attr_num(&attrs, i);
	return 0;
}

static int fill_service(const struct nlattr *a, struct weir_service *service)
{
	struct weir_attrs attrs;

	if (weir_attrs_nest(a, service_policy, &attrs))
		return -1;
	fill_opts(&attrs, service_policy, &service->opts,
		  WEIR_SERVICE_A_HEALTH_CHECK);
	service->digest = weir_attr_num(&attrs, WEIR_SERVICE_A_DIGEST);
	return fill_counters(attrs.a[WEIR_SERVICE_A_COUNTERS],
			     &service->counters);
}

int weir_decode_rule(const struct nlattr *a, struct weir_rule *rule)
{
	const struct nlattr *ports;
	struct weir_attrs attrs;
	size_t i, len;
	uint16_t port;

	memset(rule, 0, sizeof(*rule));
	if (weir_attrs_nest(a, rule_policy, &attrs))
		return -1;
	weir_attr_addr(&attrs, WEIR_RULE_A_VIP, &rule->vip.addr);
	rule->vip.plen = weir_addr_bits(&rule->vip.addr);
	if (attrs.a[WEIR_RULE_A_PLEN])
		rule->vip.plen = weir_attr_num(&attrs, WEIR_RULE_A_PLEN);
	rule->proto = weir_attr_num(&attrs, WEIR_RULE_A_PROTO);
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
	struct weir_attrs attrs;

	memset(group, 0, sizeof(*group));
	if (weir_attrs_nest(a, group_policy, &attrs))
		return -1;
	weir_attr_str(&attrs, WEIR_GROUP_A_NAME, group->name,
		      sizeof(group->name));
	fill_opts(&attrs, group_policy, &group->opts, WEIR_GROUP_A_ZONE);
	return 0;
}

int weir_decode_backend(const struct nlattr *a, struct weir_backend *backend)
{
	struct weir_attrs attrs;

	memset(backend, 0, sizeof(*backend));
	if (weir_attrs_nest(a, backend_policy, &attrs))
		return -1;
	weir_attr_addr(&attrs, WEIR_BACKEND_A_ADDR, &backend->addr);
	if (fill_counters(attrs.a[WEIR_BACKEND_A_COUNTERS], &backend->counters))
		return -1;
	weir_attr_str(&attrs, WEIR_BACKEND_A_PROBE_TEXT, backend->probe_text,
		      sizeof(backend->probe_text));
	fill_opts(&attrs, backend_policy, &backend->opts, WEIR_BACKEND_A_GROUP);
	return 0;
}

/* A record of 17 bytes: length, then 16 bytes, IPv4 as ::ffff:a.b.c.d. */
static int fill_prefix(const uint8_t *from, struct weir_prefix *prefix)
{
	if (from[0] > 128)
		return -1;
	prefix->addr.len = 16;
	prefix->plen = from[0];
	memcpy(prefix->addr.b, from + 1, 16);
	weir_prefix_unmap(prefix);
	return 0;
}

static int fill_zone(const struct nlattr *a, struct weir_config *config)
{
	char name[WEIR_NAME_SIZE];
	struct weir_prefix prefix;
	struct weir_zone *zone;
	struct weir_attrs attrs;
	const uint8_t *from;
	size_t i, len;

	if (weir_attrs_nest(a, zone_policy, &attrs))
		return -1;
	weir_attr_str(&attrs, WEIR_ZONE_A_NAME, name, sizeof(name));
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
	if (len % WEIR_PREFIX_RECORD)
		return -1;
	for (i = 0; i < len; i += WEIR_PREFIX_RECORD) {
		if (fill_prefix(from + i, &prefix))
			return -1;
		weir_zone_add_prefix(zone, &prefix);
	}
	return 0;
}

static int fill_zonal(const struct nlattr *a, struct weir_service *service)
{
	struct weir_zonal zonal = { .reason = 0 };
	struct weir_attrs attrs;

	if (weir_attrs_nest(a, zonal_policy, &attrs))
		return -1;
	weir_attr_str(&attrs, WEIR_ZONAL_A_ZONE, zonal.zone,
		      sizeof(zonal.zone));
	zonal.reason = weir_attr_num(&attrs, WEIR_ZONAL_A_REASON);
	zonal.n_configured = weir_attr_num(&attrs, WEIR_ZONAL_A_N_CONFIGURED);
	zonal.n_healthy = weir_attr_num(&attrs, WEIR_ZONAL_A_N_HEALTHY);
	zonal.n_eligible = weir_attr_num(&attrs, WEIR_ZONAL_A_N_ELIGIBLE);
	zonal.digest = weir_attr_num(&attrs, WEIR_ZONAL_A_DIGEST);
	weir_service_add_zonal(service, &zonal);
	return 0;
}

/* What the members of a service bring: RULE, GROUP, BACKEND, ZONAL. Added
 * first, so that a half-filled one is freed with the rest. */
static int add_members(const struct weir_attrs *top,
		       struct weir_service *service)
{
	struct weir_backend backend = { 0 };
	struct weir_group group = { .name = "" };
	struct weir_rule rule = { 0 };

	if (top->a[WEIR_A_RULE] &&
	    weir_decode_rule(top->a[WEIR_A_RULE],
		      weir_service_add_rule(service, &rule)))
		return -1;
	if (top->a[WEIR_A_GROUP] &&
	    fill_group(top->a[WEIR_A_GROUP],
		       weir_service_add_group(service, &group)))
		return -1;
	if (top->a[WEIR_A_BACKEND] &&
	    weir_decode_backend(top->a[WEIR_A_BACKEND],
				weir_service_add_backend(service, &backend)))
		return -1;
	if (top->a[WEIR_A_ZONAL])
		return fill_zonal(top->a[WEIR_A_ZONAL], service);
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
	struct weir_attrs top;

	if (weir_attrs_top(nlh, &top))
		return -1;
	if (top.a[WEIR_A_GENERATION]) {
		config->has_generation = true;
		config->generation = weir_attr_num(&top, WEIR_A_GENERATION);
	}
	if (top.a[WEIR_A_ZONE] && fill_zone(top.a[WEIR_A_ZONE], config))
		return -1;
	if (!top.a[WEIR_A_SERVICE_NAME])
		return 0;
	weir_attr_str(&top, WEIR_A_SERVICE_NAME, name, sizeof(name));
	service = last_service(config, name);
	if (top.a[WEIR_A_SERVICE]) {
		if (!service)
			service = weir_config_add_service(config, name);
		if (fill_service(top.a[WEIR_A_SERVICE], service))
			return -1;
	}
	return service ? add_members(&top, service) : -1;
}

/* Which object changed: the nest that is there says. */
static int fill_object(const struct weir_attrs *attrs,
		       struct weir_change_record *change)
{
	struct weir_attrs zone;

	if (attrs->a[WEIR_CHANGE_A_RULE]) {
		change->object = WEIR_OBJECT_RULE;
		return weir_decode_rule(attrs->a[WEIR_CHANGE_A_RULE],
					&change->rule);
	}
	if (attrs->a[WEIR_CHANGE_A_GROUP]) {
		change->object = WEIR_OBJECT_GROUP;
		return fill_group(attrs->a[WEIR_CHANGE_A_GROUP],
				  &change->group);
	}
	if (attrs->a[WEIR_CHANGE_A_BACKEND]) {
		change->object = WEIR_OBJECT_BACKEND;
		return weir_decode_backend(attrs->a[WEIR_CHANGE_A_BACKEND],
					   &change->backend);
	}
	if (attrs->a[WEIR_CHANGE_A_ZONE]) {
		change->object = WEIR_OBJECT_ZONE;
		if (weir_attrs_nest(attrs->a[WEIR_CHANGE_A_ZONE], zone_policy,
				    &zone))
			return -1;
		weir_attr_str(&zone, WEIR_ZONE_A_NAME, change->zone,
			      sizeof(change->zone));
		return 0;
	}
	change->object = WEIR_OBJECT_SERVICE;
	return 0;
}

static int fill_change(const struct nlattr *a, struct weir_changes *changes)
{
	struct weir_change_record *change;
	struct weir_attrs attrs;

	changes->change = weir_grow(changes->change, changes->n,
				    sizeof(*change));
	change = &changes->change[changes->n++];
	memset(change, 0, sizeof(*change));
	if (weir_attrs_nest(a, change_policy, &attrs))
		return -1;
	change->kind = weir_attr_num(&attrs, WEIR_CHANGE_A_KIND);
	weir_attr_str(&attrs, WEIR_CHANGE_A_SERVICE_NAME, change->service,
		      sizeof(change->service));
	return fill_object(&attrs, change);
}

int weir_decode_changes(const struct nlmsghdr *nlh,
			struct weir_changes *changes)
{
	const struct nlattr *attr;
	struct weir_attrs top;

	if (weir_attrs_top(nlh, &top))
		return -1;
	changes->has_generation = top.a[WEIR_A_GENERATION];
	changes->generation = weir_attr_num(&top, WEIR_A_GENERATION);
	changes->n_added = weir_attr_num(&top, WEIR_A_N_ADDED);
	changes->n_changed = weir_attr_num(&top, WEIR_A_N_CHANGED);
	changes->n_removed = weir_attr_num(&top, WEIR_A_N_REMOVED);
	changes->n_all = weir_attr_num(&top, WEIR_A_N_CHANGES);
	/* The only attribute that may come more than once. */
	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == WEIR_A_CHANGE &&
		    fill_change(attr, changes))
			return -1;
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
