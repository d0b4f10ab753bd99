// SPDX-License-Identifier: GPL-2.0
/*
 * sweep - removes conntrack entries that may not pass any more, and sessions that lead nowhere
 */
#include <linux/jiffies.h>
#include <linux/workqueue.h>
#include <net/netfilter/nf_conntrack.h>

#include "binding.h"
#include "config.h"
#include "guard.h"
#include "netns.h"
#include "session.h"
#include "stay.h"
#include "sweep.h"

/* A second later, an entry that was being made while the change was published is
 * in the table.
 */
#define WALKS	2

/* Called with the bucket's lock: decides, does not sleep. */
static int is_over(struct nf_conn *ct, void *data)
{
	struct weir_net *wn = data;
	struct weir_binding *binding;
	enum weir_stay stay;
	int over = 0;

	rcu_read_lock();
	binding = weir_binding_of(ct);
	if (binding) {
		stay = weir_stay(rcu_dereference(wn->config), ct, binding);
		over = stay == WEIR_STAY_GONE || stay == WEIR_STAY_UNBOUND;
		if (over)
			weir_tombs_add(&wn->tombs, ct);
	}
	rcu_read_unlock();
	return over;
}

static int is_ours(struct nf_conn *ct, void *data)
{
	struct weir_net *wn = data;
	int ours;

	rcu_read_lock();
	ours = !!weir_binding_of(ct);
	rcu_read_unlock();
	if (ours)
		weir_tombs_add(&wn->tombs, ct);
	return ours;
}

static void walk(struct weir_net *wn, int (*fn)(struct nf_conn *ct, void *data))
{
	struct nf_ct_iter_data iter = {
		.net = wn->net,
		.data = wn,
	};

	nf_ct_iterate_cleanup_net(fn, &iter);
}

/* Every flow has been held against the rules as they are, unless they changed
 * while we walked.
 */
static void settle(struct weir_net *wn, u32 generation)
{
	const struct weir_config *cfg;
	struct weir_binding *binding;

	mutex_lock(&wn->lock);
	cfg = rcu_dereference_protected(wn->config,
					lockdep_is_held(&wn->lock));
	if (cfg->generation == generation)
		list_for_each_entry(binding, &wn->bindings, list)
			WRITE_ONCE(binding->state,
				   binding->state & ~WEIR_BINDING_CHECK);
	weir_binding_reap(wn);
	mutex_unlock(&wn->lock);
}

static void sweep_work(struct work_struct *work)
{
	struct weir_net *wn = container_of(to_delayed_work(work),
					   struct weir_net, sweep);
	/* Not those of the live configuration: one that is just being published has not
	 * set its flags yet. A layout from before a generation is asked for again.
	 */
	u32 layout = READ_ONCE(wn->sweep_wanted_layout);
	u32 generation = smp_load_acquire(&wn->sweep_wanted);

	if (generation != wn->sweep_generation) {
		wn->sweep_generation = generation;
		wn->sweep_walks = 0;
	}
	walk(wn, is_over);
	/* No packet chooses from the configuration before any more. */
	if (layout != wn->sweep_layout)
		weir_session_sweep(wn);
	wn->sweep_layout = layout;
	if (++wn->sweep_walks < WALKS)
		queue_delayed_work(weir_wq, &wn->sweep, HZ);
	else
		settle(wn, generation);
}

void weir_sweep_init(struct weir_net *wn)
{
	INIT_DELAYED_WORK(&wn->sweep, sweep_work);
}

void weir_sweep_soon(struct weir_net *wn, const struct weir_config *cfg)
{
	WRITE_ONCE(wn->sweep_wanted_layout, cfg->layout);
	smp_store_release(&wn->sweep_wanted, cfg->generation);
	mod_delayed_work(weir_wq, &wn->sweep, 0);
}

void weir_sweep_all(struct weir_net *wn)
{
	walk(wn, is_ours);
}

void weir_sweep_exit(struct weir_net *wn)
{
	cancel_delayed_work_sync(&wn->sweep);
}
