// SPDX-License-Identifier: GPL-2.0
/*
 * choose - the backend that a packet leads to: tracking entry, else hash
 */
#include <linux/kernel.h>

#include "choose.h"
#include "config.h"
#include "session.h"
#include "set.h"
#include "track.h"

static bool from_session(struct weir_net *wn, const struct weir_config *cfg,
			 const struct weir_service *svc,
			 const struct weir_tuple *tuple,
			 struct weir_choice *choice)
{
	if (!choice->track_fields)
		return false;
	choice->has_session = weir_session_find(wn, svc, tuple,
						choice->track_fields,
						&choice->session, &choice->at);
	if (!choice->has_session)
		return false;
	choice->backend = weir_session_backend(svc, &choice->session);
	choice->kept = choice->backend &&
		       weir_session_usable(cfg, choice->backend, tuple);
	return choice->kept;
}

void weir_choose(struct weir_net *wn, const struct weir_config *cfg,
		 const struct weir_service *svc, const struct weir_tuple *tuple,
		 struct weir_choice *choice)
{
	const struct weir_table *table;

	choice->has_session = false;
	choice->kept = false;
	choice->track_fields = weir_session_fields(svc, tuple);
	choice->zonal = NULL;
	if (from_session(wn, cfg, svc, tuple, choice))
		return;
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

void weir_choose_settle(struct weir_net *wn, const struct weir_service *svc,
			const struct weir_tuple *tuple,
			const struct weir_choice *choice, bool opens)
{
	if (!choice->track_fields)
		return;
	if (choice->kept)
		weir_session_touch(wn, svc, choice->at, choice->backend,
				   !opens);
	else
		weir_session_record(wn, svc, tuple, choice->track_fields,
				    choice->backend);
}
