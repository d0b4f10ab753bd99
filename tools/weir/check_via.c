// SPDX-License-Identifier: GPL-2.0
/* What probes by way of the VIP need: connections of this router to an address that it
 * has not, answered from that address. */
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "healthcheck.h"
#include "rt.h"

struct part {
	struct weir_check_state *state;
	const struct weir_service *service;
	struct weir_rt *rt;
	const struct weir_addr *vip;
	char vip_text[WEIR_ADDR_TEXT];
};

static bool is_via(const struct weir_service *service)
{
	struct weir_healthcheck line;
	struct weir_err err;
	bool via;

	if (!service->opts.str || !*service->opts.str ||
	    weir_healthcheck_read(&line, service->opts.str, &err))
		return false;
	via = line.via_vip;
	weir_healthcheck_free(&line);
	return via;
}

static const struct weir_addr *first_vip(const struct weir_service *service)
{
	unsigned int i;

	for (i = 0; i < service->n_rules; i++) {
		const struct weir_prefix *vip = &service->rules[i].vip;

		if (vip->plen == weir_addr_bits(&vip->addr))
			return &vip->addr;
	}
	return NULL;
}

/* The kernel takes the greater of conf/all and conf/NAME. */
static long rp_filter(const char *name)
{
	const char *const names[] = { "all", name };
	long value, greatest = 0;
	char path[100];
	unsigned int i;
	FILE *f;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "/proc/sys/net/ipv4/conf/%s/rp_filter",
			 names[i]);
		f = fopen(path, "re");
		if (f && fscanf(f, "%ld", &value) == 1 && value > greatest)
			greatest = value;
		if (f)
			fclose(f);
	}
	return greatest;
}

/* Answers come in where backends are; strict means that the way to the VIP must lead there. */
static void check_filter(const struct part *part, const struct weir_route *to_vip)
{
	const struct weir_service *service = part->service;
	char what[WEIR_TEXT], command[WEIR_TEXT];
	const struct weir_link *link;
	struct weir_route route;

	if (part->vip->len != 4 || !service->n_backends)
		return;
	weir_rt_route(part->rt, &service->backends[0].addr, &route);
	link = route.err ? NULL : weir_rt_link(part->rt, route.oif);
	if (!link || route.oif == to_vip->oif || rp_filter(link->name) != 1)
		return;
	weir_find(part->state, WEIR_ERROR,
		  weir_text(what, "service %s: health-check via vip: rp_filter is strict (1) on %s, and %s is not routed there",
			    service->name, link->name, part->vip_text),
		  "answers to probes come from the VIP and are dropped, so all backends are found down",
		  weir_text(command, "sysctl -w net.ipv4.conf.%s.rp_filter=2",
			    link->name));
}

static void check_way(const struct part *part)
{
	const struct weir_service *service = part->service;
	char what[WEIR_TEXT], command[WEIR_TEXT], addr[WEIR_ADDR_TEXT] = "BACKEND";
	unsigned int bits = weir_addr_bits(part->vip);
	struct weir_route route;

	if (service->n_backends)
		weir_addr_text(&service->backends[0].addr, addr);
	weir_rt_route(part->rt, part->vip, &route);
	if (!route.err && route.type == RTN_LOCAL)
		weir_find(part->state, WEIR_ERROR,
			  weir_text(what, "service %s: health-check via vip: %s is an address of this router",
				    service->name, part->vip_text),
			  "no probe can be made: this router would answer itself",
			  weir_text(command, "ip addr del %s/%u dev INTERFACE",
				    part->vip_text, bits));
	else if (route.err || route.type != RTN_UNICAST)
		weir_find(part->state, WEIR_ERROR,
			  weir_text(what, "service %s: health-check via vip: no route to %s",
				    service->name, part->vip_text),
			  "no probe can be made; where it goes the module says, but the router needs a route to begin with",
			  weir_text(command, "ip route add %s/%u via %s",
				    part->vip_text, bits, addr));
	else
		check_filter(part, &route);
}

static void check_service(struct weir_check_state *state, struct weir_rt *rt,
			  const struct weir_service *service)
{
	struct part part = { .state = state, .service = service, .rt = rt };
	char what[WEIR_TEXT], command[WEIR_TEXT];

	part.vip = first_vip(service);
	if (service->opts.num[WEIR_SERVICE_A_FORWARD] != WEIR_FORWARD_DIRECT) {
		weir_find(state, WEIR_ERROR,
			  weir_text(what, "service %s: health-check via vip needs forward direct",
				    service->name),
			  "it is not checked, so new backends stay down",
			  weir_text(command, "weir service set %s forward direct",
				    service->name));
	} else if (!part.vip) {
		weir_find(state, WEIR_ERROR,
			  weir_text(what, "service %s: health-check via vip needs a rule for one address",
				    service->name),
			  "it is not checked, so new backends stay down",
			  weir_text(command, "weir service set %s health-check PROTOCOL ...  # without via vip",
				    service->name));
	} else {
		weir_addr_text(part.vip, part.vip_text);
		check_way(&part);
	}
}

void weir_check_via(struct weir_check_state *state)
{
	struct weir_rt rt;
	unsigned int i;
	/* That they cannot be read is said where all routes are judged. */
	bool open = !weir_rt_open(&rt);

	for (i = 0; open && i < state->config.n_services; i++)
		if (is_via(&state->config.services[i]))
			check_service(state, &rt, &state->config.services[i]);
	weir_rt_close(&rt);
}
