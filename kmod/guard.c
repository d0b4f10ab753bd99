// SPDX-License-Identifier: GPL-2.0
/*
 * guard - nothing leaks: packets to a VIP, or from a backend's service port, that
 * belong to no flow
 */
#include <linux/atomic.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/netfilter.h>
#include <linux/random.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/route.h>

#include "binding.h"
#include "compat/conntrack.h"
#include "config.h"
#include "guard.h"
#include "netns.h"
#include "packet.h"
#include "reject.h"
#include "stats.h"

/* A line of the cache: one is read for a packet that begins a flow. */
#define TOMB_WAYS	8

/* Twice as many as conntrack has entries: all may end at once, and of eight that
 * share a line on average four then do. No less, and no more than 8 MiB.
 */
#define TOMB_SLOTS_MIN	(1 << 14)
#define TOMB_SLOTS_MAX	(1 << 20)

/* TICKs of limit.c: all are looked at in a minute, long before a time comes round
 * again.
 */
#define TOMB_TICKS	240

/* A slot holds 48 bits of the hash and 16 of the second in which it was written:
 * 0 is an empty one, as 0 seconds after boot nothing has ended.
 */
#define TOMB_TIME	0xffffULL

int weir_tombs_init(struct weir_tombs *tombs, const struct net *net)
{
	/* Without a maximum it wraps to the largest. */
	u32 max = clamp_t(u32, weir_conntrack_max(net) - 1, TOMB_SLOTS_MIN / 2,
			  TOMB_SLOTS_MAX / 2);
	u32 nr = roundup_pow_of_two(2 * max);
	u64 *slots;

	if (tombs->slots)
		return 0;
	slots = kvcalloc(nr, sizeof(*slots), GFP_KERNEL_ACCOUNT);
	if (!slots)
		return -ENOMEM;
	get_random_bytes(&tombs->key, sizeof(tombs->key));
	tombs->nr = nr;
	/* Hooks that read it are registered after this. */
	tombs->slots = slots;
	return 0;
}

void weir_tombs_exit(struct weir_tombs *tombs)
{
	kvfree(tombs->slots);
	tombs->slots = NULL;
}

static u64 now_seconds(void)
{
	return div_u64(get_jiffies_64(), HZ) & TOMB_TIME;
}

static u64 tomb_hash(const struct weir_tombs *tombs,
		     const struct weir_tuple *answer)
{
	return weir_tuple_hash(answer, 5, &tombs->key);
}

/* The slots that a hash may be in: by bits that it keeps there, too. */
static u64 *tomb_line(const struct weir_tombs *tombs, u64 hash)
{
	return &tombs->slots[(hash >> 32) & (tombs->nr - TOMB_WAYS)];
}

static bool is_same(u64 slot, u64 hash)
{
	return slot && !((slot ^ hash) & ~TOMB_TIME);
}

static u64 age(u64 slot)
{
	return (now_seconds() - slot) & TOMB_TIME;
}

/* Its own slot, an empty one, or that of the oldest. */
static u64 *tomb_place(u64 *line, u64 hash)
{
	u64 slot, oldest = 0, *place = line;
	int i;

	for (i = 0; i < TOMB_WAYS; i++) {
		slot = READ_ONCE(line[i]);
		if (is_same(slot, hash))
			return &line[i];
		slot = slot ? age(slot) : TOMB_TIME + 1;
		if (slot <= oldest)
			continue;
		oldest = slot;
		place = &line[i];
	}
	return place;
}

void weir_tombs_add(struct weir_tombs *tombs, const struct nf_conn *ct)
{
	struct weir_tuple answer;
	u64 hash;

	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_REPLY].tuple, &answer);
	if (!tombs->slots)
		return;
	WRITE_ONCE(tombs->added, jiffies);
	/* Pairs with the barrier in forget_old(). */
	smp_wmb();
	WRITE_ONCE(tombs->any, true);
	hash = tomb_hash(tombs, &answer);
	/* Slots are independent words: a race loses one tomb, no more. */
	WRITE_ONCE(*tomb_place(tomb_line(tombs, hash), hash),
		   (hash & ~TOMB_TIME) | now_seconds());
}

bool weir_tombs_have(const struct weir_tombs *tombs, const struct weir_tuple *answer)
{
	const u64 *line;
	u64 hash, slot;
	int i;

	if (!READ_ONCE(tombs->any))
		return false;
	hash = tomb_hash(tombs, answer);
	line = tomb_line(tombs, hash);
	for (i = 0; i < TOMB_WAYS; i++) {
		slot = READ_ONCE(line[i]);
		if (is_same(slot, hash))
			return age(slot) <= WEIR_TOMB_LIFE;
	}
	return false;
}

static bool are_old(const struct weir_tombs *tombs)
{
	return time_after(jiffies, READ_ONCE(tombs->added) + (WEIR_TOMB_LIFE + 1) * HZ);
}

/* While there are none, nobody looks. Whoever adds one meanwhile has written the time
 * before the flag: looked at behind it, it says whether the flag was theirs.
 */
static void forget_old(struct weir_tombs *tombs)
{
	if (!READ_ONCE(tombs->any) || !are_old(tombs))
		return;
	WRITE_ONCE(tombs->any, false);
	smp_mb();
	if (!are_old(tombs))
		WRITE_ONCE(tombs->any, true);
}

void weir_tombs_clean(struct weir_tombs *tombs)
{
	u64 slot;
	u32 i;

	if (!tombs->slots)
		return;
	forget_old(tombs);
	for (i = 0; i <= tombs->nr / TOMB_TICKS; i++) {
		tombs->cleaned = (tombs->cleaned + 1) & (tombs->nr - 1);
		slot = READ_ONCE(tombs->slots[tombs->cleaned]);
		if (slot && age(slot) > WEIR_TOMB_LIFE)
			cmpxchg64(&tombs->slots[tombs->cleaned], slot, 0);
	}
}

bool weir_guard_is_local(struct weir_net *wn, u8 family, const void *addr)
{
	if (family == AF_INET)
		return inet_addr_type(wn->net, *(const __be32 *)addr) ==
		       RTN_LOCAL;
	return ipv6_chk_addr(wn->net, addr, NULL, 0);
}

static bool is_source(const struct weir_config *cfg, u8 family,
		      const struct weir_addr *addr, u8 proto, __be16 port)
{
	return weir_index_is_source(&cfg->index, family, addr, proto,
				    ntohs(port));
}

static bool has_rule(const struct weir_config *cfg,
		     const struct weir_tuple *tuple)
{
	struct weir_match match;

	return weir_index_nat_rule(&cfg->index, tuple->family, &tuple->dst,
			       tuple->proto, ntohs(tuple->dport), &match);
}

/* A VIP that is no address of this router: where else could the packet go? */
static bool is_lost(struct weir_net *wn, const struct weir_config *cfg,
		    u8 family, const struct weir_addr *vip)
{
	return weir_index_is_vip(&cfg->index, family, vip) &&
	       !weir_guard_is_local(wn, family, vip);
}

unsigned int weir_guard_no_rule(struct weir_net *wn,
				const struct weir_config *cfg,
				struct sk_buff *skb,
				const struct nf_hook_state *state,
				const struct weir_tuple *tuple)
{
	struct weir_match match;

	if (!is_lost(wn, cfg, tuple->family, &tuple->dst))
		return NF_ACCEPT;
	/* One of direct mode, which the router itself sent. */
	if (state->hook == NF_INET_LOCAL_OUT &&
	    weir_index_rule(&cfg->index, tuple->family, &tuple->dst,
			    tuple->proto, ntohs(tuple->dport), &match))
		return NF_ACCEPT;
	return weir_drop(wn, WEIR_R_NO_RULE, skb, state);
}

/* An ICMP error that conntrack cannot match. Towards a VIP it is ours by the
 * packet that it is about: sent from the VIP, as the client saw it. From a
 * backend: sent to the backend, as it saw it.
 */
static unsigned int guard_icmp_error(struct weir_net *wn,
				     const struct weir_config *cfg,
				     struct sk_buff *skb,
				     const struct nf_hook_state *state,
				     const struct weir_packet *packet)
{
	const struct weir_tuple *inner = &packet->inner;
	struct weir_match match;

	if (weir_index_nat_rule(&cfg->index, inner->family, &inner->src,
			    inner->proto, ntohs(inner->sport), &match))
		return weir_drop(wn, WEIR_R_ICMP_UNKNOWN, skb, state);
	if (is_source(cfg, inner->family, &inner->dst, inner->proto,
		      inner->dport) &&
	    !weir_addr_cmp(&inner->dst, &packet->tuple.src))
		return weir_drop(wn, WEIR_R_LATE_ANSWER, skb, state);
	return weir_guard_no_rule(wn, cfg, skb, state, &packet->tuple);
}

/* Is there an entry for the tuple of this packet, and is it a half-open one of ours? */
static bool find_entry(const struct sk_buff *skb, const struct nf_hook_state *state,
		       bool *half_open)
{
	struct nf_conn *ct = weir_packet_find_entry(skb, state);

	*half_open = false;
	if (!ct)
		return false;
	*half_open = weir_binding_of(ct) &&
		     READ_ONCE(ct->proto.tcp.state) == TCP_CONNTRACK_SYN_SENT;
	nf_ct_put(ct);
	return true;
}

/* A segment in mid-stream that conntrack does not take. Two kinds are answered by a
 * reset, without which the client would wait for long: one that has no entry and gets
 * none, any with nf_conntrack_tcp_loose=0 and a FIN always (decision 22), and a bare ACK
 * that meets a half-open entry. That one answers the SYN-ACK of a backend which was
 * replaced meanwhile; the new one never sent it. A stray of a flow that lives is not
 * answered: the reset could cut that one.
 */
static unsigned int guard_segment(struct weir_net *wn, struct sk_buff *skb,
				  const struct nf_hook_state *state,
				  const struct weir_packet *packet)
{
	bool half_open, known = find_entry(skb, state, &half_open);
	bool loose = READ_ONCE(wn->net->ct.nf_ct_proto.tcp.tcp_loose);

	if (!packet->opens && !packet->tcp_rst && (half_open || !known))
		weir_reject(wn, skb, state);
	return weir_drop(wn, !known && !loose && !packet->opens ?
			 WEIR_R_NO_LOOSE : WEIR_R_INVALID, skb, state);
}

static unsigned int guard_invalid(struct weir_net *wn,
				  const struct weir_config *cfg,
				  struct sk_buff *skb,
				  const struct nf_hook_state *state,
				  const struct weir_packet *packet)
{
	const struct weir_tuple *tuple = &packet->tuple;

	if (packet->icmp_error)
		return guard_icmp_error(wn, cfg, skb, state, packet);
	if (has_rule(cfg, tuple)) {
		if (tuple->proto == IPPROTO_TCP)
			return guard_segment(wn, skb, state, packet);
		return weir_drop(wn, WEIR_R_INVALID, skb, state);
	}
	if (is_source(cfg, tuple->family, &tuple->src, tuple->proto,
		      tuple->sport) ||
	    weir_tombs_have(&wn->tombs, tuple))
		return weir_drop(wn, WEIR_R_LATE_ANSWER, skb, state);
	return weir_guard_no_rule(wn, cfg, skb, state, tuple);
}

/* Too short to have ports, an ICMP error about nothing, an unknown kind of GRE: it could
 * only be routed on, with the VIP as its destination.
 */
static unsigned int guard_unreadable(struct weir_net *wn,
				     const struct weir_config *cfg,
				     struct sk_buff *skb,
				     const struct nf_hook_state *state)
{
	u8 family = state->pf == NFPROTO_IPV4 ? AF_INET : AF_INET6;
	struct weir_addr vip = {};

	if (family == AF_INET)
		memcpy(&vip, &ip_hdr(skb)->daddr, sizeof(struct in_addr));
	else
		memcpy(&vip, &ipv6_hdr(skb)->daddr, sizeof(struct in6_addr));
	if (!is_lost(wn, cfg, family, &vip))
		return NF_ACCEPT;
	return weir_drop(wn, WEIR_R_INVALID, skb, state);
}

/* Whoever forgoes conntrack shall not pay for ours. */
static bool is_to_vip(const struct weir_config *cfg, const struct sk_buff *skb,
		      const struct nf_hook_state *state)
{
	struct weir_tuple tuple;

	weir_packet_addresses(skb, state->pf, &tuple);
	return weir_index_is_vip(&cfg->index, tuple.family, &tuple.dst);
}

unsigned int weir_guard_no_entry(struct weir_net *wn,
				 const struct weir_config *cfg,
				 struct sk_buff *skb,
				 const struct nf_hook_state *state,
				 bool untracked)
{
	struct weir_packet packet;

	if (!cfg->nr_services)
		return NF_ACCEPT;
	if (untracked && !is_to_vip(cfg, skb, state))
		return NF_ACCEPT;
	if (!weir_packet_parse(skb, state, &packet))
		return guard_unreadable(wn, cfg, skb, state);
	if (packet.ndp)
		return NF_ACCEPT;
	if (!untracked)
		return guard_invalid(wn, cfg, skb, state, &packet);
	if (has_rule(cfg, &packet.tuple))
		return weir_drop(wn, WEIR_R_UNTRACKED, skb, state);
	return weir_guard_no_rule(wn, cfg, skb, state, &packet.tuple);
}

unsigned int weir_guard_new(struct weir_net *wn, const struct weir_config *cfg,
			    struct sk_buff *skb,
			    const struct nf_hook_state *state,
			    const struct nf_conn *ct)
{
	u8 proto = nf_ct_protonum(ct);
	bool handshake = proto == IPPROTO_TCP || proto == IPPROTO_SCTP;
	struct weir_tuple tuple;

	if (handshake ? weir_packet_opens(skb, nf_ct_l3num(ct), proto) :
			!READ_ONCE(wn->tombs.any))
		return NF_ACCEPT;
	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple, &tuple);
	/* A tomb has no id of a query, and an entry begins with one: the backend's
	 * own. Late echo replies are invalid and come to weir_guard_no_entry().
	 */
	if (tuple.proto == IPPROTO_ICMP || tuple.proto == IPPROTO_ICMPV6)
		return NF_ACCEPT;
	/* A backend may be a client too: select comes next. */
	if (has_rule(cfg, &tuple))
		return NF_ACCEPT;
	if (weir_tombs_have(&wn->tombs, &tuple) ||
	    (handshake && is_source(cfg, tuple.family, &tuple.src, tuple.proto,
				    tuple.sport)))
		return weir_drop(wn, WEIR_R_LATE_ANSWER, skb, state);
	return NF_ACCEPT;
}
