// SPDX-License-Identifier: GPL-2.0
/*
 * finish - from what is configured to what packets need: health, eligible set,
 * table, run-time halves
 */
#include <linux/bsearch.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "dest.h"
#include "drain.h"
#include "finish.h"
#include "maglev.h"
#include "refuse.h"
#include "service.h"
#include "set.h"
#include "source.h"
#include "transmit.h"

/* What a line did to the results of probes. */
enum line { LINE_STAYS, LINE_IS_NEW, LINE_IS_GONE };

static enum line line_of(const struct weir_service *svc,
			 const struct weir_service *was)
{
	if (!svc->health_check == !was->health_check)
		return LINE_STAYS;
	return svc->health_check ? LINE_IS_NEW : LINE_IS_GONE;
}

/* Results may have come in while the draft was open: the live ones hold. Only *new*
 * backends begin down when a line comes (decision 14), however long ago there was
 * another one.
 */
static void inherit_check(struct weir_backend *be,
			  const struct weir_backend *old, enum line line)
{
	if (be->check_said)
		return;
	be->check = line == LINE_IS_GONE ? WEIR_HEALTH_AUTO : old->check;
	if (be->check == WEIR_HEALTH_AUTO && line == LINE_IS_NEW)
		be->check = WEIR_HEALTH_UP;
}

/* The same of weights; what the operator configured is the draft's. */
static void inherit_weight(struct weir_backend *be,
			   const struct weir_backend *old, enum line line)
{
	u16 configured = be->weight.configured;

	if (be->weight_said)
		return;
	be->weight = old->weight;
	be->weight.configured = configured;
	if (line != LINE_IS_GONE)
		return;
	be->weight.state = WEIR_WEIGHT_STATE_NONE;
	be->weight.reported = 0;
	be->weight.has_report = false;
}

/* From the live version: what a backend that stays has beside its configuration. */
static void inherit_backend(struct weir_backend *be,
			    const struct weir_backend *old, enum line line)
{
	inherit_check(be, old, line);
	inherit_weight(be, old, line);
	if (be->dest || old->port != be->port)
		return;
	be->dest = old->dest;
	weir_dest_get(be->dest);
}

/* What has drained is gone, and so is what nobody could find any more: the service
 * has changed its address family.
 */
static void drop_drained(struct weir_service *svc)
{
	u32 i, kept = 0;

	for (i = 0; i < svc->nr_backends; i++) {
		const struct weir_backend *be = &svc->backends[i];

		if (be->draining && (weir_drain_is_over(be) ||
				     be->family != svc->family))
			weir_dest_put(be->dest);
		else
			svc->backends[kept++] = *be;
	}
	svc->nr_backends = kept;
	weir_service_set_family(svc);
}

/* Was it removed with "now"? */
static bool has_ended(const struct weir_service *svc,
		      const struct weir_addr *addr)
{
	return svc->nr_ended && bsearch(addr, svc->ended, svc->nr_ended,
					sizeof(*svc->ended), weir_addr_order);
}

/* The deadline counts from the command (decision 4); one that drains keeps its own. */
static int drain(struct weir_service *svc, const struct weir_backend *old,
		 enum line line)
{
	struct weir_backend be = *old;

	if (old->family != svc->family || has_ended(svc, &old->addr) ||
	    svc->nr_backends >= WEIR_BACKENDS_MAX)
		return 0;
	if (!old->draining) {
		if (!svc->opt.drain_timeout)
			return 0;
		be.draining = true;
		be.drain_until = jiffies + svc->opt.drain_timeout * HZ;
	}
	if (weir_drain_is_over(&be))
		return 0;
	inherit_check(&be, old, line);
	weir_dest_get(be.dest);
	if (!weir_backend_append(svc, &be))
		return 0;
	weir_dest_put(be.dest);
	return -ENOMEM;
}

/* What was live and is configured no more. Both lists ascend, and what drains comes behind:
 * there may be tens of thousands.
 */
static int drain_removed(struct weir_service *svc, const struct weir_service *was,
			 enum line line)
{
	u32 i, at = 0, nr = svc->nr_backends;
	int err = 0;

	for (i = 0; i < was->nr_backends && !err; i++) {
		const struct weir_backend *old = &was->backends[i];
		int order = -1;

		while (at < nr) {
			order = weir_addr_cmp(&old->addr, &svc->backends[at].addr);
			if (order <= 0)
				break;
			at++;
		}
		if (at == nr || order < 0)
			err = drain(svc, old, line);
	}
	if (svc->nr_backends > nr)
		weir_backends_sort(svc);
	return err;
}

int weir_finish_inherit(struct weir_service *svc,
			const struct weir_service *was)
{
	enum line line = line_of(svc, was);
	u32 i;

	if (!svc->owner && was->owner) {
		svc->owner = was->owner;
		weir_owner_get(svc->owner);
	}
	svc->eligible.role = was->eligible.role;
	sort(svc->ended, svc->nr_ended, sizeof(*svc->ended), weir_addr_order,
	     NULL);
	drop_drained(svc);
	for (i = 0; i < svc->nr_backends; i++) {
		struct weir_backend *be = &svc->backends[i];
		const struct weir_backend *old =
			weir_backend_find(was, &be->addr, be->family);

		if (old)
			inherit_backend(be, old, line);
	}
	return drain_removed(svc, was, line);
}

static int check_idle(const struct weir_service *svc,
		      struct netlink_ext_ack *extack)
{
	const struct weir_options *opt = &svc->opt;
	bool long_session = opt->tracking == WEIR_TRACKING_PER_SESSION &&
		opt->affinity != WEIR_AFFINITY_NONE &&
		opt->affinity != WEIR_AFFINITY_CLIENT_IP_PORT_PROTO;
	u32 max = long_session ? WEIR_IDLE_SESSION_MAX : WEIR_IDLE_MAX;

	if (opt->idle_timeout >= WEIR_IDLE_MIN && opt->idle_timeout <= max)
		return 0;
	return weir_refuse(extack, -EINVAL,
			   "service %s: idle-timeout %u: must be %u to %u seconds with this tracking and affinity",
			   svc->name, opt->idle_timeout, WEIR_IDLE_MIN, max);
}

static int check_table(const struct weir_service *svc, u32 *size,
		       struct netlink_ext_ack *extack)
{
	u32 nr = svc->nr_backends - svc->nr_draining;
	u32 least = nr * WEIR_SLOTS_PER_BACKEND;

	*size = svc->opt.table_size;
	if (*size && !weir_maglev_size_ok(*size))
		return weir_refuse(extack, -EINVAL,
				   "service %s: table-size %u: must be auto or a prime up to %u",
				   svc->name, *size, WEIR_TABLE_SIZE_MAX);
	if (!*size)
		*size = weir_maglev_auto_size(nr);
	if ((u64)*size * svc->nr_groups > WEIR_ZONE_SLOTS_MAX &&
	    svc->opt.zonal_affinity != WEIR_ZONAL_AFFINITY_DISABLED)
		return weir_refuse(extack, -ENOSPC,
				   "service %s: zonal-affinity: %u groups with tables of %u slots: at most %u slots in all; a smaller table-size helps",
				   svc->name, svc->nr_groups, *size,
				   WEIR_ZONE_SLOTS_MAX);
	if (*size < least)
		return weir_refuse(extack, -EINVAL,
				   "service %s: table-size %u: %u backends need at least %u slots for a fair share",
				   svc->name, *size, nr, least);
	return 0;
}

static int check_persistence(const struct weir_service *svc,
			     struct netlink_ext_ack *extack)
{
	if (svc->opt.persistence != WEIR_PERSISTENCE_ALWAYS_PERSIST ||
	    svc->opt.tracking != WEIR_TRACKING_PER_SESSION)
		return 0;
	return weir_refuse(extack, -EINVAL,
			   "service %s: persistence always-persist: not with tracking per-session, which would pin new connections to a dead backend",
			   svc->name);
}

/* What only one kind of forwarding can do; in a transaction its option may come last. */
static int check_forward(const struct weir_service *svc,
			 struct netlink_ext_ack *extack)
{
	bool direct = svc->opt.forward == WEIR_FORWARD_DIRECT;
	char text[WEIR_ADDR_TEXT];
	u32 i;

	for (i = 0; i < svc->nr_rules; i++) {
		const struct weir_rule *rule = &svc->rules[i];

		weir_addr_text(text, rule->family, &rule->vip);
		if (!direct && rule->proto == WEIR_PROTO_AH)
			return weir_refuse(extack, -EINVAL,
					   "service %s: rule %s ah: AH authenticates addresses, translation breaks it; it needs forward direct",
					   svc->name, text);
		if (!weir_rule_is_prefix(rule))
			continue;
		if (!direct)
			return weir_refuse(extack, -EINVAL,
					   "service %s: rule %s/%u: a prefix is for next hops: it needs forward direct",
					   svc->name, text, rule->plen);
		if (rule->proto != WEIR_PROTO_ANY || rule->nr_ports)
			return weir_refuse(extack, -EINVAL,
					   "service %s: rule %s/%u: a prefix takes all that goes there; write %s/%u any all",
					   svc->name, text, rule->plen, text,
					   rule->plen);
	}
	for (i = 0; i < svc->nr_backends && direct; i++)
		if (svc->backends[i].port && !svc->backends[i].draining)
			return weir_refuse(extack, -EINVAL,
					   "service %s: backend %s port %u: forward direct changes no port; write port 0",
					   svc->name,
					   weir_addr_text(text,
							  svc->backends[i].family,
							  &svc->backends[i].addr),
					   svc->backends[i].port);
	return 0;
}

static bool is_healthy(const struct weir_service *svc,
		       const struct weir_backend *be)
{
	if (be->health != WEIR_HEALTH_AUTO)
		return be->health == WEIR_HEALTH_UP;
	/* Nobody checks: up. Checked, but no result yet: down (decision 14). */
	return !svc->health_check || be->check == WEIR_HEALTH_UP;
}

static bool is_failover(const struct weir_service *svc,
			const struct weir_backend *be)
{
	const struct weir_group *group = weir_group_find(svc, be->group);

	/* It may have lost its group, and keeps the role that it had. */
	if (!group && be->draining)
		return be->failover;
	return group && group->failover;
}

static void derive_backends(struct weir_service *svc)
{
	u32 i;

	svc->nr_healthy = 0;
	svc->nr_draining = 0;
	for (i = 0; i < svc->nr_backends; i++) {
		struct weir_backend *be = &svc->backends[i];

		be->check_said = false;
		be->weight_said = false;
		be->healthy = is_healthy(svc, be);
		be->failover = is_failover(svc, be);
		svc->nr_draining += be->draining;
		svc->nr_healthy += be->healthy && !be->draining;
	}
}

static void enable_direct(const struct weir_service *svc)
{
	u32 i;

	for (i = 0; i < svc->nr_backends; i++)
		weir_transmit_remember(svc->backends[i].dest);
}

static int make_dests(struct weir_net *wn, struct weir_service *svc)
{
	u32 i;

	if (!svc->owner) {
		svc->owner = weir_owner_new(wn, svc->name);
		if (!svc->owner)
			return -ENOMEM;
	}
	for (i = 0; i < svc->nr_backends; i++) {
		struct weir_backend *be = &svc->backends[i];

		/* Another port is another dest: flows to the old one end. */
		if (be->dest && be->dest->port != be->port) {
			weir_dest_put(be->dest);
			be->dest = NULL;
		}
		if (be->dest)
			continue;
		be->dest = weir_dest_new(wn, svc->owner, &be->addr, be->family,
					 be->port);
		if (!be->dest)
			return -ENOMEM;
	}
	if (svc->opt.forward == WEIR_FORWARD_DIRECT)
		enable_direct(svc);
	return 0;
}

int weir_finish(struct weir_net *wn, struct weir_service *svc,
		const struct weir_service *was, const siphash_key_t *key,
		struct netlink_ext_ack *extack)
{
	u32 size;
	int err;

	derive_backends(svc);
	err = check_idle(svc, extack);
	if (!err)
		err = check_persistence(svc, extack);
	if (!err)
		err = check_forward(svc, extack);
	if (!err)
		err = check_table(svc, &size, extack);
	if (!err)
		err = make_dests(wn, svc);
	/* In direct mode they answer their clients past us. */
	if (!err && svc->opt.forward == WEIR_FORWARD_NAT)
		err = weir_sources_fill(svc);
	return err ?: weir_sets_build(svc, was, size, key);
}
