// SPDX-License-Identifier: GPL-2.0
/*
 * finish - from what is configured to what packets need: health, eligible set,
 * table, run-time halves
 */
#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "dest.h"
#include "eligible.h"
#include "finish.h"
#include "maglev.h"
#include "refuse.h"
#include "service.h"

void weir_finish_inherit(struct weir_service *svc,
			 const struct weir_service *was)
{
	bool line_is_new = svc->health_check && !was->health_check;
	u32 i;

	if (!svc->owner && was->owner) {
		svc->owner = was->owner;
		weir_owner_get(svc->owner);
	}
	for (i = 0; i < svc->nr_backends; i++) {
		struct weir_backend *be = &svc->backends[i];
		const struct weir_backend *old =
			weir_backend_find(was, &be->addr, be->family);

		if (!old)
			continue;
		if (be->check == WEIR_HEALTH_AUTO)
			be->check = old->check;
		/* Only *new* backends begin down (decision 14). */
		if (be->check == WEIR_HEALTH_AUTO && line_is_new)
			be->check = WEIR_HEALTH_UP;
		if (be->dest || old->port != be->port)
			continue;
		be->dest = old->dest;
		weir_dest_get(be->dest);
	}
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
	u32 least = svc->nr_backends * WEIR_SLOTS_PER_BACKEND;

	*size = svc->opt.table_size;
	if (*size && !weir_maglev_size_ok(*size))
		return weir_refuse(extack, -EINVAL,
				   "service %s: table-size %u: must be auto or a prime up to %u",
				   svc->name, *size, WEIR_TABLE_SIZE_MAX);
	if (!*size)
		*size = weir_maglev_auto_size(svc->nr_backends);
	if (*size < least)
		return weir_refuse(extack, -EINVAL,
				   "service %s: table-size %u: %u backends need at least %u slots for a fair share",
				   svc->name, *size, svc->nr_backends, least);
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

	return group && group->failover;
}

static int choose_eligible(struct weir_service *svc)
{
	struct weir_policy policy = {
		.failover_ratio = svc->opt.failover_ratio,
		.drop_if_unhealthy = svc->opt.drop_if_unhealthy,
	};
	u32 i, n = svc->nr_backends;
	struct weir_candidate *candidates;
	struct weir_role_set set;
	unsigned long *bits;

	candidates = kvcalloc(max(n, 1U), sizeof(*candidates), GFP_KERNEL);
	bits = bitmap_zalloc(max(n, 1U), GFP_KERNEL);
	if (!candidates || !bits) {
		kvfree(candidates);
		bitmap_free(bits);
		return -ENOMEM;
	}
	svc->nr_healthy = 0;
	for (i = 0; i < n; i++) {
		struct weir_backend *be = &svc->backends[i];

		be->healthy = is_healthy(svc, be);
		svc->nr_healthy += be->healthy;
		candidates[i].healthy = be->healthy;
		candidates[i].failover = is_failover(svc, be);
	}
	set = weir_eligible_choose(&policy, candidates, n, bits);
	svc->eligible = set.reason;
	svc->nr_eligible = set.n;
	for (i = 0; i < n; i++)
		svc->backends[i].eligible = test_bit(i, bits);
	kvfree(candidates);
	bitmap_free(bits);
	return 0;
}

/* Slots hold indices: the same backends in the same places, the same eligible. */
static bool table_fits(const struct weir_service *svc,
		       const struct weir_service *was, u32 size)
{
	u32 i;

	if (!was || !was->table || was->table->size != size ||
	    was->nr_backends != svc->nr_backends)
		return false;
	for (i = 0; i < svc->nr_backends; i++)
		if (weir_addr_cmp(&svc->backends[i].addr,
				  &was->backends[i].addr) ||
		    svc->backends[i].eligible != was->backends[i].eligible)
			return false;
	return true;
}

static void share_table(struct weir_service *svc,
			const struct weir_service *was)
{
	u32 i;

	svc->table = was->table;
	refcount_inc(&svc->table->ref);
	for (i = 0; i < svc->nr_backends; i++)
		svc->backends[i].slots = was->backends[i].slots;
}

static u32 list_members(const struct weir_service *svc,
			struct weir_member *eligible,
			struct weir_member *by_index)
{
	u32 i, n = 0;

	for (i = 0; i < svc->nr_backends; i++) {
		by_index[i].addr = svc->backends[i].addr;
		by_index[i].family = svc->backends[i].family;
		by_index[i].index = i;
		if (svc->backends[i].eligible)
			eligible[n++] = by_index[i];
	}
	return n;
}

static void count_slots(struct weir_service *svc)
{
	u32 i;

	for (i = 0; i < svc->nr_backends; i++)
		svc->backends[i].slots = 0;
	for (i = 0; i < svc->table->size; i++)
		svc->backends[svc->table->slots[i]].slots++;
}

static int build_table(struct weir_service *svc, u32 size,
		       const siphash_key_t *key)
{
	struct weir_member *members;
	struct weir_table *table;
	void *scratch;
	u32 n;
	int err = -ENOMEM;

	members = kvcalloc(2 * svc->nr_backends, sizeof(*members), GFP_KERNEL);
	table = kvmalloc(struct_size(table, slots, size), GFP_KERNEL_ACCOUNT);
	scratch = kvmalloc(weir_maglev_scratch(svc->nr_eligible), GFP_KERNEL);
	if (!members || !table || !scratch)
		goto out;

	refcount_set(&table->ref, 1);
	table->size = size;
	n = list_members(svc, members, members + svc->nr_backends);
	weir_maglev_fill(table->slots, size, members, n, key, scratch);
	table->digest = weir_maglev_digest(table->slots, size,
					   members + svc->nr_backends);
	svc->table = table;
	table = NULL;
	count_slots(svc);
	err = 0;
out:
	kvfree(scratch);
	kvfree(table);
	kvfree(members);
	return err;
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
	return 0;
}

int weir_finish(struct weir_net *wn, struct weir_service *svc,
		const struct weir_service *was, const siphash_key_t *key,
		struct netlink_ext_ack *extack)
{
	u32 size;
	int err;

	err = check_idle(svc, extack);
	if (!err)
		err = check_persistence(svc, extack);
	if (!err)
		err = check_table(svc, &size, extack);
	if (!err)
		err = choose_eligible(svc);
	if (!err)
		err = make_dests(wn, svc);
	if (err || !svc->nr_eligible)
		return err;

	if (table_fits(svc, was, size)) {
		share_table(svc, was);
		return 0;
	}
	return build_table(svc, size, key);
}
