/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lookup - what would happen to a packet, and each step of why
 */
#ifndef WEIR_LOOKUP_H
#define WEIR_LOOKUP_H

#include <linux/types.h>
#include <linux/weir.h>

#include "config.h"
#include "flows.h"
#include "session.h"
#include "tuple.h"

struct weir_net;

struct weir_verdict {
	u8 outcome;			/* enum weir_outcome */
	struct weir_match match;	/* .service NULL when no rule matched */
	u8 stay;			/* enum weir_stay */
	bool has_flow;
	struct weir_flow flow;
	/* Written when a service matched. */
	u8 key_fields;
	u64 hash;
	u8 track_fields;
	bool has_session;		/* a live one was found */
	struct weir_session_view session;
	bool by_session;		/* and it decides */
	const char *zone;		/* the client's, where zones matter */
	const struct weir_zonal *zonal;	/* NULL: none of a group is in it */
	const struct weir_set *set;	/* that the client chooses from */
	/* Written when the table decides. */
	u32 slot;
	const struct weir_backend *backend;	/* the choice, NULL if none */
};

/**
 * weir_lookup() - explain
 * @cfg: live configuration, under the RCU read lock; pointers in @verdict live
 *	as long as that
 * @tuple: the packet, as the client sends it
 * @syn: a TCP segment that opens a connection
 */
void weir_lookup(struct weir_net *wn, const struct weir_config *cfg,
		 const struct weir_tuple *tuple, bool syn,
		 struct weir_verdict *verdict);

#endif /* WEIR_LOOKUP_H */
