// SPDX-License-Identifier: GPL-2.0
/*
 * set - who of a service may be chosen, by whom, with the tables
 */
#include <linux/bitmap.h>
#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "config.h"
#include "eligible.h"
#include "maglev.h"
#include "rendezvous.h"
#include "service.h"
#include "set.h"
#include "zones.h"

/* What it takes to build the sets of one service. */
struct build {
	struct weir_service *svc;
	const struct weir_service *was;	/* NULL: share none of its tables */
	struct weir_policy policy;
	struct weir_candidate *candidates;
	struct weir_weight *weights;
	u16 *map;			/* scratch of same_members() */
	u32 size;
	const siphash_key_t *key;
	bool weighted;
	bool rendezvous;
	bool reports;
};

static void put_table(struct weir_table *table)
{
	if (table && refcount_dec_and_test(&table->ref))
		kvfree(table);
}

static void free_set(struct weir_set *set)
{
	put_table(set->table);
	bitmap_free(set->bits);
	kvfree(set->shares);
}

void weir_sets_free(struct weir_service *svc)
{
	u32 i;

	for (i = 0; i < svc->nr_zonals; i++)
		free_set(&svc->zonals[i].set);
	kvfree(svc->zonals);
	svc->zonals = NULL;
	svc->nr_zonals = 0;
	free_set(&svc->set);
	memset(&svc->set, 0, sizeof(svc->set));
}

/* One word of a health-check line, as weir_lex_join() of the tool writes them: blanks
 * within quotes belong to the word. Return: what follows, or NULL at the end.
 */
static const char *next_word(const char *line, const char **word, size_t *len)
{
	bool quoted = false;

	while (*line == ' ' || *line == '\t')
		line++;
	*word = line;
	for (; *line && (quoted || (*line != ' ' && *line != '\t')); line++) {
		if (*line == '"')
			quoted = !quoted;
		else if (quoted && *line == '\\' && line[1])
			line++;
	}
	*len = line - *word;
	return *len ? line : NULL;
}

static bool is_word(const char *word, size_t len, const char *what)
{
	return len == strlen(what) && !strncmp(word, what, len);
}

/* Does the checker weigh the backends? The protocol comes first; all parameters but
 * three have a value, which may be any word.
 */
static bool says_weights(const char *line)
{
	const char *word;
	size_t len;

	if (!line)
		return false;
	line = next_word(line, &word, &len);
	while (line && (line = next_word(line, &word, &len))) {
		if (is_word(word, len, "weights"))
			return true;
		if (!is_word(word, len, "proxy-header") &&
		    !is_word(word, len, "verify"))
			line = next_word(line, &word, &len);
	}
	return false;
}

static int cmp_zonal(const void *key, const void *element)
{
	const struct weir_zonal *zonal = element;

	return strcmp(key, zonal->zone);
}

static struct weir_zonal *find_zonal(const struct weir_service *svc,
				     const char *zone)
{
	if (!svc->nr_zonals)
		return NULL;
	return bsearch(zone, svc->zonals, svc->nr_zonals, sizeof(*svc->zonals),
		       cmp_zonal);
}

/* One for each zone that a group is in: clients of any other find no match there
 * (semantics 3.2).
 */
static int list_zones(struct weir_service *svc)
{
	u32 i, at;

	if (svc->opt.zonal_affinity == WEIR_ZONAL_AFFINITY_DISABLED ||
	    !svc->nr_groups)
		return 0;
	svc->zonals = kvcalloc(svc->nr_groups, sizeof(*svc->zonals),
			       GFP_KERNEL_ACCOUNT);
	if (!svc->zonals)
		return -ENOMEM;
	for (i = 0; i < svc->nr_groups; i++) {
		const char *zone = svc->groups[i].zone;

		if (!*zone || find_zonal(svc, zone))
			continue;
		for (at = svc->nr_zonals; at > 0; at--) {
			if (strcmp(svc->zonals[at - 1].zone, zone) < 0)
				break;
			svc->zonals[at] = svc->zonals[at - 1];
		}
		strscpy(svc->zonals[at].zone, zone,
			sizeof(svc->zonals[at].zone));
		svc->nr_zonals++;
	}
	return 0;
}

/* 0 is no zone. */
static u32 zone_number(const struct weir_service *svc,
		       const struct weir_backend *be)
{
	const struct weir_group *group = weir_group_find(svc, be->group);
	const struct weir_zonal *zonal;

	zonal = group ? find_zonal(svc, group->zone) : NULL;
	return zonal ? zonal - svc->zonals + 1 : 0;
}

static void list_candidates(struct build *build)
{
	const struct weir_service *svc = build->svc;
	u32 i;

	for (i = 0; i < svc->nr_backends; i++) {
		const struct weir_backend *be = &svc->backends[i];

		build->candidates[i].healthy = be->healthy;
		build->candidates[i].failover = be->failover;
		build->candidates[i].draining = be->draining;
		build->candidates[i].zone = zone_number(svc, be);
		build->weights[i] = be->weight;
	}
}

static int alloc_set(struct weir_set *set, u32 n)
{
	set->bits = bitmap_zalloc(max(n, 1U), GFP_KERNEL_ACCOUNT);
	set->shares = kvcalloc(max(n, 1U), sizeof(*set->shares),
			       GFP_KERNEL_ACCOUNT);
	return set->bits && set->shares ? 0 : -ENOMEM;
}

/* Are the members of two sets the same, with the same shares? @map is written: from
 * the places of those of @other to those of @set. Both are by address.
 */
static bool same_members(const struct weir_service *svc,
			 const struct weir_set *set,
			 const struct weir_service *from,
			 const struct weir_set *other, u16 *map, bool *moved)
{
	u32 i, j = 0;

	*moved = false;
	for (i = 0; i < svc->nr_backends; i++) {
		if (!set->shares[i])
			continue;
		while (j < from->nr_backends && !other->shares[j])
			j++;
		if (j == from->nr_backends ||
		    set->shares[i] != other->shares[j] ||
		    weir_addr_cmp(&svc->backends[i].addr,
				  &from->backends[j].addr))
			return false;
		*moved |= i != j;
		map[j++] = i;
	}
	while (j < from->nr_backends && !other->shares[j])
		j++;
	return j == from->nr_backends;
}

/* The same table, but for the places of the backends: its digest is of addresses. */
static struct weir_table *copy_table(const struct weir_table *table,
				     const u16 *map)
{
	struct weir_table *copy = kvmalloc(struct_size(copy, slots, table->size),
					   GFP_KERNEL_ACCOUNT);
	u32 i;

	if (!copy)
		return NULL;
	refcount_set(&copy->ref, 1);
	copy->rendezvous = table->rendezvous;
	copy->size = table->size;
	copy->digest = table->digest;
	for (i = 0; i < table->size; i++)
		copy->slots[i] = map[table->slots[i]];
	return copy;
}

/* Without memory for a copy there is none for a new table either. */
static bool try_share(const struct build *build, struct weir_set *set,
		      const struct weir_service *from,
		      const struct weir_set *other)
{
	struct weir_table *table = other->table;
	bool moved;

	if (!table || set == other || table->size != build->size ||
	    table->rendezvous != build->rendezvous ||
	    !same_members(build->svc, set, from, other, build->map, &moved))
		return false;
	if (moved) {
		set->table = copy_table(table, build->map);
		return set->table;
	}
	refcount_inc(&table->ref);
	set->table = table;
	return true;
}

/* A table of this version or the one before, of the service or of one of its zones. */
static bool share_of(const struct build *build, struct weir_set *set,
		     const struct weir_service *from)
{
	u32 i;

	if (try_share(build, set, from, &from->set))
		return true;
	for (i = 0; i < from->nr_zonals; i++)
		if (try_share(build, set, from, &from->zonals[i].set))
			return true;
	return false;
}

static u32 list_members(const struct build *build, const struct weir_set *set,
			struct weir_member *members,
			struct weir_member *by_index)
{
	const struct weir_service *svc = build->svc;
	u32 i, n = 0;

	for (i = 0; i < svc->nr_backends; i++) {
		by_index[i].addr = svc->backends[i].addr;
		by_index[i].family = svc->backends[i].family;
		by_index[i].index = i;
		by_index[i].weight = set->shares[i];
		if (set->shares[i])
			members[n++] = by_index[i];
	}
	return n;
}

static void fill_table(const struct build *build, struct weir_table *table,
		       const struct weir_member *members, u32 n, void *scratch)
{
	if (build->rendezvous)
		weir_rendezvous_fill(table->slots, table->size, members, n,
				     build->key, scratch);
	else
		weir_maglev_fill(table->slots, table->size, members, n,
				 build->key, scratch);
}

static int build_table(const struct build *build, struct weir_set *set)
{
	u32 n = build->svc->nr_backends;
	struct weir_member *members;
	struct weir_table *table;
	void *scratch;
	int err = -ENOMEM;

	members = kvcalloc(2 * n, sizeof(*members), GFP_KERNEL);
	table = kvmalloc(struct_size(table, slots, build->size),
			 GFP_KERNEL_ACCOUNT);
	scratch = kvmalloc(max(weir_maglev_scratch(n),
			       weir_rendezvous_scratch(n)), GFP_KERNEL);
	if (!members || !table || !scratch)
		goto out;

	refcount_set(&table->ref, 1);
	table->size = build->size;
	table->rendezvous = build->rendezvous;
	fill_table(build, table, members,
		   list_members(build, set, members, members + n), scratch);
	table->digest = weir_maglev_digest(table->slots, table->size,
					   members + n);
	set->table = table;
	table = NULL;
	err = 0;
out:
	kvfree(scratch);
	kvfree(table);
	kvfree(members);
	return err;
}

/* Weights and table of a set whose bits are there. */
static int finish_set(const struct build *build, struct weir_set *set)
{
	u32 n = build->svc->nr_backends;

	set->weighting = weir_weights(build->weighted, build->reports,
				      build->weights, build->candidates, n,
				      set->bits, set->shares);
	if (bitmap_empty(set->bits, n) || share_of(build, set, build->svc) ||
	    (build->was && share_of(build, set, build->was)))
		return 0;
	return build_table(build, set);
}

static int build_zonals(const struct build *build)
{
	struct weir_service *svc = build->svc;
	u32 i;
	int err = 0;

	for (i = 0; i < svc->nr_zonals && !err; i++) {
		struct weir_zonal *zonal = &svc->zonals[i];

		err = alloc_set(&zonal->set, svc->nr_backends);
		if (err)
			break;
		zonal->eligible = weir_eligible_zone(&build->policy,
						     &svc->eligible,
						     build->candidates,
						     svc->nr_backends,
						     svc->set.bits, i + 1,
						     zonal->set.bits);
		err = finish_set(build, &zonal->set);
	}
	return err;
}

static void count_slots(struct weir_service *svc)
{
	const struct weir_table *table = svc->set.table;
	u32 i;

	for (i = 0; i < svc->nr_backends; i++)
		svc->backends[i].slots = 0;
	for (i = 0; table && i < table->size; i++)
		svc->backends[table->slots[i]].slots++;
}

static int build_sets(struct build *build)
{
	struct weir_service *svc = build->svc;
	u32 i, n = svc->nr_backends;
	int err;

	err = list_zones(svc) ?: alloc_set(&svc->set, n);
	if (err)
		return err;
	list_candidates(build);
	svc->eligible = weir_eligible_choose(&build->policy, build->candidates,
					     n, svc->eligible.role,
					     svc->set.bits);
	for (i = 0; i < n; i++)
		svc->backends[i].eligible = test_bit(i, svc->set.bits);
	err = finish_set(build, &svc->set) ?: build_zonals(build);
	if (!err)
		count_slots(svc);
	return err;
}

int weir_sets_build(struct weir_service *svc, const struct weir_service *was,
		    u32 size, const siphash_key_t *key)
{
	u8 locality = svc->opt.locality;
	struct build build = {
		.svc = svc,
		.was = was,
		.policy = {
			.failover_ratio = svc->opt.failover_ratio,
			.drop_if_unhealthy = svc->opt.drop_if_unhealthy,
			.zonal_affinity = svc->opt.zonal_affinity,
			.spill_ratio = svc->opt.spill_ratio,
		},
		.size = size,
		.key = key,
		.weighted = locality == WEIR_LOCALITY_WEIGHTED_MAGLEV ||
			    locality == WEIR_LOCALITY_WEIGHTED_RENDEZVOUS,
		.rendezvous = locality == WEIR_LOCALITY_RENDEZVOUS ||
			      locality == WEIR_LOCALITY_WEIGHTED_RENDEZVOUS,
		.reports = says_weights(svc->health_check),
	};
	u32 n = max3(svc->nr_backends, was ? was->nr_backends : 0, 1U);
	int err = -ENOMEM;

	build.candidates = kvcalloc(n, sizeof(*build.candidates), GFP_KERNEL);
	build.weights = kvcalloc(n, sizeof(*build.weights), GFP_KERNEL);
	build.map = kvmalloc_array(n, sizeof(*build.map), GFP_KERNEL);
	if (build.candidates && build.weights && build.map)
		err = build_sets(&build);
	kvfree(build.map);
	kvfree(build.candidates);
	kvfree(build.weights);
	return err;
}

const struct weir_set *weir_set_of(const struct weir_config *cfg,
				   const struct weir_service *svc, u8 family,
				   const struct weir_addr *client,
				   const struct weir_zonal **zonal)
{
	const char *zone;

	*zonal = NULL;
	if (likely(!svc->nr_zonals))
		return &svc->set;
	zone = weir_zones_of(cfg->zones, family, client);
	if (zone)
		*zonal = find_zonal(svc, zone);
	return *zonal ? &(*zonal)->set : &svc->set;
}

bool weir_set_has(const struct weir_config *cfg, const struct weir_service *svc,
		  u8 family, const struct weir_addr *client, u32 at)
{
	const struct weir_zonal *zonal;

	return test_bit(at, weir_set_of(cfg, svc, family, client, &zonal)->bits);
}
