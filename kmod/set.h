/* SPDX-License-Identifier: GPL-2.0 */
/*
 * set - who of a service may be chosen, by whom, with the tables
 */
#ifndef WEIR_SET_H
#define WEIR_SET_H

#include <linux/siphash.h>
#include <linux/types.h>

struct weir_addr;
struct weir_config;
struct weir_service;
struct weir_set;
struct weir_zonal;

/**
 * weir_sets_build() - the eligible set, that of each zone, and the tables
 * @svc: private service; health, roles and what it inherits are derived
 * @was: a version whose tables may be shared, else NULL
 * @size: slots of a table
 * @key: hash key
 *
 * May sleep. Return: 0 or -ENOMEM; weir_sets_free() frees in either case.
 */
int weir_sets_build(struct weir_service *svc, const struct weir_service *was,
		    u32 size, const siphash_key_t *key);

/**
 * weir_sets_free() - free what weir_sets_build() made, if it did
 */
void weir_sets_free(struct weir_service *svc);

/**
 * weir_set_of() - the set that clients with this address choose from
 * @zonal: written; NULL where no zone decides
 *
 * RCU read lock. Return: never NULL, but it may have no table.
 */
const struct weir_set *weir_set_of(const struct weir_config *cfg,
				   const struct weir_service *svc, u8 family,
				   const struct weir_addr *client,
				   const struct weir_zonal **zonal);

/**
 * weir_set_has() - is a backend in the set that a client chooses from?
 * @at: index into the backends of @svc
 *
 * RCU read lock.
 */
bool weir_set_has(const struct weir_config *cfg, const struct weir_service *svc,
		  u8 family, const struct weir_addr *client, u32 at);

#endif /* WEIR_SET_H */
