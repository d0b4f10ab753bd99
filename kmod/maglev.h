/* SPDX-License-Identifier: GPL-2.0 */
/*
 * weir - from a set of backends to the lookup table that packets index.
 *
 * Pure: a table is a function of the addresses in the set and of the hash key,
 * and of nothing else: not of the order in which backends came, nor of the
 * tables before it. So routers that share key and set choose alike.
 */
#ifndef WEIR_MAGLEV_H
#define WEIR_MAGLEV_H

#include <linux/siphash.h>
#include <linux/types.h>
#include <linux/weir.h>

#include "tuple.h"

/**
 * struct weir_member - a backend that shall have slots
 * @addr: its identity
 * @family: AF_INET or AF_INET6
 * @index: what is written into its slots; any value, unique in the set
 * @weight: its share to that of the others, 1 to WEIR_WEIGHT_MAX; equal for all
 *	where weights mean nothing
 */
struct weir_member {
	struct weir_addr	addr;
	u8			family;
	u16			index;
	u16			weight;
};

/* What a hash of a member is for: those for different purposes are unrelated. */
enum weir_hash_purpose {
	WEIR_HASH_OFFSET,
	WEIR_HASH_SKIP,
	WEIR_HASH_CONTEST,
};

/**
 * weir_member_hash() - hash of a member's identity, its address and family
 * @m: the member
 * @purpose: of enum weir_hash_purpose
 * @key: the hash key of the network namespace
 *
 * Context: any.
 * Return: 64 bits.
 */
u64 weir_member_hash(const struct weir_member *m, u8 purpose,
		     const siphash_key_t *key);

/**
 * weir_maglev_auto_size() - size of the table of a service with table-size auto
 * @n_configured: backends configured, whatever their health
 *
 * The smallest of a short list of primes that is at least 1021 and 128 for each
 * backend; the largest of the list where none is (above 5120 backends).
 *
 * Context: any.
 * Return: slots, a prime from 1021 to WEIR_TABLE_SIZE_MAX.
 */
u32 weir_maglev_auto_size(u32 n_configured);

/**
 * weir_maglev_size_ok() - may a table have this many slots?
 * @size: slots
 *
 * Context: any; up to about 400 divisions.
 * Return: true for a prime that is at most WEIR_TABLE_SIZE_MAX.
 */
bool weir_maglev_size_ok(u32 size);

/**
 * weir_maglev_scratch() - working memory that a fill needs
 * @n: members
 *
 * Context: any.
 * Return: bytes.
 */
size_t weir_maglev_scratch(u32 n);

/**
 * weir_maglev_fill() - give every slot of a table to a member
 * @slots: the table, @size entries; owned by the caller, who publishes it
 *	afterwards. Every entry is written
 * @size: slots, for which weir_maglev_size_ok(); at least @n
 * @members: ascending by weir_addr_cmp(), no address twice, one family
 * @n: members, 1 to 65535
 * @key: the hash key of the network namespace
 * @scratch: weir_maglev_scratch() bytes, aligned for u64; contents before and
 *	after mean nothing
 *
 * Each member gets its weight's part of @size, rounded down or up: none only if
 * it is due less than one. Weights count in relation to each other; equal ones
 * give one table, however large.
 *
 * Context: process; calls cond_resched(), so no spinlock and no RCU reader.
 */
void weir_maglev_fill(u16 *slots, u32 size, const struct weir_member *members,
		      u32 n, const siphash_key_t *key, void *scratch);

/**
 * weir_maglev_digest() - fingerprint of a table, to compare two routers
 * @slots: a filled table
 * @size: slots
 * @by_index: the backends by what fill wrote: the owner of slot s is
 *	@by_index[@slots[s]]; entries which own no slot are not read
 *
 * Depends on which address owns each slot, not on indices, byte order or key
 * (but another key makes another table). For comparing, not for security.
 *
 * Context: process; calls cond_resched().
 * Return: the fingerprint.
 */
u64 weir_maglev_digest(const u16 *slots, u32 size,
		       const struct weir_member *by_index);

#endif /* WEIR_MAGLEV_H */
