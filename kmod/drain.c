// SPDX-License-Identifier: GPL-2.0
/*
 * drain - removed backends, and the time that their flows have left
 *
 * Each packet holds its binding's deadline against the clock (binding.c); this takes
 * what has drained out of the configuration, so that the sweep finds its flows.
 */
#include <linux/err.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "commit.h"
#include "config.h"
#include "draft.h"
#include "drain.h"
#include "netns.h"

/* When there was no memory to do it in time. */
#define AGAIN	HZ

static bool has_drained(const struct weir_service *svc)
{
	u32 i;

	for (i = 0; svc->nr_draining && i < svc->nr_backends; i++)
		if (svc->backends[i].draining &&
		    weir_drain_is_over(&svc->backends[i]))
			return true;
	return false;
}

/* What has drained is left out of a service that is finished again. */
static int take_out(struct weir_net *wn)
{
	const struct weir_config *cfg = rcu_dereference_protected(wn->config,
					lockdep_is_held(&wn->lock));
	struct weir_draft *draft = weir_draft_new(wn, false);
	struct weir_service *svc;
	struct weir_summary sum;
	u32 i;

	if (!draft)
		return -ENOMEM;
	weir_draft_keep_edition(draft);
	for (i = 0; i < cfg->nr_services; i++) {
		if (!has_drained(cfg->services[i]))
			continue;
		svc = weir_draft_edit(draft, cfg->services[i]->name, NULL);
		if (IS_ERR(svc)) {
			weir_draft_free(draft);
			return PTR_ERR(svc);
		}
	}
	return weir_commit(wn, draft, false, NULL, &sum, NULL, NULL);
}

static void drain_work(struct work_struct *work)
{
	struct weir_net *wn = container_of(to_delayed_work(work),
					   struct weir_net, drain);
	int err;

	mutex_lock(&wn->lock);
	err = take_out(wn);
	/* A commit has set the time of the next one; without a change none has. */
	if (err == -ENOMEM)
		queue_delayed_work(weir_wq, &wn->drain, AGAIN);
	mutex_unlock(&wn->lock);
}

void weir_drain_init(struct weir_net *wn)
{
	INIT_DELAYED_WORK(&wn->drain, drain_work);
}

void weir_drain_schedule(struct weir_net *wn, const struct weir_config *cfg)
{
	unsigned long first = 0;
	bool any = false;
	u32 s, b;
	long left;

	for (s = 0; s < cfg->nr_services; s++) {
		const struct weir_service *svc = cfg->services[s];

		for (b = 0; svc->nr_draining && b < svc->nr_backends; b++) {
			const struct weir_backend *be = &svc->backends[b];

			if (!be->draining ||
			    (any && time_after_eq(be->drain_until, first)))
				continue;
			first = be->drain_until;
			any = true;
		}
	}
	if (!any)
		return;
	left = first - jiffies;
	mod_delayed_work(weir_wq, &wn->drain, max(left, 0L));
}

void weir_drain_exit(struct weir_net *wn)
{
	cancel_delayed_work_sync(&wn->drain);
}
