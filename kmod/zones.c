// SPDX-License-Identifier: GPL-2.0
/*
 * zones - the clients' zones of a configuration
 */
#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "refuse.h"
#include "zones.h"

/* In place of a zone's number: the prefix is being removed. */
#define GOING	U32_MAX

struct weir_zones *weir_zones_new(void)
{
	struct weir_zones *zones = kzalloc(sizeof(*zones), GFP_KERNEL_ACCOUNT);

	if (zones)
		refcount_set(&zones->ref, 1);
	return zones;
}

void weir_zones_put(struct weir_zones *zones)
{
	u32 i;

	if (!zones || !refcount_dec_and_test(&zones->ref))
		return;
	for (i = 0; i < zones->nr; i++)
		kvfree(zones->zones[i].prefixes);
	kvfree(zones->zones);
	kvfree(zones->ranges);
	kfree(zones);
}

struct weir_zones *weir_zones_clone(const struct weir_zones *old)
{
	struct weir_zones *zones = weir_zones_new();
	u32 i;

	if (!zones || !old || !old->nr)
		return zones;
	zones->zones = kvcalloc(old->nr, sizeof(*zones->zones),
				GFP_KERNEL_ACCOUNT);
	if (!zones->zones)
		goto err;
	zones->max = old->nr;
	for (i = 0; i < old->nr; i++) {
		const struct weir_zone *from = &old->zones[i];
		struct weir_zone *to = &zones->zones[i];

		*to = *from;
		to->prefixes = kvmalloc_array(from->nr, sizeof(*to->prefixes),
					      GFP_KERNEL_ACCOUNT);
		if (!to->prefixes)
			goto err;
		memcpy(to->prefixes, from->prefixes,
		       from->nr * sizeof(*to->prefixes));
		zones->nr++;
	}
	return zones;
err:
	weir_zones_put(zones);
	return NULL;
}

static int cmp_zone(const void *key, const void *element)
{
	const struct weir_zone *zone = element;

	return strcmp(key, zone->name);
}

struct weir_zone *weir_zones_find(const struct weir_zones *zones,
				  const char *name)
{
	if (!zones || !zones->nr)
		return NULL;
	return bsearch(name, zones->zones, zones->nr, sizeof(*zones->zones),
		       cmp_zone);
}

static int cmp_prefix(const void *a, const void *b)
{
	return weir_zone_cmp(a, b);
}

void weir_zone_read(struct weir_zone_prefix *prefix,
		    const struct weir_zone_record *record)
{
	__be64 half[2];

	memcpy(half, record->addr, sizeof(half));
	prefix->addr.high = be64_to_cpu(half[0]);
	prefix->addr.low = be64_to_cpu(half[1]);
	prefix->plen = record->plen;
	prefix->zone = 0;
}

void weir_zone_write(struct weir_zone_record *record,
		     const struct weir_zone_prefix *prefix)
{
	__be64 half[2] = {
		cpu_to_be64(prefix->addr.high),
		cpu_to_be64(prefix->addr.low),
	};

	memcpy(record->addr, half, sizeof(half));
	record->plen = prefix->plen;
}

const char *weir_zone_text(char buf[WEIR_PREFIX_TEXT],
			   const struct weir_zone_prefix *prefix)
{
	struct weir_addr addr = {};
	bool ipv4 = !prefix->addr.high && prefix->addr.low >> 32 == 0xffff &&
		    prefix->plen >= 96;

	if (ipv4) {
		addr.ip = cpu_to_be32(prefix->addr.low);
	} else {
		addr.ip6[0] = cpu_to_be32(prefix->addr.high >> 32);
		addr.ip6[1] = cpu_to_be32(prefix->addr.high);
		addr.ip6[2] = cpu_to_be32(prefix->addr.low >> 32);
		addr.ip6[3] = cpu_to_be32(prefix->addr.low);
	}
	weir_addr_text(buf, ipv4 ? AF_INET : AF_INET6, &addr);
	snprintf(buf + strlen(buf), WEIR_PREFIX_TEXT - strlen(buf), "/%u",
		 ipv4 ? prefix->plen - 96 : prefix->plen);
	return buf;
}

static u32 count_prefixes(const struct weir_zones *zones)
{
	u32 i, n = 0;

	for (i = 0; i < zones->nr; i++)
		n += zones->zones[i].nr;
	return n;
}

/* Return: the new zone in its place, or NULL when there is no memory. */
static struct weir_zone *add_zone(struct weir_zones *zones, const char *name)
{
	struct weir_zone *all;
	u32 at;

	all = weir_grow(zones->zones, zones->nr, &zones->max, sizeof(*all));
	if (!all)
		return NULL;
	zones->zones = all;
	for (at = zones->nr; at > 0; at--) {
		if (strcmp(all[at - 1].name, name) < 0)
			break;
		all[at] = all[at - 1];
	}
	memset(&all[at], 0, sizeof(all[at]));
	strscpy(all[at].name, name, sizeof(all[at].name));
	zones->nr++;
	return &all[at];
}

static void drop_zone(struct weir_zones *zones, struct weir_zone *zone)
{
	u32 at = zone - zones->zones;

	kvfree(zone->prefixes);
	zones->nr--;
	memmove(zone, zone + 1, (zones->nr - at) * sizeof(*zone));
}

int weir_zones_add(struct weir_zones *zones, const char *name,
		   const struct weir_zone_prefix *prefixes, u32 n,
		   struct netlink_ext_ack *extack)
{
	struct weir_zone *zone = weir_zones_find(zones, name);
	struct weir_zone_prefix *room;

	if (count_prefixes(zones) + n > WEIR_ZONE_PREFIXES_MAX)
		return weir_refuse(extack, -ENOSPC,
				   "zone %s: %u more prefixes: all zones have at most %u",
				   name, n, WEIR_ZONE_PREFIXES_MAX);
	room = kvmalloc_array((zone ? zone->nr : 0) + n, sizeof(*room),
			      GFP_KERNEL_ACCOUNT);
	if (!room)
		return -ENOMEM;
	if (!zone)
		zone = add_zone(zones, name);
	if (!zone) {
		kvfree(room);
		return -ENOMEM;
	}
	if (zone->nr)
		memcpy(room, zone->prefixes, zone->nr * sizeof(*room));
	memcpy(room + zone->nr, prefixes, n * sizeof(*room));
	kvfree(zone->prefixes);
	zone->prefixes = room;
	zone->nr += n;
	return 0;
}

int weir_zones_del(struct weir_zones *zones, const char *name,
		   const struct weir_zone_prefix *prefixes, u32 n,
		   struct netlink_ext_ack *extack)
{
	struct weir_zone *zone = weir_zones_find(zones, name);
	struct weir_zone_prefix *found;
	char text[WEIR_PREFIX_TEXT];
	u32 i, kept;

	if (!zone)
		return weir_refuse(extack, -ENOENT,
				   "zone %s: there is none; weir show lists them",
				   name);
	if (!n) {
		drop_zone(zones, zone);
		return 0;
	}
	sort(zone->prefixes, zone->nr, sizeof(*zone->prefixes), cmp_prefix,
	     NULL);
	/* All are there, or none goes. */
	for (i = 0; i < n; i++) {
		if (bsearch(&prefixes[i], zone->prefixes, zone->nr,
			    sizeof(*zone->prefixes), cmp_prefix))
			continue;
		return weir_refuse(extack, -ENOENT,
				   "zone %s: prefix %s: it is not in this zone; weir show lists them",
				   name, weir_zone_text(text, &prefixes[i]));
	}
	for (i = 0; i < n; i++) {
		found = bsearch(&prefixes[i], zone->prefixes, zone->nr,
				sizeof(*zone->prefixes), cmp_prefix);
		found->zone = GOING;
	}
	for (i = 0, kept = 0; i < zone->nr; i++)
		if (zone->prefixes[i].zone != GOING)
			zone->prefixes[kept++] = zone->prefixes[i];
	zone->nr = kept;
	if (!kept)
		drop_zone(zones, zone);
	return 0;
}

static int refuse_twice(const struct weir_zones *zones,
			const struct weir_zone_prefix *a,
			const struct weir_zone_prefix *b,
			struct netlink_ext_ack *extack)
{
	char text[WEIR_PREFIX_TEXT];

	weir_zone_text(text, a);
	if (a->zone == b->zone)
		return weir_refuse(extack, -EEXIST,
				   "zone %s: prefix %s: it is there already",
				   zones->zones[a->zone - 1].name, text);
	return weir_refuse(extack, -EEXIST,
			   "zone %s: prefix %s: zone %s has it already; del it there first",
			   zones->zones[b->zone - 1].name, text,
			   zones->zones[a->zone - 1].name);
}

static int make_ranges(struct weir_zones *zones,
		       struct weir_zone_prefix *all, u32 n,
		       struct netlink_ext_ack *extack)
{
	u32 i;

	sort(all, n, sizeof(*all), cmp_prefix, NULL);
	for (i = 1; i < n; i++)
		if (!weir_zone_cmp(&all[i - 1], &all[i]))
			return refuse_twice(zones, &all[i - 1], &all[i],
					    extack);
	zones->nr_ranges = weir_zone_ranges(all, n, zones->ranges);
	return 0;
}

int weir_zones_finish(struct weir_zones *zones, struct netlink_ext_ack *extack)
{
	u32 i, j, n = count_prefixes(zones);
	struct weir_zone_prefix *all;
	int err = -ENOMEM;

	if (!n)
		return 0;
	all = kvmalloc_array(n, sizeof(*all), GFP_KERNEL);
	zones->ranges = kvmalloc_array(2 * n + 1, sizeof(*zones->ranges),
				       GFP_KERNEL_ACCOUNT);
	if (!all || !zones->ranges)
		goto out;
	n = 0;
	for (i = 0; i < zones->nr; i++) {
		struct weir_zone *zone = &zones->zones[i];

		sort(zone->prefixes, zone->nr, sizeof(*zone->prefixes),
		     cmp_prefix, NULL);
		for (j = 0; j < zone->nr; j++) {
			all[n] = zone->prefixes[j];
			all[n++].zone = i + 1;
		}
		cond_resched();
	}
	err = make_ranges(zones, all, n, extack);
out:
	kvfree(all);
	return err;
}

bool weir_zone_equal(const struct weir_zone *a, const struct weir_zone *b)
{
	u32 i;

	if (a->nr != b->nr)
		return false;
	for (i = 0; i < a->nr; i++)
		if (weir_zone_cmp(&a->prefixes[i], &b->prefixes[i]))
			return false;
	return true;
}

const char *weir_zones_of(const struct weir_zones *zones, u8 family,
			  const struct weir_addr *addr)
{
	struct weir_zone_addr client;
	u32 zone;

	if (!zones || !zones->nr_ranges)
		return NULL;
	client = weir_zone_addr(family, addr);
	zone = weir_zone_of(zones->ranges, zones->nr_ranges, &client);
	return zone ? zones->zones[zone - 1].name : NULL;
}
