// SPDX-License-Identifier: GPL-2.0
/*
 * commit - publishes a draft and tells whoever asked for it and whoever listens
 */
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/genetlink.h>
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

static int put_event(struct sk_buff *skb, const struct weir_change_item *item)
{
	void *hdr = genlmsg_put(skb, 0, 0, &weir_family, 0, WEIR_CMD_EVENT);

	if (!hdr)
		return -EMSGSIZE;
	/* stamp_events() relies on GENERATION being the first. */
	if (nla_put_u32(skb, WEIR_A_GENERATION, 0) ||
	    (item && weir_fill_change(skb, WEIR_A_CHANGE, item))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

static void queue_event(struct report *report,
			const struct weir_change_item *item)
{
	struct sk_buff *skb = skb_peek_tail(&report->events);

	if (skb && !put_event(skb, item))
		return;
	skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (skb && !put_event(skb, item)) {
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

/* The generation is known only when the commit is done. */
static void stamp_events(struct sk_buff *skb, u32 generation)
{
	struct nlmsghdr *nlh = nlmsg_hdr(skb);
	int left = skb->len;

	for (; nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left)) {
		struct nlattr *attr = nlmsg_attrdata(nlh, GENL_HDRLEN);

		memcpy(nla_data(attr), &generation, sizeof(generation));
	}
}

static void send_events(struct net *net, struct report *report, u32 generation)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(&report->events))) {
		stamp_events(skb, generation);
		genlmsg_multicast_netns(&weir_family, net, skb, 0, 0,
					GFP_KERNEL);
	}
	/* As if their buffer had been full: they know to read anew. */
	if (report->lost)
		genl_set_err(&weir_family, net, 0, 0, -ENOBUFS);
}

int weir_commit(struct weir_net *wn, struct weir_draft *draft, bool dry_run,
		struct sk_buff *reply, struct weir_summary *sum, u32 *nr,
		struct netlink_ext_ack *extack)
{
	u32 before = rcu_dereference_protected(wn->config,
				lockdep_is_held(&wn->lock))->generation;
	struct report report = {
		.reply = reply,
		.listened = !dry_run &&
			    genl_has_listeners(&weir_family, wn->net, 0),
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
