// SPDX-License-Identifier: GPL-2.0
/*
 * fill - objects as attributes
 */
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/timekeeping.h>
#include <net/netlink.h>

#include "config.h"
#include "dest.h"
#include "fill.h"
#include "flows.h"
#include "lookup.h"
#include "report.h"
#include "service.h"
#include "session.h"
#include "stats.h"

static int put_addr(struct sk_buff *skb, int type, u8 family,
		    const struct weir_addr *addr)
{
	return nla_put(skb, type, family == AF_INET ? 4 : 16, addr->raw);
}

static int put_counters(struct sk_buff *skb, int type,
			const u64 sum[WEIR_NR_COUNTERS])
{
	struct nlattr *nest = nla_nest_start(skb, type);
	int i;

	BUILD_BUG_ON(WEIR_COUNTER_A_SELECTIONS + WEIR_NR_COUNTERS !=
		     __WEIR_COUNTER_A_MAX);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < WEIR_NR_COUNTERS; i++)
		if (nla_put_u64_64bit(skb, WEIR_COUNTER_A_SELECTIONS + i,
				      sum[i], WEIR_COUNTER_A_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_options(struct sk_buff *skb, const struct weir_options *opt)
{
	if (nla_put_u8(skb, WEIR_SERVICE_A_AFFINITY, opt->affinity) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_TRACKING, opt->tracking) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_PERSISTENCE, opt->persistence) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_IDLE_TIMEOUT, opt->idle_timeout) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_DRAIN_TIMEOUT,
			opt->drain_timeout) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_FAILOVER_RATIO,
			opt->failover_ratio) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_DROP_IF_UNHEALTHY,
		       opt->drop_if_unhealthy) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_DRAIN_ON_FAILOVER,
		       opt->drain_on_failover) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_ZONAL_AFFINITY,
		       opt->zonal_affinity) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_SPILL_RATIO, opt->spill_ratio) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_LOCALITY, opt->locality) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_FORWARD, opt->forward) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_WHEN_EMPTY, opt->when_empty) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_HAIRPIN, opt->hairpin) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_TABLE_SIZE, opt->table_size))
		return -EMSGSIZE;
	return 0;
}

static int put_service_state(struct sk_buff *skb,
			     const struct weir_service *svc)
{
	const struct weir_role_set *set = &svc->eligible;
	const struct weir_table *table = svc->set.table;

	if (table &&
	    (nla_put_u32(skb, WEIR_SERVICE_A_TABLE_SLOTS, table->size) ||
	     nla_put_u64_64bit(skb, WEIR_SERVICE_A_DIGEST, table->digest,
			       WEIR_SERVICE_A_PAD)))
		return -EMSGSIZE;
	if (nla_put_u8(skb, WEIR_SERVICE_A_ELIGIBLE, set->reason) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_N_BACKENDS,
			svc->nr_backends - svc->nr_draining) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_N_HEALTHY, svc->nr_healthy) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_N_ELIGIBLE, set->n) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_ROLE, set->role) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_N_PRIMARY, set->primary.all) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_N_PRIMARY_HEALTHY,
			set->primary.healthy) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_N_FAILOVER, set->failover.all) ||
	    nla_put_u32(skb, WEIR_SERVICE_A_N_FAILOVER_HEALTHY,
			set->failover.healthy) ||
	    nla_put_u8(skb, WEIR_SERVICE_A_WEIGHTING, svc->set.weighting))
		return -EMSGSIZE;
	return 0;
}

/* What the service's backends have counted, also those that are gone. */
static void sum_service(const struct weir_service *svc,
			u64 sum[WEIR_NR_COUNTERS])
{
	u32 i;

	memcpy(sum, svc->owner->gone, sizeof(svc->owner->gone));
	for (i = 0; i < svc->nr_backends; i++)
		weir_counters_sum(svc->backends[i].dest->counters, sum);
}

int weir_fill_service(struct sk_buff *skb, int type,
		      const struct weir_service *svc)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	u64 sum[WEIR_NR_COUNTERS];

	if (!nest || put_options(skb, &svc->opt))
		return -EMSGSIZE;
	if (svc->health_check &&
	    nla_put_string(skb, WEIR_SERVICE_A_HEALTH_CHECK, svc->health_check))
		return -EMSGSIZE;
	sum_service(svc, sum);
	if (put_service_state(skb, svc) ||
	    put_counters(skb, WEIR_SERVICE_A_COUNTERS, sum))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int weir_fill_rule(struct sk_buff *skb, int type, const struct weir_rule *rule)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    put_addr(skb, WEIR_RULE_A_VIP, rule->family, &rule->vip) ||
	    nla_put_u8(skb, WEIR_RULE_A_PLEN, rule->plen) ||
	    nla_put_u8(skb, WEIR_RULE_A_PROTO, rule->proto))
		return -EMSGSIZE;
	if (rule->nr_ports &&
	    nla_put(skb, WEIR_RULE_A_PORTS, rule->nr_ports * sizeof(u16),
		    rule->ports))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int weir_fill_group(struct sk_buff *skb, int type,
		    const struct weir_group *group)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_string(skb, WEIR_GROUP_A_NAME, group->name) ||
	    (group->zone[0] &&
	     nla_put_string(skb, WEIR_GROUP_A_ZONE, group->zone)) ||
	    nla_put_u8(skb, WEIR_GROUP_A_FAILOVER, group->failover))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u32 drain_left(const struct weir_backend *be)
{
	long left = be->drain_until - jiffies;

	return left > 0 ? jiffies_to_msecs(left) : 0;
}

static int put_flips(struct sk_buff *skb, const struct weir_dest *dest)
{
	u32 nr = smp_load_acquire(&dest->nr_flips);
	unsigned long flipped = READ_ONCE(dest->flipped);

	if (nla_put_u32(skb, WEIR_BACKEND_A_N_FLIPS, nr))
		return -EMSGSIZE;
	return nr ? nla_put_u32(skb, WEIR_BACKEND_A_FLIPPED,
				(jiffies - flipped) / HZ) : 0;
}

static int put_probe(struct sk_buff *skb, const struct weir_probe *probe)
{
	if (!probe)
		return 0;
	return nla_put_u8(skb, WEIR_BACKEND_A_PROBE_PASSED, probe->passed) ?:
	       nla_put_u32(skb, WEIR_BACKEND_A_PROBE_RUN, probe->run) ?:
	       nla_put_string(skb, WEIR_BACKEND_A_PROBE_TEXT, probe->text) ?:
	       nla_put_u32(skb, WEIR_BACKEND_A_PROBE_AGE,
			   ktime_get_boottime_seconds() - probe->when);
}

static int put_backend_state(struct sk_buff *skb, const struct weir_backend *be,
			     unsigned int flags)
{
	u64 sum[WEIR_NR_COUNTERS] = {};

	if ((flags & WEIR_FILL_STATE) &&
	    (nla_put_u8(skb, WEIR_BACKEND_A_HEALTHY, be->healthy) ||
	     nla_put_u8(skb, WEIR_BACKEND_A_ELIGIBLE, be->eligible) ||
	     nla_put_u32(skb, WEIR_BACKEND_A_SLOTS, be->slots) ||
	     put_flips(skb, be->dest) ||
	     (be->draining &&
	      nla_put_u32(skb, WEIR_BACKEND_A_DRAIN_LEFT, drain_left(be)))))
		return -EMSGSIZE;
	if ((flags & WEIR_FILL_PROBE) && put_probe(skb, be->dest->probe))
		return -EMSGSIZE;
	if ((flags & WEIR_FILL_FLOWS) &&
	    nla_put_u32(skb, WEIR_BACKEND_A_N_FLOWS, be->dest->nr_flows))
		return -EMSGSIZE;
	if (flags & WEIR_FILL_COUNTERS) {
		weir_counters_sum(be->dest->counters, sum);
		return put_counters(skb, WEIR_BACKEND_A_COUNTERS, sum);
	}
	return 0;
}

int weir_fill_backend(struct sk_buff *skb, int type,
		      const struct weir_backend *be, unsigned int flags)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    put_addr(skb, WEIR_BACKEND_A_ADDR, be->family, &be->addr) ||
	    nla_put_string(skb, WEIR_BACKEND_A_GROUP, be->group) ||
	    nla_put_u16(skb, WEIR_BACKEND_A_PORT, be->port) ||
	    nla_put_u32(skb, WEIR_BACKEND_A_WEIGHT, be->weight.configured) ||
	    nla_put_u8(skb, WEIR_BACKEND_A_HEALTH, be->health) ||
	    nla_put_u8(skb, WEIR_BACKEND_A_CHECK, be->check) ||
	    nla_put_u8(skb, WEIR_BACKEND_A_WEIGHT_STATE, be->weight.state) ||
	    (be->weight.has_report &&
	     nla_put_u32(skb, WEIR_BACKEND_A_REPORTED, be->weight.reported)) ||
	    nla_put_u8(skb, WEIR_BACKEND_A_STATE,
		       be->draining ? WEIR_STATE_DRAINING :
				      WEIR_STATE_ACTIVE) ||
	    put_backend_state(skb, be, flags))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int weir_fill_zone(struct sk_buff *skb, int type, const struct weir_zone *zone,
		   u32 from, u32 n)
{
	struct nlattr *nest = nla_nest_start(skb, type), *array;
	u32 i;

	if (!nest || nla_put_string(skb, WEIR_ZONE_A_NAME, zone->name))
		return -EMSGSIZE;
	if (n) {
		array = nla_reserve(skb, WEIR_ZONE_A_PREFIXES,
				    n * sizeof(struct weir_zone_record));
		if (!array)
			return -EMSGSIZE;
		for (i = 0; i < n; i++) {
			struct weir_zone_record *records = nla_data(array);

			weir_zone_write(&records[i], &zone->prefixes[from + i]);
		}
	}
	nla_nest_end(skb, nest);
	return 0;
}

int weir_fill_zonal(struct sk_buff *skb, int type,
		    const struct weir_zonal *zonal)
{
	const struct weir_zone_set *set = &zonal->eligible;
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_string(skb, WEIR_ZONAL_A_ZONE, zonal->zone) ||
	    nla_put_u8(skb, WEIR_ZONAL_A_REASON, set->reason) ||
	    nla_put_u32(skb, WEIR_ZONAL_A_N_CONFIGURED, set->in_zone.all) ||
	    nla_put_u32(skb, WEIR_ZONAL_A_N_HEALTHY, set->in_zone.healthy) ||
	    nla_put_u32(skb, WEIR_ZONAL_A_N_ELIGIBLE, set->n) ||
	    (zonal->set.table &&
	     nla_put_u64_64bit(skb, WEIR_ZONAL_A_DIGEST,
			       zonal->set.table->digest, WEIR_ZONAL_A_PAD)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

u32 weir_count_objects(const struct weir_service *svc, enum weir_object object)
{
	switch (object) {
	case WEIR_OBJECT_RULE:
		return svc->nr_rules;
	case WEIR_OBJECT_GROUP:
		return svc->nr_groups;
	case WEIR_OBJECT_BACKEND:
		return svc->nr_backends;
	case WEIR_OBJECT_ZONAL:
		return svc->nr_zonals;
	default:
		return 1;
	}
}

int weir_fill_object(struct sk_buff *skb, const struct weir_service *svc,
		     enum weir_object object, u32 i, bool flows)
{
	switch (object) {
	case WEIR_OBJECT_RULE:
		return weir_fill_rule(skb, WEIR_A_RULE, &svc->rules[i]);
	case WEIR_OBJECT_GROUP:
		return weir_fill_group(skb, WEIR_A_GROUP, &svc->groups[i]);
	case WEIR_OBJECT_BACKEND:
		return weir_fill_backend(skb, WEIR_A_BACKEND, &svc->backends[i],
					 WEIR_FILL_STATE | WEIR_FILL_COUNTERS |
					 WEIR_FILL_PROBE |
					 (flows ? WEIR_FILL_FLOWS : 0));
	case WEIR_OBJECT_ZONAL:
		return weir_fill_zonal(skb, WEIR_A_ZONAL, &svc->zonals[i]);
	default:
		return weir_fill_service(skb, WEIR_A_SERVICE, svc);
	}
}

static int put_changed_object(struct sk_buff *skb,
			      const struct weir_change_item *item)
{
	/* Its name is enough: it may have more than fits. */
	if (item->zone)
		return weir_fill_zone(skb, WEIR_CHANGE_A_ZONE, item->zone, 0, 0);
	if (item->rule)
		return weir_fill_rule(skb, WEIR_CHANGE_A_RULE, item->rule);
	if (item->group)
		return weir_fill_group(skb, WEIR_CHANGE_A_GROUP, item->group);
	if (item->backend)
		return weir_fill_backend(skb, WEIR_CHANGE_A_BACKEND,
					 item->backend, WEIR_FILL_PROBE);
	return 0;
}

int weir_fill_change(struct sk_buff *skb, int type,
		     const struct weir_change_item *item)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u8(skb, WEIR_CHANGE_A_KIND, item->kind) ||
	    (item->service &&
	     nla_put_string(skb, WEIR_CHANGE_A_SERVICE_NAME, item->service)) ||
	    put_changed_object(skb, item)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static int put_flow_ports(struct sk_buff *skb, const struct weir_flow *flow)
{
	if (!flow->has_ports)
		return 0;
	if (nla_put_u16(skb, WEIR_FLOW_A_SPORT, flow->sport) ||
	    nla_put_u16(skb, WEIR_FLOW_A_DPORT, flow->dport) ||
	    nla_put_u16(skb, WEIR_FLOW_A_BACKEND_PORT, flow->backend_port))
		return -EMSGSIZE;
	return 0;
}

int weir_fill_flow(struct sk_buff *skb, int type, const struct weir_flow *flow)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	u8 family = flow->family;

	if (!nest ||
	    nla_put_string(skb, WEIR_FLOW_A_SERVICE_NAME, flow->service) ||
	    nla_put_u8(skb, WEIR_FLOW_A_PROTO, flow->proto) ||
	    put_addr(skb, WEIR_FLOW_A_SRC, family, &flow->src) ||
	    put_addr(skb, WEIR_FLOW_A_DST, family, &flow->dst) ||
	    put_addr(skb, WEIR_FLOW_A_BACKEND, family, &flow->backend) ||
	    put_flow_ports(skb, flow) ||
	    nla_put_u32(skb, WEIR_FLOW_A_EXPIRES, flow->expires) ||
	    (flow->is_tcp &&
	     nla_put_u8(skb, WEIR_FLOW_A_TCP_STATE, flow->tcp_state)) ||
	    nla_put_u8(skb, WEIR_FLOW_A_REPLIED, flow->replied) ||
	    nla_put_u8(skb, WEIR_FLOW_A_STAY, flow->stay))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int weir_fill_session(struct sk_buff *skb, int type,
		      const struct weir_session_view *session)
{
	struct nlattr *nest = nla_nest_start(skb, type);
	u8 family = session->family;

	if (!nest ||
	    nla_put_string(skb, WEIR_SESSION_A_SERVICE_NAME,
			   session->service) ||
	    nla_put_u8(skb, WEIR_SESSION_A_FIELDS, session->fields) ||
	    put_addr(skb, WEIR_SESSION_A_SRC, family, &session->src) ||
	    (session->fields > 1 &&
	     put_addr(skb, WEIR_SESSION_A_DST, family, &session->dst)) ||
	    (session->fields > 2 &&
	     nla_put_u8(skb, WEIR_SESSION_A_PROTO, session->proto)) ||
	    put_addr(skb, WEIR_SESSION_A_BACKEND, family, &session->backend) ||
	    nla_put_u32(skb, WEIR_SESSION_A_EXPIRES, session->expires) ||
	    nla_put_u8(skb, WEIR_SESSION_A_CONFIRMED, session->confirmed) ||
	    (session->fields > 3 &&
	     (nla_put_u16(skb, WEIR_SESSION_A_SPORT, ntohs(session->sport)) ||
	      nla_put_u16(skb, WEIR_SESSION_A_DPORT, ntohs(session->dport)))))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Of the service that the packet belongs to: the steps from key to backend. */
static int put_selection(struct sk_buff *skb,
			 const struct weir_verdict *verdict)
{
	const struct weir_service *svc = verdict->match.service;
	const struct weir_table *table;

	if (nla_put_string(skb, WEIR_VERDICT_A_SERVICE_NAME, svc->name) ||
	    weir_fill_rule(skb, WEIR_VERDICT_A_RULE, verdict->match.rule) ||
	    nla_put_u8(skb, WEIR_VERDICT_A_KEY_FIELDS, verdict->key_fields) ||
	    nla_put_u8(skb, WEIR_VERDICT_A_TRACK_FIELDS,
		       verdict->track_fields) ||
	    nla_put_u64_64bit(skb, WEIR_VERDICT_A_HASH, verdict->hash,
			      WEIR_VERDICT_A_PAD) ||
	    nla_put_u8(skb, WEIR_VERDICT_A_ELIGIBLE, svc->eligible.reason) ||
	    nla_put_u32(skb, WEIR_VERDICT_A_N_ELIGIBLE,
			verdict->zonal ? verdict->zonal->eligible.n :
					 svc->eligible.n))
		return -EMSGSIZE;
	if (svc->nr_zonals &&
	    (nla_put_string(skb, WEIR_VERDICT_A_ZONE, verdict->zone ?: "") ||
	     nla_put_u8(skb, WEIR_VERDICT_A_ZONAL,
			verdict->zonal ? verdict->zonal->eligible.reason :
					 WEIR_ZONAL_NO_MATCH)))
		return -EMSGSIZE;
	if (verdict->has_session &&
	    weir_fill_session(skb, WEIR_VERDICT_A_SESSION, &verdict->session))
		return -EMSGSIZE;
	if (verdict->by_session)
		return nla_put_flag(skb, WEIR_VERDICT_A_BY_SESSION);
	table = verdict->set ? verdict->set->table : NULL;
	if (table &&
	    (nla_put_u32(skb, WEIR_VERDICT_A_SLOT, verdict->slot) ||
	     nla_put_u32(skb, WEIR_VERDICT_A_TABLE_SLOTS, table->size)))
		return -EMSGSIZE;
	return 0;
}

int weir_fill_verdict(struct sk_buff *skb, int type,
		      const struct weir_verdict *verdict)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_u8(skb, WEIR_VERDICT_A_OUTCOME, verdict->outcome) ||
	    nla_put_u8(skb, WEIR_VERDICT_A_STAY, verdict->stay) ||
	    (verdict->has_flow &&
	     weir_fill_flow(skb, WEIR_VERDICT_A_FLOW, &verdict->flow)) ||
	    (verdict->match.service && put_selection(skb, verdict)) ||
	    (verdict->backend &&
	     weir_fill_backend(skb, WEIR_VERDICT_A_BACKEND, verdict->backend,
			       WEIR_FILL_STATE)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

int weir_fill_reason(struct sk_buff *skb, int type, const char *name,
		     const char *text, u64 packets, bool kernel)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest ||
	    nla_put_string(skb, WEIR_REASON_A_NAME, name) ||
	    nla_put_string(skb, WEIR_REASON_A_TEXT, text) ||
	    nla_put_u64_64bit(skb, WEIR_REASON_A_PACKETS, packets,
			      WEIR_REASON_A_PAD) ||
	    (kernel && nla_put_flag(skb, WEIR_REASON_A_KERNEL)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
