// SPDX-License-Identifier: GPL-2.0
/* What a commit of the fake kernel changes, and events; see fake_kernel.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "fake.h"
#include "file.h"

#define CHANGES_ROOM	16000	/* as many as fit */

static unsigned int n_changes;	/* of this commit */

static struct nlattr *begin_change(struct nlmsghdr *nlh, uint8_t kind,
				   const char *service)
{
	struct nlattr *nest;

	n_changes++;
	if (nlh->nlmsg_len > CHANGES_ROOM)
		return NULL;
	nest = mnl_attr_nest_start(nlh, WEIR_A_CHANGE);
	mnl_attr_put_u8(nlh, WEIR_CHANGE_A_KIND, kind);
	if (service)
		mnl_attr_put_strz(nlh, WEIR_CHANGE_A_SERVICE_NAME, service);
	return nest;
}

static void put_backend(struct nlmsghdr *nlh, uint8_t kind, const char *service,
			const struct weir_backend *backend, uint8_t state)
{
	struct nlattr *nest = begin_change(nlh, kind, service), *inner;

	if (!nest)
		return;
	inner = mnl_attr_nest_start(nlh, WEIR_CHANGE_A_BACKEND);
	weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &backend->addr);
	if (backend->opts.str)
		mnl_attr_put_strz(nlh, WEIR_BACKEND_A_GROUP, backend->opts.str);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_STATE, state);
	mnl_attr_nest_end(nlh, inner);
	mnl_attr_nest_end(nlh, nest);
}

static void put_service(struct nlmsghdr *nlh, uint8_t kind,
			const struct weir_service *service)
{
	struct nlattr *nest = begin_change(nlh, kind, service->name);
	unsigned int i;

	if (nest)
		mnl_attr_nest_end(nlh, nest);
	for (i = 0; i < service->n_backends; i++)
		put_backend(nlh, kind, service->name, &service->backends[i],
			    WEIR_STATE_ACTIVE);
}

static void put_zone(struct nlmsghdr *nlh, uint8_t kind, const char *name)
{
	struct nlattr *nest = begin_change(nlh, kind, NULL), *inner;

	if (!nest)
		return;
	inner = mnl_attr_nest_start(nlh, WEIR_CHANGE_A_ZONE);
	mnl_attr_put_strz(nlh, WEIR_ZONE_A_NAME, name);
	mnl_attr_nest_end(nlh, inner);
	mnl_attr_nest_end(nlh, nest);
}

/* One object as text, to see whether it changed. */
static char *text_of(const struct weir_service *service,
		     const struct weir_zone *zone)
{
	struct weir_config one = { .services = (struct weir_service *)service,
				   .n_services = service ? 1 : 0,
				   .zones = (struct weir_zone *)zone,
				   .n_zones = zone ? 1 : 0 };
	struct weir_err err;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (weir_file_print(f, &one, &err) || fclose(f))
		fake_die(err.text);
	return text;
}

static bool same(char *a, char *b)
{
	bool equal = !strcmp(a, b);

	free(a);
	free(b);
	return equal;
}

static void compare_zones(struct nlmsghdr *nlh, const struct weir_config *old,
			  const struct weir_config *new)
{
	unsigned int i;

	for (i = 0; i < new->n_zones; i++) {
		const struct weir_zone *zone = &new->zones[i];
		const struct weir_zone *was = weir_config_find_zone(old,
								    zone->name);

		if (!was)
			put_zone(nlh, WEIR_CHANGE_ADDED, zone->name);
		else if (!same(text_of(NULL, was), text_of(NULL, zone)))
			put_zone(nlh, WEIR_CHANGE_CHANGED, zone->name);
	}
	for (i = 0; i < old->n_zones; i++)
		if (!weir_config_find_zone(new, old->zones[i].name))
			put_zone(nlh, WEIR_CHANGE_REMOVED, old->zones[i].name);
}

static void compare_services(struct nlmsghdr *nlh,
			     const struct weir_config *old,
			     const struct weir_config *new)
{
	uint32_t added = 0, changed = 0, removed = 0;
	unsigned int i;

	for (i = 0; i < new->n_services; i++) {
		const struct weir_service *service = &new->services[i];
		const struct weir_service *was =
			weir_config_find(old, service->name);

		if (!was) {
			added++;
			put_service(nlh, WEIR_CHANGE_ADDED, service);
		} else if (!same(text_of(was, NULL), text_of(service, NULL))) {
			changed++;
			put_service(nlh, WEIR_CHANGE_CHANGED, service);
		}
	}
	for (i = 0; i < old->n_services; i++) {
		if (weir_config_find(new, old->services[i].name))
			continue;
		removed++;
		put_service(nlh, WEIR_CHANGE_REMOVED, &old->services[i]);
	}
	mnl_attr_put_u32(nlh, WEIR_A_N_ADDED, added);
	mnl_attr_put_u32(nlh, WEIR_A_N_CHANGED, changed);
	mnl_attr_put_u32(nlh, WEIR_A_N_REMOVED, removed);
}

static void store(const struct weir_config *config)
{
	FILE *f = fopen(getenv("FAKE_STATE"), "w");
	struct weir_err err;

	if (!f || weir_file_print(f, config, &err) || fclose(f))
		fake_die("cannot write FAKE_STATE");
}

void fake_commit(const struct nlmsghdr *to, struct weir_config *staged)
{
	struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_TXN_COMMIT);
	struct weir_config old;

	fake_load(&old);
	weir_config_sort(staged);
	compare_zones(nlh, &old, staged);
	compare_services(nlh, &old, staged);
	mnl_attr_put_u32(nlh, WEIR_A_N_CHANGES, n_changes);
	fake_send(nlh);
	if (!fake_has(to, WEIR_A_DRY_RUN))
		store(staged);
	weir_config_free(&old);
	weir_config_free(staged);
}

static struct nlmsghdr *event(void)
{
	struct nlmsghdr none = { .nlmsg_seq = 0 };

	return fake_answer(&none, WEIR_CMD_EVENT);
}

/* One of each kind. */
void fake_events(void)
{
	struct weir_service web = { .name = "web" };
	struct weir_backend backend = { .line = 0 };
	struct nlmsghdr *nlh = event();

	weir_parse_addr("10.2.0.12", &backend.addr);
	put_zone(nlh, WEIR_CHANGE_ADDED, "a");
	put_service(nlh, WEIR_CHANGE_ADDED, &web);
	put_backend(nlh, WEIR_CHANGE_ADDED, "web", &backend, WEIR_STATE_ACTIVE);
	fake_push(nlh, nlh->nlmsg_len);
	nlh = event();
	put_backend(nlh, WEIR_CHANGE_CHANGED, "web", &backend,
		    WEIR_STATE_DRAINING);
	fake_push(nlh, nlh->nlmsg_len);
	nlh = event();
	put_backend(nlh, WEIR_CHANGE_REMOVED, "web", &backend,
		    WEIR_STATE_DRAINING);
	put_service(nlh, WEIR_CHANGE_REMOVED, &web);
	put_zone(nlh, WEIR_CHANGE_REMOVED, "a");
	fake_push(nlh, nlh->nlmsg_len);
}
