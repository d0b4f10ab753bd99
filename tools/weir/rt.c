// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "rt.h"

#define BUF_SIZE	65536

static int family_of(const struct weir_addr *addr)
{
	return addr->len == 4 ? AF_INET : AF_INET6;
}

static void take_addr(const struct nlattr *attr, struct weir_addr *addr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len != 4 && len != 16)
		return;
	addr->len = len;
	memcpy(addr->b, mnl_attr_get_payload(attr), len);
}

static bool is_on(const struct nlattr *attr)
{
	return mnl_attr_validate(attr, MNL_TYPE_U8) >= 0 && mnl_attr_get_u8(attr);
}

static void take_bridge(const struct nlattr *data, struct weir_link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, data) {
		if (mnl_attr_get_type(attr) == IFLA_BR_NF_CALL_IPTABLES)
			link->nf_call[0] = is_on(attr);
		else if (mnl_attr_get_type(attr) == IFLA_BR_NF_CALL_IP6TABLES)
			link->nf_call[1] = is_on(attr);
	}
}

/* The kind stands before what only that kind has. */
static void take_kind(const struct nlattr *info, struct weir_link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, info) {
		if (mnl_attr_get_type(attr) == IFLA_INFO_KIND)
			link->bridge = mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0 &&
				       !strcmp(mnl_attr_get_str(attr), "bridge");
		else if (mnl_attr_get_type(attr) == IFLA_INFO_DATA && link->bridge)
			take_bridge(attr, link);
	}
}

static int take_link(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct weir_rt *rt = arg;
	struct weir_link *link;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*info))
		return MNL_CB_ERROR;
	rt->link = weir_grow(rt->link, rt->n_links, sizeof(*link));
	link = &rt->link[rt->n_links++];
	memset(link, 0, sizeof(*link));
	link->index = info->ifi_index;
	link->flags = info->ifi_flags;
	mnl_attr_for_each(attr, nlh, sizeof(*info)) {
		if (mnl_attr_get_type(attr) == IFLA_IFNAME &&
		    mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) >= 0)
			snprintf(link->name, sizeof(link->name), "%s",
				 mnl_attr_get_str(attr));
		else if ((mnl_attr_get_type(attr) & NLA_TYPE_MASK) == IFLA_LINKINFO)
			take_kind(attr, link);
	}
	return MNL_CB_OK;
}

static int take_address(const struct nlmsghdr *nlh, void *arg)
{
	const struct ifaddrmsg *info = mnl_nlmsg_get_payload(nlh);
	struct weir_rt *rt = arg;
	unsigned int i;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*info))
		return MNL_CB_ERROR;
	for (i = 0; i < rt->n_links; i++)
		if (rt->link[i].index == (int)info->ifa_index &&
		    info->ifa_scope < RT_SCOPE_LINK)
			rt->link[i].has_addr[info->ifa_family == AF_INET6] = true;
	return MNL_CB_OK;
}

static int take_neigh(const struct nlmsghdr *nlh, void *arg)
{
	const struct ndmsg *nd = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *attr;
	struct weir_rt *rt = arg;
	struct weir_neigh *neigh;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*nd))
		return MNL_CB_ERROR;
	rt->neigh = weir_grow(rt->neigh, rt->n_neighs, sizeof(*neigh));
	neigh = &rt->neigh[rt->n_neighs++];
	memset(neigh, 0, sizeof(*neigh));
	neigh->index = nd->ndm_ifindex;
	neigh->state = nd->ndm_state;
	neigh->proxy = nd->ndm_flags & NTF_PROXY;
	mnl_attr_for_each(attr, nlh, sizeof(*nd))
		if (mnl_attr_get_type(attr) == NDA_DST)
			take_addr(attr, &neigh->addr);
	return MNL_CB_OK;
}

/* RTA_VIA: family, then an address of it */
static void take_via(const struct nlattr *attr, struct weir_addr *addr)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len != 2 + 4 && len != 2 + 16)
		return;
	addr->len = len - 2;
	memcpy(addr->b, (char *)mnl_attr_get_payload(attr) + 2, addr->len);
}

static int take_route(const struct nlmsghdr *nlh, void *arg)
{
	const struct rtmsg *rtm = mnl_nlmsg_get_payload(nlh);
	struct weir_route *route = arg;
	const struct nlattr *attr;

	if (mnl_nlmsg_get_payload_len(nlh) < sizeof(*rtm))
		return MNL_CB_ERROR;
	route->type = rtm->rtm_type;
	mnl_attr_for_each(attr, nlh, sizeof(*rtm)) {
		switch (mnl_attr_get_type(attr)) {
		case RTA_OIF:
			if (mnl_attr_validate(attr, MNL_TYPE_U32) >= 0)
				route->oif = mnl_attr_get_u32(attr);
			break;
		case RTA_GATEWAY:
			take_addr(attr, &route->gateway);
			break;
		case RTA_VIA:
			take_via(attr, &route->gateway);
			break;
		}
	}
	return MNL_CB_OK;
}

static struct nlmsghdr *begin(struct weir_rt *rt, char *buf, uint16_t type,
			      uint16_t flags)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | flags;
	nlh->nlmsg_seq = ++rt->seq;
	return nlh;
}

/* -1 with errno set: by the kernel's refusal, or because it failed. */
static int ask(struct weir_rt *rt, struct nlmsghdr *nlh, mnl_cb_t cb, void *arg)
{
	unsigned int portid = mnl_socket_get_portid(rt->sock);
	char *buf = weir_alloc(BUF_SIZE);
	uint32_t seq = nlh->nlmsg_seq;
	int ret = MNL_CB_OK;
	ssize_t got;

	if (mnl_socket_sendto(rt->sock, nlh, nlh->nlmsg_len) < 0)
		ret = MNL_CB_ERROR;
	while (ret > MNL_CB_STOP) {
		got = mnl_socket_recvfrom(rt->sock, buf, BUF_SIZE);
		ret = got < 0 ? MNL_CB_ERROR :
				mnl_cb_run(buf, got, seq, portid, cb, arg);
	}
	free(buf);
	return ret;
}

static int load_neighs(struct weir_rt *rt, uint8_t flags)
{
	char buf[256];
	struct nlmsghdr *nlh = begin(rt, buf, RTM_GETNEIGH, NLM_F_DUMP);
	struct ndmsg *nd = mnl_nlmsg_put_extra_header(nlh, sizeof(*nd));

	nd->ndm_flags = flags;
	return ask(rt, nlh, take_neigh, rt);
}

static int load_links(struct weir_rt *rt)
{
	char buf[256];
	struct nlmsghdr *nlh = begin(rt, buf, RTM_GETLINK, NLM_F_DUMP);

	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifinfomsg));
	return ask(rt, nlh, take_link, rt);
}

static int load_addresses(struct weir_rt *rt)
{
	char buf[256];
	struct nlmsghdr *nlh = begin(rt, buf, RTM_GETADDR, NLM_F_DUMP);

	mnl_nlmsg_put_extra_header(nlh, sizeof(struct ifaddrmsg));
	return ask(rt, nlh, take_address, rt);
}

int weir_rt_open(struct weir_rt *rt)
{
	memset(rt, 0, sizeof(*rt));
	rt->sock = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	if (!rt->sock || mnl_socket_bind(rt->sock, 0, MNL_SOCKET_AUTOPID) < 0)
		return -1;
	if (load_links(rt) || load_addresses(rt) || load_neighs(rt, 0) || load_neighs(rt, NTF_PROXY))
		return -1;
	return 0;
}

void weir_rt_close(struct weir_rt *rt)
{
	if (rt->sock)
		mnl_socket_close(rt->sock);
	free(rt->link);
	free(rt->neigh);
	memset(rt, 0, sizeof(*rt));
}

void weir_rt_route(struct weir_rt *rt, const struct weir_addr *to,
		   struct weir_route *route)
{
	char buf[256];
	struct nlmsghdr *nlh = begin(rt, buf, RTM_GETROUTE, NLM_F_ACK);
	struct rtmsg *rtm = mnl_nlmsg_put_extra_header(nlh, sizeof(*rtm));

	rtm->rtm_family = family_of(to);
	rtm->rtm_dst_len = weir_addr_bits(to);
	mnl_attr_put(nlh, RTA_DST, to->len, to->b);
	memset(route, 0, sizeof(*route));
	errno = 0;
	if (ask(rt, nlh, take_route, route) < 0)
		route->err = errno ? errno : EPROTO;
}

const struct weir_link *weir_rt_link(const struct weir_rt *rt, int index)
{
	unsigned int i;

	for (i = 0; i < rt->n_links; i++)
		if (rt->link[i].index == index)
			return &rt->link[i];
	return NULL;
}

const struct weir_neigh *weir_rt_neigh(const struct weir_rt *rt, int index,
				       const struct weir_addr *addr, bool proxy)
{
	unsigned int i;

	for (i = 0; i < rt->n_neighs; i++)
		if (rt->neigh[i].proxy == proxy &&
		    (!index || rt->neigh[i].index == index) &&
		    !weir_addr_cmp(&rt->neigh[i].addr, addr))
			return &rt->neigh[i];
	return NULL;
}
