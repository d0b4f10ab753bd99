/* SPDX-License-Identifier: GPL-2.0 */
/* A configuration in memory: parsed from a file, or decoded from the kernel's
 * answers (then with state). Pure. */
#ifndef WEIR_MODEL_H
#define WEIR_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/weir.h>

#include "value.h"

#define WEIR_OPTS_MAX	32	/* attributes of one object */
#define WEIR_NAME_SIZE	(WEIR_NAME_MAX + 1)
#define WEIR_PREFIX_RECORD	17	/* bytes on the wire: length, address */

/* Numbers by attribute, and the one string option that an object may have
 * (health-check, zone, group). SET has a bit for each attribute present. */
struct weir_opts {
	uint32_t set;
	uint32_t num[WEIR_OPTS_MAX];
	char *str;
};

struct weir_counters {
	bool present;
	uint64_t value[__WEIR_COUNTER_A_MAX];
};

/* A rule for one address has the address's full length as plen; a rule for all
 * ports has no ports. */
struct weir_rule {
	struct weir_prefix vip;
	uint8_t proto;
	uint16_t *ports;
	unsigned int n_ports;
	unsigned int line;
};

struct weir_group {
	char name[WEIR_NAME_SIZE];
	struct weir_opts opts;
	unsigned int line;
};

struct weir_backend {
	struct weir_addr addr;
	struct weir_opts opts;
	struct weir_counters counters;
	char probe_text[WEIR_PROBE_TEXT_MAX + 1];	/* read only */
	unsigned int line;
};

/* What clients of a zone get from a service; read only. */
struct weir_zonal {
	char zone[WEIR_NAME_SIZE];
	uint8_t reason;
	uint32_t n_configured, n_healthy, n_eligible;
	uint64_t digest;
};

struct weir_service {
	char name[WEIR_NAME_SIZE];
	struct weir_opts opts;
	uint64_t digest;
	struct weir_counters counters;
	struct weir_rule *rules;
	unsigned int n_rules;
	struct weir_group *groups;
	unsigned int n_groups;
	struct weir_backend *backends;	/* draining ones too */
	unsigned int n_backends;
	struct weir_zonal *zonal;
	unsigned int n_zonal;
	unsigned int line;
};

struct weir_zone_prefix {
	struct weir_prefix prefix;
	unsigned int line;
};

/* Several of one name become one when the config is sorted. */
struct weir_zone {
	char name[WEIR_NAME_SIZE];
	struct weir_zone_prefix *prefixes;
	unsigned int n_prefixes;
	unsigned int line;
};

struct weir_config {
	struct weir_service *services;
	unsigned int n_services;
	struct weir_zone *zones;
	unsigned int n_zones;
	bool has_key;
	uint8_t key[WEIR_HASH_KEY_LEN];
	unsigned int key_line;
	bool has_generation;
	uint32_t generation;
};

static inline bool weir_opts_has(const struct weir_opts *opts, uint16_t attr)
{
	return attr < WEIR_OPTS_MAX && opts->set & 1u << attr;
}

static inline void weir_opts_num(struct weir_opts *opts, uint16_t attr,
				 uint32_t value)
{
	opts->set |= 1u << attr;
	opts->num[attr] = value;
}

void weir_opts_str(struct weir_opts *opts, uint16_t attr, const char *str);

/* One that drains was removed: it is state, and no part of the config. */
static inline bool weir_backend_drains(const struct weir_backend *backend)
{
	return backend->opts.num[WEIR_BACKEND_A_STATE] == WEIR_STATE_DRAINING;
}

struct weir_service *weir_config_add_service(struct weir_config *config,
					     const char *name);
struct weir_zone *weir_config_add_zone(struct weir_config *config,
				       const char *name);
struct weir_service *weir_config_find(const struct weir_config *config,
				      const char *name);
/* After sorting. */
struct weir_zone *weir_config_find_zone(const struct weir_config *config,
					const char *name);
struct weir_rule *weir_service_add_rule(struct weir_service *service,
					const struct weir_rule *rule);
struct weir_group *weir_service_add_group(struct weir_service *service,
					  const struct weir_group *group);
struct weir_backend *weir_service_add_backend(struct weir_service *service,
					      const struct weir_backend *backend);
void weir_service_add_zonal(struct weir_service *service,
			    const struct weir_zonal *zonal);
void weir_zone_add_prefix(struct weir_zone *zone,
			  const struct weir_prefix *prefix);
void weir_rule_add_port(struct weir_rule *rule, uint16_t port);

/* The order in which everything is sent and printed; a zone is then one. */
void weir_config_sort(struct weir_config *config);
/* After sorting: names two objects that are the same and returns -1. */
int weir_config_unique(const struct weir_config *config, unsigned int *line,
		       struct weir_err *err);

/* Free what an object points to, not the object. */
void weir_rule_free(struct weir_rule *rule);
void weir_opts_free(struct weir_opts *opts);
void weir_zone_free(struct weir_zone *zone);
void weir_config_free(struct weir_config *config);

#endif
