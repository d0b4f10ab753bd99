// SPDX-License-Identifier: GPL-2.0
/*
 * direct - forwarding without translation
 *
 * PREROUTING at -450, before defragmentation and conntrack: the packet keeps its
 * addresses and goes to the backend, which has the VIP on a loopback and answers the
 * client itself, or, where the VIP is a prefix, through the backend as the next hop.
 * All tracking keys are in track.c.
 */
#include <linux/bottom_half.h>
#include <linux/icmpv6.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netfilter/ipv6/nf_defrag_ipv6.h>
#include <net/route.h>

#include "bh.h"
#include "binding.h"
#include "choose.h"
#include "config.h"
#include "direct.h"
#include "guard.h"
#include "line.h"
#include "netns.h"
#include "packet.h"
#include "pin.h"
#include "plain.h"
#include "reject.h"
#include "session.h"
#include "stack.h"
#include "straight.h"
#include "stay.h"
#include "transmit.h"

#define PRIORITY	-450
/* Behind those who route it anew, for a mark that they set. */
#define PRIORITY_OUT	(NF_IP_PRI_NAT_DST + 1)

/* Whose pieces are put together. Of conntrack's range, for whom the router sends no ICMP
 * when pieces are missing, and the end of it that is for bridges in a zone nobody has.
 */
#define DEFRAG_USER	__IP_DEFRAG_CONNTRACK_BRIDGE_IN

/* A packet to be forwarded, as far as it is known. */
struct ask {
	struct weir_packet packet;
	struct weir_match match;
	bool exact;		/* the address is a VIP of direct mode, */
	bool shared;		/* and of nat mode */
	bool bare;		/* a fragment, and not the one with the ports */
};

/* Back to front, so that both directions of a connection have one key (semantics 6.6). */
static void swap_tuple(struct weir_tuple *tuple)
{
	swap(tuple->src, tuple->dst);
	swap(tuple->sport, tuple->dport);
}

void weir_direct_key(const struct weir_match *match, struct weir_tuple *tuple)
{
	u8 affinity = match->service->opt.affinity;
	int cmp;

	if (!weir_rule_is_prefix(match->rule) ||
	    affinity == WEIR_AFFINITY_NONE ||
	    affinity == WEIR_AFFINITY_CLIENT_IP_NO_DESTINATION)
		return;
	cmp = weir_addr_cmp(&tuple->src, &tuple->dst);
	if (cmp > 0 || (!cmp && ntohs(tuple->sport) > ntohs(tuple->dport)))
		swap_tuple(tuple);
}

/* What no prefix takes: what belongs to one link, and groups. */
static bool is_narrow(const struct weir_tuple *tuple)
{
	const int narrow = IPV6_ADDR_MULTICAST | IPV6_ADDR_LINKLOCAL |
			   IPV6_ADDR_LOOPBACK;
	const struct in6_addr *dst6 = (const struct in6_addr *)&tuple->dst;

	if (tuple->family == AF_INET)
		return ipv4_is_multicast(tuple->dst.ip) ||
		       ipv4_is_linklocal_169(tuple->dst.ip) ||
		       ipv4_is_linklocal_169(tuple->src.ip);
	return ipv6_addr_type(dst6) & narrow || ipv6_addr_any(dst6);
}

/* And the router's own addresses; those of a VRF are in its own table. */
static bool is_private(struct weir_net *wn, const struct net_device *in,
		       const struct weir_tuple *tuple)
{
	if (is_narrow(tuple))
		return true;
	if (tuple->family == AF_INET)
		return inet_addr_type_dev_table(wn->net, in, tuple->dst.ip) !=
		       RTN_UNICAST;
	return weir_guard_is_local(wn, tuple->family, &tuple->dst);
}

/* Sources that no router forwards. */
static bool is_bad_source(const struct sk_buff *skb, u8 family)
{
	__be32 src4;
	int type;

	if (family == AF_INET) {
		src4 = ip_hdr(skb)->saddr;
		return ipv4_is_multicast(src4) || ipv4_is_loopback(src4) ||
		       ipv4_is_zeronet(src4) || ipv4_is_lbcast(src4);
	}
	type = ipv6_addr_type(&ipv6_hdr(skb)->saddr);
	return type == IPV6_ADDR_ANY ||
	       type & (IPV6_ADDR_MULTICAST | IPV6_ADDR_LOOPBACK |
		       IPV6_ADDR_LINKLOCAL);
}

static void init_packet(const struct sk_buff *skb, u8 family, struct weir_packet *packet)
{
	weir_packet_addresses(skb, family, &packet->tuple);
	weir_packet_clear(packet);
}

/* Is the rest worth the while? Prefixes come second: an exact VIP is longer. */
static bool is_candidate(struct weir_net *wn, const struct weir_config *cfg,
			 const struct sk_buff *skb,
			 const struct nf_hook_state *state, struct ask *ask)
{
	const struct weir_tuple *tuple = &ask->packet.tuple;
	u8 forwards = weir_index_forwards(&cfg->index, tuple->family,
					  &tuple->dst);
	struct weir_match unused;

	ask->exact = forwards & BIT(WEIR_FORWARD_DIRECT);
	ask->shared = forwards & BIT(WEIR_FORWARD_NAT);
	if (ask->exact)
		return true;
	return weir_index_prefix(&cfg->index, tuple->family, &tuple->dst,
				 &unused) &&
	       !is_private(wn, state->in, tuple);
}

/* Ports of the first piece of a datagram; the others have none (semantics 6.5). */
static void read_fragment(const struct sk_buff *skb, int offset, bool first,
			  struct ask *ask)
{
	struct weir_tuple *tuple = &ask->packet.tuple;
	const __be16 *ports;
	__be16 buf[2];

	tuple->fragmented = true;
	ask->bare = true;
	if (!first || tuple->proto != IPPROTO_UDP)
		return;
	ports = skb_header_pointer(skb, offset, sizeof(buf), buf);
	if (!ports)
		return;
	tuple->sport = ports[0];
	tuple->dport = ports[1];
	ask->bare = false;
}

/* Where nat mode may want the datagram it wants all of it: its rules may have the address
 * too, and under a prefix the sender may be a backend of its. Behind an extension header
 * nobody knows what a piece is of.
 */
static bool is_reassembled(const struct weir_net *wn, const struct ask *ask,
			   u8 proto)
{
	int v6 = ask->packet.tuple.family == AF_INET6;

	return ask->shared || (!ask->exact && wn->hooked[v6]) ||
	       proto == IPPROTO_TCP || proto == IPPROTO_SCTP ||
	       (v6 && ipv6_ext_hdr(proto) && proto != NEXTHDR_AUTH &&
		proto != NEXTHDR_NONE);
}

/* NF_ACCEPT: go on; a whole packet is left for read_whole(). */
static unsigned int read_fragment4(struct weir_net *wn, struct sk_buff *skb,
				   struct ask *ask)
{
	const struct iphdr *iph = ip_hdr(skb);

	if (!ip_is_fragment(iph))
		return NF_ACCEPT;
	ask->packet.tuple.proto = iph->protocol;
	if (is_reassembled(wn, ask, iph->protocol)) {
		if (ip_defrag(wn->net, skb, DEFRAG_USER))
			return NF_STOLEN;
		skb->ignore_df = 1;
		return NF_ACCEPT;
	}
	read_fragment(skb, skb_network_offset(skb) + ip_hdrlen(skb),
		      !(iph->frag_off & htons(IP_OFFSET)), ask);
	return NF_ACCEPT;
}

static unsigned int read_fragment6(struct weir_net *wn, struct sk_buff *skb,
				   struct ask *ask)
{
	const struct frag_hdr *hdr;
	unsigned int offset = 0;
	struct frag_hdr buf;
	int err;

	if (ipv6_find_hdr(skb, &offset, NEXTHDR_FRAGMENT, NULL, NULL) < 0)
		return NF_ACCEPT;
	hdr = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!hdr)
		return NF_DROP;
	/* One that is all of its datagram counts as whole (decision 10). */
	if (!(hdr->frag_off & htons(IP6_OFFSET | IP6_MF)))
		return NF_ACCEPT;
	ask->packet.tuple.proto = hdr->nexthdr;
	if (is_reassembled(wn, ask, hdr->nexthdr)) {
		err = nf_ct_frag6_gather(wn->net, skb, DEFRAG_USER);
		if (err == -EINPROGRESS)
			return NF_STOLEN;
		/* It also says 0 of pieces that it does not understand. */
		offset = 0;
		return err || ipv6_find_hdr(skb, &offset, NEXTHDR_FRAGMENT, NULL,
					    NULL) >= 0 ? NF_DROP : NF_ACCEPT;
	}
	read_fragment(skb, offset + sizeof(*hdr),
		      !(hdr->frag_off & htons(IP6_OFFSET)), ask);
	return NF_ACCEPT;
}

/* Loose and strict source routes end here, as they do by default where the kernel
 * forwards.
 */
static bool is_source_routed4(const struct sk_buff *skb)
{
	const struct iphdr *iph = ip_hdr(skb);
	const u8 *opt = (const u8 *)(iph + 1);
	int left = iph->ihl * 4 - sizeof(*iph), len;

	while (left > 0 && opt[0] != IPOPT_END) {
		if (opt[0] == IPOPT_LSRR || opt[0] == IPOPT_SSRR)
			return true;
		len = opt[0] == IPOPT_NOOP ? 1 : left > 1 ? opt[1] : 0;
		if (!len || (len < 2 && opt[0] != IPOPT_NOOP))
			return false;
		opt += len;
		left -= len;
	}
	return false;
}

/* Nothing but addresses: a next hop takes it all the same. */
static void read_opaque(const struct sk_buff *skb, u8 family, struct ask *ask)
{
	init_packet(skb, family, &ask->packet);
	ask->packet.tuple.fragmented = true;
	ask->bare = true;
}

static unsigned int read_whole(struct weir_net *wn, struct sk_buff *skb,
			       const struct nf_hook_state *state, struct ask *ask)
{
	u8 family = ask->packet.tuple.family;
	enum weir_extension extension = WEIR_EXTENSION_NONE;

	if (family == AF_INET6)
		extension = weir_packet_extension(skb);
	if (extension == WEIR_EXTENSION_SOURCE_ROUTE ||
	    (family == AF_INET && is_source_routed4(skb)))
		return weir_drop(wn, WEIR_R_ROUTING_HEADER, skb, state);
	if (ask->packet.tuple.fragmented)
		return NF_ACCEPT;
	if (!weir_packet_parse(skb, state, &ask->packet)) {
		if (ask->exact)
			return weir_drop(wn, WEIR_R_INVALID, skb, state);
		read_opaque(skb, family, ask);
		return NF_ACCEPT;
	}
	/* One that was put together here is still one that came in pieces. */
	if (ask->packet.tuple.proto == IPPROTO_UDP)
		ask->packet.tuple.fragmented = weir_packet_fragmented(skb, family);
	/* To conntrack it is one more extension header, to us the protocol. */
	if (extension == WEIR_EXTENSION_AH) {
		ask->packet.tuple.proto = IPPROTO_AH;
		ask->packet.tuple.sport = 0;
		ask->packet.tuple.dport = 0;
		ask->packet.icmp_error = false;
		ask->packet.ndp = false;
	}
	return NF_ACCEPT;
}

/* Not for answers of nat mode's backends, which have to be translated back; and what goes
 * to one next hop is not for another.
 */
static bool find_prefix(const struct weir_config *cfg, const struct weir_tuple *tuple,
			struct weir_match *match)
{
	return weir_index_prefix(&cfg->index, tuple->family, &tuple->dst, match) &&
	       !weir_index_is_source(&cfg->index, tuple->family, &tuple->src,
				     tuple->proto, ntohs(tuple->sport)) &&
	       !weir_backend_find(match->service, &tuple->dst, tuple->family);
}

/* What a next hop sends on is on its way, and not ours any more. */
static bool is_of_next_hop(const struct sk_buff *skb, const struct net_device *in,
			   const struct weir_service *svc)
{
	u32 i;

	for (i = 0; i < svc->nr_backends; i++)
		if (weir_transmit_came_from(skb, in, svc->backends[i].dest))
			return true;
	return false;
}

static bool takes_prefix(const struct weir_config *cfg, const struct sk_buff *skb,
			 const struct nf_hook_state *state, struct ask *ask)
{
	return state->hook == NF_INET_PRE_ROUTING &&
	       find_prefix(cfg, &ask->packet.tuple, &ask->match) &&
	       !is_of_next_hop(skb, state->in, ask->match.service);
}

bool weir_direct_prefix(struct weir_net *wn, const struct weir_config *cfg,
			const struct weir_tuple *tuple, struct weir_match *match)
{
	return !is_private(wn, NULL, tuple) && find_prefix(cfg, tuple, match);
}

/* The rule that takes the packet, or none; *verdict says what then. */
static bool find_rule(struct weir_net *wn, const struct weir_config *cfg,
		      struct sk_buff *skb, const struct nf_hook_state *state,
		      struct ask *ask, unsigned int *verdict)
{
	const struct weir_tuple *tuple = &ask->packet.tuple;

	*verdict = NF_ACCEPT;
	if (weir_index_rule(&cfg->index, tuple->family, &tuple->dst, tuple->proto,
			    ask->bare ? 0 : ntohs(tuple->dport), &ask->match))
		return ask->match.service->opt.forward == WEIR_FORWARD_DIRECT;
	/* Nat mode knows of expected connections, and what to do with strangers. */
	if (ask->shared || is_private(wn, state->in, tuple))
		return false;
	if (takes_prefix(cfg, skb, state, ask))
		return true;
	if (ask->exact)
		*verdict = weir_drop(wn, ask->bare ? WEIR_R_NO_PORTS :
						     WEIR_R_NO_RULE, skb, state);
	return false;
}

static unsigned int send(struct weir_net *wn, struct sk_buff *skb,
			 const struct nf_hook_state *state,
			 struct weir_dest *dest)
{
	return state->hook == NF_INET_LOCAL_OUT ?
	       weir_transmit_local(wn, skb, state, dest) :
	       weir_transmit(wn, skb, state, dest);
}

/* To a VIP: the flow's own direction is the other one of what the error is about. */
static const struct weir_backend *owner_of(struct weir_net *wn,
					   const struct ask *ask)
{
	const struct weir_service *svc = ask->match.service;
	struct weir_tuple tuple = ask->packet.inner;
	struct weir_session session;
	struct weir_track_ref ref;
	u32 at;

	swap_tuple(&tuple);
	return weir_session_find(wn, svc, &tuple,
				 weir_session_fields(svc, &tuple), &ref, &session,
				 &at) ? weir_session_backend(svc, &session) : NULL;
}

/* Through a next hop the flow may be of either direction, or one that another router
 * sent on its way: then the hash says through which.
 */
static const struct weir_backend *next_hop_of(struct weir_net *wn,
					      const struct weir_config *cfg,
					      const struct ask *ask)
{
	struct weir_tuple tuple = ask->packet.inner;
	struct weir_choice choice;

	weir_direct_key(&ask->match, &tuple);
	weir_choose(wn, cfg, ask->match.service, &tuple, &choice);
	if (choice.kept)
		return choice.backend;
	tuple = ask->packet.inner;
	swap_tuple(&tuple);
	weir_direct_key(&ask->match, &tuple);
	weir_choose(wn, cfg, ask->match.service, &tuple, &choice);
	return choice.backend;
}

/* An ICMP error belongs to the flow that it is about. One about a flow of a VIP that
 * nobody knows is told to nobody.
 */
static unsigned int forward_error(struct weir_net *wn,
				  const struct weir_config *cfg,
				  struct sk_buff *skb,
				  const struct nf_hook_state *state,
				  struct ask *ask)
{
	const struct weir_tuple *inner = &ask->packet.inner;
	const struct weir_backend *be = NULL;
	unsigned int len = skb->len, verdict;

	if (weir_index_rule(&cfg->index, inner->family, &inner->src, inner->proto,
			    ntohs(inner->sport), &ask->match)) {
		if (ask->match.service->opt.forward != WEIR_FORWARD_DIRECT)
			return NF_ACCEPT;
		be = owner_of(wn, ask);
	} else if (ask->shared ||
		   is_private(wn, state->in, &ask->packet.tuple)) {
		return NF_ACCEPT;
	} else if (!ask->exact) {
		/* About a flow of nat mode: translated back by conntrack. */
		if (weir_index_is_source(&cfg->index, inner->family, &inner->dst,
					 inner->proto, ntohs(inner->dport)) ||
		    !takes_prefix(cfg, skb, state, ask))
			return NF_ACCEPT;
		be = next_hop_of(wn, cfg, ask);
	}
	if (!be)
		return weir_drop(wn, WEIR_R_ICMP_UNKNOWN, skb, state);
	verdict = send(wn, skb, state, be->dest);
	if (verdict != NF_DROP)
		weir_counters_packet(be->dest->counters, false, len);
	return verdict;
}

/* Its session was with another backend: why not any more? */
static enum weir_why why_of(const struct weir_config *cfg,
			    const struct weir_service *svc,
			    const struct weir_tuple *tuple,
			    const struct weir_choice *choice)
{
	const struct weir_backend *was;

	if (!choice->has_session)
		return WEIR_WHY_NEW;
	was = weir_session_backend(svc, &choice->session);
	if (!was)
		return WEIR_WHY_GONE;
	switch (weir_stay_with(cfg, was->dest->bindings[weir_class(tuple->proto)],
			       tuple->family, &tuple->src)) {
	case WEIR_STAY_UNHEALTHY:
		return WEIR_WHY_UNHEALTHY;
	case WEIR_STAY_FAILOVER:
		return WEIR_WHY_FAILOVER;
	case WEIR_STAY_YES:
		return WEIR_WHY_SYN;
	default:
		return WEIR_WHY_GONE;
	}
}

/* Did the backend send it back, because it lacks the VIP? For one that was pinned the hash
 * may name another backend, which would answer in the place of that one; its source gives
 * it away, and is looked at where there are pins, when a flow begins.
 */
static bool is_loop(struct weir_net *wn, const struct sk_buff *skb,
		    const struct nf_hook_state *state, const struct ask *ask,
		    const struct weir_choice *choice)
{
	if (state->hook != NF_INET_PRE_ROUTING)
		return false;
	if (!choice->kept && ask->exact && weir_pin_any(wn) &&
	    weir_guard_is_local(wn, ask->packet.tuple.family,
				&ask->packet.tuple.src))
		return true;
	return weir_transmit_came_from(skb, state->in, choice->backend->dest);
}

/* What was dropped on the way leaves no session, and is counted once. */
static unsigned int forward(struct weir_net *wn, const struct weir_config *cfg,
			    struct sk_buff *skb,
			    const struct nf_hook_state *state, struct ask *ask)
{
	const struct weir_service *svc = ask->match.service;
	struct weir_tuple *tuple = &ask->packet.tuple;
	unsigned int len = skb->len, verdict;
	struct weir_choice choice WEIR_UNINIT;
	struct weir_dest *dest;
	__be32 isn, *syn = NULL;

	if (tuple->proto == IPPROTO_TCP && ask->packet.opens &&
	    weir_packet_seq(skb, state->pf, &isn))
		syn = &isn;
	weir_direct_key(&ask->match, tuple);
	weir_choose(wn, cfg, svc, tuple, &choice);
	if (syn && choice.track_fields == 5)
		weir_choose_syn(cfg, svc, tuple, isn, &choice);
	if (!choice.backend) {
		if (choice.has_session)
			weir_session_end(wn, choice.at, &choice.session);
		return weir_when_empty(wn, svc, skb, state);
	}
	dest = choice.backend->dest;
	if (is_loop(wn, skb, state, ask, &choice))
		return weir_drop(wn, WEIR_R_LOOP, skb, state);
	verdict = send(wn, skb, state, dest);
	if (verdict == NF_DROP)
		return verdict;
	if (choice.kept)
		weir_counters_packet(dest->counters, false, len);
	else
		weir_choose_count(svc, &choice, len,
				  why_of(cfg, svc, tuple, &choice));
	weir_choose_settle(wn, svc, &choice, syn);
	if (choice.kept && !syn && state->hook == NF_INET_PRE_ROUTING && ask->exact)
		weir_straight_learn(wn, cfg, state, tuple, &choice);
	return verdict;
}

static unsigned int read_packet(struct weir_net *wn, struct sk_buff *skb,
				const struct nf_hook_state *state, struct ask *ask)
{
	u8 family = ask->packet.tuple.family;
	unsigned int verdict = NF_ACCEPT;

	if (state->hook == NF_INET_PRE_ROUTING) {
		verdict = family == AF_INET ? read_fragment4(wn, skb, ask) :
					      read_fragment6(wn, skb, ask);
		/* One that waits for the rest of its pieces is not ours any more. */
		if (verdict == NF_STOLEN)
			return verdict;
		if (verdict == NF_DROP)
			return weir_drop(wn, WEIR_R_INVALID, skb, state);
	}
	return read_whole(wn, skb, state, ask);
}

static unsigned int take(struct weir_net *wn, const struct weir_config *cfg,
			 struct sk_buff *skb, const struct nf_hook_state *state,
			 u8 family)
{
	struct ask ask WEIR_UNINIT;
	unsigned int verdict;

	init_packet(skb, family, &ask.packet);
	ask.bare = false;
	if (!is_candidate(wn, cfg, skb, state, &ask))
		return NF_ACCEPT;
	verdict = read_packet(wn, skb, state, &ask);
	if (verdict != NF_ACCEPT || ask.packet.ndp)
		return verdict;
	if (state->hook == NF_INET_PRE_ROUTING && is_bad_source(skb, family))
		return weir_drop(wn, WEIR_R_INVALID, skb, state);
	if (ask.packet.icmp_error)
		return forward_error(wn, cfg, skb, state, &ask);
	if (!find_rule(wn, cfg, skb, state, &ask, &verdict))
		return verdict;
	if (READ_ONCE(wn->closing))
		return weir_drop(wn, WEIR_R_CLOSING, skb, state);
	return forward(wn, cfg, skb, state, &ask);
}

/* Of a plain packet everything is known that take() finds out, if it is for an exact VIP. */
static unsigned int take_plain(struct weir_net *wn, const struct weir_config *cfg,
			       struct sk_buff *skb, const struct nf_hook_state *state,
			       const struct weir_plain *plain, u8 family)
{
	struct ask ask WEIR_UNINIT;
	struct weir_tuple *tuple = &ask.packet.tuple;
	const __be16 *ports = (const __be16 *)&plain->ports;

	init_packet(skb, family, &ask.packet);
	ask.packet.opens = plain->opens;
	tuple->sport = ports[0];
	tuple->dport = ports[1];
	ask.exact = true;
	if (is_bad_source(skb, family) || READ_ONCE(wn->closing) ||
	    weir_packet_fragmented(skb, family) ||
	    !weir_index_rule(&cfg->index, family, &tuple->dst, tuple->proto,
			     ntohs(tuple->dport), &ask.match) ||
	    ask.match.service->opt.forward != WEIR_FORWARD_DIRECT)
		return take(wn, cfg, skb, state, family);
	return forward(wn, cfg, skb, state, &ask);
}

/* Apart from what decides that a packet is not ours, which is to cost nothing. */
static noinline unsigned int take_in(struct weir_net *wn, const struct weir_config *cfg,
				     struct sk_buff *skb,
				     const struct nf_hook_state *state, u8 family)
{
	u64 seed = weir_straight_seed(wn);
	struct weir_plain plain WEIR_UNINIT;
	bool on = weir_bh_off();
	unsigned int verdict;

	if (!(family == AF_INET ? weir_plain_read4(skb, seed, &plain) :
				  weir_plain_read6(skb, seed, &plain)))
		verdict = take(wn, cfg, skb, state, family);
	else if (plain.running &&
		 weir_straight(wn, cfg, skb, state, &plain) == NF_STOLEN)
		verdict = NF_STOLEN;
	else
		verdict = take_plain(wn, cfg, skb, state, &plain, family);
	weir_bh_restore(on);
	return verdict;
}

static unsigned int in4(void *priv, struct sk_buff *skb,
			const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct weir_config *cfg = rcu_dereference(wn->config);

	if (likely(!weir_index_may_be_direct4(&cfg->index, ip_hdr(skb)->daddr)) ||
	    weir_packet_passes_by(skb, state))
		return NF_ACCEPT;
	return take_in(wn, cfg, skb, state, AF_INET);
}

static unsigned int in6(void *priv, struct sk_buff *skb,
			const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct weir_config *cfg = rcu_dereference(wn->config);
	const __be32 *daddr = ipv6_hdr(skb)->daddr.s6_addr32;

	if (likely(!weir_index_may_be_direct6(&cfg->index, daddr)) ||
	    weir_packet_passes_by(skb, state))
		return NF_ACCEPT;
	return take_in(wn, cfg, skb, state, AF_INET6);
}

/* A connection that somebody has pinned to a backend goes there, whatever else is said of
 * the backend; it is no flow of the service.
 */
static unsigned int send_out(struct weir_net *wn, const struct weir_config *cfg,
			     struct sk_buff *skb, const struct nf_hook_state *state,
			     u8 family)
{
	struct weir_dest *dest = NULL;
	unsigned int verdict;
	bool on = weir_bh_off();

	if (weir_pin_any(wn))
		dest = weir_pin_find(wn, cfg, skb, state);
	verdict = dest ? weir_transmit_local(wn, skb, state, dest) :
			 take(wn, cfg, skb, state, family);
	weir_bh_restore(on);
	return verdict;
}

/* To an exact VIP only: where the router itself goes is for its own routes to say. */
static unsigned int out(struct weir_net *wn, const struct weir_config *cfg,
			struct sk_buff *skb, const struct nf_hook_state *state,
			u8 family)
{
	struct weir_tuple tuple;

	weir_packet_addresses(skb, family, &tuple);
	if (netif_is_l3_master(state->out) ||
	    !(weir_index_forwards(&cfg->index, family, &tuple.dst) &
	      BIT(WEIR_FORWARD_DIRECT)) ||
	    weir_guard_is_local(wn, family, &tuple.dst))
		return NF_ACCEPT;
	return send_out(wn, cfg, skb, state, family);
}

static unsigned int out4(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct weir_config *cfg = rcu_dereference(wn->config);

	if (!weir_index_may_be_direct4(&cfg->index, ip_hdr(skb)->daddr))
		return NF_ACCEPT;
	return out(wn, cfg, skb, state, AF_INET);
}

static unsigned int out6(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	struct weir_net *wn = weir_net(state->net);
	const struct weir_config *cfg = rcu_dereference(wn->config);
	const __be32 *daddr = ipv6_hdr(skb)->daddr.s6_addr32;

	if (!weir_index_may_be_direct6(&cfg->index, daddr))
		return NF_ACCEPT;
	return out(wn, cfg, skb, state, AF_INET6);
}

#define DIRECT_OPS(family, number, prio, fn)				\
	{								\
		.hook		= fn,					\
		.pf		= family,				\
		.hooknum	= number,				\
		.priority	= prio,					\
	}

static const struct nf_hook_ops direct_ops[2][2] = {
	{
		DIRECT_OPS(NFPROTO_IPV4, NF_INET_PRE_ROUTING, PRIORITY, in4),
		DIRECT_OPS(NFPROTO_IPV4, NF_INET_LOCAL_OUT, PRIORITY_OUT, out4),
	}, {
		DIRECT_OPS(NFPROTO_IPV6, NF_INET_PRE_ROUTING, PRIORITY, in6),
		DIRECT_OPS(NFPROTO_IPV6, NF_INET_LOCAL_OUT, PRIORITY_OUT, out6),
	},
};

int weir_direct_enable(struct weir_net *wn, u8 family)
{
	int v6 = family == AF_INET6;
	int err;

	if (wn->direct[v6])
		return 0;
	err = weir_session_init(wn);
	if (!err && wn->fast_path)
		err = weir_lines_init(wn);
	if (!err)
		err = nf_register_net_hooks(wn->net, direct_ops[v6],
					    ARRAY_SIZE(direct_ops[v6]));
	if (!err)
		wn->direct[v6] = true;
	return err;
}

/* A queue for user space keeps where a packet goes on: in this module. Taking a hook out
 * empties the queues. So what the hook at PREROUTING sent to one goes with the hook at
 * OUTPUT, when no packet is between the two any more.
 */
void weir_direct_disable(struct weir_net *wn)
{
	bool any = wn->direct[0] || wn->direct[1];
	int v6;

	for (v6 = 0; v6 < 2; v6++)
		if (wn->direct[v6])
			nf_unregister_net_hook(wn->net, &direct_ops[v6][0]);
	if (any)
		synchronize_net();
	for (v6 = 0; v6 < 2; v6++) {
		if (wn->direct[v6])
			nf_unregister_net_hook(wn->net, &direct_ops[v6][1]);
		wn->direct[v6] = false;
	}
}
