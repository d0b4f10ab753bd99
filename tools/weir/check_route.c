// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>

#include "check.h"
#include "rt.h"

struct part {
	struct weir_check_state *state;
	struct weir_rt *rt;
};

static bool switch_is_on(const char *fmt, const char *interface)
{
	char path[PATH_MAX];
	int c = 0;
	FILE *f;

	snprintf(path, sizeof(path), fmt, interface);
	f = fopen(path, "re");
	if (f) {
		c = fgetc(f);
		fclose(f);
	}
	return c == '1';
}

#define IPV4_CONF	"/proc/sys/net/ipv4/conf/%s/"
#define IPV6_CONF	"/proc/sys/net/ipv6/conf/%s/"

/* ARP for an address that the route says is on ONLINK itself. The kernel
 * proxies it on other interfaces (proxy_arp, or a proxy neighbour there), but
 * on the same one with proxy_arp_pvlan only. */
static bool somebody_answers_arp(const struct part *part,
				 const struct weir_link *onlink,
				 const struct weir_addr *vip)
{
	unsigned int i;

	if (switch_is_on(IPV4_CONF "proxy_arp_pvlan", onlink->name) ||
	    switch_is_on(IPV4_CONF "proxy_arp_pvlan", "all"))
		return true;
	for (i = 0; i < part->rt->n_links; i++) {
		const struct weir_link *link = &part->rt->link[i];

		if (link == onlink || link->flags & IFF_LOOPBACK)
			continue;
		if (switch_is_on(IPV4_CONF "proxy_arp", link->name) ||
		    switch_is_on(IPV4_CONF "proxy_arp", "all") ||
		    weir_rt_neigh(part->rt, link->index, vip, true))
			return true;
	}
	return false;
}

/* Neighbour discovery is proxied per address, on the same interface too. */
static bool somebody_answers_ndp(const struct part *part,
				 const struct weir_addr *vip)
{
	const struct weir_neigh *proxy = weir_rt_neigh(part->rt, 0, vip, true);
	const struct weir_link *link;

	if (!proxy)
		return false;
	link = weir_rt_link(part->rt, proxy->index);
	return switch_is_on(IPV6_CONF "proxy_ndp", "all") ||
	       (link && switch_is_on(IPV6_CONF "proxy_ndp", link->name));
}

static void vip_on_link(const struct part *part, const struct weir_addr *vip,
			const struct weir_route *route)
{
	const struct weir_link *link = weir_rt_link(part->rt, route->oif);
	char what[WEIR_TEXT], command[WEIR_TEXT], text[WEIR_ADDR_TEXT];
	bool v4 = vip->len == 4;

	if (!link || link->flags & (IFF_NOARP | IFF_LOOPBACK | IFF_POINTOPOINT))
		return;
	if (v4 ? somebody_answers_arp(part, link, vip) :
		 somebody_answers_ndp(part, vip))
		return;
	weir_addr_text(vip, text);
	weir_find(part->state, WEIR_ERROR,
		  weir_text(what, "VIP %s lies in a network that is connected to %s, but is no address of this host",
			    text, link->name),
		  v4 ? "nobody answers ARP for it, so its packets never arrive" :
		       "nobody answers neighbour discovery for it, so its packets never arrive",
		  /* a VIP may be on a second router too, which is no mistake */
		  weir_text(command, "ip addr add %s/%u dev %s%s", text,
			    weir_addr_bits(vip), link->name,
			    v4 ? "" : " nodad"));
}

static void check_vip(const struct part *part, const struct weir_prefix *vip)
{
	char what[WEIR_TEXT], command[WEIR_TEXT], text[WEIR_ADDR_TEXT];
	char via[WEIR_ADDR_TEXT];
	struct weir_route route;

	/* A prefix is a next hop: others route to it, nobody owns it here. */
	if (vip->plen != weir_addr_bits(&vip->addr))
		return;
	weir_rt_route(part->rt, &vip->addr, &route);
	/* Local is good; no route, or blackhole, cannot loop. */
	if (route.err || route.type != RTN_UNICAST)
		return;
	if (!route.gateway.len) {
		vip_on_link(part, &vip->addr, &route);
		return;
	}
	weir_addr_text(&vip->addr, text);
	weir_find(part->state, WEIR_WARNING,
		  weir_text(what, "VIP %s is routed to %s", text,
			    weir_addr_text(&route.gateway, via)),
		  "if the module or its rules go away, its packets go back where they came from and loop until their TTL ends",
		  weir_text(command, "ip route add blackhole %s/%u", text,
			    weir_addr_bits(&vip->addr)));
}

static bool is_dead(const struct weir_neigh *neigh)
{
	return neigh && neigh->state & NUD_FAILED;
}

/* Direct mode leaves the destination as it is. */
static void behind_router(const struct part *part,
			  const struct weir_service *service,
			  const char *backend, const struct weir_addr *gateway)
{
	char what[WEIR_TEXT], command[WEIR_TEXT], via[WEIR_ADDR_TEXT];

	weir_find(part->state, WEIR_WARNING,
		  weir_text(what, "service %s: backend %s is behind %s",
			    service->name, backend, weir_addr_text(gateway, via)),
		  "forward direct leaves the packet's destination, so a router between sends it back; a backend must be on a link of this router",
		  weir_text(command, "weir service set %s forward nat  # or give it a leg on a link of this router",
			    service->name));
}

static void check_backend(const struct part *part,
			  const struct weir_service *service,
			  const struct weir_backend *backend)
{
	bool healthy = backend->opts.num[WEIR_BACKEND_A_HEALTHY];
	enum weir_severity severity = healthy ? WEIR_ERROR : WEIR_WARNING;
	char what[WEIR_TEXT], command[WEIR_TEXT];
	char text[WEIR_ADDR_TEXT], via[WEIR_ADDR_TEXT];
	const struct weir_addr *hop;
	const struct weir_link *link;
	struct weir_route route;

	weir_addr_text(&backend->addr, text);
	weir_rt_route(part->rt, &backend->addr, &route);
	if (route.err) {
		weir_find(part->state, severity,
			  weir_text(what, "service %s: no route to backend %s (%s)",
				    service->name, text, strerror(route.err)),
			  weir_is_direct(service) ?
			  "what is balanced onto it is dropped (no-route)" :
			  "what is balanced onto it is answered with ICMP unreachable",
			  weir_text(command, "ip route add %s/%u via GATEWAY",
				    text, weir_addr_bits(&backend->addr)));
		return;
	}
	if (weir_is_direct(service) && route.gateway.len)
		behind_router(part, service, text, &route.gateway);
	hop = route.gateway.len ? &route.gateway : &backend->addr;
	if (route.type != RTN_UNICAST ||
	    !is_dead(weir_rt_neigh(part->rt, route.oif, hop, false)))
		return;
	link = weir_rt_link(part->rt, route.oif);
	weir_addr_text(hop, via);
	weir_find(part->state, severity,
		  weir_text(what, "service %s: backend %s: neighbour %s on %s does not answer",
			    service->name, text, via, link ? link->name : "?"),
		  "what is balanced onto it cannot be delivered",
		  weir_text(command, "ip neigh show %s; weir backend set %s %s health down",
			    via, service->name, text));
}

static int prefix_cmp(const void *pa, const void *pb)
{
	const struct weir_prefix *a = pa, *b = pb;
	int diff = weir_addr_cmp(&a->addr, &b->addr);

	return diff ? diff : (int)a->plen - (int)b->plen;
}

/* Each VIP once, though it may have many rules. */
static void check_vips(const struct part *part)
{
	const struct weir_config *config = &part->state->config;
	struct weir_prefix *vips = NULL;
	unsigned int i, j, n = 0;

	for (i = 0; i < config->n_services; i++) {
		for (j = 0; j < config->services[i].n_rules; j++) {
			vips = weir_grow(vips, n, sizeof(*vips));
			vips[n++] = config->services[i].rules[j].vip;
		}
	}
	if (n)
		qsort(vips, n, sizeof(*vips), prefix_cmp);
	for (i = 0; i < n; i++)
		if (!i || prefix_cmp(&vips[i - 1], &vips[i]))
			check_vip(part, &vips[i]);
	free(vips);
}

void weir_check_routes(struct weir_check_state *state)
{
	struct weir_rt rt;
	struct part part = { .state = state, .rt = &rt };
	char what[WEIR_TEXT];
	unsigned int i, j;

	if (weir_rt_open(&rt)) {
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "the routes cannot be read: %s",
				    strerror(errno)),
			  "whether VIPs and backends are reachable was not judged",
			  "ip route; ip neigh");
		weir_rt_close(&rt);
		return;
	}
	check_vips(&part);
	for (i = 0; i < state->config.n_services; i++)
		for (j = 0; j < state->config.services[i].n_backends; j++)
			check_backend(&part, &state->config.services[i],
				      &state->config.services[i].backends[j]);
	weir_rt_close(&rt);
}
