/* SPDX-License-Identifier: GPL-2.0 */
/*
 * session - which backend a tracking entry names, and whether it still may
 *
 * Where the tracking key is coarser than conntrack's own (semantics 1.4), the
 * session decides and the conntrack entry follows. Sessions name a backend by the
 * id of its run-time half: nothing in the table has to be freed or counted when a
 * backend goes.
 */
#ifndef WEIR_SESSION_H
#define WEIR_SESSION_H

#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/types.h>

#include "tuple.h"

struct weir_backend;
struct weir_binding;
struct weir_config;
struct weir_dest;
struct weir_flow_filter;
struct weir_net;
struct weir_service;
struct weir_session;
struct weir_track_ref;

/**
 * weir_seconds() - the clock of sessions
 */
static inline u32 weir_seconds(void)
{
	return div_u64(get_jiffies_64(), HZ);
}

/**
 * weir_session_init() - allocate the table of a namespace, once
 * weir_net.lock held, may sleep. Return: 0 or -ENOMEM.
 */
int weir_session_init(struct weir_net *wn);

/**
 * weir_session_exit() - free the table; nobody uses it any more
 */
void weir_session_exit(struct weir_net *wn);

/**
 * weir_session_resize() - room for @max sessions; those in use are taken along
 * Takes weir_net.lock, may sleep. Return: 0 or -ENOMEM.
 */
int weir_session_resize(struct weir_net *wn, u32 max);

/**
 * weir_session_fields() - fields of the tracking key
 *
 * Return: 1, 2, 3, or 5 in direct mode, or 0 where conntrack's own entry is the
 * tracking entry.
 */
unsigned int weir_session_fields(const struct weir_service *svc,
				 const struct weir_tuple *tuple);

/**
 * weir_session_backend() - the backend that a session names
 * Return: the backend, or NULL if it is in the service no more.
 */
const struct weir_backend *
weir_session_backend(const struct weir_service *svc,
		     const struct weir_session *session);

/**
 * weir_session_find() - the live session of a packet
 * @fields: from weir_session_fields(), not 0
 * @ref: written if there may be one at all; for weir_session_record()
 * @session: a copy is written
 * @at: written, for weir_session_touch()
 * RCU read lock. Return: false if there is none.
 */
bool weir_session_find(struct weir_net *wn, const struct weir_service *svc,
		       const struct weir_tuple *tuple, unsigned int fields,
		       struct weir_track_ref *ref, struct weir_session *session,
		       u32 *at);

/**
 * weir_session_touch() - an incoming packet of the session
 * @be: the session's backend
 * @confirm: not the first one
 */
void weir_session_touch(struct weir_net *wn, const struct weir_service *svc,
			u32 at, const struct weir_backend *be, bool confirm);

/**
 * weir_session_end() - a session that may not go on, and nobody else to go to
 * @at: where it was found
 *
 * Bottom halves off, RCU read lock.
 */
void weir_session_end(struct weir_net *wn, u32 at,
		      const struct weir_session *session);

/**
 * weir_session_usable() - may a session go on with its backend (semantics 1.7)?
 * @be: the session's backend
 * @tuple: a packet of it, original direction
 *
 * RCU read lock.
 */
bool weir_session_usable(const struct weir_config *cfg,
			 const struct weir_backend *be,
			 const struct weir_tuple *tuple);

/**
 * weir_session_record() - the session of a packet is with @be from now on
 * @ref: of weir_session_find(), which found none, or one to write over
 * @isn: sequence number, if the packet is a SYN; else NULL
 *
 * Bottom halves off, RCU read lock.
 */
void weir_session_record(struct weir_net *wn, const struct weir_service *svc,
			 const struct weir_track_ref *ref,
			 const struct weir_backend *be, const __be32 *isn);

/* A session as a reader sees it. */
struct weir_session_view {
	const char *service;		/* lives as long as the RCU read section */
	u8 family;
	u8 fields;
	u8 proto;			/* IPPROTO_*, with 3 fields or 5 */
	__be16 sport, dport;		/* with 5 fields */
	struct weir_addr src, dst, backend;
	u32 expires;			/* seconds */
	bool confirmed;
};

/**
 * weir_session_view() - describe a session
 * RCU read lock. Return: false if its service or backend is gone, or has drained: then it
 * is none any more.
 */
bool weir_session_view(const struct weir_config *cfg,
		       const struct weir_session *session,
		       struct weir_session_view *view);

/**
 * weir_session_dump() - call @fn for each session that @filter names
 * @at: cursor, begins at 0
 * @fn: returns 0 to go on; anything else stops the walk at that session. Must not
 *	sleep
 *
 * Process context, may sleep. Return: 0 at the end, or what @fn returned.
 */
int weir_session_dump(struct weir_net *wn, const struct weir_flow_filter *filter,
		      u32 *at,
		      int (*fn)(const struct weir_session_view *view, void *arg),
		      void *arg);

/**
 * weir_session_sweep() - forget sessions whose service or backend is gone; may sleep
 */
void weir_session_sweep(struct weir_net *wn);

/**
 * weir_session_flush() - forget sessions; may sleep
 * Return: how many there were.
 */
u32 weir_session_flush(struct weir_net *wn,
		       const struct weir_flow_filter *filter);

/**
 * weir_session_count() - sessions in use; walks the table, may sleep
 * @exact: else what was counted less than a second ago will do
 *
 * weir_net.lock held.
 */
u32 weir_session_count(struct weir_net *wn, bool exact);

#endif /* WEIR_SESSION_H */
