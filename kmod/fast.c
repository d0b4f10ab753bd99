// SPDX-License-Identifier: GPL-2.0
/*
 * fast - the short way of a running flow of nat mode
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/dst.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_acct.h>
#include <net/netfilter/nf_conntrack_helper.h>
#include <net/netfilter/nf_conntrack_zones.h>

#include "bh.h"
#include "binding.h"
#include "fast.h"
#include "line.h"
#include "netns.h"
#include "packet.h"
#include "plain.h"
#include "shortcut.h"
#include "stack.h"
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
	struct weir_plain plain;
	u8 dir;
};

static u32 ports_of(const struct nf_conntrack_tuple *tuple)
{
	return weir_plain_ports(tuple->src.u.all, tuple->dst.u.all);
}

static u32 hash_of(const struct weir_shortcuts *table,
		   const struct nf_conntrack_tuple *tuple)
{
	return weir_plain_hash(table->seed, tuple->src.l3num, &tuple->src.u3,
			       &tuple->dst.u3, ports_of(tuple), tuple->dst.protonum);
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
static bool fits(const struct weir_shortcut *place, const struct sk_buff *skb,
		 u8 family, struct way *way)
{
	struct nf_conn *ct = smp_load_acquire(&place->ct);
	const struct nf_conntrack_tuple *tuple;

	if (!ct || place->iif != skb->dev->ifindex)
		return false;
	tuple = &ct->tuplehash[place->dir].tuple;
	if (!(family == AF_INET ? matches4(tuple, ip_hdr(skb), way->plain.ports) :
				  matches6(tuple, ipv6_hdr(skb), way->plain.ports)))
		return false;
	way->ct = ct;
	way->dir = place->dir;
	way->to = &ct->tuplehash[!place->dir].tuple;
	way->dst = dst_check(place->dst, place->cookie);
	return true;
}

static bool find(const struct weir_shortcuts *table, const struct sk_buff *skb,
		 u8 family, struct way *way)
{
	const struct weir_shortcut_set *set = weir_shortcut_set(table, way->plain.hash);
	u16 tag = weir_shortcut_tag(way->plain.hash);
	u64 match;
	int i;

	for (i = 0; i < WEIR_SHORTCUT_WAYS / WEIR_LANES; i++) {
		match = weir_lanes_match(READ_ONCE(set->tags.words[i]), tag);
		for (; match; match &= match - 1)
			if (fits(&set->ways[i * WEIR_LANES + weir_lanes_first(match)],
				 skb, family, way))
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
	__be32 *ports = (__be32 *)(skb->data + way->plain.thoff);
	union {
		__be16 port[2];
		__be32 both;
	} to = { .port = { way->to->dst.u.all, way->to->src.u.all } };
	struct udphdr *udp = NULL;
	__sum16 *check;

	if (way->plain.proto == IPPROTO_UDP) {
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

static void rewrite4(struct sk_buff *skb, const struct way *way)
{
	struct iphdr *iph = ip_hdr(skb);
	__be32 src = way->to->dst.u3.ip, dst = way->to->src.u3.ip;
	__wsum diff;

	diff = changed(changed(0, iph->saddr, src), iph->daddr, dst);
	iph->saddr = src;
	iph->daddr = dst;
	iph->check = apply(iph->check, diff);
	rewrite_payload(skb, way, diff);
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

static void rewrite6(struct sk_buff *skb, const struct way *way)
{
	struct ipv6hdr *iph = ipv6_hdr(skb);
	__wsum diff;

	diff = replace6(&iph->saddr, &way->to->dst.u3.in6, 0);
	diff = replace6(&iph->daddr, &way->to->src.u3.in6, diff);
	rewrite_payload(skb, way, diff);
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

/* A queue for user space may give packets back in process context. */
static unsigned int go(struct weir_net *wn, struct sk_buff *skb,
		       const struct nf_hook_state *state, const struct way *way)
{
	unsigned int len = skb->len;
	bool on = weir_bh_off();

	if (state->pf == NFPROTO_IPV4)
		rewrite4(skb, way);
	else
		rewrite6(skb, way);
	weir_transmit_step(wn->net, skb, way->dst);
	refresh(way, len);
	weir_counters_packet(way->dest->counters, way->dir == IP_CT_DIR_REPLY, len);
	weir_transmit_hand_over(skb, way->dst);
	weir_bh_restore(on);
	return NF_STOLEN;
}

static unsigned int go_if(struct weir_net *wn, struct sk_buff *skb,
			  const struct nf_hook_state *state, struct way *way)
{
	if (!is_settled(way->ct, way->plain.proto) || !is_plain(way) ||
	    weir_packet_passes_by(skb, state) ||
	    !weir_transmit_is_easy(wn, skb, state, way->dst) ||
	    skb_ensure_writable(skb, way->plain.thoff + weir_plain_hlen(&way->plain)))
		return NF_ACCEPT;
	return go(wn, skb, state, way);
}

static unsigned int in4(void *priv, struct sk_buff *skb,
			const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct weir_shortcuts *table = rcu_dereference(wn->shortcuts);
	struct way way WEIR_UNINIT;

	if (!READ_ONCE(wn->fast_path) || !table ||
	    !weir_plain_read4(skb, table->seed, &way.plain) || !way.plain.running ||
	    !find(table, skb, AF_INET, &way))
		return NF_ACCEPT;
	return go_if(wn, skb, state, &way);
}

static unsigned int in6(void *priv, struct sk_buff *skb,
			const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct weir_shortcuts *table = rcu_dereference(wn->shortcuts);
	struct way way WEIR_UNINIT;

	if (!READ_ONCE(wn->fast_path) || !table ||
	    !weir_plain_read6(skb, table->seed, &way.plain) || !way.plain.running ||
	    !find(table, skb, AF_INET6, &way))
		return NF_ACCEPT;
	return go_if(wn, skb, state, &way);
}

/* Segments that never went through conntrack leave it with an old idea of the window, and
 * of what was acknowledged last, by which it tells whether a RST ends the connection.
 */
static void be_liberal(struct nf_conn *ct)
{
	struct ip_ct_tcp_state *seen = ct->proto.tcp.seen;
	int dir;

	if (seen[0].flags & seen[1].flags & IP_CT_TCP_FLAG_BE_LIBERAL &&
	    !((seen[0].flags | seen[1].flags) & IP_CT_TCP_FLAG_MAXACK_SET))
		return;
	spin_lock_bh(&ct->lock);
	for (dir = 0; dir < IP_CT_DIR_MAX; dir++) {
		seen[dir].flags |= IP_CT_TCP_FLAG_BE_LIBERAL;
		seen[dir].flags &= ~IP_CT_TCP_FLAG_MAXACK_SET;
	}
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
	enum ip_conntrack_info ctinfo;
	struct nf_conn *ct = nf_ct_get(skb, &ctinfo);
	struct weir_shortcuts *table;
	u8 dir = CTINFO2DIR(ctinfo);
	struct way way WEIR_UNINIT;
	bool on;

	/* The first packet of a flow is none of a running one. */
	if (!ct || !nf_ct_is_confirmed(ct))
		return NF_ACCEPT;
	table = rcu_dereference(wn->shortcuts);
	way.ct = ct;
	if (!READ_ONCE(wn->fast_path) || !table ||
	    !may_learn(skb, state, ct, ctinfo) || !is_plain(&way))
		return NF_ACCEPT;
	if (nf_ct_protonum(ct) == IPPROTO_TCP)
		be_liberal(ct);
	on = weir_bh_off();
	weir_shortcut_add(table, hash_of(table, &ct->tuplehash[dir].tuple), ct, dir,
			  state->in->ifindex, skb_dst(skb));
	weir_bh_restore(on);
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

	if (wn->fast[v6] || !wn->fast_path)
		return 0;
	err = weir_shortcut_init(wn);
	if (!err)
		err = nf_register_net_hooks(wn->net, fast_ops[v6],
					    ARRAY_SIZE(fast_ops[v6]));
	if (!err)
		wn->fast[v6] = true;
	return err;
}

/* weir_net.lock held. */
static int switch_on(struct weir_net *wn)
{
	int err = 0, v6;

	if (wn->direct[0] || wn->direct[1])
		err = weir_lines_init(wn);
	WRITE_ONCE(wn->fast_path, true);
	for (v6 = 0; v6 < 2 && !err; v6++)
		if (wn->hooked[v6])
			err = weir_fast_enable(wn, v6 ? AF_INET6 : AF_INET);
	return err;
}

/* Off, the hooks cost nothing either. The tables stay allocated: a packet may be between
 * the switch and the table.
 */
int weir_fast_switch(struct weir_net *wn, bool on)
{
	int err = 0;

	mutex_lock(&wn->lock);
	/* From then on the hooks are for those who take them out, without the lock. */
	if (wn->closing)
		goto out;
	if (on)
		err = switch_on(wn);
	if (!on || err) {
		WRITE_ONCE(wn->fast_path, false);
		weir_fast_disable(wn);
	}
out:
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
