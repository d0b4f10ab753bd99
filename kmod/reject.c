// SPDX-License-Identifier: GPL-2.0
/*
 * reject - tell the client that nobody will answer
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/ratelimit.h>
#include <linux/skbuff.h>
#include <net/ipv6.h>
#include <net/netfilter/ipv4/nf_reject.h>
#include <net/netfilter/ipv6/nf_reject.h>

#include "netns.h"
#include "reject.h"
#include "service.h"
#include "stats.h"

static bool is_tcp6(const struct sk_buff *skb)
{
	u8 next = ipv6_hdr(skb)->nexthdr;
	__be16 frag_off;

	return ipv6_skip_exthdr(skb, skb_network_offset(skb) +
				sizeof(struct ipv6hdr), &next, &frag_off) >= 0 &&
	       next == IPPROTO_TCP;
}

void weir_reject(struct weir_net *wn, struct sk_buff *skb,
		 const struct nf_hook_state *state)
{
	if (!__ratelimit(&wn->rejects))
		return;
	if (state->pf == NFPROTO_IPV4) {
		if (ip_hdr(skb)->protocol == IPPROTO_TCP)
			nf_send_reset(state->net, state->sk, skb, state->hook);
		else
			nf_send_unreach(skb, ICMP_PORT_UNREACH, state->hook);
		return;
	}
	if (is_tcp6(skb))
		nf_send_reset6(state->net, state->sk, skb, state->hook);
	else
		nf_send_unreach6(state->net, skb, ICMPV6_PORT_UNREACH,
				 state->hook);
}

unsigned int weir_when_empty(struct weir_net *wn, const struct weir_service *svc,
			     struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	if (svc->opt.when_empty == WEIR_WHEN_EMPTY_REJECT)
		weir_reject(wn, skb, state);
	return weir_drop(wn, WEIR_R_NO_ELIGIBLE, skb, state);
}
