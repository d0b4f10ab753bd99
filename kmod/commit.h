/* SPDX-License-Identifier: GPL-2.0 */
/*
 * commit - publishes a draft and tells whoever asked for it and whoever listens
 */
#ifndef WEIR_COMMIT_H
#define WEIR_COMMIT_H

#include <linux/types.h>

struct netlink_ext_ack;
struct sk_buff;
struct weir_draft;
struct weir_net;
struct weir_summary;

/**
 * weir_commit() - publish a draft, and send events
 * @draft: is freed, whatever happens
 * @dry_run: only say what it would change
 * @reply: NULL, or gets as many CHANGE as fit
 * @nr: NULL, or gets the number of all changes
 *
 * weir_net.lock held, so that events come in the order of generations. May sleep.
 * Return: 0 or what weir_draft_commit() says.
 */
int weir_commit(struct weir_net *wn, struct weir_draft *draft, bool dry_run,
		struct sk_buff *reply, struct weir_summary *sum, u32 *nr,
		struct netlink_ext_ack *extack);

/**
 * weir_commit_key() - the same configuration under another hash key
 * @wn: its lock is taken here
 * @key: 16 bytes
 *
 * Rebuilds the tables; tracked flows stay. May sleep. Return: 0 or -ENOMEM.
 */
int weir_commit_key(struct weir_net *wn, const u8 *key);

#endif /* WEIR_COMMIT_H */
