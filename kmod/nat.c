// SPDX-License-Identifier: GPL-2.0
/*
 * nat - choose a backend for a new flow, and have the kernel translate it
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/kernel.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/netfilter/nf_conntrack_extend.h>
#include <net/netfilter/nf_conntrack_helper.h>
#include <net/netfilter/nf_conntrack_labels.h>
#include <net/netfilter/nf_conntrack_zones.h>
#include <net/netfilter/nf_nat.h>
#include <net/route.h>

#include "binding.h"
#include "choose.h"
#include "config.h"
#include "guard.h"
#include "nat.h"
#include "netns.h"
#include "packet.h"
#include "reject.h"
#include "session.h"
#include "stack.h"
#include "stay.h"

/* What we remember of a flow, in the private area of the helper extension that
 * keep_ours() adds for a reason of its own.
 */
struct note {
	__be32 isn;		/* of the last SYN that it took */
	bool has_isn;
};

static struct note *note_of(const struct nf_conn *ct)
{
	struct nf_conn_help *help = nfct_help(ct);

	BUILD_BUG_ON(sizeof(struct note) > sizeof(help->data));
	return help && !rcu_access_pointer(help->helper) ?
		(struct note *)help->data : NULL;
}

void weir_nat_remember_syn(struct nf_conn *ct, const struct sk_buff *skb,
			   u8 family)
{
	struct note *note = note_of(ct);

	if (note)
		note->has_isn = weir_packet_seq(skb, family, &note->isn);
}

bool weir_nat_retransmitted(const struct sk_buff *skb, u8 family,
			    const struct nf_conn *ct)
{
	const struct note *note = note_of(ct);
	u8 state = READ_ONCE(ct->proto.tcp.state);
	__be32 seq;

	return (state == TCP_CONNTRACK_SYN_SENT ||
		state == TCP_CONNTRACK_SYN_RECV) &&
	       note && note->has_isn && weir_packet_seq(skb, family, &seq) &&
	       seq == note->isn;
}

static bool has_ports(u8 proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP ||
	       proto == IPPROTO_SCTP;
}

/* For a flow that a helper is after: that wants sequence numbers adjusted. */
static bool translate_helped(struct nf_conn *ct, const struct weir_tuple *tuple,
			     const struct weir_dest *dest)
{
	struct nf_nat_range2 range = {
		.flags = NF_NAT_RANGE_MAP_IPS,
	};

	memcpy(&range.min_addr, &dest->addr, sizeof(range.min_addr));
	range.max_addr = range.min_addr;
	if (dest->port && has_ports(tuple->proto)) {
		range.flags |= NF_NAT_RANGE_PROTO_SPECIFIED;
		range.min_proto.all = htons(dest->port);
		range.max_proto = range.min_proto;
	}
	return nf_nat_setup_info(ct, &range, NF_NAT_MANIP_DST) == NF_ACCEPT;
}

/* What nf_nat_setup_info() comes to for one address and one port, without its look
 * whether the tuple is taken: a destination cannot give way. The source can, and is looked
 * at by the kernel when the packet leaves.
 */
static bool translate(struct nf_conn *ct, const struct weir_tuple *tuple,
		      const struct weir_dest *dest)
{
	struct nf_conntrack_tuple answer = ct->tuplehash[IP_CT_DIR_REPLY].tuple;

	if (unlikely(nfct_help(ct) || ct->status & IPS_DST_NAT_DONE))
		return translate_helped(ct, tuple, dest);
	memcpy(&answer.src.u3, &dest->addr, sizeof(answer.src.u3));
	if (dest->port && has_ports(tuple->proto))
		answer.src.u.all = htons(dest->port);
	nf_conntrack_alter_reply(ct, &answer);
	ct->status |= IPS_DST_NAT | IPS_DST_NAT_DONE;
	return true;
}

/* An entry with an empty helper extension is left alone by other people's
 * flowtables, which would carry its packets past our hooks.
 */
static bool keep_ours(struct nf_conn *ct)
{
	return nf_ct_ext_exist(ct, NF_CT_EXT_HELPER) ||
	       nf_ct_ext_add(ct, NF_CT_EXT_HELPER, GFP_ATOMIC);
}

unsigned int weir_select(struct weir_net *wn, const struct weir_config *cfg,
			 struct sk_buff *skb, const struct nf_hook_state *state,
			 struct nf_conn *ct, enum weir_why why)
{
	struct weir_binding *binding;
	struct weir_choice choice WEIR_UNINIT;
	struct weir_tuple tuple;
	struct weir_match match;
	struct weir_dest *dest;
	__be32 isn, *syn = NULL;

	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple, &tuple);
	if (!weir_index_nat_rule(&cfg->index, tuple.family, &tuple.dst, tuple.proto,
			     ntohs(tuple.dport), &match))
		return weir_guard_no_rule(wn, cfg, skb, state, &tuple);
	if (READ_ONCE(wn->closing))
		return weir_drop(wn, WEIR_R_CLOSING, skb, state);
	if (tuple.proto == IPPROTO_AH)
		return weir_drop(wn, WEIR_R_AH, skb, state);

	tuple.fragmented = weir_packet_fragmented(skb, tuple.family);
	weir_choose(wn, cfg, match.service, &tuple, &choice);
	if (!choice.backend) {
		/* Removed lazily, by this packet: it must not come to life again
		 * when its backend does (semantics 1.7).
		 */
		if (choice.has_session)
			weir_session_end(wn, choice.at, &choice.session);
		return weir_when_empty(wn, match.service, skb, state);
	}
	dest = choice.backend->dest;
	binding = dest->bindings[weir_class(tuple.proto)];
	if (!weir_binding_attach(binding, ct))
		return weir_drop(wn, WEIR_R_NO_BINDING, skb, state);
	/* Translation fails without memory, never for want of a tuple. */
	if (!translate(ct, &tuple, dest) || !keep_ours(ct))
		return weir_drop(wn, WEIR_R_NO_BINDING, skb, state);
	WRITE_ONCE(ct->timeout, weir_binding_first_timeout(binding, ct));
	weir_binding_refresh(binding, ct);
	if (tuple.proto == IPPROTO_TCP &&
	    weir_packet_opens(skb, tuple.family, tuple.proto) &&
	    weir_packet_seq(skb, tuple.family, &isn)) {
		weir_nat_remember_syn(ct, skb, tuple.family);
		syn = &isn;
	}
	weir_choose_settle(wn, match.service, &choice, syn);
	weir_choose_count(match.service, &choice, skb->len, why);
	return NF_ACCEPT;
}

void weir_nat_end(struct weir_net *wn, struct nf_conn *ct)
{
	weir_tombs_add(&wn->tombs, ct);
	/* One that is in no table cannot be taken out of it. */
	if (nf_ct_is_confirmed(ct))
		nf_ct_kill(ct);
}

/* Mangle rules that saved the mark have run already for this packet, so the new
 * entry takes over what they and others wrote.
 */
static void inherit(struct nf_conn *ct, const struct nf_conn *old)
{
	const struct nf_conn_labels *from = nf_ct_labels_find(old);
	struct nf_conn_labels *to;

#if IS_ENABLED(CONFIG_NF_CONNTRACK_MARK)
	ct->mark = READ_ONCE(old->mark);
#endif
#if IS_ENABLED(CONFIG_NF_CONNTRACK_SECMARK)
	ct->secmark = old->secmark;
#endif
	if (!from)
		return;
	to = nf_ct_labels_find(ct);
	if (!to)
		to = nf_ct_labels_ext_add(ct);
	if (to)
		*to = *from;
}

/* The zone of an entry came from a template that conntrack consumed. Return:
 * false if there is no memory to say it again.
 */
static bool set_zone_template(struct sk_buff *skb, struct net *net,
			      const struct nf_conn *ct)
{
	const struct nf_conntrack_zone *zone = nf_ct_zone(ct);
	struct nf_conn *template = NULL;

	if (zone->id != NF_CT_DEFAULT_ZONE_ID) {
		template = nf_ct_tmpl_alloc(net, zone, GFP_ATOMIC);
		if (!template)
			return false;
	}
	nf_ct_set(skb, template, IP_CT_ESTABLISHED);
	return true;
}

/* @old was replaced, and @skb has been through conntrack again. */
static unsigned int judge_repeat(struct weir_net *wn,
				 const struct weir_config *cfg,
				 struct sk_buff *skb,
				 const struct nf_hook_state *state,
				 const struct nf_conn *old, enum weir_why why)
{
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct = nf_ct_get(skb, &ctinfo);
	struct weir_binding *binding;
	struct weir_dest *dest;

	if (!ct)
		return weir_guard_no_entry(wn, cfg, skb, state, false);
	if (!nf_ct_is_confirmed(ct)) {
		/* Expected by a helper: it goes where its master went. */
		if (ctinfo != IP_CT_NEW)
			return NF_ACCEPT;
		inherit(ct, old);
		return weir_select(wn, cfg, skb, state, ct, why);
	}
	/* Another CPU was faster: its choice is ours, if it is a new one. A dying
	 * entry is still found until it is unlinked.
	 */
	binding = weir_binding_of(ct);
	dest = binding ? rcu_dereference(binding->dest) : NULL;
	if (nf_ct_is_dying(ct) || !dest ||
	    CTINFO2DIR(ctinfo) != IP_CT_DIR_ORIGINAL ||
	    weir_stay(cfg, ct, binding) != WEIR_STAY_YES)
		return weir_drop(wn, WEIR_R_RESELECT_RACE, skb, state);
	weir_counters_packet(dest->counters, false, skb->len);
	return NF_ACCEPT;
}

unsigned int weir_reselect(struct weir_net *wn, const struct weir_config *cfg,
			   struct sk_buff *skb,
			   const struct nf_hook_state *state, enum weir_why why)
{
	enum ip_conntrack_info ctinfo;
	struct nf_conn *old = nf_ct_get(skb, &ctinfo);
	unsigned int verdict;

	weir_nat_end(wn, old);
	if (!set_zone_template(skb, wn->net, old))
		return weir_drop(wn, WEIR_R_CONNTRACK, skb, state);
	/* The packet's reference on @old is ours from here on. */
	verdict = nf_conntrack_in(skb, state);
	if (verdict == NF_ACCEPT)
		verdict = judge_repeat(wn, cfg, skb, state, old, why);
	else
		verdict = weir_drop(wn, WEIR_R_CONNTRACK, skb, state);
	nf_ct_put(old);
	return verdict;
}

static bool on_link4(struct net *net, __be32 client,
		     const struct net_device *out)
{
	struct flowi4 fl4 = { .daddr = client };
	struct rtable *rt = ip_route_output_key(net, &fl4);
	bool direct;

	if (IS_ERR(rt))
		return false;
	direct = rt->dst.dev == out && !rt->rt_gw_family;
	ip_rt_put(rt);
	return direct;
}

static bool on_link6(struct net *net, const struct in6_addr *client,
		     const struct net_device *out)
{
	struct flowi6 fl6 = { .daddr = *client };
	struct dst_entry *dst = ip6_route_output(net, NULL, &fl6);
	bool direct = !dst->error && dst->dev == out &&
		      !(((struct rt6_info *)dst)->rt6i_flags & RTF_GATEWAY);

	dst_release(dst);
	return direct;
}

static bool has_prefix4(const struct net_device *dev, __be32 addr)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
	const struct in_ifaddr *ifa;

	if (!in_dev)
		return false;
	in_dev_for_each_ifa_rcu(ifa, in_dev)
		if (inet_ifa_match(addr, ifa))
			return true;
	return false;
}

/* Asking for a route costs a new flow a tenth of all that it costs, and nearly every
 * client comes in through one link, goes out through another and has no address of that.
 */
static bool may_be_on_link(const struct sk_buff *skb,
			   const struct nf_conntrack_tuple *orig,
			   struct net_device *out)
{
	if (skb->skb_iif == out->ifindex || netif_is_l3_slave(out))
		return true;
	if (orig->src.l3num == AF_INET)
		return has_prefix4(out, orig->src.u3.ip);
	return ipv6_chk_prefix(&orig->src.u3.in6, out);
}

/* Would the backend answer this client without us? It does if both are on the
 * link that the packet leaves through; that includes a client that is a backend.
 */
static bool bypasses(struct net *net, const struct sk_buff *skb,
		     const struct nf_conntrack_tuple *orig,
		     struct net_device *out)
{
	if (likely(!may_be_on_link(skb, orig, out)))
		return false;
	if (orig->src.l3num == AF_INET)
		return on_link4(net, orig->src.u3.ip, out);
	return on_link6(net, &orig->src.u3.in6, out);
}

static bool source_address(struct net *net, const struct weir_dest *dest,
			   const struct net_device *out,
			   union nf_inet_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	if (dest->family == AF_INET) {
		addr->ip = inet_select_addr(out, dest->addr.ip,
					    RT_SCOPE_UNIVERSE);
		return addr->ip;
	}
	return !ipv6_dev_get_saddr(net, out,
				   (const struct in6_addr *)&dest->addr, 0,
				   &addr->in6);
}

/* With ports or the id of a query NAT finds a free tuple; without, the answers of two
 * flows of a client would be one. Conntrack would refuse the second in silence.
 */
static bool clashes(const struct nf_conn *ct)
{
	u8 proto = nf_ct_protonum(ct);

	return !has_ports(proto) && proto != IPPROTO_ICMP &&
	       proto != IPPROTO_ICMPV6 &&
	       nf_conntrack_tuple_taken(&ct->tuplehash[IP_CT_DIR_REPLY].tuple,
					ct);
}

static bool needs_source(struct net *net, const struct sk_buff *skb,
			 const struct nf_conn *ct,
			 const struct weir_binding *binding,
			 struct net_device *out)
{
	const struct nf_conntrack_tuple *orig =
		&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple;

	/* Made on this router towards a VIP of its own: the answer, coming in
	 * from outside with an address of ours as its source, would be dropped
	 * as a martian.
	 */
	if (nf_inet_addr_cmp(&orig->src.u3, &orig->dst.u3))
		return true;
	return READ_ONCE(binding->hairpin) && bypasses(net, skb, orig, out);
}

static unsigned int translate_source(struct weir_net *wn, struct sk_buff *skb,
				     const struct nf_hook_state *state,
				     struct nf_conn *ct, const struct weir_dest *dest)
{
	struct nf_nat_range2 range = {
		.flags = NF_NAT_RANGE_MAP_IPS,
	};

	if (!source_address(wn->net, dest, state->out, &range.min_addr))
		return weir_drop(wn, WEIR_R_HAIRPIN_ADDRESS, skb, state);
	range.max_addr = range.min_addr;
	if (nf_nat_setup_info(ct, &range, NF_NAT_MANIP_SRC) != NF_ACCEPT)
		return weir_drop(wn, WEIR_R_NO_BINDING, skb, state);
	return NF_ACCEPT;
}

unsigned int weir_hairpin(struct weir_net *wn, struct sk_buff *skb,
			  const struct nf_hook_state *state, struct nf_conn *ct)
{
	struct weir_binding *binding = weir_binding_of(ct);
	struct weir_dest *dest = binding ? rcu_dereference(binding->dest) : NULL;
	unsigned int verdict = NF_ACCEPT;

	if (!dest)
		return NF_ACCEPT;
	if (unlikely(needs_source(wn->net, skb, ct, binding, state->out)))
		verdict = translate_source(wn, skb, state, ct, dest);
	if (verdict != NF_ACCEPT)
		return verdict;
	if (clashes(ct))
		return weir_drop(wn, WEIR_R_TUPLE_CLASH, skb, state);
	return NF_ACCEPT;
}
