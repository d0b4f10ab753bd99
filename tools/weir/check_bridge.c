// SPDX-License-Identifier: GPL-2.0
/* With br_netfilter what comes in by a bridge is seen by PREROUTING as frames of the
 * bridge, and not again when it is routed. Direct mode never takes frames: they may be on
 * their way to somebody else. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "rt.h"

static const char *const tables[2] = { "iptables", "ip6tables" };

/* For all bridges; each has a switch of its own beside it. */
static bool is_on_for_all(int v6)
{
	char path[64];
	bool on = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/net/bridge/bridge-nf-call-%s",
		 tables[v6]);
	f = fopen(path, "re");
	if (f) {
		on = fgetc(f) == '1';
		fclose(f);
	}
	return on;
}

static void check_bridge(struct weir_check_state *state,
			 const struct weir_link *link, int v6)
{
	char what[WEIR_TEXT], command[WEIR_TEXT] = "";
	bool all = is_on_for_all(v6);

	if (!link->bridge || !link->has_addr[v6] || !(all || link->nf_call[v6]))
		return;
	if (all)
		weir_text(command, "sysctl -w net.bridge.bridge-nf-call-%s=0",
			  tables[v6]);
	if (link->nf_call[v6]) {
		size_t n = strlen(command);

		snprintf(command + n, sizeof(command) - n,
			 "%sip link set %s type bridge nf_call_%s 0",
			 n ? " && " : "", link->name, tables[v6]);
	}
	weir_find(state, WEIR_WARNING,
		  weir_text(what, "br_netfilter shows %s what comes in by bridge %s",
			    tables[v6], link->name),
		  "direct mode never takes frames of a bridge, so packets that come in there for a VIP are not balanced",
		  command);
}

void weir_check_bridges(struct weir_check_state *state)
{
	struct weir_rt rt;
	unsigned int i;

	/* What could not be read weir_check_routes() has said. */
	if (!weir_rt_open(&rt)) {
		for (i = 0; i < rt.n_links; i++) {
			if (state->direct.v4)
				check_bridge(state, &rt.link[i], 0);
			if (state->direct.v6)
				check_bridge(state, &rt.link[i], 1);
		}
	}
	weir_rt_close(&rt);
}
