// SPDX-License-Identifier: GPL-2.0
/*
 * dest - the run-time half of a backend and of a service
 */
#include <linux/jiffies.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "binding.h"
#include "dest.h"
#include "netns.h"
#include "site.h"
#include "transmit.h"

struct weir_owner *weir_owner_new(struct weir_net *wn, const char *name)
{
	struct weir_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);

	if (!owner)
		return NULL;
	refcount_set(&owner->ref, 1);
	owner->id = ++wn->last_owner_id;
	strscpy(owner->name, name, sizeof(owner->name));
	return owner;
}

void weir_owner_get(struct weir_owner *owner)
{
	refcount_inc(&owner->ref);
}

void weir_owner_put(struct weir_owner *owner)
{
	if (owner && refcount_dec_and_test(&owner->ref))
		kfree(owner);
}

static void free_dest(struct weir_dest *dest)
{
	weir_transmit_forget(dest);
	free_percpu(dest->counters);
	kfree(dest->probe);
	weir_owner_put(dest->owner);
	kfree(dest);
}

/* Of a draft that was not committed. weir_net.lock held. */
static void discard_bindings(struct weir_dest *dest)
{
	int i;

	for (i = 0; i < WEIR_NR_CLASSES; i++)
		if (dest->bindings[i])
			weir_binding_discard(dest->bindings[i]);
}

static void forget_bindings(struct weir_dest *dest)
{
	int i;

	for (i = 0; i < WEIR_NR_CLASSES; i++)
		if (dest->bindings[i])
			weir_binding_forget(dest->bindings[i]);
}

struct weir_dest *weir_dest_new(struct weir_net *wn, struct weir_owner *owner,
				const struct weir_addr *addr, u8 family,
				u16 port)
{
	struct weir_dest *dest = kzalloc(sizeof(*dest), GFP_KERNEL_ACCOUNT);
	int i, cpu;

	if (!dest)
		return NULL;
	refcount_set(&dest->ref, 1);
	dest->fresh = true;
	INIT_LIST_HEAD(&dest->routed);
	dest->wn = wn;
	dest->id = ++wn->last_dest_id;
	dest->owner = owner;
	weir_owner_get(owner);
	dest->addr = *addr;
	dest->family = family;
	dest->port = port;
	dest->counters = alloc_percpu_gfp(struct weir_counters,
					  GFP_KERNEL_ACCOUNT);
	if (!dest->counters)
		goto err;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(dest->counters, cpu)->sync);
	for (i = 0; i < WEIR_NR_CLASSES; i++) {
		dest->bindings[i] = weir_binding_new(dest, i);
		if (!dest->bindings[i])
			goto err;
	}
	dest->site = weir_site_get(wn, family, addr);
	if (!dest->site)
		goto err;
	return dest;
err:
	/* Nobody has seen it: no grace period. */
	discard_bindings(dest);
	free_dest(dest);
	return NULL;
}

void weir_dest_get(struct weir_dest *dest)
{
	refcount_inc(&dest->ref);
}

static void release_free(struct work_struct *work)
{
	free_dest(container_of(to_rcu_work(work), struct weir_dest, release));
}

/* A grace period after the last configuration that had it was unpublished:
 * nobody attaches its bindings any more, but entries still point to them. One
 * more grace period, and nobody is between reading binding->dest and using it.
 */
static void release_forget(struct work_struct *work)
{
	struct weir_dest *dest = container_of(to_rcu_work(work),
					      struct weir_dest, release);

	mutex_lock(&dest->wn->lock);
	weir_site_put(dest->wn, dest->site);
	if (dest->fresh)
		discard_bindings(dest);
	mutex_unlock(&dest->wn->lock);
	if (dest->fresh) {
		free_dest(dest);
		return;
	}
	forget_bindings(dest);
	INIT_RCU_WORK(&dest->release, release_free);
	queue_rcu_work(weir_wq, &dest->release);
}

void weir_dest_put(struct weir_dest *dest)
{
	if (!dest || !refcount_dec_and_test(&dest->ref))
		return;
	INIT_RCU_WORK(&dest->release, release_forget);
	queue_rcu_work(weir_wq, &dest->release);
}

void weir_dest_end(struct weir_dest *dest)
{
	int i;

	dest->ended = true;
	for (i = 0; i < WEIR_NR_CLASSES; i++)
		weir_binding_mark(dest->bindings[i], WEIR_BINDING_ENDED);
}

void weir_dest_note_health(struct weir_dest *dest, bool healthy)
{
	if (!dest->fresh && dest->healthy != healthy) {
		/* A lookup reads both without the lock. */
		WRITE_ONCE(dest->flipped, jiffies);
		smp_store_release(&dest->nr_flips, dest->nr_flips + 1);
	}
	dest->healthy = healthy;
}

void weir_dest_forget_probe(struct weir_dest *dest)
{
	kfree(dest->probe);
	dest->probe = NULL;
}

void weir_dest_fold(struct weir_dest *dest)
{
	u64 sum[WEIR_NR_COUNTERS] = {};
	int i;

	if (dest->folded)
		return;
	dest->folded = true;
	weir_counters_sum(dest->counters, sum);
	for (i = 0; i < WEIR_NR_COUNTERS; i++)
		dest->owner->gone[i] += sum[i];
}

void weir_dest_flush(void)
{
	/* Each release passes through the queue twice, a grace period before
	 * each: rcu_barrier() lets the callbacks that queue them run.
	 */
	rcu_barrier();
	flush_workqueue(weir_wq);
	rcu_barrier();
	flush_workqueue(weir_wq);
}
