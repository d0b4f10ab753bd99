// SPDX-License-Identifier: GPL-2.0
/*
 * stay - may a live flow keep its backend?
 */
#include <net/netfilter/nf_conntrack.h>

#include "binding.h"
#include "config.h"
#include "packet.h"
#include "stay.h"

/* Rules for this VIP changed since the flow was selected. */
static bool still_leads_here(const struct weir_config *cfg,
			     const struct nf_conn *ct,
			     const struct weir_dest *dest)
{
	struct weir_tuple tuple;
	struct weir_match match;

	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple, &tuple);
	return weir_index_rule(&cfg->index, tuple.family, &tuple.dst,
			       tuple.proto, ntohs(tuple.dport), &match) &&
	       match.service->owner == dest->owner;
}

enum weir_stay weir_stay(const struct weir_config *cfg,
			 const struct nf_conn *ct,
			 const struct weir_binding *binding)
{
	const struct weir_dest *dest = rcu_dereference(binding->dest);
	u32 state = READ_ONCE(binding->state);

	if (!dest || state & WEIR_BINDING_ENDED)
		return WEIR_STAY_GONE;
	if (state & WEIR_BINDING_CHECK && !still_leads_here(cfg, ct, dest))
		return WEIR_STAY_UNBOUND;
	if (state & WEIR_BINDING_LEAVE)
		return WEIR_STAY_UNHEALTHY;
	return WEIR_STAY_YES;
}
