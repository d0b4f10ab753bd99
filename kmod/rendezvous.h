/* SPDX-License-Identifier: GPL-2.0 */
/*
 * weir - lookup tables by rendezvous hashing
 *
 * Pure: a table is a function of addresses, weights and the hash key. Each slot
 * is a contest of its own: who is removed leaves its own slots, and no other one
 * moves.
 */
#ifndef WEIR_RENDEZVOUS_H
#define WEIR_RENDEZVOUS_H

#include <linux/siphash.h>
#include <linux/types.h>

#include "maglev.h"

/**
 * weir_rendezvous_scratch() - working memory that a fill needs
 * @n: members
 *
 * Context: any.
 * Return: bytes.
 */
size_t weir_rendezvous_scratch(u32 n);

/**
 * weir_rendezvous_fill() - give every slot of a table to a member
 * @slots: the table, @size entries; owned by the caller, who publishes it
 *	afterwards. Every entry is written
 * @size: slots, at least 1
 * @members: ascending by weir_addr_cmp(), no address twice, one family
 * @n: members, 1 to 65535
 * @key: the hash key of the network namespace
 * @scratch: weir_rendezvous_scratch() bytes, aligned for u64
 *
 * A member's chance to win a slot is its weight over the sum of all weights;
 * integer arithmetic only, the same on every machine. Weights count in relation
 * to each other; equal ones give one table, however large.
 *
 * Context: process; calls cond_resched(), so no spinlock and no RCU reader.
 */
void weir_rendezvous_fill(u16 *slots, u32 size,
			  const struct weir_member *members, u32 n,
			  const siphash_key_t *key, void *scratch);

#endif /* WEIR_RENDEZVOUS_H */
