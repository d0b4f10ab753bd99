// SPDX-License-Identifier: GPL-2.0
/* What direct mode needs, of rules and of backends. */
#include <string.h>

#include "check.h"
#include "decode.h"

static bool is_exact(const struct weir_rule *rule)
{
	return rule->vip.plen == weir_addr_bits(&rule->vip.addr);
}

/* Later fragments have no ports: the reference's recipe makes all go one way. */
static void check_fragments(struct weir_check_state *state,
			    const struct weir_service *service)
{
	char what[WEIR_TEXT], command[WEIR_TEXT], vip[WEIR_ADDR_TEXT];
	unsigned int i;

	for (i = 0; i < service->n_rules; i++) {
		const struct weir_rule *rule = &service->rules[i];

		if (rule->proto != WEIR_PROTO_UDP || !rule->n_ports)
			continue;
		weir_addr_text(&rule->vip.addr, vip);
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s: rule %s udp lists ports, with forward direct",
				    service->name, vip),
			  "fragments of a datagram, but the first, have no ports and are dropped",
			  weir_text(command, "weir rule add %s %s udp all && weir service set %s affinity client-ip tracking per-session",
				    service->name, vip, service->name));
		return;
	}
}

static int take_reason(const struct nlmsghdr *nlh, void *arg)
{
	struct weir_reason reason;
	uint64_t *loops = arg;

	if (weir_decode_reason(nlh, &reason))
		return -1;
	if (!strcmp(reason.name, "loop"))
		*loops = reason.packets;
	return 0;
}

static void reset_loops(void *arg)
{
	*(uint64_t *)arg = 0;
}

/* The first VIP that backends have to have, or NULL. */
static const struct weir_addr *first_vip(const struct weir_check_state *state)
{
	unsigned int i, j;

	for (i = 0; i < state->config.n_services; i++) {
		const struct weir_service *service = &state->config.services[i];

		if (!weir_is_direct(service))
			continue;
		for (j = 0; j < service->n_rules; j++)
			if (is_exact(&service->rules[j]))
				return &service->rules[j].vip.addr;
	}
	return NULL;
}

/* We cannot look at backends; but one that lacks the VIP sends packets back. */
static void check_loops(struct weir_check_state *state)
{
	struct weir_nl *nl = &state->ctx->nl;
	const struct weir_addr *addr = first_vip(state);
	char what[WEIR_TEXT], command[WEIR_TEXT], vip[WEIR_ADDR_TEXT];
	uint64_t loops = 0;
	struct weir_err err;

	if (!addr ||
	    weir_nl_dump(nl, weir_nl_begin(nl, WEIR_CMD_COUNTER_GET),
			 take_reason, reset_loops, &loops, &err) || !loops)
		return;
	weir_addr_text(addr, vip);
	weir_find(state, WEIR_ERROR,
		  weir_text(what, "%llu packets came back from backends of direct mode",
			    (unsigned long long)loops),
		  "a backend that has not the VIP on a loopback routes its packets, back to this router",
		  addr->len == 4 ?
		  weir_text(command, "ip addr add %s/32 dev lo && sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2  # on the backend",
			    vip) :
		  weir_text(command, "ip addr add %s/128 dev lo nodad  # on the backend",
			    vip));
}

void weir_check_direct(struct weir_check_state *state)
{
	unsigned int i;

	for (i = 0; i < state->config.n_services; i++)
		if (weir_is_direct(&state->config.services[i]))
			check_fragments(state, &state->config.services[i]);
	check_loops(state);
}
