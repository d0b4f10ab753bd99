/* SPDX-License-Identifier: GPL-2.0 */
/*
 * config - one immutable snapshot per network namespace, published by RCU
 *
 * Readers hold rcu_read_lock() and see the old snapshot or the new one, never
 * a mix. Writers hold weir_net.lock, build aside and swap one pointer.
 */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include <linux/rcupdate.h>
#include <linux/siphash.h>
#include <linux/types.h>
#include <linux/weir.h>

#include "index.h"
#include "service.h"
#include "zones.h"

struct netlink_ext_ack;
struct weir_net;

struct weir_config {
	u64 serial;			/* as the generation, but never comes again */
	u32 generation;
	u32 edition;			/* as the generation, without what drained and
					 * what a checker found
					 */
	u32 edited;			/* generation that began the edition */
	u32 layout;			/* as the generation, without what moves no
					 * object
					 */
	bool same_layout;		/* as that of its predecessor */
	siphash_key_t key;
	u32 nr_services;
	struct weir_service **services;	/* ascending by name */
	struct weir_zones *zones;	/* NULL: none; a reference is held */
	struct weir_index index;	/* VIPs, rules and backends by address */
};

/* One difference between two configurations; pointers live as long as the two
 * that were compared. At most one of rule, group, backend is set; none: the
 * service itself. A zone stands alone.
 */
struct weir_change_item {
	u8 kind;			/* enum weir_change */
	const struct weir_zone *zone;
	const char *service;
	const struct weir_rule *rule;
	const struct weir_group *group;
	const struct weir_backend *backend;
};

/* Called under weir_net.lock, may sleep. */
typedef void (*weir_change_fn)(const struct weir_change_item *item, void *arg);

struct weir_summary {
	u32 generation;			/* after the commit */
	u32 added, changed, removed;	/* services */
	u32 zones;			/* that differ */
};

/**
 * weir_config_init() - publish the empty configuration of a new namespace
 * Return: 0 or -ENOMEM.
 */
int weir_config_init(struct weir_net *wn);

/**
 * weir_config_exit() - free the last configuration
 *
 * The caller has made sure that no reader is left.
 */
void weir_config_exit(struct weir_net *wn);

/**
 * weir_config_find() - a service by name
 * RCU read lock or weir_net.lock. Return: the service, or NULL.
 */
struct weir_service *weir_config_find(const struct weir_config *cfg,
				      const char *name);

/**
 * weir_config_counterpart() - the service of the same name in another configuration
 * @svc: of a configuration or draft that has it at place @at
 *
 * Nearly all are the same object at the same place, or beside it: no comparison of names.
 * weir_net.lock. Return: the service, or NULL.
 */
struct weir_service *weir_config_counterpart(const struct weir_config *cfg,
					     const struct weir_service *svc,
					     u32 at);

/**
 * weir_config_free() - free a configuration that no reader can reach
 * @cfg: may be NULL
 *
 * Drops its references on services. May sleep.
 */
void weir_config_free(struct weir_config *cfg);

/**
 * weir_config_publish() - make a finished configuration the live one
 * @wn: weir_net.lock held
 * @next: ownership passes
 *
 * In force with the swap of the pointer; bindings of what is gone are ended right
 * after it. Waits for a grace period. Return: the old one, which no reader can
 * reach any more, for the caller to free.
 */
struct weir_config *weir_config_publish(struct weir_net *wn, struct weir_config *next);

/**
 * weir_config_compare() - call @fn for each difference
 * @old: live configuration
 * @next: the one to come
 * @fn: may be NULL: just count
 * @arg: for @fn
 * @sum: counters are written
 */
void weir_config_compare(const struct weir_config *old,
			 const struct weir_config *next,
			 weir_change_fn fn, void *arg,
			 struct weir_summary *sum);

#endif /* WEIR_CONFIG_H */
