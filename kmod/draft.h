/* SPDX-License-Identifier: GPL-2.0 */
/*
 * draft - a configuration that is being written
 *
 * Starts from the live one or from nothing, copies a service when it is first
 * changed, and becomes live as a whole or not at all. All functions need
 * weir_net.lock and may sleep; refusals set an extended-ack message.
 */
#ifndef WEIR_DRAFT_H
#define WEIR_DRAFT_H

#include <linux/types.h>

#include "config.h"

struct netlink_ext_ack;
struct weir_draft;
struct weir_net;
struct weir_zones;

/**
 * weir_draft_new() - begin
 * @wn: namespace
 * @replace: start from nothing instead of from what is live
 * Return: the draft, or NULL when there is no memory.
 */
struct weir_draft *weir_draft_new(struct weir_net *wn, bool replace);

/**
 * weir_draft_free() - drop a draft that was not committed
 * @draft: may be NULL
 */
void weir_draft_free(struct weir_draft *draft);

/**
 * weir_draft_add() - a new service with default options, to be filled
 * Return: the private service (the draft keeps the reference), or ERR_PTR:
 * -EEXIST, -EINVAL (name), -ENOMEM.
 */
struct weir_service *weir_draft_add(struct weir_draft *draft, const char *name,
				    struct netlink_ext_ack *extack);

/**
 * weir_draft_edit() - a service to change
 * Return: a private copy, the same one each time, or ERR_PTR(-ENOENT, -ENOMEM).
 */
struct weir_service *weir_draft_edit(struct weir_draft *draft, const char *name,
				     struct netlink_ext_ack *extack);

/**
 * weir_draft_del() - remove a service with all that it has
 * Return: 0 or -ENOENT.
 */
int weir_draft_del(struct weir_draft *draft, const char *name,
		   struct netlink_ext_ack *extack);

/**
 * weir_draft_set_key() - another hash key, with the same swap
 */
void weir_draft_set_key(struct weir_draft *draft, const u8 *key);

/**
 * weir_draft_zones() - the clients' zones, to change
 * Return: a private copy, the same one each time, or ERR_PTR(-ENOMEM).
 */
struct weir_zones *weir_draft_zones(struct weir_draft *draft);

/**
 * weir_draft_keep_edition() - this is no operator's change
 *
 * A transaction that is open meanwhile stays valid: what it holds of a backend that
 * has drained is dropped when it is committed.
 */
void weir_draft_keep_edition(struct weir_draft *draft);

/**
 * weir_draft_only_results() - it changes nothing but what a checker found
 *
 * As weir_draft_keep_edition(), and a dump that goes on meanwhile stays whole: no
 * object comes or goes.
 */
void weir_draft_only_results(struct weir_draft *draft);

/**
 * weir_draft_commit() - validate the whole and publish it
 * @draft: freed in every case
 * @dry_run: compare, publish nothing
 * @fn: called for each difference; may be NULL
 * @arg: for @fn
 * @sum: what changed. A draft that changes nothing publishes nothing and
 *	leaves the generation
 *
 * Return: 0, or the errno of the refusal, with the old configuration live.
 */
int weir_draft_commit(struct weir_draft *draft, bool dry_run,
		      weir_change_fn fn, void *arg, struct weir_summary *sum,
		      struct netlink_ext_ack *extack);

#endif /* WEIR_DRAFT_H */
