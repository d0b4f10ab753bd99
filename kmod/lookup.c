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
#include "choose.h"
#include "config.h"
#include "direct.h"
#include "guard.h"
#include "lookup.h"
#include "netns.h"
#include "set.h"
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

/* What verify does with a packet of a live flow (hook.c), in words. */
static bool keeps_flow(const struct weir_choice *choice, bool syn,
		       struct weir_verdict *verdict,
		       const struct weir_backend *now)
{
	if (verdict->stay != WEIR_STAY_YES || !now)
		return false;
	if (choice->backend == now || (!choice->track_fields && !syn))
		return true;
	if (!choice->track_fields)
		verdict->stay = WEIR_STAY_SYN;
	else if (choice->has_session)
		verdict->stay = WEIR_STAY_SESSION;
	else
		verdict->stay = WEIR_STAY_EXPIRED;
	return false;
}

static void explain_choice(struct weir_net *wn, const struct weir_config *cfg,
			   const struct weir_tuple *packet, bool syn,
			   struct weir_verdict *verdict)
{
	const struct weir_service *svc = verdict->match.service;
	const struct weir_backend *now = NULL;
	struct weir_tuple key = *packet, *tuple = &key;
	struct weir_choice choice;

	weir_direct_key(&verdict->match, tuple);
	weir_choose(wn, cfg, svc, tuple, &choice);
	/* Nobody said which sequence number: it is no retransmission. */
	if (syn && choice.track_fields == 5) {
		choice.session.opening = 0;
		weir_choose_syn(cfg, svc, tuple, 0, &choice);
	}
	verdict->set = weir_set_of(cfg, svc, tuple->family, &tuple->src,
				   &verdict->zonal);
	if (svc->nr_zonals)
		verdict->zone = weir_zones_of(cfg->zones, tuple->family,
					      &tuple->src);
	verdict->key_fields = weir_select_fields(svc->opt.affinity, tuple);
	verdict->hash = weir_tuple_hash(tuple, verdict->key_fields, &cfg->key);
	verdict->slot = choice.kept ? 0 : choice.slot;
	verdict->track_fields = weir_track_fields(svc->opt.affinity,
						  svc->opt.tracking, tuple);
	verdict->has_session = choice.has_session &&
		weir_session_view(cfg, &choice.session, &verdict->session);
	verdict->by_session = choice.kept;
	if (verdict->has_flow)
		now = weir_backend_find(svc, &verdict->flow.backend,
					tuple->family);
	if (keeps_flow(&choice, syn, verdict, now)) {
		verdict->outcome = WEIR_OUTCOME_KEPT;
		verdict->backend = now;
		return;
	}
	verdict->backend = choice.backend;
	verdict->outcome = choice.backend ? WEIR_OUTCOME_SELECTED :
					    WEIR_OUTCOME_EMPTY;
}

/* In the order of direct.c. */
static bool find_rule(struct weir_net *wn, const struct weir_config *cfg,
		      const struct weir_tuple *tuple, struct weir_match *match)
{
	if (weir_index_rule(&cfg->index, tuple->family, &tuple->dst,
			    tuple->proto, ntohs(tuple->dport), match))
		return true;
	return !weir_index_is_vip(&cfg->index, tuple->family, &tuple->dst) &&
	       weir_direct_prefix(wn, cfg, tuple, match);
}

void weir_lookup(struct weir_net *wn, const struct weir_config *cfg,
		 const struct weir_tuple *tuple, bool syn,
		 struct weir_verdict *verdict)
{
	bool direct;

	memset(verdict, 0, sizeof(*verdict));
	if (!find_rule(wn, cfg, tuple, &verdict->match)) {
		judge_entry(wn, cfg, tuple, verdict);
		if (!weir_index_forwards(&cfg->index, tuple->family, &tuple->dst))
			verdict->outcome = WEIR_OUTCOME_NOT_OURS;
		else if (weir_guard_is_local(wn, tuple->family, &tuple->dst))
			verdict->outcome = WEIR_OUTCOME_LOCAL;
		else
			verdict->outcome = WEIR_OUTCOME_NO_RULE;
		return;
	}
	direct = verdict->match.service->opt.forward == WEIR_FORWARD_DIRECT;
	/* Direct mode has no conntrack entries. */
	if (!direct)
		judge_entry(wn, cfg, tuple, verdict);
	/* As select does. */
	if (tuple->proto == IPPROTO_AH && !direct)
		verdict->outcome = WEIR_OUTCOME_AH;
	else
		explain_choice(wn, cfg, tuple, syn, verdict);
}
