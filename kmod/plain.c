// SPDX-License-Identifier: GPL-2.0
/*
 * plain - a packet like most: TCP or UDP right behind an IP header without options, whole
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <net/ip.h>

#include "plain.h"

static bool read_segment(const struct tcphdr *tcp, struct weir_plain *plain)
{
	/* What opens and what closes a connection is for those who keep track of it. */
	plain->running = !(tcp_flag_word(tcp) &
			   (TCP_FLAG_SYN | TCP_FLAG_FIN | TCP_FLAG_RST));
	plain->opens = tcp->syn && !tcp->ack && !tcp->rst;
	return tcp->doff >= sizeof(*tcp) / 4;
}

static __always_inline bool read_ports(struct sk_buff *skb, struct weir_plain *plain)
{
	if (plain->proto == IPPROTO_UDP) {
		if (!pskb_may_pull(skb, plain->thoff + sizeof(struct udphdr)))
			return false;
		plain->running = true;
		plain->opens = true;
	} else if (plain->proto == IPPROTO_TCP) {
		if (!pskb_may_pull(skb, plain->thoff + sizeof(struct tcphdr)) ||
		    !read_segment((void *)(skb->data + plain->thoff), plain))
			return false;
	} else {
		return false;
	}
	plain->ports = *(const u32 *)(skb->data + plain->thoff);
	return true;
}

bool weir_plain_read4(struct sk_buff *skb, u64 seed, struct weir_plain *plain)
{
	const struct iphdr *iph = ip_hdr(skb);

	plain->proto = iph->protocol;
	plain->thoff = sizeof(*iph);
	if (iph->ihl != 5 || ip_is_fragment(iph) || !read_ports(skb, plain))
		return false;
	iph = ip_hdr(skb);
	plain->running &= iph->ttl > 1;
	if (!plain->running)
		return true;
	plain->hash = weir_plain_hash4(seed, iph->saddr, iph->daddr, plain->ports,
				       plain->proto);
	return true;
}

bool weir_plain_read6(struct sk_buff *skb, u64 seed, struct weir_plain *plain)
{
	const struct ipv6hdr *iph = ipv6_hdr(skb);

	plain->proto = iph->nexthdr;
	plain->thoff = sizeof(*iph);
	if (!read_ports(skb, plain))
		return false;
	iph = ipv6_hdr(skb);
	plain->running &= iph->hop_limit > 1;
	if (!plain->running)
		return true;
	plain->hash = weir_plain_hash6(seed, &iph->saddr, &iph->daddr, plain->ports,
				       plain->proto);
	return true;
}
