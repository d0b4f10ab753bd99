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
	struct weir_track_ref ref;	/* if @track_fields */
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
 * weir_choose_syn() - what a SYN under a tracking key of five fields makes of it
 * @isn: its sequence number
 * @choice: from weir_choose()
 *
 * It selects anew; one that repeats the SYN of a connection that is still opening
 * goes with that, while its backend may be used (semantics 1.2, decision 2). Looks,
 * and changes nothing. RCU read lock.
 */
void weir_choose_syn(const struct weir_config *cfg,
		     const struct weir_service *svc,
		     const struct weir_tuple *tuple, __be32 isn,
		     struct weir_choice *choice);

/**
 * weir_choose_settle() - step 6: the packet goes where @choice says
 * @isn: sequence number of a TCP SYN, which proves nothing about its sender; NULL for
 *	any other packet
 *
 * Writes or refreshes the session, if there is one to be. Bottom halves off, RCU
 * read lock.
 */
void weir_choose_settle(struct weir_net *wn, const struct weir_service *svc,
			const struct weir_choice *choice, const __be32 *isn);

/* Why a flow was selected. */
enum weir_why {
	WEIR_WHY_NEW,
	WEIR_WHY_GONE,		/* its backend or rule was removed */
	WEIR_WHY_UNHEALTHY,	/* its backend is unhealthy, no persistence */
	WEIR_WHY_ADOPTED,	/* made before its rule, or by others */
	WEIR_WHY_SYN,		/* a SYN chooses anew, and chose another backend */
	WEIR_WHY_SESSION,	/* its session is with another backend by now */
	WEIR_WHY_FAILOVER,	/* its backend's role is not in use any more */
};

/**
 * weir_choose_count() - count a selection, and the packet that asked for it
 * @len: bytes from the network header on
 *
 * Bottom halves off.
 */
void weir_choose_count(const struct weir_service *svc,
		       const struct weir_choice *choice, unsigned int len,
		       enum weir_why why);

/**
 * weir_choose_may_use() - may a flow that is just opening go on with a backend?
 *
 * Persistence is for connections that exist. To a backend that turned unhealthy
 * before it answered, the client's next try is the one that saves it. A healthy one
 * may still answer: one that drains, or that is of the other role by now. RCU read
 * lock.
 */
bool weir_choose_may_use(const struct weir_config *cfg,
			 const struct weir_service *svc,
			 const struct weir_backend *be,
			 const struct weir_tuple *tuple);

#endif /* WEIR_CHOOSE_H */
