/* SPDX-License-Identifier: GPL-2.0 */
/*
 * zones - the clients' zones of a configuration
 *
 * A published one is immutable and shared by configurations; a draft holds a private
 * copy that it may write to.
 */
#ifndef WEIR_ZONES_H
#define WEIR_ZONES_H

#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/weir.h>

#include "service.h"
#include "zone.h"

struct netlink_ext_ack;

/* Prefixes in all zones of a namespace. */
#define WEIR_ZONE_PREFIXES_MAX	(1 << 18)

/* A prefix in a message. */
struct weir_zone_record {
	u8 plen;
	u8 addr[16];
};

struct weir_zone {
	char name[WEIR_NAME_MAX + 1];
	struct weir_zone_prefix *prefixes;	/* ascending once finished */
	u32 nr;
};

struct weir_zones {
	refcount_t ref;
	bool published;			/* never written again */
	struct weir_zone *zones;	/* by name */
	u32 nr, max;
	struct weir_zone_range *ranges;	/* their zone is an index into @zones + 1 */
	u32 nr_ranges;
};

/**
 * weir_zone_read() - a prefix from a message; its zone is 0, and it may be invalid
 */
void weir_zone_read(struct weir_zone_prefix *prefix,
		    const struct weir_zone_record *record);

/**
 * weir_zone_write() - a prefix for a message
 */
void weir_zone_write(struct weir_zone_record *record,
		     const struct weir_zone_prefix *prefix);

/**
 * weir_zone_text() - a prefix in canonical form, for messages
 * @buf: where to write
 * Return: @buf.
 */
#define WEIR_PREFIX_TEXT	(WEIR_ADDR_TEXT + 4)
const char *weir_zone_text(char buf[WEIR_PREFIX_TEXT],
			   const struct weir_zone_prefix *prefix);

/**
 * weir_zones_new() - no zones
 * May sleep. Return: with one reference, or NULL.
 */
struct weir_zones *weir_zones_new(void);

/**
 * weir_zones_clone() - a private copy to change
 * @old: may be NULL: no zones
 *
 * May sleep. Return: with one reference and no ranges, or NULL.
 */
struct weir_zones *weir_zones_clone(const struct weir_zones *old);

/**
 * weir_zones_put() - drop a reference
 * @zones: may be NULL
 *
 * The last one frees: a published one must have been unreachable for a grace period.
 */
void weir_zones_put(struct weir_zones *zones);

/**
 * weir_zones_add() - add prefixes to a zone, which is made if there is none
 * @zones: private
 * @prefixes: valid ones; copied
 *
 * May sleep. Return: 0, -ENOSPC or -ENOMEM, with a message; the zones are as they
 * were then. What is there twice is refused when they are finished.
 */
int weir_zones_add(struct weir_zones *zones, const char *name,
		   const struct weir_zone_prefix *prefixes, u32 n,
		   struct netlink_ext_ack *extack);

/**
 * weir_zones_del() - remove prefixes from a zone, or the zone
 * @zones: private
 * @n: 0 for all of the zone, which goes with its last prefix
 *
 * May sleep. Return: 0 or -ENOENT, with a message and the zones as they were.
 */
int weir_zones_del(struct weir_zones *zones, const char *name,
		   const struct weir_zone_prefix *prefixes, u32 n,
		   struct netlink_ext_ack *extack);

/**
 * weir_zones_finish() - check the whole, and make it ready for lookups
 * @zones: private
 *
 * May sleep. Return: 0, -EEXIST (a prefix is there twice; with a message) or -ENOMEM.
 */
int weir_zones_finish(struct weir_zones *zones, struct netlink_ext_ack *extack);

/**
 * weir_zones_find() - a zone by name
 * @zones: may be NULL
 * Return: the zone inside @zones, or NULL.
 */
struct weir_zone *weir_zones_find(const struct weir_zones *zones,
				  const char *name);

/**
 * weir_zone_equal() - the same prefixes? Both are finished.
 */
bool weir_zone_equal(const struct weir_zone *a, const struct weir_zone *b);

/**
 * weir_zones_of() - the zone that an address is in
 * @zones: finished; may be NULL
 *
 * Any context. Return: its name, which lives as long as @zones, or NULL.
 */
const char *weir_zones_of(const struct weir_zones *zones, u8 family,
			  const struct weir_addr *addr);

#endif /* WEIR_ZONES_H */
