// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

void weir_opts_str(struct weir_opts *opts, uint16_t attr, const char *str)
{
	opts->set |= 1u << attr;
	free(opts->str);
	opts->str = weir_strdup(str);
}

static void set_name(char name[WEIR_NAME_SIZE], const char *from)
{
	snprintf(name, WEIR_NAME_SIZE, "%s", from);
}

struct weir_service *weir_config_add_service(struct weir_config *config,
					     const char *name)
{
	struct weir_service *service;

	config->services = weir_grow(config->services, config->n_services,
				     sizeof(*service));
	service = &config->services[config->n_services++];
	memset(service, 0, sizeof(*service));
	set_name(service->name, name);
	return service;
}

struct weir_zone *weir_config_add_zone(struct weir_config *config,
				       const char *name)
{
	struct weir_zone *zone;

	config->zones = weir_grow(config->zones, config->n_zones, sizeof(*zone));
	zone = &config->zones[config->n_zones++];
	memset(zone, 0, sizeof(*zone));
	set_name(zone->name, name);
	return zone;
}

/* From the end: the kernel sends the objects of a service right behind it. */
struct weir_service *weir_config_find(const struct weir_config *config,
				      const char *name)
{
	unsigned int i;

	for (i = config->n_services; i > 0; i--)
		if (!strcmp(config->services[i - 1].name, name))
			return &config->services[i - 1];
	return NULL;
}

struct weir_rule *weir_service_add_rule(struct weir_service *service,
					const struct weir_rule *rule)
{
	service->rules = weir_grow(service->rules, service->n_rules,
				   sizeof(*rule));
	service->rules[service->n_rules] = *rule;
	return &service->rules[service->n_rules++];
}

struct weir_group *weir_service_add_group(struct weir_service *service,
					  const struct weir_group *group)
{
	service->groups = weir_grow(service->groups, service->n_groups,
				    sizeof(*group));
	service->groups[service->n_groups] = *group;
	return &service->groups[service->n_groups++];
}

struct weir_backend *weir_service_add_backend(struct weir_service *service,
					      const struct weir_backend *backend)
{
	service->backends = weir_grow(service->backends, service->n_backends,
				      sizeof(*backend));
	service->backends[service->n_backends] = *backend;
	return &service->backends[service->n_backends++];
}

void weir_zone_add_prefix(struct weir_zone *zone,
			  const struct weir_prefix *prefix)
{
	zone->prefixes = weir_grow(zone->prefixes, zone->n_prefixes,
				   sizeof(*zone->prefixes));
	zone->prefixes[zone->n_prefixes++] = (struct weir_zone_prefix){
		*prefix, zone->line
	};
}

void weir_service_add_zonal(struct weir_service *service,
			    const struct weir_zonal *zonal)
{
	service->zonal = weir_grow(service->zonal, service->n_zonal,
				   sizeof(*zonal));
	service->zonal[service->n_zonal++] = *zonal;
}

void weir_rule_add_port(struct weir_rule *rule, uint16_t port)
{
	rule->ports = weir_grow(rule->ports, rule->n_ports, sizeof(port));
	rule->ports[rule->n_ports++] = port;
}

static int prefix_cmp(const void *pa, const void *pb)
{
	const struct weir_prefix *a = pa, *b = pb;
	int diff = weir_addr_cmp(&a->addr, &b->addr);

	return diff ? diff : (int)a->plen - (int)b->plen;
}

static int rule_cmp(const void *pa, const void *pb)
{
	const struct weir_rule *a = pa, *b = pb;
	int diff = prefix_cmp(&a->vip, &b->vip);
	unsigned int i;

	if (diff)
		return diff;
	if (a->proto != b->proto)
		return (int)a->proto - (int)b->proto;
	for (i = 0; i < a->n_ports && i < b->n_ports; i++)
		if (a->ports[i] != b->ports[i])
			return (int)a->ports[i] - (int)b->ports[i];
	return (int)a->n_ports - (int)b->n_ports;
}

static int group_cmp(const void *pa, const void *pb)
{
	const struct weir_group *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

static int backend_cmp(const void *pa, const void *pb)
{
	const struct weir_backend *a = pa, *b = pb;

	return weir_addr_cmp(&a->addr, &b->addr);
}

static int service_cmp(const void *pa, const void *pb)
{
	const struct weir_service *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

static int zone_cmp(const void *pa, const void *pb)
{
	const struct weir_zone *a = pa, *b = pb;

	return strcmp(a->name, b->name);
}

static int zone_prefix_cmp(const void *pa, const void *pb)
{
	const struct weir_zone_prefix *a = pa, *b = pb;

	return prefix_cmp(&a->prefix, &b->prefix);
}

static int zonal_cmp(const void *pa, const void *pb)
{
	const struct weir_zonal *a = pa, *b = pb;

	return strcmp(a->zone, b->zone);
}

static void sort(void *base, unsigned int n, size_t size,
		 int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(base, n, size, cmp);
}

static void append_zone(struct weir_zone *to, const struct weir_zone *from)
{
	unsigned int i;

	for (i = 0; i < from->n_prefixes; i++) {
		weir_zone_add_prefix(to, &from->prefixes[i].prefix);
		to->prefixes[to->n_prefixes - 1].line = from->prefixes[i].line;
	}
}

/* A zone may be told in several statements or messages. */
static void sort_zones(struct weir_config *config)
{
	struct weir_zone *zones = config->zones;
	unsigned int i, n = 0;

	sort(zones, config->n_zones, sizeof(*zones), zone_cmp);
	for (i = 0; i < config->n_zones; i++) {
		if (!n || zone_cmp(&zones[n - 1], &zones[i])) {
			zones[n++] = zones[i];
			continue;
		}
		append_zone(&zones[n - 1], &zones[i]);
		weir_zone_free(&zones[i]);
	}
	config->n_zones = n;
	for (i = 0; i < n; i++)
		sort(zones[i].prefixes, zones[i].n_prefixes,
		     sizeof(*zones[i].prefixes), zone_prefix_cmp);
}

void weir_config_sort(struct weir_config *config)
{
	unsigned int i;

	sort_zones(config);
	for (i = 0; i < config->n_services; i++) {
		struct weir_service *service = &config->services[i];

		sort(service->rules, service->n_rules, sizeof(*service->rules),
		     rule_cmp);
		sort(service->groups, service->n_groups,
		     sizeof(*service->groups), group_cmp);
		sort(service->backends, service->n_backends,
		     sizeof(*service->backends), backend_cmp);
		sort(service->zonal, service->n_zonal, sizeof(*service->zonal),
		     zonal_cmp);
	}
	sort(config->services, config->n_services, sizeof(*config->services),
	     service_cmp);
}

struct weir_zone *weir_config_find_zone(const struct weir_config *config,
					const char *name)
{
	struct weir_zone key = { .line = 0 };

	set_name(key.name, name);
	return config->n_zones ? bsearch(&key, config->zones, config->n_zones,
					 sizeof(key), zone_cmp) : NULL;
}

static int twice(struct weir_err *err, unsigned int *line, unsigned int a,
		 unsigned int b, const char *object, const char *name)
{
	*line = a > b ? a : b;
	return weir_err_set(err, WEIR_ERR_VALUE,
			    "%s %s is given twice: it already stands in line %u",
			    object, name, a > b ? b : a);
}

static int service_unique(const struct weir_service *service,
			  unsigned int *line, struct weir_err *err)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	for (i = 1; i < service->n_rules; i++) {
		const struct weir_rule *a = &service->rules[i - 1], *b = a + 1;

		if (!rule_cmp(a, b))
			return twice(err, line, a->line, b->line, "this rule of",
				     weir_prefix_text(&a->vip, text));
	}
	for (i = 1; i < service->n_groups; i++) {
		const struct weir_group *a = &service->groups[i - 1], *b = a + 1;

		if (!group_cmp(a, b))
			return twice(err, line, a->line, b->line, "group",
				     a->name);
	}
	for (i = 1; i < service->n_backends; i++) {
		const struct weir_backend *a = &service->backends[i - 1];
		const struct weir_backend *b = a + 1;

		if (!backend_cmp(a, b))
			return twice(err, line, a->line, b->line, "backend",
				     weir_addr_text(&a->addr, text));
	}
	return 0;
}

/* A prefix and its zone, to compare those of all zones. */
struct member {
	const struct weir_zone_prefix *prefix;
	const struct weir_zone *zone;
};

static int member_cmp(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;

	return zone_prefix_cmp(a->prefix, b->prefix);
}

static int both_have(const struct member *a, const struct member *b,
		     unsigned int *line, struct weir_err *err)
{
	unsigned int first = a->prefix->line, last = b->prefix->line;
	char text[WEIR_ADDR_TEXT], object[WEIR_NAME_SIZE + 16];

	if (last < first)
		return both_have(b, a, line, err);
	weir_prefix_text(&a->prefix->prefix, text);
	snprintf(object, sizeof(object), "zone %s: prefix", b->zone->name);
	if (a->zone == b->zone)
		return twice(err, line, first, last, object, text);
	*line = last;
	return weir_err_set(err, WEIR_ERR_VALUE,
			    "%s %s is in zone %s already, by line %u",
			    object, text, a->zone->name, first);
}

static int zones_unique(const struct weir_config *config, unsigned int *line,
			struct weir_err *err)
{
	struct member *members;
	unsigned int i, j, n = 0;
	int ret = 0;

	for (i = 0; i < config->n_zones; i++)
		n += config->zones[i].n_prefixes;
	members = weir_alloc(n * sizeof(*members));
	n = 0;
	for (i = 0; i < config->n_zones; i++)
		for (j = 0; j < config->zones[i].n_prefixes; j++)
			members[n++] = (struct member){
				&config->zones[i].prefixes[j],
				&config->zones[i]
			};
	sort(members, n, sizeof(*members), member_cmp);
	for (i = 1; i < n && !ret; i++)
		if (!member_cmp(&members[i - 1], &members[i]))
			ret = both_have(&members[i - 1], &members[i], line,
					err);
	free(members);
	return ret;
}

int weir_config_unique(const struct weir_config *config, unsigned int *line,
		       struct weir_err *err)
{
	unsigned int i;

	if (zones_unique(config, line, err))
		return -1;
	for (i = 0; i < config->n_services; i++) {
		const struct weir_service *service = &config->services[i];

		if (i && !service_cmp(service - 1, service))
			return twice(err, line, service[-1].line, service->line,
				     "service", service->name);
		if (service_unique(service, line, err))
			return -1;
	}
	return 0;
}

void weir_rule_free(struct weir_rule *rule)
{
	free(rule->ports);
	rule->ports = NULL;
}

void weir_opts_free(struct weir_opts *opts)
{
	free(opts->str);
	opts->str = NULL;
}

void weir_zone_free(struct weir_zone *zone)
{
	free(zone->prefixes);
	zone->prefixes = NULL;
}

static void service_free(struct weir_service *service)
{
	unsigned int i;

	weir_opts_free(&service->opts);
	for (i = 0; i < service->n_rules; i++)
		weir_rule_free(&service->rules[i]);
	for (i = 0; i < service->n_groups; i++)
		weir_opts_free(&service->groups[i].opts);
	for (i = 0; i < service->n_backends; i++)
		weir_opts_free(&service->backends[i].opts);
	free(service->rules);
	free(service->groups);
	free(service->backends);
	free(service->zonal);
}

void weir_config_free(struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < config->n_services; i++)
		service_free(&config->services[i]);
	for (i = 0; i < config->n_zones; i++)
		weir_zone_free(&config->zones[i]);
	free(config->services);
	free(config->zones);
	memset(config, 0, sizeof(*config));
}
