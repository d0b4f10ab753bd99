// SPDX-License-Identifier: GPL-2.0
/*
 * netlink - the generic-netlink family, see uapi/linux/weir.h
 *
 * Reads of configuration and counters are open to everyone, as those of routes
 * are. What tells about single connections needs CAP_NET_ADMIN, as reading the
 * conntrack table does, and so does each change.
 *
 * Locks: the family's commands run one at a time under genl_mutex;
 * weir_net.lock is taken inside it.
 */
#include <linux/capability.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/weir.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include "binding.h"
#include "commit.h"
#include "config.h"
#include "ctstat.h"
#include "draft.h"
#include "answer.h"
#include "fault.h"
#include "fill.h"
#include "flows.h"
#include "lookup.h"
#include "netlink.h"
#include "netns.h"
#include "parse.h"
#include "pin.h"
#include "policy.h"
#include "refuse.h"
#include "report.h"
#include "request.h"
#include "session.h"
#include "stats.h"

/* Of a zone; the smallest buffer of a dump has room for so many. */
#define PREFIXES_PER_MESSAGE	128U

/* The answer to a commit, in a buffer that recv() of any tool has room for. */
#define COMMIT_REPLY_SIZE	(SKB_WITH_OVERHEAD(16384) - NLMSG_HDRLEN)

static const struct weir_config *live_config(const struct weir_net *wn)
{
	return rcu_dereference_protected(wn->config,
					 lockdep_is_held(&wn->lock));
}

static u32 live_generation(const struct weir_net *wn)
{
	u32 generation;

	rcu_read_lock();
	generation = rcu_dereference(wn->config)->generation;
	rcu_read_unlock();
	return generation;
}

static struct genl_family weir_family;

static struct sk_buff *reply_new(struct genl_info *info, size_t size,
				 void **hdr)
{
	struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL);

	if (!skb)
		return NULL;
	*hdr = genlmsg_put_reply(skb, info, &weir_family, 0,
				 info->genlhdr->cmd);
	if (*hdr)
		return skb;
	nlmsg_free(skb);
	return NULL;
}

static int reply_send(struct sk_buff *reply, void *hdr, struct genl_info *info,
		      int err)
{
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

/* An attribute whose value comes later; NULL when there is no room. */
static u32 *reserve_u32(struct sk_buff *skb, int type)
{
	struct nlattr *attr = nla_reserve(skb, type, sizeof(u32));

	return attr ? nla_data(attr) : NULL;
}

/*
 * Changes and transactions
 */

/* Did this socket open the transaction that there is? weir_net.lock held. */
static bool staging(const struct weir_net *wn, const struct genl_info *info)
{
	return wn->draft && wn->draft_portid == info->snd_portid;
}

static void drop_draft(struct weir_net *wn)
{
	weir_draft_free(wn->draft);
	WRITE_ONCE(wn->draft, NULL);
}

static int change_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	u8 cmd = info->genlhdr->cmd;
	struct weir_summary sum;
	struct weir_draft *draft;
	int err;

	mutex_lock(&wn->lock);
	if (staging(wn, info)) {
		err = weir_request_apply(cmd, info->attrs, wn->draft,
					 info->extack);
		goto out;
	}
	err = -ENOMEM;
	draft = weir_draft_new(wn, false);
	if (!draft)
		goto out;
	err = weir_request_apply(cmd, info->attrs, draft, info->extack);
	if (err)
		weir_draft_free(draft);
	else
		err = weir_commit(wn, draft, false, NULL, &sum, NULL, info->extack);
out:
	mutex_unlock(&wn->lock);
	return err;
}

static int check_generation(const struct weir_net *wn,
			    const struct nlattr *attr,
			    struct netlink_ext_ack *extack)
{
	const struct weir_config *cfg = live_config(wn);
	u32 live = cfg->generation;

	/* What came since may be no operator's: backends that have drained, and
	 * results of probes.
	 */
	if (!attr || nla_get_u32(attr) - cfg->edited <= live - cfg->edited)
		return 0;
	return weir_refuse_attr(extack, attr, -ESTALE,
				"transaction: generation %u: the configuration is at %u; read it again",
				nla_get_u32(attr), live);
}

static int txn_begin_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_draft *draft;
	int err;

	mutex_lock(&wn->lock);
	if (wn->draft) {
		err = weir_refuse(info->extack, -EBUSY,
				  staging(wn, info) ?
				  "transaction: this socket has one open: commit or abort it first" :
				  "transaction: another socket (port id %u) has one open: try again when it is done",
				  wn->draft_portid);
		goto out;
	}
	err = check_generation(wn, info->attrs[WEIR_A_GENERATION],
			       info->extack);
	if (err)
		goto out;
	draft = weir_draft_new(wn, nla_get_flag(info->attrs[WEIR_A_REPLACE]));
	if (!draft) {
		err = -ENOMEM;
		goto out;
	}
	wn->draft_portid = info->snd_portid;
	WRITE_ONCE(wn->draft, draft);
out:
	mutex_unlock(&wn->lock);
	return err;
}

static int refuse_not_begun(struct netlink_ext_ack *extack)
{
	return weir_refuse(extack, -ENOENT,
			   "transaction: this socket has none open: begin one first");
}

static int txn_abort_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	int err = 0;

	mutex_lock(&wn->lock);
	if (staging(wn, info))
		drop_draft(wn);
	else
		err = refuse_not_begun(info->extack);
	mutex_unlock(&wn->lock);
	return err;
}

/* weir_net.lock held. The transaction is over in every case. */
static int commit_staged(struct weir_net *wn, struct genl_info *info,
			 struct sk_buff *reply, struct weir_summary *sum,
			 u32 *nr)
{
	struct nlattr *key = info->attrs[WEIR_A_HASH_KEY];
	struct weir_draft *draft = wn->draft;

	WRITE_ONCE(wn->draft, NULL);
	if (key)
		weir_draft_set_key(draft, nla_data(key));
	return weir_commit(wn, draft, nla_get_flag(info->attrs[WEIR_A_DRY_RUN]),
		      reply, sum, nr, info->extack);
}

static int txn_commit_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	u32 *generation, *added, *changed, *removed, *nr;
	struct weir_summary sum;
	struct sk_buff *reply;
	void *hdr;
	int err;

	/* Before the commit: what is published must be answered. The sums stand
	 * before the changes, which take what room is left.
	 */
	reply = reply_new(info, COMMIT_REPLY_SIZE, &hdr);
	if (!reply)
		return -ENOMEM;
	generation = reserve_u32(reply, WEIR_A_GENERATION);
	added = reserve_u32(reply, WEIR_A_N_ADDED);
	changed = reserve_u32(reply, WEIR_A_N_CHANGED);
	removed = reserve_u32(reply, WEIR_A_N_REMOVED);
	nr = reserve_u32(reply, WEIR_A_N_CHANGES);

	mutex_lock(&wn->lock);
	if (staging(wn, info))
		err = commit_staged(wn, info, reply, &sum, nr);
	else
		err = refuse_not_begun(info->extack);
	mutex_unlock(&wn->lock);
	if (err) {
		nlmsg_free(reply);
		return err;
	}
	*generation = sum.generation;
	*added = sum.added;
	*changed = sum.changed;
	*removed = sum.removed;
	/* Whoever does not make room for the answer has still changed it all. */
	reply_send(reply, hdr, info, 0);
	return 0;
}

static int report_doit(struct sk_buff *skb, struct genl_info *info)
{
	return weir_report_take(weir_net(genl_info_net(info)),
				genlmsg_data(info->genlhdr),
				genlmsg_len(info->genlhdr), info->extack);
}

static int pin_doit(struct sk_buff *skb, struct genl_info *info)
{
	return weir_pin_add(weir_net(genl_info_net(info)), info->attrs,
			    info->snd_portid, info->extack);
}

/* A socket that is closed takes along what it has pinned and staged. */
static int socket_event(struct notifier_block *nb, unsigned long event,
			void *data)
{
	const struct netlink_notify *notify = data;
	struct weir_net *wn;

	if (event != NETLINK_URELEASE || notify->protocol != NETLINK_GENERIC)
		return NOTIFY_DONE;
	wn = weir_net(notify->net);
	weir_pin_release(wn, notify->portid);
	/* Nearly always there is none. One of this socket would be seen without
	 * the lock: the socket's own request made it.
	 */
	if (!READ_ONCE(wn->draft))
		return NOTIFY_DONE;
	mutex_lock(&wn->lock);
	if (wn->draft && wn->draft_portid == notify->portid)
		drop_draft(wn);
	mutex_unlock(&wn->lock);
	return NOTIFY_DONE;
}

static struct notifier_block socket_notifier = {
	.notifier_call = socket_event,
};

/*
 * Single answers
 */

static int info_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct net *net = genl_info_net(info);
	struct weir_net *wn = weir_net(net);
	/* Who knows the key can aim flows at one backend. */
	bool with_key = netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN);
	struct sk_buff *reply;
	void *hdr;
	int err;

	reply = reply_new(info, NLMSG_DEFAULT_SIZE, &hdr);
	if (!reply)
		return -ENOMEM;
	mutex_lock(&wn->lock);
	err = weir_answer_info(reply, wn, with_key);
	mutex_unlock(&wn->lock);
	return reply_send(reply, hdr, info, err);
}

static int lookup_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_tuple tuple;
	struct sk_buff *reply;
	bool syn;
	void *hdr;
	int err;

	if (!info->attrs[WEIR_A_PACKET])
		return weir_parse_missing(info->extack, NULL, WEIR_A_PACKET,
					  "PACKET, what to look up,");
	err = weir_parse_packet(info->attrs[WEIR_A_PACKET], &tuple, &syn,
				info->extack);
	if (err)
		return err;
	reply = reply_new(info, NLMSG_DEFAULT_SIZE, &hdr);
	if (!reply)
		return -ENOMEM;
	err = weir_answer_lookup(reply, wn, &tuple, syn);
	return reply_send(reply, hdr, info, err);
}

/*
 * Flows
 */

static int check_service(struct weir_net *wn, const char *name,
			 struct netlink_ext_ack *extack)
{
	bool found;

	rcu_read_lock();
	found = weir_config_find(rcu_dereference(wn->config), name);
	rcu_read_unlock();
	if (found)
		return 0;
	return weir_refuse(extack, -ENOENT,
			   "service %s: there is none; weir show lists them",
			   name);
}

static int flow_flush_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct weir_net *wn = weir_net(genl_info_net(info));
	struct weir_flow_filter filter;
	char name[WEIR_NAME_MAX + 1];
	struct sk_buff *reply;
	void *hdr;
	int err;

	err = weir_parse_flow_filter(info->attrs, &filter, name, info->extack);
	if (!err && filter.service)
		err = check_service(wn, name, info->extack);
	if (err)
		return err;
	reply = reply_new(info, NLMSG_DEFAULT_SIZE, &hdr);
	if (!reply)
		return -ENOMEM;
	err = weir_answer_flush(reply, wn, &filter);
	return reply_send(reply, hdr, info, err);
}

/*
 * Dumps. The attributes are parsed anew in each call: where the kernel keeps
 * those that it has parsed differs between versions. A refusal comes with the
 * first call, in the NLMSG_DONE; it points at no attribute, because the request
 * may be gone from its buffer when the message is written.
 */

struct flow_dump {
	struct weir_flow_cursor cursor;
	u32 session;
	bool begun;
};

struct flow_sink {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	u32 generation;
};

static void *put_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
			   cb->nlh->nlmsg_seq, &weir_family, NLM_F_MULTI, cmd);
}

/* What a dumpit callback returns: go on, end, or what was wrong. */
static int dump_result(const struct sk_buff *skb, int err)
{
	if (skb->len && (!err || err == -EMSGSIZE))
		return skb->len;
	return err;
}

/* @err: something of the message did not fit. */
static int end_message(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

static int put_flow(const struct weir_flow *flow, void *arg)
{
	struct flow_sink *sink = arg;
	void *hdr = put_dump(sink->skb, sink->cb, WEIR_CMD_FLOW_GET);

	if (!hdr)
		return -EMSGSIZE;
	return end_message(sink->skb, hdr,
			   nla_put_u32(sink->skb, WEIR_A_GENERATION,
				       sink->generation) ?:
			   weir_fill_flow(sink->skb, WEIR_A_FLOW, flow));
}

static int put_session(const struct weir_session_view *session, void *arg)
{
	struct flow_sink *sink = arg;
	void *hdr = put_dump(sink->skb, sink->cb, WEIR_CMD_FLOW_GET);

	if (!hdr)
		return -EMSGSIZE;
	return end_message(sink->skb, hdr,
			   nla_put_u32(sink->skb, WEIR_A_GENERATION,
				       sink->generation) ?:
			   weir_fill_session(sink->skb, WEIR_A_SESSION,
					     session));
}

static int flow_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_net(sock_net(skb->sk));
	struct flow_dump *dump = (struct flow_dump *)cb->ctx;
	struct flow_sink sink = { skb, cb, live_generation(wn) };
	struct nlattr *attrs[WEIR_A_MAX + 1];
	struct weir_flow_filter filter;
	char name[WEIR_NAME_MAX + 1];
	int err;

	BUILD_BUG_ON(sizeof(*dump) > sizeof(cb->ctx));
	err = genlmsg_parse(cb->nlh, &weir_family, attrs, WEIR_A_MAX,
			    weir_policy_flow, cb->extack);
	if (!err)
		err = weir_parse_flow_filter(attrs, &filter, name, cb->extack);
	if (!err && !dump->begun && filter.service)
		err = check_service(wn, name, cb->extack);
	if (err) {
		if (cb->extack)
			cb->extack->bad_attr = NULL;
		return err;
	}
	dump->begun = true;
	err = weir_flow_dump(wn, &filter, &dump->cursor, put_flow, &sink) ?:
	      weir_session_dump(wn, &filter, &dump->session, put_session,
				&sink);
	return dump_result(skb, err);
}

/* The next object to say. When the configuration changes between two calls the
 * indices may miss or repeat some, and the kernel flags the dump as interrupted.
 */
struct config_dump {
	u32 zone;
	u32 prefix;
	u32 service;
	u32 object;
	u32 index;
	bool begun;
};

/* A message of the configuration begins; NULL when there is no room. */
static void *begin_config(struct sk_buff *skb, struct netlink_callback *cb,
			  u32 generation)
{
	void *hdr = put_dump(skb, cb, WEIR_CMD_CONFIG_GET);

	if (!hdr)
		return NULL;
	genl_dump_check_consistent(cb, hdr);
	if (!nla_put_u32(skb, WEIR_A_GENERATION, generation))
		return hdr;
	genlmsg_cancel(skb, hdr);
	return NULL;
}

static int dump_object(struct sk_buff *skb, struct netlink_callback *cb,
		       const struct weir_service *svc, u32 generation,
		       bool flows)
{
	const struct config_dump *dump = (struct config_dump *)cb->ctx;
	void *hdr = begin_config(skb, cb, generation);

	if (!hdr)
		return -EMSGSIZE;
	return end_message(skb, hdr,
			   nla_put_string(skb, WEIR_A_SERVICE_NAME, svc->name) ?:
			   weir_fill_object(skb, svc, dump->object, dump->index,
					    flows));
}

static int dump_service(struct sk_buff *skb, struct netlink_callback *cb,
			const struct weir_service *svc, u32 generation,
			bool flows)
{
	struct config_dump *dump = (struct config_dump *)cb->ctx;
	int err;

	for (; dump->object < WEIR_NR_OBJECTS; dump->object++, dump->index = 0)
		for (; dump->index < weir_count_objects(svc, dump->object);
		     dump->index++) {
			err = dump_object(skb, cb, svc, generation, flows);
			if (err)
				return err;
		}
	dump->object = 0;
	return 0;
}

static int dump_zone(struct sk_buff *skb, struct netlink_callback *cb,
		     const struct weir_zone *zone, u32 n, u32 generation)
{
	const struct config_dump *dump = (struct config_dump *)cb->ctx;
	void *hdr = begin_config(skb, cb, generation);

	if (!hdr)
		return -EMSGSIZE;
	return end_message(skb, hdr,
			   weir_fill_zone(skb, WEIR_A_ZONE, zone, dump->prefix,
					  n));
}

/* A zone takes as many messages as its prefixes need. */
static int dump_zones(struct sk_buff *skb, struct netlink_callback *cb,
		      const struct weir_zones *zones, u32 generation)
{
	struct config_dump *dump = (struct config_dump *)cb->ctx;
	int err;

	for (; zones && dump->zone < zones->nr; dump->zone++, dump->prefix = 0)
		while (dump->prefix < zones->zones[dump->zone].nr) {
			const struct weir_zone *zone = &zones->zones[dump->zone];
			u32 n = min(zone->nr - dump->prefix, PREFIXES_PER_MESSAGE);

			err = dump_zone(skb, cb, zone, n, generation);
			if (err)
				return err;
			dump->prefix += n;
		}
	return 0;
}

/* Who may change things may ask as often as they like; for others the whole table is
 * walked once a second at most, and they see what was counted then.
 */
static bool may_walk(struct weir_net *wn, struct sk_buff *skb)
{
	bool late = time_after_eq(jiffies, wn->flows_counted + HZ);

	return late || netlink_ns_capable(skb, wn->net->user_ns, CAP_NET_ADMIN);
}

/* The first call: refuse what does not exist, count what is asked for. */
static int config_dump_begin(struct weir_net *wn, struct netlink_callback *cb,
			     struct nlattr **attrs)
{
	struct config_dump *dump = (struct config_dump *)cb->ctx;
	char name[WEIR_NAME_MAX + 1];
	int err;

	BUILD_BUG_ON(sizeof(*dump) > sizeof(cb->ctx));
	if (attrs[WEIR_A_SERVICE_NAME]) {
		err = weir_parse_service_name(attrs[WEIR_A_SERVICE_NAME], name,
					      cb->extack) ?:
		      check_service(wn, name, cb->extack);
		if (err)
			return err;
	}
	if (attrs[WEIR_A_WITH_FLOWS] && may_walk(wn, cb->skb)) {
		weir_flow_count(wn);
		/* From its end: a walk that takes long is not repeated at once. */
		wn->flows_counted = jiffies;
	}
	dump->begun = true;
	return 0;
}

/* weir_net.lock held: the configuration stays, and so do the counters that
 * move from a backend that is removed to its service.
 */
static int dump_config(struct weir_net *wn, struct sk_buff *skb,
		       struct netlink_callback *cb)
{
	struct config_dump *dump = (struct config_dump *)cb->ctx;
	const struct weir_config *cfg = live_config(wn);
	struct nlattr *attrs[WEIR_A_MAX + 1], *only;
	int err;

	err = genlmsg_parse(cb->nlh, &weir_family, attrs, WEIR_A_MAX,
			    weir_policy_config_get, cb->extack);
	if (!err && !dump->begun)
		err = config_dump_begin(wn, cb, attrs);
	if (err)
		return err;
	/* 0 would mean that nobody looks. */
	cb->seq = cfg->layout + 1 ?: 1;
	only = attrs[WEIR_A_SERVICE_NAME];
	if (!only)
		err = dump_zones(skb, cb, cfg->zones, cfg->generation);
	if (err)
		return err;
	for (; dump->service < cfg->nr_services; dump->service++) {
		const struct weir_service *svc = cfg->services[dump->service];

		if (only && nla_strcmp(only, svc->name))
			continue;
		err = dump_service(skb, cb, svc, cfg->generation,
				   attrs[WEIR_A_WITH_FLOWS]);
		if (err)
			break;
	}
	return err;
}

static int config_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_net(sock_net(skb->sk));
	int err;

	mutex_lock(&wn->lock);
	err = dump_config(wn, skb, cb);
	mutex_unlock(&wn->lock);
	if (err && cb->extack)
		cb->extack->bad_attr = NULL;
	return dump_result(skb, err);
}

/* Ours first, then the kernel's. -ENOENT behind the last one. */
static int put_reason(struct sk_buff *skb, struct weir_net *wn, unsigned int i)
{
	struct weir_ctstat stat;

	if (i < WEIR_NR_REASONS)
		return weir_fill_reason(skb, WEIR_A_REASON, weir_reason_name(i),
					weir_reason_text(i),
					weir_reason_sum(wn, i), false);
	if (!weir_ctstat_read(wn->net, i - WEIR_NR_REASONS, &stat))
		return -ENOENT;
	return weir_fill_reason(skb, WEIR_A_REASON, stat.name, stat.text,
				stat.packets, true);
}

static int counter_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct weir_net *wn = weir_net(sock_net(skb->sk));
	u32 generation = live_generation(wn);
	long *next = &cb->args[0];
	void *hdr;
	int err;

	for (;; (*next)++) {
		hdr = put_dump(skb, cb, WEIR_CMD_COUNTER_GET);
		if (!hdr)
			return dump_result(skb, -EMSGSIZE);
		err = nla_put_u32(skb, WEIR_A_GENERATION, generation) ?:
		      put_reason(skb, wn, *next);
		if (err)
			break;
		genlmsg_end(skb, hdr);
	}
	genlmsg_cancel(skb, hdr);
	return dump_result(skb, err == -ENOENT ? 0 : err);
}

/*
 * Family
 */

#define CHANGE(_cmd, _policy)						\
	{ .cmd = WEIR_CMD_##_cmd, .doit = change_doit,			\
	  .flags = GENL_UNS_ADMIN_PERM,					\
	  .policy = weir_policy_##_policy, .maxattr = WEIR_A_MAX }

/* No policy: the kernel refuses any attribute. */
static const struct genl_ops weir_ops[] = {
	{ .cmd = WEIR_CMD_INFO_GET, .doit = info_get_doit },
	{ .cmd = WEIR_CMD_CONFIG_GET, .dumpit = config_get_dumpit,
	  .policy = weir_policy_config_get, .maxattr = WEIR_A_MAX },
	CHANGE(SERVICE_ADD, service),
	CHANGE(SERVICE_SET, service),
	CHANGE(SERVICE_DEL, service_del),
	CHANGE(RULE_ADD, rule),
	CHANGE(RULE_DEL, rule),
	CHANGE(GROUP_ADD, group),
	CHANGE(GROUP_SET, group),
	CHANGE(GROUP_DEL, group_del),
	CHANGE(BACKEND_ADD, backend),
	CHANGE(BACKEND_SET, backend),
	CHANGE(BACKEND_DEL, backend_del),
	CHANGE(ZONE_ADD, zone),
	CHANGE(ZONE_DEL, zone),
	{ .cmd = WEIR_CMD_TXN_BEGIN, .doit = txn_begin_doit,
	  .flags = GENL_UNS_ADMIN_PERM,
	  .policy = weir_policy_txn_begin, .maxattr = WEIR_A_MAX },
	{ .cmd = WEIR_CMD_TXN_COMMIT, .doit = txn_commit_doit,
	  .flags = GENL_UNS_ADMIN_PERM,
	  .policy = weir_policy_txn_commit, .maxattr = WEIR_A_MAX },
	{ .cmd = WEIR_CMD_TXN_ABORT, .doit = txn_abort_doit,
	  .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = WEIR_CMD_LOOKUP, .doit = lookup_doit,
	  .flags = GENL_UNS_ADMIN_PERM,
	  .policy = weir_policy_lookup, .maxattr = WEIR_A_MAX },
	{ .cmd = WEIR_CMD_FLOW_GET, .dumpit = flow_get_dumpit,
	  .flags = GENL_UNS_ADMIN_PERM,
	  .policy = weir_policy_flow, .maxattr = WEIR_A_MAX },
	{ .cmd = WEIR_CMD_FLOW_FLUSH, .doit = flow_flush_doit,
	  .flags = GENL_UNS_ADMIN_PERM,
	  .policy = weir_policy_flow, .maxattr = WEIR_A_MAX },
	{ .cmd = WEIR_CMD_COUNTER_GET, .dumpit = counter_get_dumpit },
	{ .cmd = WEIR_CMD_REPORT, .doit = report_doit,
	  .flags = GENL_UNS_ADMIN_PERM,
	  .policy = weir_policy_report, .maxattr = WEIR_A_MAX },
	{ .cmd = WEIR_CMD_PIN, .doit = pin_doit,
	  .flags = GENL_UNS_ADMIN_PERM,
	  .policy = weir_policy_pin, .maxattr = WEIR_A_MAX },
};

static const struct genl_multicast_group weir_groups[] = {
	{ .name = WEIR_MCGRP_EVENTS },
};

/* resv_start_op is 0: everything is validated strictly. */
static struct genl_family weir_family __ro_after_init = {
	.name		= WEIR_GENL_NAME,
	.version	= WEIR_GENL_VERSION,
	.netnsok	= true,
	.module		= THIS_MODULE,
	.ops		= weir_ops,
	.n_ops		= ARRAY_SIZE(weir_ops),
	.mcgrps		= weir_groups,
	.n_mcgrps	= ARRAY_SIZE(weir_groups),
};

/*
 * Events
 */

bool weir_event_wanted(struct net *net)
{
	return genl_has_listeners(&weir_family, net, 0);
}

int weir_event_put(struct sk_buff *skb, const struct weir_change_item *item)
{
	void *hdr = genlmsg_put(skb, 0, 0, &weir_family, 0, WEIR_CMD_EVENT);

	if (!hdr)
		return -EMSGSIZE;
	/* weir_event_send() relies on GENERATION being the first: it is known only
	 * when the commit is done.
	 */
	return end_message(skb, hdr, nla_put_u32(skb, WEIR_A_GENERATION, 0) ?:
			   (item ? weir_fill_change(skb, WEIR_A_CHANGE, item) :
				   0));
}

void weir_event_send(struct net *net, struct sk_buff *skb, u32 generation)
{
	struct nlmsghdr *nlh = nlmsg_hdr(skb);
	int left = skb->len;

	for (; nlmsg_ok(nlh, left); nlh = nlmsg_next(nlh, &left)) {
		struct nlattr *attr = nlmsg_attrdata(nlh, GENL_HDRLEN);

		memcpy(nla_data(attr), &generation, sizeof(generation));
	}
	genlmsg_multicast_netns(&weir_family, net, skb, 0, 0, GFP_KERNEL);
}

void weir_event_lost(struct net *net)
{
	genl_set_err(&weir_family, net, 0, 0, -ENOBUFS);
}

int weir_netlink_init(void)
{
	int err;

	err = netlink_register_notifier(&socket_notifier);
	if (err)
		return err;
	err = weir_fault() ?: genl_register_family(&weir_family);
	if (err)
		netlink_unregister_notifier(&socket_notifier);
	return err;
}

void weir_netlink_exit(void)
{
	genl_unregister_family(&weir_family);
	netlink_unregister_notifier(&socket_notifier);
}
