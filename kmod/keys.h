/* SPDX-License-Identifier: GPL-2.0 */
/*
 * keys - a hash table, whose versions share what did not change
 *
 * The keys are spread over parts of some dozens each. A version is a list of parts: the
 * next one begins with the same list, and copies a part when it first writes to it. So a
 * change costs what it changes, and not what there is.
 *
 * A version is written by one, in process context, and only read once it is published:
 * under RCU, in any context. It is freed when nobody can read it any more; parts go with the
 * last version that has them.
 */
#ifndef WEIR_KEYS_H
#define WEIR_KEYS_H

#include <linux/types.h>

#include "tuple.h"

struct weir_keys_part;
struct weir_rule;
struct weir_service;

struct weir_key {
	struct weir_addr addr;
	u16 port;
	u8 proto;
	u8 family:6, kind:2;
};

struct weir_match {
	struct weir_service *service;
	const struct weir_rule *rule;
};

struct weir_entry {
	struct weir_key key;
	u32 next;			/* in its part: place + 1, 0 ends a chain */
	union {
		struct weir_match match;
		struct {
			u32 uses[2];	/* by enum weir_forward */
			u8 forwards;	/* bits of those that are not 0 */
		};
	};
};

struct weir_keys {
	struct weir_keys_part **parts;	/* NULL: nothing is in it */
	u32 mask;			/* a power of two of them, less one */
	u32 seed;
	u32 nr;				/* keys */
	u32 start;			/* a part begins with room for so many */
};

/**
 * weir_keys_init() - an empty one, with room for about @nr keys
 *
 * May sleep. Return: 0 or -ENOMEM; weir_keys_free() in any case.
 */
int weir_keys_init(struct weir_keys *keys, u32 nr);

/**
 * weir_keys_share() - one with all that @from has
 *
 * May sleep. Return: 0 or -ENOMEM; weir_keys_free() in any case.
 */
int weir_keys_share(struct weir_keys *keys, const struct weir_keys *from);

/**
 * weir_keys_suits() - would @nr keys find themselves quickly in it?
 */
bool weir_keys_suits(const struct weir_keys *keys, u32 nr);

/**
 * weir_keys_free() - drop this version
 *
 * May sleep.
 */
void weir_keys_free(struct weir_keys *keys);

/**
 * weir_keys_find() - the entry of a key
 * Any context. Return: NULL if there is none.
 */
const struct weir_entry *weir_keys_find(const struct weir_keys *keys,
					const struct weir_key *key);

/**
 * weir_keys_get() - the entry of a key, to be written
 *
 * One that was not there is made, with zeroes behind its key. Valid until the next call of
 * it or of weir_keys_del(). May sleep. Return: NULL without memory.
 */
struct weir_entry *weir_keys_get(struct weir_keys *keys, const struct weir_key *key);

/**
 * weir_keys_del() - take a key out, if it is there
 *
 * May sleep. Return: 0 or -ENOMEM.
 */
int weir_keys_del(struct weir_keys *keys, const struct weir_key *key);

#endif /* WEIR_KEYS_H */
