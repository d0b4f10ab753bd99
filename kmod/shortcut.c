// SPDX-License-Identifier: GPL-2.0
/*
 * shortcut - which conntrack entry and which route a running flow of nat mode has
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/dst.h>
#include <net/netfilter/nf_conntrack.h>

#include "binding.h"
#include "compat/conntrack.h"
#include "netns.h"
#include "shortcut.h"
#include "transmit.h"

/* Both directions of a quarter of the flows that conntrack may hold, which are rarely all
 * running: 6 MiB by default, 24 at most.
 */
#define PLACES_MIN	(1 << 12)
#define PLACES_MAX	(1 << 19)

#define ROUND		HZ

/* A flow that was quiet for so long gives its place up: sooner, where others need it. */
#define QUIET		(30 * HZ)
#define QUIET_CROWDED	(2 * HZ)

static void work_round(struct work_struct *work);

int weir_shortcut_init(struct weir_net *wn)
{
	/* Without a maximum it wraps to the largest. */
	u32 places = clamp_t(u32, (weir_conntrack_max(wn->net) - 1) / 2, PLACES_MIN,
			     PLACES_MAX);
	struct weir_shortcuts *table;
	u32 i, sets;

	if (rcu_access_pointer(wn->shortcuts))
		return 0;
	table = kzalloc(sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	sets = roundup_pow_of_two(places) / WEIR_SHORTCUT_WAYS;
	table->sets = kvcalloc(sets, sizeof(*table->sets), GFP_KERNEL_ACCOUNT);
	if (!table->sets) {
		kfree(table);
		return -ENOMEM;
	}
	for (i = 0; i < sets; i++)
		spin_lock_init(&table->sets[i].lock);
	table->wn = wn;
	table->mask = sets - 1;
	table->seed = get_random_u64() | 1;
	INIT_DELAYED_WORK(&table->work, work_round);
	rcu_assign_pointer(wn->shortcuts, table);
	return 0;
}

/* Set locked. Nobody finds it from here on; who has found it may go on for a grace
 * period, for which entry and route are there.
 */
static void give_up(struct weir_shortcut_set *set, int way)
{
	struct weir_shortcut *place = &set->ways[way];

	weir_lanes_write(&set->tags, way, 0);
	WRITE_ONCE(place->ct, NULL);
	place->age = 1;
	dst_release(place->dst);
}

/* Set locked. The place to write to, or NULL. */
static struct weir_shortcut *find_place(struct weir_shortcut_set *set, u16 tag,
					const struct nf_conn *ct, int *at)
{
	struct weir_shortcut *place = NULL;
	int way;

	for (way = 0; way < WEIR_SHORTCUT_WAYS; way++) {
		if (!set->ways[way].held) {
			place = &set->ways[way];
			*at = way;
		} else if (weir_lanes_read(&set->tags, way) == tag && set->ways[way].ct == ct) {
			/* It came the long way all the same: a route that does not
			 * hold any more, or another way in.
			 */
			give_up(set, way);
		}
	}
	return place;
}

/* Does what is known of the flow say all that there is to say? */
static bool is_same(const struct weir_shortcut_set *set, u16 tag,
		    const struct nf_conn *ct, u32 iif, const struct dst_entry *dst)
{
	int way;

	for (way = 0; way < WEIR_SHORTCUT_WAYS; way++)
		if (weir_lanes_read(&set->tags, way) == tag &&
		    READ_ONCE(set->ways[way].ct) == ct &&
		    set->ways[way].iif == iif && set->ways[way].dst == dst)
			return true;
	return false;
}

void weir_shortcut_add(struct weir_shortcuts *table, u32 hash, struct nf_conn *ct,
		       u8 dir, u32 iif, struct dst_entry *dst)
{
	struct weir_shortcut_set *set = weir_shortcut_set(table, hash);
	u16 tag = weir_shortcut_tag(hash);
	struct weir_shortcut *place;
	int way;

	/* One of its packets that has to go the long way, a fragment for instance. */
	if (is_same(set, tag, ct, iif, dst))
		return;
	spin_lock(&set->lock);
	place = find_place(set, tag, ct, &way);
	if (!place) {
		WRITE_ONCE(table->crowded, true);
	} else if (dst_hold_safe(dst)) {
		nf_conntrack_get(&ct->ct_general);
		place->held = ct;
		place->dst = dst;
		place->cookie = weir_transmit_cookie(dst);
		place->iif = iif;
		place->dir = dir;
		place->age = 0;
		/* Whoever sees the entry sees the rest. */
		smp_store_release(&place->ct, ct);
		weir_lanes_write(&set->tags, way, tag);
	}
	spin_unlock(&set->lock);
	if (!delayed_work_pending(&table->work))
		queue_delayed_work(weir_wq, &table->work, ROUND);
}

static bool is_over(const struct nf_conn *ct, s32 quiet)
{
	const struct weir_binding *binding = weir_binding_of(ct);
	bool tcp = nf_ct_protonum(ct) == IPPROTO_TCP;
	u32 idle;

	if (!binding || nf_ct_is_dying(ct) || nf_ct_is_expired(ct))
		return true;
	if (tcp && READ_ONCE(ct->proto.tcp.state) != TCP_CONNTRACK_ESTABLISHED)
		return true;
	idle = READ_ONCE(binding->data[TCP_CONNTRACK_ESTABLISHED]);
	return (s32)(nfct_time_stamp + idle - READ_ONCE(ct->timeout)) > quiet;
}

/* What is over is given up, and what was given up before may go, when a grace period
 * is over. Return: is anything there?
 */
static bool survey(struct weir_shortcut_set *set, s32 quiet)
{
	bool any = false;
	int way;

	spin_lock_bh(&set->lock);
	for (way = 0; way < WEIR_SHORTCUT_WAYS; way++) {
		struct weir_shortcut *place = &set->ways[way];

		if (!place->held)
			continue;
		any = true;
		if (place->ct && is_over(place->ct, quiet))
			give_up(set, way);
		if (place->age)
			place->age = 2;
	}
	spin_unlock_bh(&set->lock);
	return any;
}

/* A grace period after survey(). The last reference on an entry does too much to be
 * dropped with the lock held.
 */
static void clean(struct weir_shortcut_set *set)
{
	struct nf_conn *old[WEIR_SHORTCUT_WAYS];
	int way, n = 0;

	spin_lock_bh(&set->lock);
	for (way = 0; way < WEIR_SHORTCUT_WAYS; way++) {
		struct weir_shortcut *place = &set->ways[way];

		if (place->age != 2)
			continue;
		old[n++] = place->held;
		place->held = NULL;
		place->age = 0;
	}
	spin_unlock_bh(&set->lock);
	while (n)
		nf_ct_put(old[--n]);
}

static bool is_empty(const struct weir_shortcut_set *set)
{
	int way;

	for (way = 0; way < WEIR_SHORTCUT_WAYS; way++)
		if (READ_ONCE(set->ways[way].held))
			return false;
	return true;
}

static void work_round(struct work_struct *work)
{
	struct weir_shortcuts *table = container_of(to_delayed_work(work),
						    struct weir_shortcuts, work);
	s32 quiet = READ_ONCE(table->crowded) ? QUIET_CROWDED : QUIET;
	bool any = false;
	u32 i;

	WRITE_ONCE(table->crowded, false);
	for (i = 0; i <= table->mask; i++) {
		if (!is_empty(&table->sets[i])) {
			rcu_read_lock();
			any |= survey(&table->sets[i], quiet);
			rcu_read_unlock();
		}
		cond_resched();
	}
	if (!any)
		return;
	synchronize_rcu();
	for (i = 0; i <= table->mask; i++) {
		if (!is_empty(&table->sets[i]))
			clean(&table->sets[i]);
		cond_resched();
	}
	queue_delayed_work(weir_wq, &table->work, ROUND);
}

void weir_shortcut_flush(struct weir_net *wn)
{
	struct weir_shortcuts *table;
	u32 i;
	int way;

	rcu_read_lock();
	table = rcu_dereference(wn->shortcuts);
	for (i = 0; table && i <= table->mask; i++) {
		struct weir_shortcut_set *set = &table->sets[i];

		if (is_empty(set))
			continue;
		spin_lock_bh(&set->lock);
		for (way = 0; way < WEIR_SHORTCUT_WAYS; way++)
			if (set->ways[way].ct)
				give_up(set, way);
		spin_unlock_bh(&set->lock);
	}
	if (table)
		mod_delayed_work(weir_wq, &table->work, 0);
	rcu_read_unlock();
}

void weir_shortcut_exit(struct weir_net *wn)
{
	struct weir_shortcuts *table =
		rcu_dereference_protected(wn->shortcuts, true);
	int way;
	u32 i;

	if (!table)
		return;
	cancel_delayed_work_sync(&table->work);
	for (i = 0; i <= table->mask; i++) {
		struct weir_shortcut_set *set = &table->sets[i];

		for (way = 0; way < WEIR_SHORTCUT_WAYS; way++) {
			if (set->ways[way].ct)
				give_up(set, way);
			if (set->ways[way].held)
				nf_ct_put(set->ways[way].held);
		}
	}
	RCU_INIT_POINTER(wn->shortcuts, NULL);
	kvfree(table->sets);
	kfree(table);
}
