// SPDX-License-Identifier: GPL-2.0
/*
 * config - one immutable snapshot per network namespace, published by RCU
 */
#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "binding.h"
#include "config.h"
#include "dest.h"
#include "draft.h"
#include "drain.h"
#include "netns.h"
#include "sweep.h"

int weir_config_init(struct weir_net *wn)
{
	struct weir_config *cfg = kvzalloc(sizeof(*cfg), GFP_KERNEL_ACCOUNT);

	if (!cfg)
		return -ENOMEM;
	get_random_bytes(&cfg->key, sizeof(cfg->key));
	RCU_INIT_POINTER(wn->config, cfg);
	return 0;
}

void weir_config_exit(struct weir_net *wn)
{
	weir_config_free(rcu_dereference_protected(wn->config, true));
	RCU_INIT_POINTER(wn->config, NULL);
}

void weir_config_free(struct weir_config *cfg)
{
	u32 i;

	if (!cfg)
		return;
	weir_index_free(&cfg->index);
	weir_zones_put(cfg->zones);
	for (i = 0; i < cfg->nr_services; i++)
		weir_service_put(cfg->services[i]);
	kvfree(cfg->services);
	kvfree(cfg);
}

struct weir_service *weir_config_find(const struct weir_config *cfg,
				      const char *name)
{
	u32 low = 0, high = cfg->nr_services;

	while (low < high) {
		u32 middle = low + (high - low) / 2;
		int cmp = strcmp(cfg->services[middle]->name, name);

		if (!cmp)
			return cfg->services[middle];
		if (cmp < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

struct weir_service *weir_config_counterpart(const struct weir_config *cfg,
					     const struct weir_service *svc,
					     u32 at)
{
	u32 i, end = min(at + 2, cfg->nr_services);

	for (i = at ? at - 1 : 0; i < end; i++)
		if (cfg->services[i] == svc)
			return cfg->services[i];
	return weir_config_find(cfg, svc->name);
}

/* What of @old is not in @next ends: its bindings' state word says so to each
 * packet from here on.
 */
static void each_leaving(const struct weir_config *old,
			 const struct weir_config *next,
			 void (*fn)(struct weir_dest *dest))
{
	u32 s, b;

	for (s = 0; s < old->nr_services; s++) {
		const struct weir_service *was = old->services[s];
		const struct weir_service *now =
			weir_config_counterpart(next, was, s);

		if (was == now)
			continue;
		for (b = 0; b < was->nr_backends; b++) {
			const struct weir_backend *be = &was->backends[b];
			const struct weir_backend *same = now ?
				weir_backend_find(now, &be->addr, be->family) :
				NULL;

			if (!same || same->dest != be->dest)
				fn(be->dest);
		}
	}
}

/* @fresh: those that no packet can have met yet; before the swap, so that none ever
 * meets them unwritten. The others take on what the new configuration says after it.
 */
static void configure_bindings(const struct weir_config *old,
			       const struct weir_config *next, bool fresh)
{
	u32 s, b;
	int i;

	for (s = 0; s < next->nr_services; s++) {
		const struct weir_service *svc = next->services[s];

		if (weir_config_counterpart(old, svc, s) == svc)
			continue;
		for (b = 0; b < svc->nr_backends; b++) {
			const struct weir_backend *be = &svc->backends[b];

			if (be->dest->fresh != fresh)
				continue;
			for (i = 0; i < WEIR_NR_CLASSES; i++)
				weir_binding_configure(be->dest->bindings[i],
						       svc, be);
			weir_dest_note_health(be->dest, be->healthy);
			if (!svc->health_check)
				weir_dest_forget_probe(be->dest);
			be->dest->fresh = false;
		}
	}
}

static void check_flows(const struct weir_service *svc)
{
	u32 b;
	int i;

	for (b = 0; b < svc->nr_backends; b++)
		for (i = 0; i < WEIR_NR_CLASSES; i++)
			weir_binding_mark(svc->backends[b].dest->bindings[i],
					  WEIR_BINDING_CHECK);
}

static bool rules_differ(const struct weir_service *a,
			 const struct weir_service *b)
{
	u32 i;

	if (!a || a->nr_rules != b->nr_rules ||
	    a->opt.forward != b->opt.forward)
		return true;
	for (i = 0; i < a->nr_rules; i++)
		if (!weir_rule_equal(&a->rules[i], &b->rules[i]))
			return true;
	return false;
}

/* The VIPs of services whose rules changed, ascending. @nr is their number, and
 * stays what it is when there is no memory for them.
 */
static struct weir_addr *changed_vips(const struct weir_config *old,
				      const struct weir_config *next, u32 *nr)
{
	struct weir_addr *vips = NULL;
	u32 s, r, pass, n;

	for (pass = 0; pass < 2; pass++) {
		n = 0;
		for (s = 0; s < next->nr_services; s++) {
			const struct weir_service *now = next->services[s];
			const struct weir_service *was =
				weir_config_counterpart(old, now, s);

			if (was == now || !rules_differ(was, now))
				continue;
			if (was)
				check_flows(now);
			for (r = 0; r < now->nr_rules; r++, n++)
				if (vips)
					vips[n] = now->rules[r].vip;
		}
		*nr = n;
		if (pass == 0 && n)
			vips = kvmalloc_array(n, sizeof(*vips), GFP_KERNEL);
		if (!vips)
			return NULL;
	}
	sort(vips, n, sizeof(*vips), weir_addr_order, NULL);
	return vips;
}

static bool has_vip(const struct weir_service *svc,
		    const struct weir_addr *vips, u32 nr)
{
	u32 r;

	for (r = 0; r < svc->nr_rules; r++)
		if (bsearch(&svc->rules[r].vip, vips, nr, sizeof(*vips),
			    weir_addr_order))
			return true;
	return false;
}

/* A rule that came or went may change where the next packet of a running flow
 * belongs: of its own service, and of every service with a rule for that VIP.
 */
static void check_rules(const struct weir_config *old,
			const struct weir_config *next)
{
	struct weir_addr *vips;
	u32 s, nr;

	vips = changed_vips(old, next, &nr);
	if (!nr)
		return;
	for (s = 0; s < next->nr_services; s++)
		if (!vips || has_vip(next->services[s], vips, nr))
			check_flows(next->services[s]);
	kvfree(vips);
}

/* Not written where it stands: packets read those services. */
static void set_published(struct weir_config *cfg)
{
	u32 s;

	for (s = 0; s < cfg->nr_services; s++)
		if (!cfg->services[s]->published)
			cfg->services[s]->published = true;
	if (cfg->zones)
		cfg->zones->published = true;
}

struct weir_config *weir_config_publish(struct weir_net *wn,
					struct weir_config *next)
{
	struct weir_config *old = rcu_dereference_protected(wn->config,
					lockdep_is_held(&wn->lock));

	next->serial = old->serial + 1;
	next->generation = old->generation + 1;
	next->edited = next->edition == old->edition ? old->edited :
						       next->generation;
	next->layout = old->layout + !next->same_layout;
	set_published(next);
	configure_bindings(old, next, true);
	rcu_assign_pointer(wn->config, next);

	configure_bindings(old, next, false);
	each_leaving(old, next, weir_dest_end);
	check_rules(old, next);

	/* Afterwards no packet is on its way that chose from the old one: what
	 * the command removed is not chosen any more when it returns.
	 */
	synchronize_rcu_expedited();
	each_leaving(old, next, weir_dest_fold);
	weir_sweep_soon(wn, next);
	weir_drain_schedule(wn, next);
	return old;
}

static void change(weir_change_fn fn, void *arg, u8 kind,
		   const struct weir_service *svc,
		   const struct weir_rule *rule, const struct weir_group *group,
		   const struct weir_backend *backend)
{
	struct weir_change_item item = {
		.kind = kind,
		.service = svc->name,
		.rule = rule,
		.group = group,
		.backend = backend,
	};

	fn(&item, arg);
}

/* Rules have no value beside their name: they come and go. */
static void compare_rules(const struct weir_service *from,
			  const struct weir_service *to, u8 kind,
			  weir_change_fn fn, void *arg)
{
	u32 i;

	for (i = 0; from && i < from->nr_rules; i++)
		if (!to || !weir_rule_find(to, &from->rules[i]))
			change(fn, arg, kind, from, &from->rules[i], NULL,
			       NULL);
}

static void compare_groups(const struct weir_service *was,
			   const struct weir_service *now,
			   weir_change_fn fn, void *arg)
{
	const struct weir_group *other;
	u32 i;

	for (i = 0; now && i < now->nr_groups; i++) {
		const struct weir_group *group = &now->groups[i];

		other = was ? weir_group_find(was, group->name) : NULL;
		if (!other)
			change(fn, arg, WEIR_CHANGE_ADDED, now, NULL, group,
			       NULL);
		else if (strcmp(other->zone, group->zone) ||
			 other->failover != group->failover)
			change(fn, arg, WEIR_CHANGE_CHANGED, now, NULL, group,
			       NULL);
	}
	for (i = 0; was && i < was->nr_groups; i++)
		if (!now || !weir_group_find(now, was->groups[i].name))
			change(fn, arg, WEIR_CHANGE_REMOVED, was, NULL,
			       &was->groups[i], NULL);
}

static void compare_backends(const struct weir_service *was,
			     const struct weir_service *now,
			     weir_change_fn fn, void *arg)
{
	const struct weir_backend *be, *other;
	u32 i;

	for (i = 0; now && i < now->nr_backends; i++) {
		be = &now->backends[i];
		other = was ? weir_backend_find(was, &be->addr, be->family) :
			      NULL;
		if (!other)
			change(fn, arg, WEIR_CHANGE_ADDED, now, NULL, NULL, be);
		else if (!weir_backend_equal(be, other))
			change(fn, arg, WEIR_CHANGE_CHANGED, now, NULL, NULL,
			       be);
	}
	for (i = 0; was && i < was->nr_backends; i++) {
		be = &was->backends[i];
		if (!now || !weir_backend_find(now, &be->addr, be->family))
			change(fn, arg, WEIR_CHANGE_REMOVED, was, NULL, NULL,
			       be);
	}
}

static bool options_differ(const struct weir_service *a,
			   const struct weir_service *b)
{
	return memcmp(&a->opt, &b->opt, sizeof(a->opt)) ||
	       !a->health_check != !b->health_check ||
	       (a->health_check && strcmp(a->health_check, b->health_check));
}

static void compare_service(const struct weir_service *was,
			    const struct weir_service *now,
			    weir_change_fn fn, void *arg)
{
	if (!fn)
		return;
	if (!was)
		change(fn, arg, WEIR_CHANGE_ADDED, now, NULL, NULL, NULL);
	else if (now && options_differ(was, now))
		change(fn, arg, WEIR_CHANGE_CHANGED, now, NULL, NULL, NULL);
	compare_groups(was, now, fn, arg);
	compare_rules(was, now, WEIR_CHANGE_REMOVED, fn, arg);
	compare_rules(now, was, WEIR_CHANGE_ADDED, fn, arg);
	compare_backends(was, now, fn, arg);
	if (!now)
		change(fn, arg, WEIR_CHANGE_REMOVED, was, NULL, NULL, NULL);
}

static void change_zone(weir_change_fn fn, void *arg, u8 kind,
			const struct weir_zone *zone)
{
	struct weir_change_item item = {
		.kind = kind,
		.zone = zone,
	};

	if (fn)
		fn(&item, arg);
}

static u32 compare_zones(const struct weir_zones *was,
			 const struct weir_zones *now,
			 weir_change_fn fn, void *arg)
{
	const struct weir_zone *other;
	u32 i, nr = 0;

	if (was == now)
		return 0;
	for (i = 0; now && i < now->nr; i++) {
		other = weir_zones_find(was, now->zones[i].name);
		if (other && weir_zone_equal(other, &now->zones[i]))
			continue;
		change_zone(fn, arg, other ? WEIR_CHANGE_CHANGED :
			    WEIR_CHANGE_ADDED, &now->zones[i]);
		nr++;
	}
	for (i = 0; was && i < was->nr; i++) {
		if (weir_zones_find(now, was->zones[i].name))
			continue;
		change_zone(fn, arg, WEIR_CHANGE_REMOVED, &was->zones[i]);
		nr++;
	}
	return nr;
}

void weir_config_compare(const struct weir_config *old,
			 const struct weir_config *next,
			 weir_change_fn fn, void *arg,
			 struct weir_summary *sum)
{
	const struct weir_service *was, *now;
	u32 s;

	sum->added = 0;
	sum->changed = 0;
	sum->removed = 0;
	sum->zones = compare_zones(old->zones, next->zones, fn, arg);
	for (s = 0; s < old->nr_services; s++) {
		was = old->services[s];
		if (weir_config_counterpart(next, was, s))
			continue;
		sum->removed++;
		compare_service(was, NULL, fn, arg);
	}
	for (s = 0; s < next->nr_services; s++) {
		now = next->services[s];
		was = weir_config_counterpart(old, now, s);
		if (was == now || (was && weir_service_equal(was, now)))
			continue;
		if (was)
			sum->changed++;
		else
			sum->added++;
		compare_service(was, now, fn, arg);
	}
}
