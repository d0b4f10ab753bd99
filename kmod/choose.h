/* SPDX-License-Identifier: GPL-2.0 */
/*
 * choose - the backend that a packet leads to: tracking entry, else hash
 */
#ifndef WEIR_CHOOSE_H
#define WEIR_CHOOSE_H

#include <linux/types.h>

#include "track.h"

struct weir_backend;
struct weir_config;
struct weir_net;
struct weir_service;
struct weir_tuple;
struct weir_zonal;

struct weir_choice {
	const struct weir_backend *backend;	/* NULL: nobody may be chosen */
	unsigned int track_fields;	/* of the session's key, 0 for none */
	bool has_session;		/* a live one was found at @at */
	bool kept;			/* the choice is what it names */
	u32 at;
	struct weir_session session;	/* if @has_session */
	/* Of the hash; written if @backend is set and not @kept. */
	unsigned int key_fields;
	u64 hash;
	u32 slot;
	const struct weir_zonal *zonal;	/* whose set it is, NULL: the service's */
};

/**
 * weir_choose() - steps 2 to 5 of the reference's pipeline (semantics 1.1)
 * @tuple: original direction
 * @choice: written whole; pointers live as long as @cfg
 *
 * Looks, and changes nothing. RCU read lock.
 */
void weir_choose(struct weir_net *wn, const struct weir_config *cfg,
		 const struct weir_service *svc, const struct weir_tuple *tuple,
		 struct weir_choice *choice);

/**
 * weir_choose_settle() - step 6: the packet goes where @choice says
 * @opens: it is a TCP SYN, which proves nothing about its sender
 *
 * Writes or refreshes the session, if there is one to be. Bottom halves off, RCU
 * read lock.
 */
void weir_choose_settle(struct weir_net *wn, const struct weir_service *svc,
			const struct weir_tuple *tuple,
			const struct weir_choice *choice, bool opens);

#endif /* WEIR_CHOOSE_H */
