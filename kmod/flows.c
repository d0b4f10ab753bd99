// SPDX-License-Identifier: GPL-2.0
/*
 * flows - walks over the conntrack entries that are ours
 */
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>

#include "binding.h"
#include "config.h"
#include "flows.h"
#include "guard.h"
#include "netns.h"
#include "packet.h"
#include "stay.h"

bool weir_flow_describe(struct weir_net *wn, struct nf_conn *ct,
			struct weir_flow *flow)
{
	const struct weir_binding *binding = weir_binding_of(ct);
	const struct weir_dest *dest;
	struct weir_tuple orig, reply;

	dest = binding ? rcu_dereference(binding->dest) : NULL;
	if (!dest)
		return false;
	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple, &orig);
	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_REPLY].tuple, &reply);
	memset(flow, 0, sizeof(*flow));
	strscpy(flow->service, dest->owner->name, sizeof(flow->service));
	flow->family = orig.family;
	flow->proto = orig.proto;
	flow->has_ports = orig.proto == IPPROTO_TCP ||
			  orig.proto == IPPROTO_UDP ||
			  orig.proto == IPPROTO_SCTP;
	flow->src = orig.src;
	flow->dst = orig.dst;
	flow->backend = dest->addr;
	flow->sport = ntohs(orig.sport);
	flow->dport = ntohs(orig.dport);
	flow->backend_port = ntohs(reply.sport);
	flow->expires = nf_ct_expires(ct) / HZ;
	flow->is_tcp = orig.proto == IPPROTO_TCP;
	if (flow->is_tcp)
		flow->tcp_state = READ_ONCE(ct->proto.tcp.state);
	flow->replied = test_bit(IPS_SEEN_REPLY_BIT, &ct->status);
	flow->stay = weir_stay(rcu_dereference(wn->config), ct, binding);
	return true;
}

static bool matches(const struct weir_flow_filter *filter,
		    const struct weir_flow *flow)
{
	/* What has ended is gone at once, whenever the sweep gets to it. */
	if (flow->stay == WEIR_STAY_GONE || flow->stay == WEIR_STAY_UNBOUND)
		return false;
	if (filter->service && strcmp(filter->service, flow->service))
		return false;
	return !filter->has_backend ||
	       (filter->family == flow->family &&
		!weir_addr_cmp(&filter->backend, &flow->backend));
}

/* The declaration of nf_conntrack_lock() does not say that it takes the lock. */
static void lock_bucket(spinlock_t *lock) __acquires(lock)
{
	local_bh_disable();
	nf_conntrack_lock(lock);
	__acquire(lock);
}

static void unlock_bucket(spinlock_t *lock) __releases(lock)
{
	spin_unlock(lock);
	local_bh_enable();
}

/* One bucket, with its lock and bottom halves off. */
static int dump_bucket(struct weir_net *wn,
		       const struct weir_flow_filter *filter,
		       struct weir_flow_cursor *cursor,
		       int (*fn)(const struct weir_flow *flow, void *arg),
		       void *arg)
{
	struct nf_conntrack_tuple_hash *h;
	struct hlist_nulls_node *n;
	struct weir_flow flow;
	u32 seen = 0;
	int err;

	hlist_nulls_for_each_entry_rcu(h, n, &nf_conntrack_hash[cursor->bucket],
				       hnnode) {
		struct nf_conn *ct = nf_ct_tuplehash_to_ctrack(h);

		/* Each entry is in the table by both of its tuples; where two
		 * clashed, the second has only the one of its answers.
		 */
		if (NF_CT_DIRECTION(h) != IP_CT_DIR_REPLY ||
		    !net_eq(nf_ct_net(ct), wn->net) || nf_ct_is_expired(ct) ||
		    !weir_flow_describe(wn, ct, &flow) ||
		    !matches(filter, &flow))
			continue;
		if (seen++ < cursor->skip)
			continue;
		err = fn(&flow, arg);
		if (err)
			return err;
		cursor->skip++;
	}
	return 0;
}

int weir_flow_dump(struct weir_net *wn, const struct weir_flow_filter *filter,
		   struct weir_flow_cursor *cursor,
		   int (*fn)(const struct weir_flow *flow, void *arg),
		   void *arg)
{
	spinlock_t *lock;
	int err = 0;

	while (!err && cursor->bucket < READ_ONCE(nf_conntrack_htable_size)) {
		lock = &nf_conntrack_locks[cursor->bucket % CONNTRACK_LOCKS];
		rcu_read_lock();
		lock_bucket(lock);
		/* The table may have been replaced by a smaller one. */
		if (cursor->bucket < nf_conntrack_htable_size)
			err = dump_bucket(wn, filter, cursor, fn, arg);
		unlock_bucket(lock);
		rcu_read_unlock();
		if (err)
			break;
		cursor->bucket++;
		cursor->skip = 0;
		cond_resched();
	}
	return err;
}

static int count_flow(struct nf_conn *ct, void *data)
{
	struct weir_net *wn = data;
	const struct weir_binding *binding;
	struct weir_dest *dest;

	rcu_read_lock();
	binding = weir_binding_of(ct);
	dest = binding ? rcu_dereference(binding->dest) : NULL;
	if (dest && !nf_ct_is_expired(ct) &&
	    weir_stay(rcu_dereference(wn->config), ct, binding) != WEIR_STAY_GONE)
		dest->nr_flows++;
	rcu_read_unlock();
	return 0;
}

void weir_flow_count(struct weir_net *wn)
{
	const struct weir_config *cfg = rcu_dereference_protected(wn->config,
					lockdep_is_held(&wn->lock));
	struct nf_ct_iter_data iter = {
		.net = wn->net,
		.data = wn,
	};
	u32 s, b;

	for (s = 0; s < cfg->nr_services; s++)
		for (b = 0; b < cfg->services[s]->nr_backends; b++)
			cfg->services[s]->backends[b].dest->nr_flows = 0;
	/* The walk goes bucket by bucket, one at a time: no other counts. */
	nf_ct_iterate_cleanup_net(count_flow, &iter);
}

struct flush {
	struct weir_net *wn;
	const struct weir_flow_filter *filter;
	u32 nr;
};

static int flush_flow(struct nf_conn *ct, void *data)
{
	struct flush *flush = data;
	struct weir_flow flow;
	int over = 0;

	rcu_read_lock();
	if (weir_flow_describe(flush->wn, ct, &flow) &&
	    matches(flush->filter, &flow)) {
		weir_tombs_add(&flush->wn->tombs, ct);
		flush->nr++;
		over = 1;
	}
	rcu_read_unlock();
	return over;
}

u32 weir_flow_flush(struct weir_net *wn, const struct weir_flow_filter *filter)
{
	struct flush flush = {
		.wn = wn,
		.filter = filter,
	};
	struct nf_ct_iter_data iter = {
		.net = wn->net,
		.data = &flush,
	};

	nf_ct_iterate_cleanup_net(flush_flow, &iter);
	return flush.nr;
}
