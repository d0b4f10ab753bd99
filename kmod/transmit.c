// SPDX-License-Identifier: GPL-2.0
/*
 * transmit - forward a packet to a backend as it is
 */
#include <linux/etherdevice.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <net/addrconf.h>
#include <net/arp.h>
#include <net/dst.h>
#include <net/icmp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/ndisc.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "compat/gso.h"
#include "dest.h"
#include "netns.h"
#include "packet.h"
#include "shortcut.h"
#include "stats.h"
#include "transmit.h"

/* A route whose neighbour is the backend, not the packet's destination: that is what
 * KNOWN_NH asks for. Return: NULL if there is none, or if it is an address of ours.
 */
static struct dst_entry *find_route(struct net *net, const struct weir_dest *dest,
				    int vrf)
{
	if (dest->family == AF_INET) {
		struct flowi4 fl4 = {
			.daddr = dest->addr.ip,
			.flowi4_oif = vrf,
			.flowi4_flags = FLOWI_FLAG_KNOWN_NH,
		};
		struct rtable *rt = ip_route_output_flow(net, &fl4, NULL);

		if (IS_ERR(rt))
			return NULL;
		if (rt->rt_type == RTN_UNICAST)
			return &rt->dst;
		ip_rt_put(rt);
	} else {
		struct flowi6 fl6 = {
			.flowi6_oif = vrf,
			.flowi6_flags = FLOWI_FLAG_KNOWN_NH,
		};
		struct dst_entry *dst;

		memcpy(&fl6.daddr, &dest->addr, sizeof(fl6.daddr));
		dst = ip6_route_output(net, NULL, &fl6);
		if (!dst->error &&
		    !(((struct rt6_info *)dst)->rt6i_flags &
		      (RTF_LOCAL | RTF_ANYCAST | RTF_REJECT)))
			return dst;
		dst_release(dst);
	}
	return NULL;
}

/* A route that only leads into a VRF would have the VRF look for the packet's destination:
 * the way to the neighbour is in its table. @vrf: where the answer is from.
 */
static struct dst_entry *find_way(struct net *net, const struct weir_dest *dest,
				  int *vrf)
{
	struct dst_entry *dst = find_route(net, dest, *vrf);

	if (!dst || likely(!netif_is_l3_master(dst->dev)))
		return dst;
	*vrf = dst->dev->ifindex;
	dst_release(dst);
	return find_route(net, dest, *vrf);
}

/*
 * A dest has one route, for all CPUs: packets take it without a reference, as they do
 * those of the kernel's own tables, and nothing is written per packet. It is made by the
 * first packet, asked each time whether it still holds, and dropped when a device goes,
 * which would wait for it.
 */

/* weir_net.route_lock held. */
static struct dst_entry *swap_route(struct weir_dest *dest,
				    struct dst_entry *dst, u32 cookie)
{
	struct dst_entry *old = rcu_dereference_protected(dest->route, true);

	/* A reader that sees one route before the cookie and the same behind it has
	 * the right cookie.
	 */
	RCU_INIT_POINTER(dest->route, NULL);
	smp_wmb();
	WRITE_ONCE(dest->route_cookie, cookie);
	rcu_assign_pointer(dest->route, dst);
	return old;
}

static void drop_route(struct weir_dest *dest)
{
	dst_release(swap_route(dest, NULL, 0));
}

void weir_transmit_remember(struct weir_dest *dest)
{
	spin_lock_bh(&dest->wn->route_lock);
	if (list_empty(&dest->routed))
		list_add(&dest->routed, &dest->wn->routed);
	spin_unlock_bh(&dest->wn->route_lock);
}

void weir_transmit_forget(struct weir_dest *dest)
{
	spin_lock_bh(&dest->wn->route_lock);
	list_del_init(&dest->routed);
	drop_route(dest);
	spin_unlock_bh(&dest->wn->route_lock);
}

u32 weir_transmit_cookie(const struct dst_entry *dst)
{
	return dst->ops->family == AF_INET ? 0 :
	       rt6_get_cookie((const struct rt6_info *)dst);
}

struct dst_entry *weir_transmit_route(const struct weir_dest *dest)
{
	struct dst_entry *dst = rcu_dereference(dest->route);
	u32 cookie = READ_ONCE(dest->route_cookie);

	smp_rmb();
	if (!dst || dst != rcu_access_pointer(dest->route))
		return NULL;
	return dst_check(dst, cookie);
}

/* Give the packet its way. Return: false if there is none. */
static bool set_route(struct weir_net *wn, struct sk_buff *skb,
		      struct weir_dest *dest, int vrf)
{
	struct dst_entry *dst = vrf ? NULL : weir_transmit_route(dest);

	if (dst) {
		skb_dst_drop(skb);
		skb_dst_set_noref(skb, dst);
		return true;
	}
	dst = find_way(wn->net, dest, &vrf);
	if (!dst)
		return false;
	if (!vrf) {
		dst_hold(dst);
		spin_lock(&wn->route_lock);
		dst_release(swap_route(dest, dst, weir_transmit_cookie(dst)));
		spin_unlock(&wn->route_lock);
	}
	skb_dst_drop(skb);
	skb_dst_set(skb, dst);
	return true;
}

/* Routes over it are gone by now, and no packet finds one again. */
static int device_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct weir_net *wn = weir_net(dev_net(dev));
	struct weir_dest *dest;

	if (event != NETDEV_DOWN && event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	spin_lock_bh(&wn->route_lock);
	list_for_each_entry(dest, &wn->routed, routed)
		drop_route(dest);
	spin_unlock_bh(&wn->route_lock);
	weir_shortcut_flush(wn);
	return NOTIFY_DONE;
}

static struct notifier_block device_notifier = {
	.notifier_call = device_event,
};

int weir_transmit_init(void)
{
	return register_netdevice_notifier(&device_notifier);
}

void weir_transmit_exit(void)
{
	unregister_netdevice_notifier(&device_notifier);
}

static int okfn(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return dst_output(net, sk, skb);
}

/* Header and link-layer room are this packet's own from here on. */
static bool make_room(struct sk_buff *skb, const struct dst_entry *dst)
{
	return !skb_cow(skb, LL_RESERVED_SPACE(dst->dev) + dst->header_len);
}

static unsigned int mtu_of(const struct dst_entry *dst, u8 pf)
{
	return pf == NFPROTO_IPV4 ? ip_dst_mtu_maybe_forward(dst, true) :
				    max(dst_mtu(dst), (u32)IPV6_MIN_MTU);
}

static bool fits(const struct sk_buff *skb, unsigned int mtu)
{
	return skb->len <= mtu ||
	       (skb_is_gso(skb) && skb_gso_validate_network_len(skb, mtu));
}

/* The same, if it goes by @dst. There is no link on which the least ones do not. */
static bool fits_way(const struct sk_buff *skb, const struct dst_entry *dst, u8 pf)
{
	return skb->len <= (pf == NFPROTO_IPV4 ? IPV4_MIN_MTU : IPV6_MIN_MTU) ||
	       fits(skb, mtu_of(dst, pf));
}

/* Does it not fit, and may nobody cut it? */
static bool cannot_be_cut(const struct sk_buff *skb, unsigned int mtu)
{
	return !skb->ignore_df && !fits(skb, mtu);
}

static bool too_big4(const struct sk_buff *skb, unsigned int mtu)
{
	if (skb->len <= mtu || !(ip_hdr(skb)->frag_off & htons(IP_DF)))
		return false;
	/* One that was put together of pieces which fitted will be cut again. */
	return IPCB(skb)->frag_max_size > mtu || cannot_be_cut(skb, mtu);
}

static unsigned int check4(struct weir_net *wn, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	unsigned int mtu;

	if (ip_hdr(skb)->ttl <= 1) {
		icmp_send(skb, ICMP_TIME_EXCEEDED, ICMP_EXC_TTL, 0);
		return weir_drop(wn, WEIR_R_TTL, skb, state);
	}
	if (!xfrm4_route_forward(skb))
		return weir_drop(wn, WEIR_R_POLICY, skb, state);
	mtu = mtu_of(skb_dst(skb), state->pf);
	if (too_big4(skb, mtu)) {
		icmp_send(skb, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, htonl(mtu));
		return weir_drop(wn, WEIR_R_TOO_BIG, skb, state);
	}
	return NF_ACCEPT;
}

static bool too_big6(const struct sk_buff *skb, unsigned int mtu)
{
	if (skb->len <= mtu)
		return false;
	if (IP6CB(skb)->frag_max_size)
		return IP6CB(skb)->frag_max_size > mtu;
	return cannot_be_cut(skb, mtu);
}

static unsigned int check6(struct weir_net *wn, struct sk_buff *skb,
			   const struct nf_hook_state *state)
{
	unsigned int mtu;

	if (ipv6_hdr(skb)->hop_limit <= 1) {
		icmpv6_send(skb, ICMPV6_TIME_EXCEED, ICMPV6_EXC_HOPLIMIT, 0);
		return weir_drop(wn, WEIR_R_TTL, skb, state);
	}
	if (!xfrm6_route_forward(skb))
		return weir_drop(wn, WEIR_R_POLICY, skb, state);
	mtu = mtu_of(skb_dst(skb), state->pf);
	if (too_big6(skb, mtu)) {
		icmpv6_send(skb, ICMPV6_PKT_TOOBIG, 0, mtu);
		return weir_drop(wn, WEIR_R_TOO_BIG, skb, state);
	}
	return NF_ACCEPT;
}

bool weir_transmit_forwards(struct net *net, const struct net_device *in, u8 family)
{
	struct in_device *in_dev;

	if (family == AF_INET6)
		return READ_ONCE(net->ipv6.devconf_all->forwarding);
	in_dev = __in_dev_get_rcu(in);
	return in_dev && IN_DEV_FORWARD(in_dev);
}

static bool policy_allows(struct sk_buff *skb, u8 family)
{
	return family == AF_INET ? xfrm4_policy_check(NULL, XFRM_POLICY_FWD, skb) :
				   xfrm6_policy_check(NULL, XFRM_POLICY_FWD, skb);
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

/* Nothing but a neighbour stands between the packet and its link. */
static bool is_simple(const struct dst_entry *dst)
{
	return !dst_xfrm(dst) && !dst->lwtstate && !netif_is_l3_master(dst->dev);
}

bool weir_transmit_is_easy(const struct weir_net *wn, const struct sk_buff *skb,
			   const struct nf_hook_state *state,
			   const struct dst_entry *dst)
{
	bool v4 = state->pf == NFPROTO_IPV4;

	return fits_way(skb, dst, state->pf) && is_simple(dst) && !skb_get_nfct(skb) &&
	       skb_headroom(skb) >= LL_RESERVED_SPACE(dst->dev) &&
	       !has_policies(wn->net, skb) && !skb_warn_if_lro(skb) &&
	       weir_transmit_forwards(wn->net, state->in, v4 ? AF_INET : AF_INET6);
}

static void step4(struct net *net, struct sk_buff *skb)
{
	ip_decrease_ttl(ip_hdr(skb));
	if (READ_ONCE(net->ipv4.sysctl_ip_fwd_update_priority))
		skb->priority = rt_tos2priority(ip_hdr(skb)->tos);
	IP_INC_STATS(net, IPSTATS_MIB_OUTFORWDATAGRAMS);
}

void weir_transmit_step(struct net *net, struct sk_buff *skb,
			struct dst_entry *dst)
{
	if (skb->protocol == htons(ETH_P_IP)) {
		step4(net, skb);
		return;
	}
	ipv6_hdr(skb)->hop_limit--;
	IP6_INC_STATS(net, ip6_dst_idev(dst), IPSTATS_MIB_OUTFORWDATAGRAMS);
}

static struct neighbour *neighbour4(struct sk_buff *skb, struct dst_entry *dst,
				    bool *v6)
{
	return ip_neigh_for_gw((struct rtable *)dst, skb, v6);
}

static struct neighbour *neighbour6(struct sk_buff *skb, struct dst_entry *dst)
{
	const struct in6_addr *hop = rt6_nexthop((struct rt6_info *)dst,
						 &ipv6_hdr(skb)->daddr);
	struct neighbour *neigh = __ipv6_neigh_lookup_noref(dst->dev, hop);

	return neigh ?: __neigh_create(&nd_tbl, hop, dst->dev, false);
}

static void hand_over(struct sk_buff *skb, struct dst_entry *dst)
{
	struct neighbour *neigh;
	bool v6 = false;

	neigh = dst->ops->family == AF_INET ? neighbour4(skb, dst, &v6) :
					      neighbour6(skb, dst);
	if (IS_ERR(neigh))
		kfree_skb(skb);
	else
		neigh_output(neigh, skb, v6);
}

void weir_transmit_hand_over(struct sk_buff *skb, struct dst_entry *dst)
{
	skb_forward_csum(skb);
	skb_clear_tstamp(skb);
	skb_dst_drop(skb);
	skb_dst_set_noref(skb, dst);
	skb->dev = dst->dev;
	hand_over(skb, dst);
}

/* Behind POSTROUTING. What came in pieces leaves in pieces of that size; whatever has
 * become of a packet there that cannot just go is the kernel's to cut or to route anew.
 */
static int finish(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	struct dst_entry *dst = skb_dst(skb);
	bool v4 = skb->protocol == htons(ETH_P_IP);

	if (likely(is_simple(dst) &&
		   fits_way(skb, dst, v4 ? NFPROTO_IPV4 : NFPROTO_IPV6) &&
		   !weir_packet_fragmented(skb, v4 ? AF_INET : AF_INET6))) {
		hand_over(skb, dst);
		return 0;
	}
	if (v4)
		IPCB(skb)->flags |= IPSKB_REROUTED;
	else
		IP6CB(skb)->flags |= IP6SKB_REROUTED;
	return dst_output(net, sk, skb);
}

static const struct nf_hook_entries *hooks_at(const struct net *net, u8 pf,
					      unsigned int hook)
{
	struct nf_hook_entries __rcu * const *hooks =
		pf == NFPROTO_IPV4 ? net->nf.hooks_ipv4 : net->nf.hooks_ipv6;

	return rcu_dereference(hooks[hook]);
}

/* Does somebody want to see it at POSTROUTING? A security module that has a hook there and
 * none at FORWARD, as AppArmor does in every namespace, asks for the mark of a packet and
 * lets those without one pass.
 */
static bool is_awaited(const struct net *net, const struct sk_buff *skb, u8 pf)
{
	const struct nf_hook_entries *hooks = hooks_at(net, pf, NF_INET_POST_ROUTING);

	if (!hooks)
		return false;
#ifdef CONFIG_NETWORK_SECMARK
	if (skb->secmark)
		return true;
#endif
	return hooks->num_hook_entries > 1 || hooks_at(net, pf, NF_INET_FORWARD) ||
	       nf_hook_entries_get_hook_ops(hooks)[0]->priority !=
	       NF_IP_PRI_SELINUX_FIRST;
}

/* A queue for user space that holds a packet at FORWARD has the kernel go on with it, one
 * at POSTROUTING has us: both come from PREROUTING, see weir_direct_disable().
 */
static void send(struct net *net, struct sk_buff *skb, u8 pf, bool easy)
{
	struct dst_entry *dst = skb_dst(skb);
	struct net_device *in = skb->dev;

	skb_forward_csum(skb);
	skb_clear_tstamp(skb);
	if (easy && !hooks_at(net, pf, NF_INET_FORWARD) && !is_awaited(net, skb, pf)) {
		skb->dev = dst->dev;
		hand_over(skb, dst);
		return;
	}
	if (pf == NFPROTO_IPV4)
		IPCB(skb)->flags |= IPSKB_FORWARDED;
	else
		IP6CB(skb)->flags |= IP6SKB_FORWARDED;
	nf_reset_ct(skb);
	nf_ct_set(skb, NULL, IP_CT_UNTRACKED);
	if (hooks_at(net, pf, NF_INET_FORWARD) &&
	    nf_hook(pf, NF_INET_FORWARD, net, NULL, skb, in, dst->dev, okfn) != 1)
		return;
	if (!is_simple(skb_dst(skb))) {
		dst_output(net, NULL, skb);
		return;
	}
	skb->dev = skb_dst(skb)->dev;
	if (is_awaited(net, skb, pf) &&
	    nf_hook(pf, NF_INET_POST_ROUTING, net, NULL, skb, in, skb->dev, finish) != 1)
		return;
	finish(net, NULL, skb);
}

/* It has hops left, and did not come in pieces. */
static bool is_usual(const struct sk_buff *skb, u8 pf)
{
	if (pf == NFPROTO_IPV4)
		return ip_hdr(skb)->ttl > 1 && !IPCB(skb)->frag_max_size;
	return ipv6_hdr(skb)->hop_limit > 1 && !IP6CB(skb)->frag_max_size;
}

/* Are the first @len bytes nobody else's? */
static bool is_writable(struct sk_buff *skb, unsigned int len)
{
	return !skb_cloned(skb) || !skb_ensure_writable(skb, len);
}

bool weir_transmit_by(struct weir_net *wn, struct sk_buff *skb,
		      const struct nf_hook_state *state, struct dst_entry *dst)
{
	if (!is_usual(skb, state->pf) || netif_is_l3_slave(state->in) ||
	    !weir_transmit_is_easy(wn, skb, state, dst) ||
	    !is_writable(skb, skb_network_header_len(skb)))
		return false;
	skb_dst_drop(skb);
	skb_dst_set_noref(skb, dst);
	weir_transmit_step(wn->net, skb, dst);
	send(wn->net, skb, state->pf, true);
	return true;
}

unsigned int weir_transmit(struct weir_net *wn, struct sk_buff *skb,
			   const struct nf_hook_state *state,
			   struct weir_dest *dest)
{
	struct dst_entry *dst = weir_transmit_route(dest);
	unsigned int verdict;

	if (dst && weir_transmit_by(wn, skb, state, dst))
		return NF_STOLEN;
	if (!weir_transmit_forwards(wn->net, state->in, dest->family) || skb_warn_if_lro(skb))
		return weir_drop(wn, WEIR_R_NOT_FORWARDING, skb, state);
	if (!policy_allows(skb, dest->family))
		return weir_drop(wn, WEIR_R_POLICY, skb, state);
	/* From here on the kernel can answer with ICMP. */
	if (!set_route(wn, skb, dest, l3mdev_master_ifindex_rcu(state->in)))
		return weir_drop(wn, WEIR_R_NO_ROUTE, skb, state);
	verdict = dest->family == AF_INET ? check4(wn, skb, state) :
					    check6(wn, skb, state);
	if (verdict != NF_ACCEPT)
		return verdict;
	/* The policy may have put another one in its place. */
	dst = skb_dst(skb);
	if (!make_room(skb, dst))
		return weir_drop(wn, WEIR_R_NO_MEMORY, skb, state);
	weir_transmit_step(wn->net, skb, dst);
	send(wn->net, skb, state->pf, false);
	return NF_STOLEN;
}

unsigned int weir_transmit_local(struct weir_net *wn, struct sk_buff *skb,
				 const struct nf_hook_state *state,
				 struct weir_dest *dest)
{
	/* Another way would be past the policy that the packet is under. */
	if (dst_xfrm(skb_dst(skb)))
		return weir_drop(wn, WEIR_R_POLICY, skb, state);
	if (!set_route(wn, skb, dest, l3mdev_master_ifindex_rcu(state->out)))
		return weir_drop(wn, WEIR_R_NO_ROUTE, skb, state);
	/* It is not softirq: the packet may outlive the RCU read lock. */
	if (!skb_dst_force(skb))
		return weir_drop(wn, WEIR_R_NO_ROUTE, skb, state);
	return NF_ACCEPT;
}

static bool is_neighbour(const struct sk_buff *skb, const struct neighbour *neigh)
{
	return neigh && READ_ONCE(neigh->nud_state) & NUD_VALID &&
	       ether_addr_equal(eth_hdr(skb)->h_source, neigh->ha);
}

bool weir_transmit_came_from(const struct sk_buff *skb,
			     const struct net_device *in,
			     const struct weir_dest *dest)
{
	struct net_device *dev = (struct net_device *)in;

	if (in->type != ARPHRD_ETHER || !skb_mac_header_was_set(skb) ||
	    skb_mac_header_len(skb) < ETH_HLEN)
		return false;
	if (dest->family == AF_INET)
		return is_neighbour(skb, __ipv4_neigh_lookup_noref(dev,
						(__force u32)dest->addr.ip));
	return is_neighbour(skb, __ipv6_neigh_lookup_noref(dev, &dest->addr));
}
