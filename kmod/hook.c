// SPDX-License-Identifier: GPL-2.0
/*
 * hook - where weir sees packets
 *
 *	PREROUTING, OUTPUT	conntrack (-200)
 *				verify (-101): a flow of ours: may it stay?
 *				nat (-100) calls select for the first packet
 *	POSTROUTING		nat (100) calls hairpin for the first packet
 *
 * The kernel's NAT core does the rewriting, of replies and ICMP errors too; being
 * registered with it is enough, no ruleset is needed.
 */
#include <linux/bottom_half.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/netfilter/nf_conntrack_zones.h>
#include <net/netfilter/nf_nat.h>

#include "bh.h"
#include "binding.h"
#include "choose.h"
#include "config.h"
#include "fast.h"
#include "guard.h"
#include "hook.h"
#include "limit.h"
#include "nat.h"
#include "netns.h"
#include "packet.h"
#include "session.h"
#include "set.h"
#include "stack.h"
#include "stay.h"

static enum weir_why why_of(enum weir_stay stay)
{
	switch (stay) {
	case WEIR_STAY_UNHEALTHY:
		return WEIR_WHY_UNHEALTHY;
	case WEIR_STAY_FAILOVER:
		return WEIR_WHY_FAILOVER;
	case WEIR_STAY_UNBOUND:
		return WEIR_WHY_ADOPTED;
	default:
		return WEIR_WHY_GONE;
	}
}

/* Does this packet of a running flow consult more than its entry? A SYN selects
 * anew where the tracking key has five fields (semantics 1.2); where it has fewer,
 * the session is the tracking entry.
 */
static bool chooses(const struct sk_buff *skb, const struct nf_hook_state *state,
		    enum ip_conntrack_info ctinfo,
		    const struct weir_binding *binding)
{
	if (ctinfo == IP_CT_RELATED)
		return false;
	if (READ_ONCE(binding->session))
		return true;
	if (binding->class == WEIR_CLASS_TCP)
		return weir_packet_opens_tcp(skb, state->pf);
	return binding->class == WEIR_CLASS_UDP &&
	       weir_packet_fragmented(skb, state->pf);
}

static bool may_be_used(const struct weir_config *cfg,
			const struct weir_service *svc,
			const struct weir_dest *dest,
			const struct weir_tuple *tuple)
{
	const struct weir_backend *be =
		weir_backend_find(svc, &dest->addr, dest->family);

	return be && be->dest == dest && weir_choose_may_use(cfg, svc, be, tuple);
}

static unsigned int verify_choice(struct weir_net *wn,
				  const struct weir_config *cfg,
				  struct sk_buff *skb,
				  const struct nf_hook_state *state,
				  struct nf_conn *ct,
				  const struct weir_binding *binding,
				  const struct weir_dest *dest)
{
	bool syn = binding->class == WEIR_CLASS_TCP &&
		   weir_packet_opens_tcp(skb, state->pf);
	struct weir_choice choice WEIR_UNINIT;
	struct weir_match match;
	struct weir_tuple tuple;
	bool session = READ_ONCE(binding->session);
	__be32 isn;

	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple, &tuple);
	if (!weir_index_nat_rule(&cfg->index, tuple.family, &tuple.dst, tuple.proto,
			     ntohs(tuple.dport), &match))
		return weir_reselect(wn, cfg, skb, state, WEIR_WHY_GONE);
	tuple.fragmented = weir_packet_fragmented(skb, state->pf);
	weir_choose(wn, cfg, match.service, &tuple, &choice);
	if (choice.backend && choice.backend->dest == dest) {
		weir_choose_settle(wn, match.service, &choice,
				   syn && weir_packet_seq(skb, state->pf, &isn) ?
				   &isn : NULL);
		if (syn)
			weir_nat_remember_syn(ct, skb, state->pf);
		goto keep;
	}
	/* A fragmented datagram of a running flow goes with the flow, and a
	 * repeated SYN with the one that it repeats (decisions 10 and 2).
	 */
	if (!session && (!syn || (may_be_used(cfg, match.service, dest, &tuple) &&
				  weir_nat_retransmitted(skb, state->pf, ct))))
		goto keep;
	return weir_reselect(wn, cfg, skb, state,
			     session ? WEIR_WHY_SESSION : WEIR_WHY_SYN);
keep:
	if (syn)
		weir_binding_prolong(binding, ct);
	weir_counters_packet(dest->counters, false, skb->len);
	return NF_ACCEPT;
}

/* A flow that may not stay: the reference's lazy rule, judged by what holds now, when
 * its next packet is here.
 */
static unsigned int verify_leaving(struct weir_net *wn,
				   const struct weir_config *cfg,
				   struct sk_buff *skb,
				   const struct nf_hook_state *state,
				   struct nf_conn *ct,
				   enum ip_conntrack_info ctinfo,
				   enum weir_stay stay)
{
	if (CTINFO2DIR(ctinfo) == IP_CT_DIR_REPLY) {
		weir_nat_end(wn, ct);
		return weir_drop(wn, WEIR_R_ENDED, skb, state);
	}
	/* An ICMP error belongs to the flow that it is about, and to no other. */
	if (ctinfo == IP_CT_RELATED)
		return weir_drop(wn, WEIR_R_ICMP_UNKNOWN, skb, state);
	return weir_reselect(wn, cfg, skb, state, why_of(stay));
}

static unsigned int verify_ours(struct weir_net *wn,
				const struct weir_config *cfg,
				struct sk_buff *skb,
				const struct nf_hook_state *state,
				struct nf_conn *ct,
				enum ip_conntrack_info ctinfo,
				struct weir_binding *binding)
{
	struct weir_dest *dest = rcu_dereference(binding->dest);
	bool reply = CTINFO2DIR(ctinfo) == IP_CT_DIR_REPLY;
	enum weir_stay stay = WEIR_STAY_YES;

	if (unlikely(!dest || READ_ONCE(binding->state)))
		stay = weir_stay(cfg, ct, binding);
	/* Not in the table yet, and here again: through a VRF, or as the router's own
	 * answer to its first packet, which is tied to the same entry. There is
	 * nothing that could be removed or replaced.
	 */
	if (unlikely(!nf_ct_is_confirmed(ct)))
		return stay == WEIR_STAY_GONE || stay == WEIR_STAY_UNBOUND ?
		       weir_drop(wn, WEIR_R_ENDED, skb, state) : NF_ACCEPT;
	/* Only an incoming packet makes a flow leave an unhealthy backend, or one of
	 * the other role; a removed one is not heard any more either.
	 */
	if (unlikely(stay != WEIR_STAY_YES) &&
	    !(reply && (stay == WEIR_STAY_UNHEALTHY ||
			stay == WEIR_STAY_FAILOVER)))
		return verify_leaving(wn, cfg, skb, state, ct, ctinfo, stay);
	if (binding->class == WEIR_CLASS_OTHER)
		weir_binding_refresh(binding, ct);
	if (!reply && chooses(skb, state, ctinfo, binding))
		return verify_choice(wn, cfg, skb, state, ct, binding, dest);
	if (dest)
		weir_counters_packet(dest->counters, reply, skb->len);
	return NF_ACCEPT;
}

/* Translated to a backend of the service already, but another module stored its
 * own timeout policy over our binding, or an entry came from a peer: it can be
 * taken back without a new selection if it has the extension.
 */
static struct weir_binding *take_back(const struct weir_service *svc,
				      struct nf_conn *ct)
{
	const struct nf_conntrack_tuple *reply =
		&ct->tuplehash[IP_CT_DIR_REPLY].tuple;
	const struct weir_backend *be;
	struct weir_binding *binding;
	struct weir_tuple tuple;

	if (!(ct->status & IPS_DST_NAT))
		return NULL;
	weir_packet_tuple(reply, &tuple);
	be = weir_backend_find(svc, &tuple.src, tuple.family);
	if (!be || (be->port && be->port != ntohs(tuple.sport)))
		return NULL;
	binding = be->dest->bindings[weir_class(tuple.proto)];
	return weir_binding_adopt(binding, ct) ? binding : NULL;
}

/* A connection that a conntrack helper expected, such as FTP's data: it goes where its
 * master went, and ends when that one's backend is gone.
 */
static unsigned int verify_child(struct weir_net *wn,
				 const struct weir_config *cfg,
				 struct sk_buff *skb,
				 const struct nf_hook_state *state,
				 struct nf_conn *ct)
{
	const struct weir_binding *binding = weir_binding_of(ct->master);
	enum weir_stay stay;

	if (!binding)
		return NF_ACCEPT;
	stay = weir_stay(cfg, ct->master, binding);
	if (stay != WEIR_STAY_GONE && stay != WEIR_STAY_UNBOUND)
		return NF_ACCEPT;
	weir_nat_end(wn, ct);
	return weir_drop(wn, WEIR_R_ENDED, skb, state);
}

/* A confirmed entry without a binding, original direction. */
static unsigned int verify_unbound(struct weir_net *wn,
				   const struct weir_config *cfg,
				   struct sk_buff *skb,
				   const struct nf_hook_state *state,
				   struct nf_conn *ct,
				   enum ip_conntrack_info ctinfo)
{
	struct weir_binding *binding;
	struct weir_match match;
	struct weir_tuple tuple;

	if (ct->master)
		return verify_child(wn, cfg, skb, state, ct);
	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple, &tuple);
	if (!weir_index_nat_rule(&cfg->index, tuple.family, &tuple.dst, tuple.proto,
			     ntohs(tuple.dport), &match))
		return weir_guard_no_rule(wn, cfg, skb, state, &tuple);
	if (ctinfo == IP_CT_RELATED)
		return weir_drop(wn, WEIR_R_ICMP_UNKNOWN, skb, state);
	binding = take_back(match.service, ct);
	if (binding)
		return verify_ours(wn, cfg, skb, state, ct, ctinfo, binding);
	return weir_reselect(wn, cfg, skb, state, WEIR_WHY_ADOPTED);
}

/* IPv6 extension headers are passed over, but for two (decision 25, and AH). */
static unsigned int verify_extension(struct weir_net *wn,
				     const struct weir_config *cfg,
				     struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	enum weir_extension extension = weir_packet_extension(skb);
	struct weir_addr vip;

	if (likely(extension == WEIR_EXTENSION_NONE))
		return NF_ACCEPT;
	memcpy(&vip, &ipv6_hdr(skb)->daddr, sizeof(vip));
	if (!weir_index_is_vip(&cfg->index, AF_INET6, &vip))
		return NF_ACCEPT;
	if (extension == WEIR_EXTENSION_SOURCE_ROUTE)
		return weir_drop(wn, WEIR_R_ROUTING_HEADER, skb, state);
	/* To the router itself, for which there is no rule, it may come. */
	if (weir_guard_is_local(wn, AF_INET6, &vip))
		return NF_ACCEPT;
	return weir_drop(wn, WEIR_R_AH, skb, state);
}

static unsigned int verify(struct weir_net *wn, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	const struct weir_config *cfg = rcu_dereference(wn->config);
	enum ip_conntrack_info ctinfo;
	struct weir_binding *binding;
	struct nf_conn *ct;

	if (state->pf == NFPROTO_IPV6 &&
	    verify_extension(wn, cfg, skb, state) != NF_ACCEPT)
		return NF_DROP;
	ct = nf_ct_get(skb, &ctinfo);
	if (!ct)
		return weir_guard_no_entry(wn, cfg, skb, state,
					   ctinfo == IP_CT_UNTRACKED);
	binding = weir_binding_of(ct);
	if (binding)
		return verify_ours(wn, cfg, skb, state, ct, ctinfo, binding);
	if (CTINFO2DIR(ctinfo) == IP_CT_DIR_REPLY)
		return NF_ACCEPT;
	if (nf_ct_is_confirmed(ct))
		return verify_unbound(wn, cfg, skb, state, ct, ctinfo);
	/* Select comes next; it knows of VIPs, not of backends. */
	if (state->hook == NF_INET_PRE_ROUTING)
		return weir_guard_new(wn, cfg, skb, state, ct);
	return NF_ACCEPT;
}

/* Counters, sessions and whatever answers want bottom halves off. Locally made packets
 * come in process context, and so do those that a queue for user space gives back.
 */
static unsigned int verify_bh(struct weir_net *wn, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	bool on = weir_bh_off();
	unsigned int verdict = verify(wn, skb, state);

	weir_bh_restore(on);
	return verdict;
}

static unsigned int verify_in(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	/* A packet in a VRF comes twice; the first time was enough. */
	if (netif_is_l3_master(state->in))
		return NF_ACCEPT;
	return verify_bh(weir_net(state->net), skb, state);
}

static unsigned int verify_out(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	/* On its way into a VRF it is untracked; it comes again behind that. */
	if (netif_is_l3_master(state->out))
		return NF_ACCEPT;
	return verify_bh(weir_net(state->net), skb, state);
}

static unsigned int select_backend(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct = nf_ct_get(skb, &ctinfo);
	unsigned int verdict;
	bool on;

	/* NAT also calls for entries that were confirmed before it existed, and
	 * nothing may be added to those: verify has replaced them.
	 */
	if (!ct || ctinfo != IP_CT_NEW || nf_ct_is_confirmed(ct))
		return NF_ACCEPT;
	on = weir_bh_off();
	verdict = weir_select(wn, rcu_dereference(wn->config), skb, state, ct,
			      WEIR_WHY_NEW);
	weir_bh_restore(on);
	return verdict;
}

static unsigned int select_source(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct = nf_ct_get(skb, &ctinfo);
	unsigned int verdict;
	bool on;

	if (!ct || ctinfo != IP_CT_NEW || nf_ct_is_confirmed(ct))
		return NF_ACCEPT;
	on = weir_bh_off();
	verdict = weir_hairpin(weir_net(state->net), skb, state, ct);
	weir_bh_restore(on);
	return verdict;
}

#define VERIFY_OPS(family, number, fn)					\
	{								\
		.hook		= fn,					\
		.pf		= family,				\
		.hooknum	= number,				\
		.priority	= NF_IP_PRI_NAT_DST - 1,		\
	}

/* Before the rules of others, who may translate what we leave alone. */
#define NAT_OPS(family, number, prio, fn)				\
	{								\
		.hook		= fn,					\
		.pf		= family,				\
		.hooknum	= number,				\
		.priority	= (prio) - 1,				\
	}

static const struct nf_hook_ops verify_ops[2][2] = {
	{
		VERIFY_OPS(NFPROTO_IPV4, NF_INET_PRE_ROUTING, verify_in),
		VERIFY_OPS(NFPROTO_IPV4, NF_INET_LOCAL_OUT, verify_out),
	}, {
		VERIFY_OPS(NFPROTO_IPV6, NF_INET_PRE_ROUTING, verify_in),
		VERIFY_OPS(NFPROTO_IPV6, NF_INET_LOCAL_OUT, verify_out),
	},
};

static const struct nf_hook_ops nat_ops[2][3] = {
	{
		NAT_OPS(NFPROTO_IPV4, NF_INET_PRE_ROUTING, NF_IP_PRI_NAT_DST,
			select_backend),
		NAT_OPS(NFPROTO_IPV4, NF_INET_LOCAL_OUT, NF_IP_PRI_NAT_DST,
			select_backend),
		NAT_OPS(NFPROTO_IPV4, NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC,
			select_source),
	}, {
		NAT_OPS(NFPROTO_IPV6, NF_INET_PRE_ROUTING, NF_IP6_PRI_NAT_DST,
			select_backend),
		NAT_OPS(NFPROTO_IPV6, NF_INET_LOCAL_OUT, NF_IP6_PRI_NAT_DST,
			select_backend),
		NAT_OPS(NFPROTO_IPV6, NF_INET_POST_ROUTING, NF_IP6_PRI_NAT_SRC,
			select_source),
	},
};

static void nat_unregister(struct net *net, int v6, int n)
{
	while (n-- > 0) {
		if (v6)
			nf_nat_ipv6_unregister_fn(net, &nat_ops[v6][n]);
		else
			nf_nat_ipv4_unregister_fn(net, &nat_ops[v6][n]);
	}
}

static int nat_register(struct net *net, int v6)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(nat_ops[v6]); i++) {
		if (v6)
			err = nf_nat_ipv6_register_fn(net, &nat_ops[v6][i]);
		else
			err = nf_nat_ipv4_register_fn(net, &nat_ops[v6][i]);
		if (err) {
			nat_unregister(net, v6, i);
			return err;
		}
	}
	return 0;
}

int weir_hook_enable(struct weir_net *wn, u8 family)
{
	int v6 = family == AF_INET6;
	int err;

	if (wn->hooked[v6])
		return 0;
	err = weir_tombs_init(&wn->tombs, wn->net);
	if (!err)
		err = weir_session_init(wn);
	if (err)
		return err;
	err = nf_ct_netns_get(wn->net, verify_ops[v6][0].pf);
	if (err)
		return err;
	/* The guard is there before anything is translated. */
	err = nf_register_net_hooks(wn->net, verify_ops[v6],
				    ARRAY_SIZE(verify_ops[v6]));
	if (err)
		goto err_conntrack;
	err = nat_register(wn->net, v6);
	if (err)
		goto err_verify;
	err = weir_fast_enable(wn, family);
	if (err)
		goto err_nat;
	wn->hooked[v6] = true;
	weir_limit_start(wn);
	return 0;

err_nat:
	nat_unregister(wn->net, v6, ARRAY_SIZE(nat_ops[v6]));
err_verify:
	nf_unregister_net_hooks(wn->net, verify_ops[v6],
				ARRAY_SIZE(verify_ops[v6]));
err_conntrack:
	nf_ct_netns_put(wn->net, verify_ops[v6][0].pf);
	return err;
}

void weir_hook_disable(struct weir_net *wn)
{
	int v6;

	weir_fast_disable(wn);
	for (v6 = 0; v6 < 2; v6++) {
		if (!wn->hooked[v6])
			continue;
		nat_unregister(wn->net, v6, ARRAY_SIZE(nat_ops[v6]));
		nf_unregister_net_hooks(wn->net, verify_ops[v6],
					ARRAY_SIZE(verify_ops[v6]));
		nf_ct_netns_put(wn->net, verify_ops[v6][0].pf);
		wn->hooked[v6] = false;
	}
}
