// SPDX-License-Identifier: GPL-2.0
/*
 * fast - the short way of a running flow of nat mode
 */
#include <linux/bottom_half.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/arp.h>
#include <net/checksum.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/ndisc.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_acct.h>
#include <net/netfilter/nf_conntrack_helper.h>
#include <net/netfilter/nf_conntrack_zones.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "binding.h"
#include "compat/gso.h"
#include "fast.h"
#include "netns.h"
#include "packet.h"
#include "shortcut.h"
#include "stats.h"
#include "transmit.h"

#define PRIORITY	-450

/* The time an entry has left is written so often, at most: never more than that early. */
#define REFRESH		(HZ / 8 ?: 1)

/* A packet, and the shortcut that is for it. */
struct way {
	struct nf_conn *ct;
	struct dst_entry *dst;
	struct weir_binding *binding;
	struct weir_dest *dest;
	const struct nf_conntrack_tuple *to;	/* of the answers to it */
	unsigned int thoff;
	u8 proto;
	u8 dir;
};

static u32 hash4(const struct weir_shortcuts *table, __be32 src, __be32 dst,
		 u32 ports, u8 proto)
{
	return jhash_3words((__force u32)src, (__force u32)dst, ports,
			    table->seed + proto);
}

static u32 hash6(const struct weir_shortcuts *table, const struct in6_addr *src,
		 const struct in6_addr *dst, u32 ports, u8 proto)
{
	u32 hash = jhash2((const u32 *)src, 4, table->seed + proto);

	return jhash_1word(ports, jhash2((const u32 *)dst, 4, hash));
}

/* Both as they stand in the header. */
static u32 ports_of(const struct nf_conntrack_tuple *tuple)
{
	union {
		__be16 port[2];
		u32 both;
	} ports = { .port = { tuple->src.u.all, tuple->dst.u.all } };

	return ports.both;
}

static u32 hash_of(const struct weir_shortcuts *table,
		   const struct nf_conntrack_tuple *tuple)
{
	if (tuple->src.l3num == AF_INET)
		return hash4(table, tuple->src.u3.ip, tuple->dst.u3.ip,
			     ports_of(tuple), tuple->dst.protonum);
	return hash6(table, &tuple->src.u3.in6, &tuple->dst.u3.in6,
		     ports_of(tuple), tuple->dst.protonum);
}

/* Return: false for a segment that conntrack wants to see. */
static bool read_ports(struct sk_buff *skb, unsigned int thoff, u8 proto, u32 *ports)
{
	const struct tcphdr *tcp;

	if (proto == IPPROTO_UDP) {
		if (!pskb_may_pull(skb, thoff + sizeof(struct udphdr)))
			return false;
	} else if (proto == IPPROTO_TCP) {
		if (!pskb_may_pull(skb, thoff + sizeof(*tcp)))
			return false;
		tcp = (const struct tcphdr *)(skb->data + thoff);
		if (tcp_flag_word(tcp) &
		    (TCP_FLAG_SYN | TCP_FLAG_FIN | TCP_FLAG_RST) ||
		    tcp->doff < sizeof(*tcp) / 4)
			return false;
	} else {
		return false;
	}
	*ports = *(const u32 *)(skb->data + thoff);
	return true;
}

static bool matches4(const struct nf_conntrack_tuple *tuple,
		     const struct iphdr *iph, u32 ports)
{
	return tuple->src.u3.ip == iph->saddr && tuple->dst.u3.ip == iph->daddr &&
	       ports_of(tuple) == ports && tuple->dst.protonum == iph->protocol &&
	       tuple->src.l3num == AF_INET;
}

static bool matches6(const struct nf_conntrack_tuple *tuple,
		     const struct ipv6hdr *iph, u32 ports)
{
	return ipv6_addr_equal(&tuple->src.u3.in6, &iph->saddr) &&
	       ipv6_addr_equal(&tuple->dst.u3.in6, &iph->daddr) &&
	       ports_of(tuple) == ports && tuple->dst.protonum == iph->nexthdr &&
	       tuple->src.l3num == AF_INET6;
}

/* The entry that a shortcut names, if it is the packet's. A reference is held on it for a
 * grace period after the shortcut was given up.
 */
static bool find(const struct weir_shortcuts *table, u32 hash,
		 const struct sk_buff *skb, u8 family, u32 ports, struct way *way)
{
	const struct weir_shortcut_set *set = weir_shortcut_set(table, hash);
	const struct nf_conntrack_tuple *tuple;
	const struct weir_shortcut *place;
	struct nf_conn *ct;
	int i;

	for (i = 0; i < WEIR_SHORTCUT_WAYS; i++) {
		if (READ_ONCE(set->tags[i]) != weir_shortcut_tag(hash))
			continue;
		place = &set->ways[i];
		ct = smp_load_acquire(&place->ct);
		if (!ct || place->iif != skb->dev->ifindex)
			continue;
		tuple = &ct->tuplehash[place->dir].tuple;
		if (!(family == AF_INET ? matches4(tuple, ip_hdr(skb), ports) :
					  matches6(tuple, ipv6_hdr(skb), ports)))
			continue;
		way->ct = ct;
		way->dir = place->dir;
		way->to = &ct->tuplehash[!place->dir].tuple;
		way->dst = dst_check(place->dst, place->cookie);
		return way->dst;
	}
	return false;
}

/* A flow that was answered is conntrack's until that calls it assured; one that goes one
 * way only never will be.
 */
static bool is_settled(const struct nf_conn *ct, u8 proto)
{
	unsigned long status = READ_ONCE(ct->status);

	if (status & (IPS_DYING | IPS_SEQ_ADJUST | IPS_FIXED_TIMEOUT) ||
	    nf_ct_is_expired(ct))
		return false;
	if (proto == IPPROTO_TCP)
		return status & IPS_ASSURED &&
		       READ_ONCE(ct->proto.tcp.state) ==
		       TCP_CONNTRACK_ESTABLISHED;
	return status & IPS_ASSURED || !(status & IPS_SEEN_REPLY);
}

/* Nothing but a counter to do: a binding whose state says anything wants to be judged,
 * and a session to be refreshed.
 */
static bool is_plain(struct way *way)
{
	struct weir_binding *binding = weir_binding_of(way->ct);

	if (!binding || READ_ONCE(binding->state) || READ_ONCE(binding->session))
		return false;
	way->binding = binding;
	way->dest = rcu_dereference(binding->dest);
	return way->dest;
}

static bool has_policies(const struct net *net, const struct sk_buff *skb)
{
#ifdef CONFIG_XFRM
	if (secpath_exists(skb) || net->xfrm.policy_count[XFRM_POLICY_OUT] ||
	    net->xfrm.policy_count[XFRM_POLICY_FWD] ||
	    net->xfrm.policy_default[XFRM_POLICY_FWD] == XFRM_USERPOLICY_BLOCK ||
	    net->xfrm.policy_default[XFRM_POLICY_OUT] == XFRM_USERPOLICY_BLOCK)
		return true;
#endif
	return false;
}

/* All that could stop it is asked before anything is written. */
static bool can_go(struct weir_net *wn, struct sk_buff *skb,
		   const struct nf_hook_state *state, const struct way *way)
{
	bool v4 = state->pf == NFPROTO_IPV4;
	unsigned int mtu = v4 ? ip_dst_mtu_maybe_forward(way->dst, true) :
				max(dst_mtu(way->dst), (u32)IPV6_MIN_MTU);
	unsigned int headers = way->thoff +
			       (way->proto == IPPROTO_TCP ? sizeof(struct tcphdr) :
							    sizeof(struct udphdr));

	if (skb->len > mtu &&
	    !(skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu)))
		return false;
	if (weir_packet_passes_by(skb, state) || skb_get_nfct(skb) ||
	    skb_headroom(skb) < LL_RESERVED_SPACE(way->dst->dev))
		return false;
	if (has_policies(wn->net, skb) || skb_warn_if_lro(skb) ||
	    !weir_transmit_forwards(wn->net, state->in, v4 ? AF_INET : AF_INET6))
		return false;
	return !skb_ensure_writable(skb, headers);
}

static __wsum changed(__wsum sum, __be32 from, __be32 to)
{
	return csum_add(csum_add(sum, ~(__force __wsum)from), (__force __wsum)to);
}

static __sum16 apply(__sum16 check, __wsum diff)
{
	return csum_fold(csum_add(~csum_unfold(check), diff));
}

/* Ports, and the checksum over them and the addresses, which differ by @diff. */
static void rewrite_payload(struct sk_buff *skb, const struct way *way, __wsum diff)
{
	__be32 *ports = (__be32 *)(skb->data + way->thoff);
	union {
		__be16 port[2];
		__be32 both;
	} to = { .port = { way->to->dst.u.all, way->to->src.u.all } };
	struct udphdr *udp = NULL;
	__sum16 *check;

	if (way->proto == IPPROTO_UDP) {
		udp = (struct udphdr *)ports;
		check = &udp->check;
		/* The sender made none. */
		if (!udp->check && skb->ip_summed != CHECKSUM_PARTIAL) {
			*ports = to.both;
			return;
		}
	} else {
		check = &((struct tcphdr *)ports)->check;
	}
	/* What a device will complete covers the addresses only. */
	if (skb->ip_summed == CHECKSUM_PARTIAL)
		*check = ~csum_fold(csum_add(diff, csum_unfold(*check)));
	else
		*check = apply(*check, changed(diff, *ports, to.both));
	if (udp && !udp->check)
		udp->check = CSUM_MANGLED_0;
	*ports = to.both;
}

static void rewrite4(struct net *net, struct sk_buff *skb, const struct way *way)
{
	struct iphdr *iph = ip_hdr(skb);
	__be32 src = way->to->dst.u3.ip, dst = way->to->src.u3.ip;
	__wsum diff;

	diff = changed(changed(0, iph->saddr, src), iph->daddr, dst);
	iph->saddr = src;
	iph->daddr = dst;
	iph->check = apply(iph->check, diff);
	ip_decrease_ttl(iph);
	rewrite_payload(skb, way, diff);
	if (READ_ONCE(net->ipv4.sysctl_ip_fwd_update_priority))
		skb->priority = rt_tos2priority(iph->tos);
	IP_INC_STATS(net, IPSTATS_MIB_OUTFORWDATAGRAMS);
}

static __wsum replace6(struct in6_addr *addr, const struct in6_addr *to, __wsum diff)
{
	int i;

	if (ipv6_addr_equal(addr, to))
		return diff;
	for (i = 0; i < 4; i++)
		diff = changed(diff, addr->s6_addr32[i], to->s6_addr32[i]);
	*addr = *to;
	return diff;
}

static void rewrite6(struct net *net, struct sk_buff *skb, const struct way *way)
{
	struct ipv6hdr *iph = ipv6_hdr(skb);
	__wsum diff;

	diff = replace6(&iph->saddr, &way->to->dst.u3.in6, 0);
	diff = replace6(&iph->daddr, &way->to->src.u3.in6, diff);
	iph->hop_limit--;
	rewrite_payload(skb, way, diff);
	IP6_INC_STATS(net, ip6_dst_idev(way->dst), IPSTATS_MIB_OUTFORWDATAGRAMS);
}

/* What conntrack would have done. */
static void refresh(const struct way *way, unsigned int len)
{
	u32 until = nfct_time_stamp +
		    READ_ONCE(way->binding->data[TCP_CONNTRACK_ESTABLISHED]);

	/* A shorter idle-timeout holds from the next packet on, too (decision 19). */
	if (until - READ_ONCE(way->ct->timeout) >= REFRESH)
		WRITE_ONCE(way->ct->timeout, until);
	if (unlikely(nf_conn_acct_find(way->ct)))
		nf_ct_acct_add(way->ct, way->dir, 1, len);
}

static void output4(struct sk_buff *skb, struct dst_entry *dst)
{
	bool v6_gateway = false;
	struct neighbour *neigh;

	neigh = ip_neigh_for_gw((struct rtable *)dst, skb, &v6_gateway);
	if (IS_ERR(neigh))
		kfree_skb(skb);
	else
		neigh_output(neigh, skb, v6_gateway);
}

static void output6(struct sk_buff *skb, struct dst_entry *dst)
{
	const struct in6_addr *hop = rt6_nexthop((struct rt6_info *)dst,
						 &ipv6_hdr(skb)->daddr);
	struct neighbour *neigh = __ipv6_neigh_lookup_noref(dst->dev, hop);

	if (unlikely(!neigh))
		neigh = __neigh_create(&nd_tbl, hop, dst->dev, false);
	if (IS_ERR(neigh))
		kfree_skb(skb);
	else
		neigh_output(neigh, skb, false);
}

/* A queue for user space may give packets back in process context. */
static unsigned int go(struct weir_net *wn, struct sk_buff *skb,
		       const struct nf_hook_state *state, const struct way *way)
{
	bool v4 = state->pf == NFPROTO_IPV4;
	unsigned int len = skb->len;

	local_bh_disable();
	if (v4)
		rewrite4(wn->net, skb, way);
	else
		rewrite6(wn->net, skb, way);
	refresh(way, len);
	weir_counters_packet(way->dest->counters, way->dir == IP_CT_DIR_REPLY, len);
	skb_forward_csum(skb);
	skb_clear_tstamp(skb);
	skb_dst_drop(skb);
	skb_dst_set_noref(skb, way->dst);
	skb->dev = way->dst->dev;
	if (v4)
		output4(skb, way->dst);
	else
		output6(skb, way->dst);
	local_bh_enable();
	return NF_STOLEN;
}

static unsigned int go_if(struct weir_net *wn, struct sk_buff *skb,
			  const struct nf_hook_state *state, struct way *way)
{
	if (!is_settled(way->ct, way->proto) || !is_plain(way) ||
	    !can_go(wn, skb, state, way))
		return NF_ACCEPT;
	return go(wn, skb, state, way);
}

static unsigned int in4(void *priv, struct sk_buff *skb,
			const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct iphdr *iph = ip_hdr(skb);
	const struct weir_shortcuts *table;
	struct way way;
	u32 ports;

	table = rcu_dereference(wn->shortcuts);
	if (!READ_ONCE(wn->fast_path) || !table)
		return NF_ACCEPT;
	way.proto = iph->protocol;
	way.thoff = sizeof(*iph);
	if (iph->ihl != 5 || ip_is_fragment(iph) || iph->ttl <= 1 ||
	    !read_ports(skb, way.thoff, way.proto, &ports))
		return NF_ACCEPT;
	iph = ip_hdr(skb);
	if (!find(table, hash4(table, iph->saddr, iph->daddr, ports, way.proto), skb,
		  AF_INET, ports, &way))
		return NF_ACCEPT;
	return go_if(wn, skb, state, &way);
}

static unsigned int in6(void *priv, struct sk_buff *skb,
			const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct ipv6hdr *iph = ipv6_hdr(skb);
	const struct weir_shortcuts *table;
	struct way way;
	u32 ports;

	table = rcu_dereference(wn->shortcuts);
	if (!READ_ONCE(wn->fast_path) || !table)
		return NF_ACCEPT;
	way.proto = iph->nexthdr;
	way.thoff = sizeof(*iph);
	if (iph->hop_limit <= 1 ||
	    !read_ports(skb, way.thoff, way.proto, &ports))
		return NF_ACCEPT;
	iph = ipv6_hdr(skb);
	if (!find(table, hash6(table, &iph->saddr, &iph->daddr, ports, way.proto),
		  skb, AF_INET6, ports, &way))
		return NF_ACCEPT;
	return go_if(wn, skb, state, &way);
}

/* Segments that never went through conntrack leave it with an old idea of the window. */
static void be_liberal(struct nf_conn *ct)
{
	struct ip_ct_tcp_state *seen = ct->proto.tcp.seen;

	if (seen[0].flags & seen[1].flags & IP_CT_TCP_FLAG_BE_LIBERAL)
		return;
	spin_lock_bh(&ct->lock);
	seen[0].flags |= IP_CT_TCP_FLAG_BE_LIBERAL;
	seen[1].flags |= IP_CT_TCP_FLAG_BE_LIBERAL;
	spin_unlock_bh(&ct->lock);
}

/* Nothing that others want to see of each packet, and nothing in a VRF, whose packets
 * come in twice.
 */
static bool may_learn(const struct sk_buff *skb, const struct nf_hook_state *state,
		      const struct nf_conn *ct, enum ip_conntrack_info ctinfo)
{
	const unsigned long must = IPS_CONFIRMED | IPS_DST_NAT | IPS_NAT_DONE_MASK;
	const struct nf_conn_help *help = nfct_help(ct);
	const struct dst_entry *dst = skb_dst(skb);
	u8 proto = nf_ct_protonum(ct);

	if ((READ_ONCE(ct->status) & must) != must || ctinfo == IP_CT_RELATED ||
	    ctinfo == IP_CT_RELATED_REPLY || weir_packet_is_bridged(skb))
		return false;
	if (proto != IPPROTO_TCP && proto != IPPROTO_UDP)
		return false;
	if (!is_settled(ct, proto) || !help || rcu_access_pointer(help->helper) ||
	    nf_ct_zone(ct)->id != NF_CT_DEFAULT_ZONE_ID)
		return false;
	return !dst_xfrm(dst) && !dst->lwtstate && dst->dev == state->out &&
	       !netif_is_l3_master(state->in) && !netif_is_l3_slave(state->in) &&
	       !netif_is_l3_master(state->out) && !netif_is_l3_slave(state->out);
}

/* The last one at FORWARD: its route is the one that it leaves by. */
static unsigned int learn(void *priv, struct sk_buff *skb,
			  const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	struct weir_shortcuts *table = rcu_dereference(wn->shortcuts);
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct = nf_ct_get(skb, &ctinfo);
	struct way way = { .ct = ct };
	u8 dir = CTINFO2DIR(ctinfo);

	if (!ct || !READ_ONCE(wn->fast_path) || !table ||
	    !may_learn(skb, state, ct, ctinfo) || !is_plain(&way))
		return NF_ACCEPT;
	if (nf_ct_protonum(ct) == IPPROTO_TCP)
		be_liberal(ct);
	local_bh_disable();
	weir_shortcut_add(table, hash_of(table, &ct->tuplehash[dir].tuple), ct, dir,
			  state->in->ifindex, skb_dst(skb));
	local_bh_enable();
	return NF_ACCEPT;
}

#define FAST_OPS(family, number, prio, fn)				\
	{								\
		.hook		= fn,					\
		.pf		= family,				\
		.hooknum	= number,				\
		.priority	= prio,					\
	}

static const struct nf_hook_ops fast_ops[2][2] = {
	{
		FAST_OPS(NFPROTO_IPV4, NF_INET_PRE_ROUTING, PRIORITY, in4),
		FAST_OPS(NFPROTO_IPV4, NF_INET_FORWARD, NF_IP_PRI_LAST, learn),
	}, {
		FAST_OPS(NFPROTO_IPV6, NF_INET_PRE_ROUTING, PRIORITY, in6),
		FAST_OPS(NFPROTO_IPV6, NF_INET_FORWARD, NF_IP_PRI_LAST, learn),
	},
};

int weir_fast_enable(struct weir_net *wn, u8 family)
{
	int v6 = family == AF_INET6;
	int err;

	if (wn->fast[v6])
		return 0;
	err = wn->fast_path ? weir_shortcut_init(wn) : 0;
	if (!err)
		err = nf_register_net_hooks(wn->net, fast_ops[v6],
					    ARRAY_SIZE(fast_ops[v6]));
	if (!err)
		wn->fast[v6] = true;
	return err;
}

/* What is there stays allocated: a packet may be between the switch and the table. */
int weir_fast_switch(struct weir_net *wn, bool on)
{
	int err = 0;

	mutex_lock(&wn->lock);
	if (on && (wn->fast[0] || wn->fast[1]))
		err = weir_shortcut_init(wn);
	if (!err)
		WRITE_ONCE(wn->fast_path, on);
	mutex_unlock(&wn->lock);
	if (!on)
		weir_shortcut_flush(wn);
	return err;
}

void weir_fast_disable(struct weir_net *wn)
{
	int v6;

	for (v6 = 0; v6 < 2; v6++) {
		if (wn->fast[v6])
			nf_unregister_net_hooks(wn->net, fast_ops[v6],
						ARRAY_SIZE(fast_ops[v6]));
		wn->fast[v6] = false;
	}
}
