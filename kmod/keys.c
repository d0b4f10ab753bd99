// SPDX-License-Identifier: GPL-2.0
/*
 * keys - a hash table, whose versions share what did not change
 *
 * The keys are the operator's, not a client's, so a seeded product is enough.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/random.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "keys.h"

/* So many chains has a part, and about as many keys at most when it is new. */
#define PART_CHAINS	64

/* Less than this for each part, and fewer parts would do; more than that, and chains
 * are long.
 */
#define PART_FEW	8
#define PART_MANY	(2 * PART_CHAINS)

struct weir_keys_part {
	refcount_t ref;			/* versions that have it */
	u32 nr, max;			/* entries */
	u16 chains[PART_CHAINS];	/* place + 1 of the first entry */
	struct weir_entry entries[];
};

/* What a part is before its first key; nobody counts who has it. */
static struct weir_keys_part none;

static u32 hash_of(const struct weir_keys *keys, const struct weir_key *key)
{
	const u32 *words = (const u32 *)key;
	u64 h = keys->seed;

	BUILD_BUG_ON(sizeof(*key) != 20);
	h = (h + (words[0] | (u64)words[1] << 32)) * 0x9e3779b97f4a7c15ULL;
	h = ((h ^ h >> 32) + (words[2] | (u64)words[3] << 32)) *
	    0xc2b2ae3d27d4eb4fULL;
	h = ((h ^ h >> 32) + words[4]) * 0x9e3779b97f4a7c15ULL;
	return h >> 32;
}

/* Of other bits than those that say which part. */
static u32 chain_of(u32 hash)
{
	BUILD_BUG_ON(PART_CHAINS != 1 << 6);
	return hash >> (32 - 6);
}

static bool is_same(const struct weir_key *a, const struct weir_key *b)
{
	const u32 *x = (const u32 *)a, *y = (const u32 *)b;

	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) |
		 (x[4] ^ y[4]));
}

static struct weir_entry *find_in(struct weir_keys_part *part, u32 hash,
				  const struct weir_key *key)
{
	struct weir_entry *entry;
	u32 n;

	for (n = part->chains[chain_of(hash)]; n; n = entry->next) {
		entry = &part->entries[n - 1];
		if (is_same(&entry->key, key))
			return entry;
	}
	return NULL;
}

const struct weir_entry *weir_keys_find(const struct weir_keys *keys,
					const struct weir_key *key)
{
	u32 hash;

	/* The first configuration of a namespace has none. */
	if (!keys->parts)
		return NULL;
	hash = hash_of(keys, key);
	return find_in(keys->parts[hash & keys->mask], hash, key);
}

static void put_part(struct weir_keys_part *part)
{
	if (part != &none && refcount_dec_and_test(&part->ref))
		kvfree(part);
}

static int alloc_parts(struct weir_keys *keys)
{
	keys->parts = kvmalloc_array(keys->mask + 1, sizeof(*keys->parts),
				     GFP_KERNEL_ACCOUNT);
	return keys->parts ? 0 : -ENOMEM;
}

int weir_keys_init(struct weir_keys *keys, u32 nr)
{
	u32 i, parts = roundup_pow_of_two(max(nr / PART_CHAINS, 1U));

	*keys = (struct weir_keys) {
		.mask = parts - 1,
		.seed = get_random_u32(),
		.start = nr / parts / 2,
	};
	if (alloc_parts(keys))
		return -ENOMEM;
	for (i = 0; i < parts; i++)
		keys->parts[i] = &none;
	return 0;
}

int weir_keys_share(struct weir_keys *keys, const struct weir_keys *from)
{
	u32 i;

	*keys = *from;
	if (alloc_parts(keys))
		return -ENOMEM;
	for (i = 0; i <= keys->mask; i++) {
		keys->parts[i] = from->parts[i];
		if (keys->parts[i] != &none)
			refcount_inc(&keys->parts[i]->ref);
	}
	return 0;
}

bool weir_keys_suits(const struct weir_keys *keys, u32 nr)
{
	u64 parts = (u64)keys->mask + 1;

	return keys->parts && nr <= parts * PART_MANY &&
	       (parts == 1 || nr >= parts * PART_FEW);
}

void weir_keys_free(struct weir_keys *keys)
{
	u32 i;

	if (!keys->parts)
		return;
	for (i = 0; i <= keys->mask; i++)
		put_part(keys->parts[i]);
	kvfree(keys->parts);
	keys->parts = NULL;
}

/* As many entries as the allocator gives room for anyway. */
static struct weir_keys_part *new_part(u32 nr)
{
	struct weir_keys_part *part;
	size_t size = roundup_pow_of_two(struct_size(part, entries, nr));

	part = nr <= U16_MAX ? kvmalloc(size, GFP_KERNEL_ACCOUNT) : NULL;
	if (!part)
		return NULL;
	refcount_set(&part->ref, 1);
	part->max = (size - sizeof(*part)) / sizeof(part->entries[0]);
	return part;
}

/* The part of a hash, to be written: of no other version, and with room for @more. */
static struct weir_keys_part *own_part(struct weir_keys *keys, u32 hash, u32 more)
{
	struct weir_keys_part **at = &keys->parts[hash & keys->mask];
	struct weir_keys_part *old = *at, *part;

	if (old != &none && refcount_read(&old->ref) == 1 &&
	    old->nr + more <= old->max)
		return old;
	part = new_part(max(old->nr + more, keys->start));
	if (!part)
		return NULL;
	part->nr = old->nr;
	memcpy(part->chains, old->chains, sizeof(part->chains));
	memcpy(part->entries, old->entries, old->nr * sizeof(old->entries[0]));
	*at = part;
	put_part(old);
	return part;
}

struct weir_entry *weir_keys_get(struct weir_keys *keys, const struct weir_key *key)
{
	u32 hash = hash_of(keys, key);
	bool known = find_in(keys->parts[hash & keys->mask], hash, key);
	struct weir_keys_part *part = own_part(keys, hash, !known);
	struct weir_entry *entry;
	u16 *chain;

	if (!part)
		return NULL;
	if (known)
		return find_in(part, hash, key);
	chain = &part->chains[chain_of(hash)];
	entry = &part->entries[part->nr++];
	*entry = (struct weir_entry) {
		.key = *key,
		.next = *chain,
	};
	*chain = part->nr;
	keys->nr++;
	return entry;
}

/* Make who points to a place (+ 1) in the chain of @hash point to another one. */
static void redirect(struct weir_keys_part *part, u32 hash, u32 from, u32 to)
{
	u16 *chain = &part->chains[chain_of(hash)];
	u32 n;

	if (*chain == from) {
		*chain = to;
		return;
	}
	for (n = *chain; part->entries[n - 1].next != from; n = part->entries[n - 1].next)
		;
	part->entries[n - 1].next = to;
}

int weir_keys_del(struct weir_keys *keys, const struct weir_key *key)
{
	u32 hash = hash_of(keys, key);
	struct weir_keys_part *part;
	struct weir_entry *entry, *last;

	if (!find_in(keys->parts[hash & keys->mask], hash, key))
		return 0;
	part = own_part(keys, hash, 0);
	if (!part)
		return -ENOMEM;
	entry = find_in(part, hash, key);
	redirect(part, hash, entry - part->entries + 1, entry->next);
	last = &part->entries[--part->nr];
	keys->nr--;
	if (entry == last)
		return 0;
	/* No holes: the last one comes here. */
	redirect(part, hash_of(keys, &last->key), part->nr + 1, entry - part->entries + 1);
	*entry = *last;
	return 0;
}
