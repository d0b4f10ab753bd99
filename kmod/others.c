// SPDX-License-Identifier: GPL-2.0
/*
 * others - traffic of others, which need not be in the conntrack table
 *
 *	PREROUTING, OUTPUT	untrack (-201), before conntrack
 *
 * Nat mode asks for conntrack, and then all that the router forwards is tracked. With
 * net.weir.track_others=0 that is left to what may be ours.
 */
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/netfilter/nf_conntrack.h>

#include "config.h"
#include "guard.h"
#include "netns.h"
#include "others.h"
#include "packet.h"
#include "site.h"

static bool has_entry(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	struct nf_conn *ct = weir_packet_find_entry(skb, state);

	if (!ct)
		return false;
	nf_ct_put(ct);
	return true;
}

/* An ICMP error is of whoever sent the packet that it is about, and conntrack makes no
 * entry for it. A backend that was removed is no backend, but what it says to the clients
 * that it had has to be found late: by their entries, while these are there, then by what
 * is kept of them.
 */
static bool may_be_ours(struct weir_net *wn, const struct sk_buff *skb,
			const struct nf_hook_state *state)
{
	struct weir_packet packet;

	return !weir_packet_parse(skb, state, &packet) || packet.icmp_error ||
	       weir_tombs_have(&wn->tombs, &packet.tuple) || has_entry(skb, state);
}

/* To a backend counts as well as from one: the answer to the router's own probes would be
 * invalid if these had not been seen.
 */
static bool is_others(struct weir_net *wn, const struct sk_buff *skb,
		      const struct nf_hook_state *state)
{
	const struct weir_config *cfg = rcu_dereference(wn->config);
	struct weir_tuple tuple;

	weir_packet_addresses(skb, state->pf, &tuple);
	if (weir_index_forwards(&cfg->index, tuple.family, &tuple.dst) ||
	    weir_site_is(wn, tuple.family, &tuple.src) ||
	    weir_site_is(wn, tuple.family, &tuple.dst))
		return false;
	if ((tuple.proto == IPPROTO_TCP || tuple.proto == IPPROTO_UDP) &&
	    !weir_site_left(wn, WEIR_TOMB_LIFE * HZ))
		return true;
	return !may_be_ours(wn, skb, state);
}

/* What has an entry came by the loopback device, and what has a template is tracked
 * because a ruleset says so.
 */
static unsigned int untrack(void *priv, struct sk_buff *skb,
			    const struct nf_hook_state *state)
{
	if (!skb_get_nfct(skb) && is_others(weir_net(state->net), skb, state))
		nf_ct_set(skb, NULL, IP_CT_UNTRACKED);
	return NF_ACCEPT;
}

#define UNTRACK_OPS(family, number)					\
	{								\
		.hook		= untrack,				\
		.pf		= family,				\
		.hooknum	= number,				\
		.priority	= NF_IP_PRI_CONNTRACK - 1,		\
	}

static const struct nf_hook_ops untrack_ops[] = {
	UNTRACK_OPS(NFPROTO_IPV4, NF_INET_PRE_ROUTING),
	UNTRACK_OPS(NFPROTO_IPV4, NF_INET_LOCAL_OUT),
	UNTRACK_OPS(NFPROTO_IPV6, NF_INET_PRE_ROUTING),
	UNTRACK_OPS(NFPROTO_IPV6, NF_INET_LOCAL_OUT),
};

void weir_others_disable(struct weir_net *wn)
{
	if (wn->untracks)
		nf_unregister_net_hooks(wn->net, untrack_ops, ARRAY_SIZE(untrack_ops));
	WRITE_ONCE(wn->untracks, false);
}

int weir_others_switch(struct weir_net *wn, bool track)
{
	int err = 0;

	mutex_lock(&wn->lock);
	/* From then on the hooks are for those who take them out, without the lock. */
	if (wn->closing)
		goto out;
	if (track) {
		weir_others_disable(wn);
	} else if (!wn->untracks) {
		err = nf_register_net_hooks(wn->net, untrack_ops, ARRAY_SIZE(untrack_ops));
		WRITE_ONCE(wn->untracks, !err);
	}
out:
	mutex_unlock(&wn->lock);
	return err;
}
