// SPDX-License-Identifier: GPL-2.0
/*
 * source - the protocols and ports that backends of a service answer from
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "source.h"

static int cmp_source(const void *a, const void *b)
{
	u32 one = *(const u32 *)a, two = *(const u32 *)b;

	return one < two ? -1 : one > two;
}

/* All of them, with repetitions. Return: how many. */
static u32 collect(const struct weir_service *svc, u32 *to)
{
	u32 r, i, nr = 0;

	for (r = 0; r < svc->nr_rules; r++) {
		const struct weir_rule *rule = &svc->rules[r];
		u32 proto = rule->proto << 16;

		if (!rule->nr_ports)
			to[nr++] = proto;
		for (i = 0; i < rule->nr_ports; i++)
			to[nr++] = proto | rule->ports[i];
	}
	return nr;
}

static u32 drop_repeated(u32 *sources, u32 nr)
{
	u32 i, kept = 1;

	for (i = 1; i < nr; i++)
		if (sources[i] != sources[kept - 1])
			sources[kept++] = sources[i];
	return kept;
}

int weir_sources_fill(struct weir_service *svc)
{
	size_t room = 0;
	u32 *all, r, nr;

	kvfree(svc->sources);
	svc->sources = NULL;
	svc->nr_sources = 0;
	for (r = 0; r < svc->nr_rules; r++)
		room += svc->rules[r].nr_ports ?: 1;
	if (!room)
		return 0;
	all = kvmalloc_array(room, sizeof(*all), GFP_KERNEL_ACCOUNT);
	if (!all)
		return -ENOMEM;
	nr = collect(svc, all);
	sort(all, nr, sizeof(*all), cmp_source, NULL);
	nr = drop_repeated(all, nr);
	svc->sources = kvmalloc_array(nr, sizeof(*all), GFP_KERNEL_ACCOUNT);
	if (svc->sources) {
		memcpy(svc->sources, all, nr * sizeof(*all));
		svc->nr_sources = nr;
	}
	kvfree(all);
	return svc->sources ? 0 : -ENOMEM;
}
