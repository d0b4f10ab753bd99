// SPDX-License-Identifier: GPL-2.0
/*
 * lookup - what would happen to a packet, and each step of why
 */
#include <linux/in.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/netfilter/nf_conntrack_zones.h>

#include "binding.h"
#include "config.h"
#include "guard.h"
#include "lookup.h"
#include "nat.h"
#include "netns.h"
#include "stay.h"

static struct nf_conn *find_entry(struct weir_net *wn,
				  const struct weir_tuple *tuple)
{
	struct nf_conntrack_tuple_hash *hash;
	struct nf_conntrack_tuple key;

	memset(&key, 0, sizeof(key));
	key.src.l3num = tuple->family;
	key.dst.protonum = tuple->proto;
	memcpy(&key.src.u3, &tuple->src, sizeof(key.src.u3));
	memcpy(&key.dst.u3, &tuple->dst, sizeof(key.dst.u3));
	key.src.u.all = tuple->sport;
	key.dst.u.all = tuple->dport;
	key.dst.dir = IP_CT_DIR_ORIGINAL;
	hash = nf_conntrack_find_get(wn->net, &nf_ct_zone_dflt, &key);
	return hash ? nf_ct_tuplehash_to_ctrack(hash) : NULL;
}

static void judge_entry(struct weir_net *wn, const struct weir_config *cfg,
			const struct weir_tuple *tuple,
			struct weir_verdict *verdict)
{
	struct nf_conn *ct = find_entry(wn, tuple);
	struct weir_binding *binding;

	verdict->stay = WEIR_STAY_NO_FLOW;
	if (!ct)
		return;
	binding = weir_binding_of(ct);
	verdict->stay = binding ? weir_stay(cfg, ct, binding) :
				  WEIR_STAY_UNBOUND;
	verdict->has_flow = weir_flow_describe(wn, ct, &verdict->flow);
	nf_ct_put(ct);
}

void weir_lookup(struct weir_net *wn, const struct weir_config *cfg,
		 const struct weir_tuple *tuple, bool syn,
		 struct weir_verdict *verdict)
{
	const struct weir_service *svc;
	unsigned int fields;
	u16 choice;

	memset(verdict, 0, sizeof(*verdict));
	judge_entry(wn, cfg, tuple, verdict);
	if (!weir_index_rule(&cfg->index, tuple->family, &tuple->dst,
			     tuple->proto, ntohs(tuple->dport),
			     &verdict->match)) {
		if (!weir_index_is_vip(&cfg->index, tuple->family, &tuple->dst))
			verdict->outcome = WEIR_OUTCOME_NOT_OURS;
		else if (weir_guard_is_local(wn, tuple->family, &tuple->dst))
			verdict->outcome = WEIR_OUTCOME_LOCAL;
		else
			verdict->outcome = WEIR_OUTCOME_NO_RULE;
		return;
	}
	svc = verdict->match.service;
	fields = weir_select_fields(svc->opt.affinity, tuple);
	verdict->hash = weir_tuple_hash(tuple, fields, &cfg->key);
	verdict->key_fields = fields;
	if (verdict->stay == WEIR_STAY_YES) {
		verdict->outcome = WEIR_OUTCOME_KEPT;
		verdict->backend = weir_backend_find(svc, &verdict->flow.backend,
						     tuple->family);
		return;
	}
	verdict->outcome = WEIR_OUTCOME_EMPTY;
	if (!svc->table)
		return;
	choice = weir_select_backend(svc, tuple, &cfg->key, &fields,
				     &verdict->hash, &verdict->slot);
	verdict->backend = &svc->backends[choice];
	verdict->outcome = WEIR_OUTCOME_SELECTED;
}
