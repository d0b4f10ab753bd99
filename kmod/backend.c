// SPDX-License-Identifier: GPL-2.0
/*
 * backend - addresses that a service sends to, and the groups that they are in
 */
#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/socket.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "dest.h"
#include "refuse.h"
#include "service.h"

/* Every service has this group without declaring it. */
static const char default_group[] = "default";

static int cmp_group(const void *key, const void *element)
{
	const struct weir_group *group = element;

	return strcmp(key, group->name);
}

struct weir_group *weir_group_find(const struct weir_service *svc,
				   const char *name)
{
	if (!svc->nr_groups)
		return NULL;
	return bsearch(name, svc->groups, svc->nr_groups, sizeof(*svc->groups),
		       cmp_group);
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

/* Those that drain have left the group already, and go just with @draining. */
static void drop_group_members(struct weir_service *svc, const char *group,
			       bool draining)
{
	u32 i, kept = 0;

	for (i = 0; i < svc->nr_backends; i++) {
		struct weir_backend *be = &svc->backends[i];

		if ((draining || !be->draining) && !strcmp(be->group, group))
			weir_dest_put(be->dest);
		else
			svc->backends[kept++] = *be;
	}
	svc->nr_backends = kept;
	weir_service_set_family(svc);
}

/* From here on it must not drain, whatever the service says. */
static int end_backend(struct weir_service *svc, const struct weir_addr *addr)
{
	struct weir_addr *ended = weir_grow(svc->ended, svc->nr_ended,
					    &svc->max_ended, sizeof(*ended));

	if (!ended)
		return -ENOMEM;
	svc->ended = ended;
	svc->ended[svc->nr_ended++] = *addr;
	return 0;
}

static int end_group_members(struct weir_service *svc, const char *group)
{
	u32 i;
	int err = 0;

	for (i = 0; i < svc->nr_backends && !err; i++)
		if (!strcmp(svc->backends[i].group, group))
			err = end_backend(svc, &svc->backends[i].addr);
	return err;
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
	drop_group_members(svc, name, false);
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
	struct weir_backend *found;

	if (!svc->nr_backends)
		return NULL;
	found = bsearch(addr, svc->backends, svc->nr_backends,
			sizeof(*svc->backends), cmp_backend);
	/* All are of one family, but draining ones may be of another one. */
	return found && found->family == family ? found : NULL;
}

bool weir_backend_equal(const struct weir_backend *a,
			const struct weir_backend *b)
{
	return a->family == b->family && !weir_addr_cmp(&a->addr, &b->addr) &&
	       a->health == b->health && a->check == b->check &&
	       a->port == b->port && a->draining == b->draining &&
	       a->drain_until == b->drain_until &&
	       !memcmp(&a->weight, &b->weight, sizeof(a->weight)) &&
	       !strcmp(a->group, b->group);
}

static int check_backend(const struct weir_service *svc,
			 const struct weir_backend *be,
			 struct netlink_ext_ack *extack)
{
	const struct weir_backend *found;
	char addr[WEIR_ADDR_TEXT];

	weir_addr_text(addr, be->family, &be->addr);
	found = weir_backend_find(svc, &be->addr, be->family);
	if (svc->family && svc->family != be->family)
		return weir_refuse(extack, -EINVAL,
				   "service %s: backend %s: rules and backends of a service share one family, this one has %s",
				   svc->name, addr,
				   svc->family == AF_INET ? "IPv4" : "IPv6");
	if (found && !found->draining)
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

int weir_backend_append(struct weir_service *svc, const struct weir_backend *be)
{
	struct weir_backend *backends;

	backends = weir_grow(svc->backends, svc->nr_backends,
			     &svc->max_backends, sizeof(*backends));
	if (!backends)
		return -ENOMEM;
	svc->backends = backends;
	backends[svc->nr_backends++] = *be;
	return 0;
}

static int order_backends(const void *a, const void *b)
{
	const struct weir_backend *one = a, *two = b;

	return weir_addr_cmp(&one->addr, &two->addr);
}

void weir_backends_sort(struct weir_service *svc)
{
	sort(svc->backends, svc->nr_backends, sizeof(*svc->backends), order_backends, NULL);
	weir_service_set_family(svc);
}

/* Kept ascending, whatever order they come in; most files are sorted. */
static int insert_backend(struct weir_service *svc, const struct weir_backend *be)
{
	int err = weir_backend_append(svc, be);
	u32 at, last = svc->nr_backends - 1;

	if (err)
		return err;
	for (at = last; at > 0; at--)
		if (weir_addr_cmp(&svc->backends[at - 1].addr, &be->addr) < 0)
			break;
	memmove(&svc->backends[at + 1], &svc->backends[at],
		(last - at) * sizeof(*svc->backends));
	svc->backends[at] = *be;
	weir_service_set_family(svc);
	return 0;
}

static void remove_backend(struct weir_service *svc, u32 at)
{
	struct weir_backend *be = &svc->backends[at];

	weir_dest_put(be->dest);
	svc->nr_backends--;
	memmove(be, be + 1, (svc->nr_backends - at) * sizeof(*be));
	weir_service_set_family(svc);
}

int weir_backend_add(struct weir_service *svc, const struct weir_backend *be,
		     struct netlink_ext_ack *extack)
{
	struct weir_backend copy = *be;
	struct weir_backend *found;
	int err;

	err = check_backend(svc, be, extack);
	if (err)
		return err;
	copy.dest = NULL;
	/* One that drains comes back. Its dest, and so its flows, are the live
	 * version's when the draft is finished: until then it may have drained.
	 */
	found = weir_backend_find(svc, &be->addr, be->family);
	if (found)
		remove_backend(svc, found - svc->backends);
	return insert_backend(svc, &copy);
}

int weir_backend_del(struct weir_service *svc, const struct weir_addr *addr,
		     u8 family, bool now, struct netlink_ext_ack *extack)
{
	struct weir_backend *found = weir_backend_find(svc, addr, family);
	char text[WEIR_ADDR_TEXT];
	int err;

	weir_addr_text(text, family, addr);
	if (!found)
		return weir_refuse(extack, -ENOENT,
				   "service %s: backend %s: there is none; weir show %s lists them",
				   svc->name, text, svc->name);
	if (found->draining && !now)
		return weir_refuse(extack, -EALREADY,
				   "service %s: backend %s: it is draining; weir backend del %s %s now ends that",
				   svc->name, text, svc->name, text);
	if (now) {
		err = end_backend(svc, addr);
		if (err)
			return err;
	}
	remove_backend(svc, found - svc->backends);
	return 0;
}

int weir_backend_del_group(struct weir_service *svc, const char *group,
			   bool now, struct netlink_ext_ack *extack)
{
	int err;

	if (strcmp(group, default_group) && !weir_group_find(svc, group))
		return no_group(svc, group, extack);
	if (now) {
		err = end_group_members(svc, group);
		if (err)
			return err;
	}
	drop_group_members(svc, group, now);
	return 0;
}
