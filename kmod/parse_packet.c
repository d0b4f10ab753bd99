// SPDX-License-Identifier: GPL-2.0
/*
 * parse_packet - attributes of a packet that is asked about, as a tuple
 */
#include <linux/in.h>
#include <linux/netlink.h>
#include <linux/string.h>
#include <net/netlink.h>

#include "parse.h"
#include "policy.h"
#include "refuse.h"
#include "tuple.h"

static bool proto_has_ports(u8 proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP ||
	       proto == IPPROTO_SCTP;
}

static int parse_packet_ports(struct nlattr **tb, struct weir_tuple *tuple,
			      struct netlink_ext_ack *extack)
{
	struct nlattr *sport = tb[WEIR_PACKET_A_SPORT];
	struct nlattr *dport = tb[WEIR_PACKET_A_DPORT];

	if ((sport || dport) && !proto_has_ports(tuple->proto))
		return weir_refuse_attr(extack, sport ?: dport, -EINVAL,
					"packet: protocol %u has no ports: leave them out",
					tuple->proto);
	if (sport)
		tuple->sport = htons(nla_get_u16(sport));
	if (dport)
		tuple->dport = htons(nla_get_u16(dport));
	return 0;
}

static int parse_packet_addrs(const struct nlattr *nest, struct nlattr **tb,
			      struct weir_tuple *tuple,
			      struct netlink_ext_ack *extack)
{
	u8 family;
	int err;

	if (!tb[WEIR_PACKET_A_SRC])
		return weir_parse_missing(extack, nest, WEIR_PACKET_A_SRC,
					  "packet: its source address");
	if (!tb[WEIR_PACKET_A_DST])
		return weir_parse_missing(extack, nest, WEIR_PACKET_A_DST,
					  "packet: its destination address");
	err = weir_parse_addr(tb[WEIR_PACKET_A_SRC], "packet: source",
			      &tuple->family, &tuple->src, extack);
	if (err)
		return err;
	err = weir_parse_addr(tb[WEIR_PACKET_A_DST], "packet: destination",
			      &family, &tuple->dst, extack);
	if (!err && family != tuple->family)
		err = weir_refuse_attr(extack, tb[WEIR_PACKET_A_DST], -EINVAL,
				       "packet: an %s source and an %s destination: both are of one family",
				       family == AF_INET ? "IPv6" : "IPv4",
				       family == AF_INET ? "IPv4" : "IPv6");
	return err;
}

int weir_parse_packet(const struct nlattr *nest, struct weir_tuple *tuple,
		      bool *syn, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_PACKET_A_MAX + 1];
	int err;

	memset(tuple, 0, sizeof(*tuple));
	err = nla_parse_nested(tb, WEIR_PACKET_A_MAX, nest, weir_nest_packet,
			       extack);
	if (err)
		return err;
	err = parse_packet_addrs(nest, tb, tuple, extack);
	if (err)
		return err;
	if (!tb[WEIR_PACKET_A_PROTO])
		return weir_parse_missing(extack, nest, WEIR_PACKET_A_PROTO,
					  "packet: its protocol");
	tuple->proto = nla_get_u8(tb[WEIR_PACKET_A_PROTO]);
	*syn = nla_get_flag(tb[WEIR_PACKET_A_SYN]);
	if (*syn && tuple->proto != IPPROTO_TCP)
		return weir_refuse_attr(extack, tb[WEIR_PACKET_A_SYN], -EINVAL,
					"packet: a SYN of protocol %u: only TCP (6) has one",
					tuple->proto);
	return parse_packet_ports(tb, tuple, extack);
}
