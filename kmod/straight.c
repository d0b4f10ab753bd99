// SPDX-License-Identifier: GPL-2.0
/*
 * straight - the short way of a running flow of direct mode
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/dst.h>

#include "binding.h"
#include "choose.h"
#include "config.h"
#include "dest.h"
#include "line.h"
#include "netns.h"
#include "plain.h"
#include "session.h"
#include "stack.h"
#include "stats.h"
#include "straight.h"
#include "track.h"
#include "transmit.h"

static void fill_key(struct weir_track_key *key, const struct sk_buff *skb, u8 pf,
		     const struct weir_plain *plain, u32 owner)
{
	const __be16 *ports = (const __be16 *)(skb->data + plain->thoff);

	*key = (struct weir_track_key) {
		.owner = owner,
		.family = pf == NFPROTO_IPV4 ? AF_INET : AF_INET6,
		.proto = plain->proto,
		.fields = 5,
		.sport = ports[0],
		.dport = ports[1],
	};
	if (pf == NFPROTO_IPV4) {
		key->src.ip = ip_hdr(skb)->saddr;
		key->dst.ip = ip_hdr(skb)->daddr;
	} else {
		memcpy(&key->src, &ipv6_hdr(skb)->saddr, sizeof(key->src));
		memcpy(&key->dst, &ipv6_hdr(skb)->daddr, sizeof(key->dst));
	}
}

/* With a state of any kind there is something to be judged. That rules have changed is
 * none: the line is younger than the rules.
 */
static bool is_plain_dest(const struct weir_dest *dest, u8 proto)
{
	enum weir_class class = proto == IPPROTO_TCP ? WEIR_CLASS_TCP : WEIR_CLASS_UDP;
	const struct weir_binding *binding = dest->bindings[class];

	return !(READ_ONCE(binding->state) & ~WEIR_BINDING_CHECK);
}

/* It can only have come from the backend if it came from there: where packets of this
 * flow came in that is known of, and if that is another link than the backend's they are
 * none of its.
 */
static bool may_be_loop(const struct sk_buff *skb, const struct nf_hook_state *state,
			const struct weir_dest *dest, const struct dst_entry *dst)
{
	return state->in == dst->dev && weir_transmit_came_from(skb, state->in, dest);
}

unsigned int weir_straight(struct weir_net *wn, const struct weir_config *cfg,
			   struct sk_buff *skb, const struct nf_hook_state *state,
			   const struct weir_plain *plain)
{
	const struct weir_lines *lines = rcu_dereference(wn->lines);
	struct weir_track *track = rcu_dereference(wn->track);
	struct weir_track_key key __aligned(8) WEIR_UNINIT;
	struct weir_line line WEIR_UNINIT;
	unsigned int len = skb->len;
	struct dst_entry *dst;

	if (!READ_ONCE(wn->fast_path) || !lines || !track || READ_ONCE(wn->closing) ||
	    !weir_lines_find(lines, plain->hash, state->in->ifindex, cfg->serial, &line))
		return NF_ACCEPT;
	dst = weir_transmit_route(line.dest);
	if (!dst || !is_plain_dest(line.dest, plain->proto) ||
	    may_be_loop(skb, state, line.dest, dst))
		return NF_ACCEPT;
	fill_key(&key, skb, state->pf, plain, line.dest->owner->id);
	if (!weir_track_renew(track, line.at, &key, line.dest->id, weir_seconds()) ||
	    !weir_transmit_by(wn, skb, state, dst))
		return NF_ACCEPT;
	weir_counters_packet(line.dest->counters, false, len);
	return NF_STOLEN;
}

/* Whoever comes through a VRF may meet another backend's route there. */
void weir_straight_learn(struct weir_net *wn, const struct weir_config *cfg,
			 const struct nf_hook_state *state,
			 const struct weir_tuple *tuple,
			 const struct weir_choice *choice)
{
	struct weir_lines *lines = rcu_dereference(wn->lines);
	struct weir_line line = {
		.dest = choice->backend->dest,
		.at = choice->at,
	};
	u32 hash;

	if (!READ_ONCE(wn->fast_path) || !lines || choice->track_fields != 5 ||
	    (tuple->proto != IPPROTO_TCP && tuple->proto != IPPROTO_UDP) ||
	    netif_is_l3_slave(state->in))
		return;
	hash = weir_plain_hash(lines->seed, tuple->family, &tuple->src, &tuple->dst,
			       weir_plain_ports(tuple->sport, tuple->dport),
			       tuple->proto);
	weir_lines_put(lines, hash, state->in->ifindex, cfg->serial, &line);
}
