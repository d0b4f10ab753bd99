// SPDX-License-Identifier: GPL-2.0
/*
 * choose - the backend that a packet leads to: tracking entry, else hash
 */
#include <linux/kernel.h>

#include "choose.h"
#include "config.h"
#include "dest.h"
#include "session.h"
#include "set.h"
#include "stats.h"
#include "track.h"

static bool from_session(struct weir_net *wn, const struct weir_config *cfg,
			 const struct weir_service *svc,
			 const struct weir_tuple *tuple,
			 struct weir_choice *choice)
{
	if (!choice->track_fields)
		return false;
	choice->has_session = weir_session_find(wn, svc, tuple,
						choice->track_fields, &choice->ref,
						&choice->session, &choice->at);
	if (!choice->has_session)
		return false;
	choice->backend = weir_session_backend(svc, &choice->session);
	choice->kept = choice->backend &&
		       weir_session_usable(cfg, choice->backend, tuple);
	return choice->kept;
}

static void by_hash(const struct weir_config *cfg,
		    const struct weir_service *svc,
		    const struct weir_tuple *tuple, struct weir_choice *choice)
{
	const struct weir_table *table;

	choice->kept = false;
	choice->backend = NULL;
	choice->slot = 0;
	choice->key_fields = weir_select_fields(svc->opt.affinity, tuple);
	choice->hash = weir_tuple_hash(tuple, choice->key_fields, &cfg->key);
	table = weir_set_of(cfg, svc, tuple->family, &tuple->src,
			    &choice->zonal)->table;
	if (!table)
		return;
	choice->slot = reciprocal_scale(choice->hash >> 32, table->size);
	choice->backend = &svc->backends[table->slots[choice->slot]];
}

void weir_choose(struct weir_net *wn, const struct weir_config *cfg,
		 const struct weir_service *svc, const struct weir_tuple *tuple,
		 struct weir_choice *choice)
{
	choice->has_session = false;
	choice->kept = false;
	choice->track_fields = weir_session_fields(svc, tuple);
	choice->zonal = NULL;
	if (!from_session(wn, cfg, svc, tuple, choice))
		by_hash(cfg, svc, tuple, choice);
}

bool weir_choose_may_use(const struct weir_config *cfg,
			 const struct weir_service *svc,
			 const struct weir_backend *be,
			 const struct weir_tuple *tuple)
{
	return be->healthy || weir_set_has(cfg, svc, tuple->family, &tuple->src,
					   be - svc->backends);
}

void weir_choose_syn(const struct weir_config *cfg,
		     const struct weir_service *svc,
		     const struct weir_tuple *tuple, __be32 isn,
		     struct weir_choice *choice)
{
	const struct weir_backend *was = choice->backend;

	if (!choice->kept)
		return;
	by_hash(cfg, svc, tuple, choice);
	if (choice->backend == was) {
		choice->kept = true;
	} else if (choice->session.opening && choice->session.isn == isn &&
		   weir_choose_may_use(cfg, svc, was, tuple)) {
		choice->backend = was;
		choice->kept = true;
	}
}

void weir_choose_settle(struct weir_net *wn, const struct weir_service *svc,
			const struct weir_choice *choice, const __be32 *isn)
{
	if (!choice->track_fields)
		return;
	/* A connection that begins anew under its old key is opening again. */
	if (choice->kept && !(isn && choice->track_fields == 5))
		weir_session_touch(wn, svc, choice->at, choice->backend, !isn);
	else
		weir_session_record(wn, svc, &choice->ref, choice->backend, isn);
}

/* @choice is none of a session that goes on, or nobody is healthy anyway. */
static bool last_resort(const struct weir_service *svc,
			const struct weir_choice *choice)
{
	return !svc->nr_healthy ||
	       (choice->zonal &&
		choice->zonal->eligible.reason == WEIR_ZONAL_UNHEALTHY);
}

void weir_choose_count(const struct weir_service *svc,
		       const struct weir_choice *choice, unsigned int len,
		       enum weir_why why)
{
	const struct weir_dest *dest = choice->backend->dest;

	static const enum weir_counter counter[] = {
		[WEIR_WHY_GONE]		= WEIR_C_RESELECTED_GONE,
		[WEIR_WHY_UNHEALTHY]	= WEIR_C_RESELECTED_UNHEALTHY,
		[WEIR_WHY_ADOPTED]	= WEIR_C_RESELECTED_ADOPTED,
		[WEIR_WHY_SYN]		= WEIR_C_RESELECTED_SYN,
		[WEIR_WHY_SESSION]	= WEIR_C_RESELECTED_SESSION,
		[WEIR_WHY_FAILOVER]	= WEIR_C_RESELECTED_FAILOVER,
	};

	weir_counters_add(dest->counters, WEIR_C_SELECTIONS, 1);
	if (last_resort(svc, choice))
		weir_counters_add(dest->counters, WEIR_C_LAST_RESORT, 1);
	if (why != WEIR_WHY_NEW)
		weir_counters_add(dest->counters, counter[why], 1);
	weir_counters_packet(dest->counters, false, len);
}
