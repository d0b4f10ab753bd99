/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to the kernel's routing: what `ip route get`, `ip link` and
 * `ip neigh` would say. For `check` only. */
#ifndef WEIR_RT_H
#define WEIR_RT_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "value.h"

struct mnl_socket;

struct weir_link {
	int index;
	unsigned int flags;		/* IFF_* */
	char name[IF_NAMESIZE];
	bool bridge;
	bool nf_call[2];		/* a bridge's own switch: IPv4, IPv6 */
	bool has_addr[2];		/* none of the link only */
};

struct weir_neigh {
	int index;
	struct weir_addr addr;
	uint16_t state;			/* NUD_* */
	bool proxy;
};

struct weir_rt {
	struct mnl_socket *sock;
	uint32_t seq;
	struct weir_link *link;
	unsigned int n_links;
	struct weir_neigh *neigh;
	unsigned int n_neighs;
};

struct weir_route {
	int err;			/* errno; then the rest means nothing */
	uint8_t type;			/* RTN_* */
	int oif;
	struct weir_addr gateway;	/* len 0: on-link */
};

/* Opens and reads links and neighbours; -1 with errno set. */
int weir_rt_open(struct weir_rt *rt);
void weir_rt_close(struct weir_rt *rt);
/*; */
void weir_rt_route(struct weir_rt *rt, const struct weir_addr *to,
		   struct weir_route *route);
const struct weir_link *weir_rt_link(const struct weir_rt *rt, int index);
const struct weir_neigh *weir_rt_neigh(const struct weir_rt *rt, int index,
				       const struct weir_addr *addr,
				       bool proxy);

#endif
