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
				   sizeof(*prefix));
	zone->prefixes[zone->n_prefixes++] = *prefix;
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

static void sort(void *base, unsigned int n, size_t size,
		 int (*cmp)(const void *, const void *))
{
	if (n > 1)
		qsort(base, n, size, cmp);
}

void weir_config_sort(struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < config->n_zones; i++) {
		struct weir_zone *zone = &config->zones[i];

		sort(zone->prefixes, zone->n_prefixes, sizeof(*zone->prefixes),
		     prefix_cmp);
	}
	sort(config->zones, config->n_zones, sizeof(*config->zones), zone_cmp);
	for (i = 0; i < config->n_services; i++) {
		struct weir_service *service = &config->services[i];

		sort(service->rules, service->n_rules, sizeof(*service->rules),
		     rule_cmp);
		sort(service->groups, service->n_groups,
		     sizeof(*service->groups), group_cmp);
		sort(service->backends, service->n_backends,
		     sizeof(*service->backends), backend_cmp);
	}
	sort(config->services, config->n_services, sizeof(*config->services),
	     service_cmp);
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

int weir_config_unique(const struct weir_config *config, unsigned int *line,
		       struct weir_err *err)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i, j;

	for (i = 0; i < config->n_zones; i++) {
		const struct weir_zone *zone = &config->zones[i];

		if (i && !zone_cmp(zone - 1, zone))
			return twice(err, line, zone[-1].line, zone->line,
				     "zone", zone->name);
		for (j = 1; j < zone->n_prefixes; j++)
			if (!prefix_cmp(&zone->prefixes[j - 1],
					&zone->prefixes[j]))
				return twice(err, line, zone->line, zone->line,
					     "prefix",
					     weir_prefix_text(&zone->prefixes[j],
							      text));
	}
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
