// SPDX-License-Identifier: GPL-2.0
/*
 * commit - publishes a draft and tells whoever asked for it and whoever listens
 */
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <net/netlink.h>

#include "commit.h"
#include "config.h"
#include "draft.h"
#include "fill.h"
#include "netlink.h"
#include "netns.h"

/* What a commit tells: whoever asked for it, and whoever listens. */
struct report {
	struct sk_buff *reply;		/* NULL: the acknowledgement is enough */
	bool reply_full;
	u32 nr;				/* changes, told or not */
	bool listened;
	bool lost;			/* no memory for an event */
	struct sk_buff_head events;	/* each with as many as fit */
};

static void queue_event(struct report *report,
			const struct weir_change_item *item)
{
	struct sk_buff *skb = skb_peek_tail(&report->events);

	if (skb && !weir_event_put(skb, item))
		return;
	skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (skb && !weir_event_put(skb, item)) {
		__skb_queue_tail(&report->events, skb);
		return;
	}
	nlmsg_free(skb);
	report->lost = true;
}

static void note_change(const struct weir_change_item *item, void *arg)
{
	struct report *report = arg;

	report->nr++;
	if (report->reply && !report->reply_full &&
	    weir_fill_change(report->reply, WEIR_A_CHANGE, item))
		report->reply_full = true;
	if (report->listened)
		queue_event(report, item);
}

static void send_events(struct net *net, struct report *report, u32 generation)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&report->events)))
		weir_event_send(net, skb, generation);
	if (report->lost)
		weir_event_lost(net);
}

int weir_commit(struct weir_net *wn, struct weir_draft *draft, bool dry_run,
		struct sk_buff *reply, struct weir_summary *sum, u32 *nr,
		struct netlink_ext_ack *extack)
{
	u32 before = rcu_dereference_protected(wn->config,
				lockdep_is_held(&wn->lock))->generation;
	struct report report = {
		.reply = reply,
		.listened = !dry_run && weir_event_wanted(wn->net),
	};
	bool silent = !reply && !report.listened;
	int err;

	__skb_queue_head_init(&report.events);
	err = weir_draft_commit(draft, dry_run, silent ? NULL : note_change,
				&report, sum, extack);
	if (err) {
		__skb_queue_purge(&report.events);
		return err;
	}
	if (nr)
		*nr = report.nr;
	/* Another hash key moves flows, though no object differs. */
	if (report.listened && !report.nr && sum->generation != before)
		queue_event(&report, NULL);
	send_events(wn->net, &report, sum->generation);
	return 0;
}

int weir_commit_key(struct weir_net *wn, const u8 *key)
{
	struct weir_summary sum;
	struct weir_draft *draft;
	int err = -ENOMEM;

	mutex_lock(&wn->lock);
	draft = weir_draft_new(wn, false);
	if (draft) {
		weir_draft_set_key(draft, key);
		err = weir_commit(wn, draft, false, NULL, &sum, NULL, NULL);
	}
	mutex_unlock(&wn->lock);
	return err;
}
