// SPDX-License-Identifier: GPL-2.0
/*
 * stay - may a live flow keep its backend?
 */
#include <net/netfilter/nf_conntrack.h>

#include "binding.h"
#include "config.h"
#include "packet.h"
#include "set.h"
#include "stay.h"

/* Rules for this VIP changed since the flow was selected. */
static bool still_leads_here(const struct weir_config *cfg,
			     const struct weir_tuple *tuple,
			     const struct weir_dest *dest)
{
	struct weir_match match;

	return weir_index_nat_rule(&cfg->index, tuple->family, &tuple->dst,
			       tuple->proto, ntohs(tuple->dport), &match) &&
	       match.service->owner == dest->owner;
}

/* Where zones decide: would this client choose the unhealthy backend again, for want
 * of a better one (decision 17)?
 */
static bool would_choose(const struct weir_config *cfg,
			 const struct weir_dest *dest, u8 family,
			 const struct weir_addr *client)
{
	const struct weir_service *svc =
		weir_index_owner(&cfg->index, dest->owner->id);
	const struct weir_backend *be;

	if (!svc || !svc->nr_zonals)
		return false;
	be = weir_backend_find(svc, &dest->addr, dest->family);
	return be && be->dest == dest &&
	       weir_set_has(cfg, svc, family, client, be - svc->backends);
}

enum weir_stay weir_stay_with(const struct weir_config *cfg,
			      const struct weir_binding *binding, u8 family,
			      const struct weir_addr *client)
{
	const struct weir_dest *dest = rcu_dereference(binding->dest);
	u32 state = smp_load_acquire(&binding->state);

	if (!dest || state & WEIR_BINDING_ENDED ||
	    weir_binding_has_drained(binding, state))
		return WEIR_STAY_GONE;
	if (state & WEIR_BINDING_ROLE)
		return WEIR_STAY_FAILOVER;
	if (state & WEIR_BINDING_LEAVE &&
	    !would_choose(cfg, dest, family, client))
		return WEIR_STAY_UNHEALTHY;
	return WEIR_STAY_YES;
}

enum weir_stay weir_stay(const struct weir_config *cfg,
			 const struct nf_conn *ct,
			 const struct weir_binding *binding)
{
	const struct weir_dest *dest = rcu_dereference(binding->dest);
	struct weir_tuple tuple;
	enum weir_stay stay;

	weir_packet_tuple(&ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple, &tuple);
	stay = weir_stay_with(cfg, binding, tuple.family, &tuple.src);
	if (stay != WEIR_STAY_GONE && dest &&
	    READ_ONCE(binding->state) & WEIR_BINDING_CHECK &&
	    !still_leads_here(cfg, &tuple, dest))
		return WEIR_STAY_UNBOUND;
	return stay;
}
