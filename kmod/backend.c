// SPDX-License-Identifier: GPL-2.0
/*
 * backend - addresses that a service sends to, and the groups that they are in
 */
#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/socket.h>
#include <linux/string.h>

#include "dest.h"
#include "refuse.h"
#include "service.h"

/* Every service has this group without declaring it. */
static const char default_group[] = "default";

struct weir_group *weir_group_find(const struct weir_service *svc,
				   const char *name)
{
	u32 i;

	for (i = 0; i < svc->nr_groups; i++)
		if (!strcmp(svc->groups[i].name, name))
			return &svc->groups[i];
	return NULL;
}

int weir_group_add(struct weir_service *svc, const struct weir_group *group,
		   struct netlink_ext_ack *extack)
{
	struct weir_group *groups;
	u32 at;

	if (!weir_name_ok(group->name))
		return weir_refuse(extack, -EINVAL,
				   "service %s: group name: 1 to 31 of letters, digits, '.', '_', '-'",
				   svc->name);
	if (weir_group_find(svc, group->name))
		return weir_refuse(extack, -EEXIST,
				   "service %s: group %s: it is there already; weir group set changes it",
				   svc->name, group->name);
	if (svc->nr_groups >= WEIR_GROUPS_MAX)
		return weir_refuse(extack, -ENOSPC,
				   "service %s: group %s: a service has at most %u groups",
				   svc->name, group->name, WEIR_GROUPS_MAX);
	groups = weir_grow(svc->groups, svc->nr_groups, &svc->max_groups,
			   sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	svc->groups = groups;
	for (at = svc->nr_groups; at > 0; at--)
		if (strcmp(groups[at - 1].name, group->name) < 0)
			break;
	memmove(&groups[at + 1], &groups[at],
		(svc->nr_groups - at) * sizeof(*groups));
	groups[at] = *group;
	svc->nr_groups++;
	return 0;
}

static int no_group(const struct weir_service *svc, const char *name,
		    struct netlink_ext_ack *extack)
{
	return weir_refuse(extack, -ENOENT,
			   "service %s: group %s: there is none; weir group add %s %s makes it",
			   svc->name, name, svc->name, name);
}

int weir_group_set(struct weir_service *svc, const struct weir_group *group,
		   struct netlink_ext_ack *extack)
{
	struct weir_group *found = weir_group_find(svc, group->name);

	if (!found)
		return no_group(svc, group->name, extack);
	*found = *group;
	return 0;
}

static void drop_group_members(struct weir_service *svc, const char *group)
{
	u32 i, kept = 0;

	for (i = 0; i < svc->nr_backends; i++) {
		struct weir_backend *be = &svc->backends[i];

		if (!strcmp(be->group, group))
			weir_dest_put(be->dest);
		else
			svc->backends[kept++] = *be;
	}
	svc->nr_backends = kept;
	weir_service_set_family(svc);
}

int weir_group_del(struct weir_service *svc, const char *name,
		   struct netlink_ext_ack *extack)
{
	struct weir_group *found = weir_group_find(svc, name);
	u32 left;

	if (!found)
		return no_group(svc, name, extack);
	left = svc->groups + svc->nr_groups - (found + 1);
	/* @name may be inside what is moved over. */
	drop_group_members(svc, name);
	memmove(found, found + 1, left * sizeof(*found));
	svc->nr_groups--;
	return 0;
}

static int cmp_backend(const void *key, const void *element)
{
	const struct weir_backend *be = element;

	return weir_addr_cmp(key, &be->addr);
}

struct weir_backend *weir_backend_find(const struct weir_service *svc,
				       const struct weir_addr *addr, u8 family)
{
	if (family != svc->family || !svc->nr_backends)
		return NULL;
	return bsearch(addr, svc->backends, svc->nr_backends,
		       sizeof(*svc->backends), cmp_backend);
}

bool weir_backend_equal(const struct weir_backend *a,
			const struct weir_backend *b)
{
	return a->family == b->family && !weir_addr_cmp(&a->addr, &b->addr) &&
	       a->health == b->health && a->check == b->check &&
	       a->port == b->port && a->weight == b->weight &&
	       !strcmp(a->group, b->group);
}

static int check_backend(const struct weir_service *svc,
			 const struct weir_backend *be,
			 struct netlink_ext_ack *extack)
{
	char addr[WEIR_ADDR_TEXT];

	weir_addr_text(addr, be->family, &be->addr);
	if (svc->family && svc->family != be->family)
		return weir_refuse(extack, -EINVAL,
				   "service %s: backend %s: rules and backends of a service share one family, this one has %s",
				   svc->name, addr,
				   svc->family == AF_INET ? "IPv4" : "IPv6");
	if (weir_backend_find(svc, &be->addr, be->family))
		return weir_refuse(extack, -EEXIST,
				   "service %s: backend %s: it is there already; weir backend set changes it",
				   svc->name, addr);
	if (strcmp(be->group, default_group) && !weir_group_find(svc, be->group))
		return no_group(svc, be->group, extack);
	if (svc->nr_backends >= WEIR_BACKENDS_MAX)
		return weir_refuse(extack, -ENOSPC,
				   "service %s: backend %s: a service has at most %u backends",
				   svc->name, addr, WEIR_BACKENDS_MAX);
	return 0;
}

int weir_backend_add(struct weir_service *svc, const struct weir_backend *be,
		     struct netlink_ext_ack *extack)
{
	struct weir_backend *backends;
	u32 at;
	int err;

	err = check_backend(svc, be, extack);
	if (err)
		return err;
	backends = weir_grow(svc->backends, svc->nr_backends,
			     &svc->max_backends, sizeof(*backends));
	if (!backends)
		return -ENOMEM;
	svc->backends = backends;

	/* Kept ascending, whatever order they come in; most files are sorted. */
	for (at = svc->nr_backends; at > 0; at--)
		if (weir_addr_cmp(&backends[at - 1].addr, &be->addr) < 0)
			break;
	memmove(&backends[at + 1], &backends[at],
		(svc->nr_backends - at) * sizeof(*backends));
	backends[at] = *be;
	backends[at].dest = NULL;
	svc->nr_backends++;
	weir_service_set_family(svc);
	return 0;
}

int weir_backend_del(struct weir_service *svc, const struct weir_addr *addr,
		     u8 family, struct netlink_ext_ack *extack)
{
	struct weir_backend *found = weir_backend_find(svc, addr, family);
	char text[WEIR_ADDR_TEXT];
	u32 left;

	if (!found)
		return weir_refuse(extack, -ENOENT,
				   "service %s: backend %s: there is none; weir show %s lists them",
				   svc->name,
				   weir_addr_text(text, family, addr), svc->name);
	weir_dest_put(found->dest);
	left = svc->backends + svc->nr_backends - (found + 1);
	memmove(found, found + 1, left * sizeof(*found));
	svc->nr_backends--;
	weir_service_set_family(svc);
	return 0;
}

int weir_backend_del_group(struct weir_service *svc, const char *group,
			   struct netlink_ext_ack *extack)
{
	if (strcmp(group, default_group) && !weir_group_find(svc, group))
		return no_group(svc, group, extack);
	drop_group_members(svc, group);
	return 0;
}
