// SPDX-License-Identifier: GPL-2.0
/*
 * packet - what is read from a packet or from its conntrack entry
 */
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/sctp.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/netfilter/nf_conntrack_l4proto.h>
#include <net/netfilter/nf_conntrack_zones.h>

#include "packet.h"
#include "stack.h"

void weir_packet_tuple(const struct nf_conntrack_tuple *from,
		       struct weir_tuple *to)
{
	*to = (struct weir_tuple) {
		.family = from->src.l3num,
		.proto = from->dst.protonum,
	};
	if (to->family == AF_INET) {
		to->src.ip = from->src.u3.ip;
		to->dst.ip = from->dst.u3.ip;
	} else {
		memcpy(&to->src, &from->src.u3, sizeof(to->src));
		memcpy(&to->dst, &from->dst.u3, sizeof(to->dst));
	}
	switch (to->proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_SCTP:
		to->sport = from->src.u.all;
		to->dport = from->dst.u.all;
		break;
	}
}

struct nf_conn *weir_packet_find_entry(const struct sk_buff *skb,
				       const struct nf_hook_state *state)
{
	struct nf_conntrack_tuple_hash *hash;
	struct nf_conntrack_tuple tuple;

	if (!nf_ct_get_tuplepr(skb, skb_network_offset(skb), state->pf, state->net,
			       &tuple))
		return NULL;
	hash = nf_conntrack_find_get(state->net, &nf_ct_zone_dflt, &tuple);
	return hash ? nf_ct_tuplehash_to_ctrack(hash) : NULL;
}

/* Offset of the payload behind the IP header and its extensions, from the start
 * of the packet's data, or negative.
 */
static int payload_offset(const struct sk_buff *skb, u8 family)
{
	int start = skb_network_offset(skb);
	__be16 frag_off;
	u8 next;

	if (family == AF_INET)
		return start + ip_hdrlen(skb);
	next = ipv6_hdr(skb)->nexthdr;
	return ipv6_skip_exthdr(skb, start + sizeof(struct ipv6hdr), &next,
				&frag_off);
}

static bool is_icmp_error(u8 family, u8 proto, u8 type)
{
	if (family == AF_INET)
		return proto == IPPROTO_ICMP &&
		       (type == ICMP_DEST_UNREACH || type == ICMP_TIME_EXCEEDED ||
			type == ICMP_PARAMETERPROB ||
			type == ICMP_SOURCE_QUENCH || type == ICMP_REDIRECT);
	return proto == IPPROTO_ICMPV6 && !(type & ICMPV6_INFOMSG_MASK);
}

static bool is_ndp(u8 proto, u8 type)
{
	return proto == IPPROTO_ICMPV6 &&
	       ((type >= ICMPV6_MGM_QUERY && type <= ICMPV6_MGM_REDUCTION) ||
		(type >= NDISC_ROUTER_SOLICITATION && type <= NDISC_REDIRECT) ||
		type == ICMPV6_MLD2_REPORT);
}

bool weir_packet_opens_tcp(const struct sk_buff *skb, u8 family)
{
	int offset = payload_offset(skb, family);
	const struct tcphdr *tcp;
	struct tcphdr buf WEIR_UNINIT;

	tcp = offset < 0 ? NULL :
		skb_header_pointer(skb, offset, sizeof(buf), &buf);
	return tcp && tcp->syn && !tcp->ack && !tcp->rst;
}

static bool opens_sctp(const struct sk_buff *skb, u8 family)
{
	int offset = payload_offset(skb, family);
	const struct sctp_chunkhdr *chunk;
	struct sctp_chunkhdr buf;

	chunk = offset < 0 ? NULL :
		skb_header_pointer(skb, offset + sizeof(struct sctphdr),
				   sizeof(buf), &buf);
	return chunk && chunk->type == SCTP_CID_INIT;
}

bool weir_packet_opens(const struct sk_buff *skb, u8 family, u8 proto)
{
	if (proto == IPPROTO_TCP)
		return weir_packet_opens_tcp(skb, family);
	return proto != IPPROTO_SCTP || opens_sctp(skb, family);
}

bool weir_packet_seq(const struct sk_buff *skb, u8 family, __be32 *seq)
{
	int offset = payload_offset(skb, family);
	const struct tcphdr *tcp;
	struct tcphdr buf;

	tcp = offset < 0 ? NULL :
		skb_header_pointer(skb, offset, sizeof(buf), &buf);
	if (!tcp)
		return false;
	*seq = tcp->seq;
	return true;
}

static bool parse_icmp(const struct sk_buff *skb, struct net *net,
		       const struct nf_conntrack_tuple *outer, int offset,
		       struct weir_packet *packet)
{
	u8 family = packet->tuple.family;
	u8 type = outer->dst.u.icmp.type;
	struct nf_conntrack_tuple inner;

	packet->ndp = is_ndp(packet->tuple.proto, type);
	packet->icmp_error = is_icmp_error(family, packet->tuple.proto, type);
	if (!packet->icmp_error)
		return true;
	/* Both families have eight bytes before the embedded packet. */
	if (!nf_ct_get_tuplepr(skb, offset + sizeof(struct icmphdr), family,
			       net, &inner))
		return false;
	weir_packet_tuple(&inner, &packet->inner);
	return true;
}

/* Where the payload is, of TCP or UDP right behind the IP header; 0 for anything else. */
static int usual_offset(const struct sk_buff *skb, u8 family)
{
	int start = skb_network_offset(skb);
	u8 proto;

	if (family == AF_INET) {
		if (ip_hdr(skb)->frag_off & htons(IP_OFFSET))
			return 0;
		proto = ip_hdr(skb)->protocol;
		start += ip_hdrlen(skb);
	} else {
		proto = ipv6_hdr(skb)->nexthdr;
		start += sizeof(struct ipv6hdr);
	}
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP ? start : 0;
}

void weir_packet_addresses(const struct sk_buff *skb, u8 family,
			   struct weir_tuple *tuple)
{
	*tuple = (struct weir_tuple) {
		.family = family,
	};
	if (family == AF_INET) {
		tuple->src.ip = ip_hdr(skb)->saddr;
		tuple->dst.ip = ip_hdr(skb)->daddr;
		tuple->proto = ip_hdr(skb)->protocol;
	} else {
		memcpy(&tuple->src, &ipv6_hdr(skb)->saddr, sizeof(tuple->src));
		memcpy(&tuple->dst, &ipv6_hdr(skb)->daddr, sizeof(tuple->dst));
		tuple->proto = ipv6_hdr(skb)->nexthdr;
	}
}

/* One without all of its header opens nothing, and is answered as a RST is: by nobody. */
static void parse_flags(const struct sk_buff *skb, int offset, struct weir_packet *packet)
{
	const struct tcphdr *tcp;
	struct tcphdr buf;

	tcp = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	packet->opens = tcp && tcp->syn && !tcp->ack && !tcp->rst;
	packet->tcp_rst = !tcp || tcp->rst;
}

/* TCP or UDP at @offset. Two ports are all that conntrack asks for, too. */
static bool parse_usual(const struct sk_buff *skb, u8 family, int offset,
			struct weir_packet *packet)
{
	const __be16 *ports;
	__be16 buf[2];

	ports = skb_header_pointer(skb, offset, sizeof(buf), buf);
	if (!ports)
		return false;
	weir_packet_addresses(skb, family, &packet->tuple);
	packet->tuple.sport = ports[0];
	packet->tuple.dport = ports[1];
	if (packet->tuple.proto == IPPROTO_TCP)
		parse_flags(skb, offset, packet);
	else
		packet->opens = true;
	return true;
}

static bool parse_other(const struct sk_buff *skb, const struct nf_hook_state *state,
			struct weir_packet *packet)
{
	struct nf_conntrack_tuple tuple;
	u8 family = state->pf;
	int offset;

	if (!nf_ct_get_tuplepr(skb, skb_network_offset(skb), family, state->net,
			       &tuple))
		return false;
	weir_packet_tuple(&tuple, &packet->tuple);
	offset = payload_offset(skb, family);
	if (offset < 0)
		return false;
	packet->opens = weir_packet_opens(skb, family, packet->tuple.proto);
	switch (packet->tuple.proto) {
	case IPPROTO_TCP:
		parse_flags(skb, offset, packet);
		return true;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return parse_icmp(skb, state->net, &tuple, offset, packet);
	default:
		return true;
	}
}

bool weir_packet_parse(const struct sk_buff *skb,
		       const struct nf_hook_state *state,
		       struct weir_packet *packet)
{
	int offset = usual_offset(skb, state->pf);

	weir_packet_clear(packet);
	if (likely(offset))
		return parse_usual(skb, state->pf, offset, packet);
	return parse_other(skb, state, packet);
}

bool weir_packet_fragmented(const struct sk_buff *skb, u8 family)
{
	u32 whole = skb->len - skb_network_offset(skb);
	u32 largest;

	if (family == AF_INET)
		return IPCB(skb)->frag_max_size;
	/* An atomic fragment goes through reassembly as well, and comes out of it
	 * shorter by the header that made it one.
	 */
	largest = IP6CB(skb)->frag_max_size;
	return largest && whole + sizeof(struct frag_hdr) > largest;
}

static bool is_source_routed(const struct sk_buff *skb)
{
	const struct ipv6_rt_hdr *hdr;
	struct ipv6_rt_hdr buf;
	unsigned int offset = 0;

	if (ipv6_find_hdr(skb, &offset, NEXTHDR_ROUTING, NULL, NULL) < 0)
		return false;
	hdr = skb_header_pointer(skb, offset, sizeof(buf), &buf);
	return hdr && hdr->type == IPV6_SRCRT_TYPE_0 && hdr->segments_left;
}

enum weir_extension weir_packet_extension(const struct sk_buff *skb)
{
	unsigned int offset = 0;

	switch (ipv6_hdr(skb)->nexthdr) {
	case NEXTHDR_HOP:
	case NEXTHDR_DEST:
	case NEXTHDR_ROUTING:
	case NEXTHDR_AUTH:
	case NEXTHDR_FRAGMENT:
		break;
	default:
		return WEIR_EXTENSION_NONE;
	}
	if (is_source_routed(skb))
		return WEIR_EXTENSION_SOURCE_ROUTE;
	/* Conntrack passes over it like over any other: to us it is the protocol. */
	if (ipv6_find_hdr(skb, &offset, NEXTHDR_AUTH, NULL, NULL) >= 0)
		return WEIR_EXTENSION_AH;
	return WEIR_EXTENSION_NONE;
}
