// SPDX-License-Identifier: GPL-2.0
/*
 * weir - the eligible set of a service, and the weights in it
 *
 * Pure: compiled in the module and, by selftests/unit, in userspace.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/types.h>

#include "eligible.h"

static void count(struct weir_tally *tally, bool healthy)
{
	tally->all++;
	tally->healthy += healthy;
}

/*
 * Is the healthy share at least the ratio? Multiplied out, since neither the
 * share (2 of 3) nor the ratio (0.67) need be a binary fraction. An equal share
 * is enough (decision 1).
 */
static bool ratio_met(const struct weir_tally *tally, u32 ratio)
{
	return (u64)tally->healthy * WEIR_RATIO_ONE >= (u64)ratio * tally->all;
}

/*
 * The order of the tests is the rule (2.3): an empty failover set beats the
 * ratio, and ratio 0 is no comparison (nought of four would meet it).
 */
static enum weir_eligible decide(const struct weir_policy *p,
				 const struct weir_tally *primary,
				 const struct weir_tally *failover)
{
	bool any = primary->healthy || failover->healthy;

	if (!primary->all && !failover->all)
		return WEIR_ELIGIBLE_NO_BACKENDS;

	/* One role without members: failover is off, the policy means nothing. */
	if (!primary->all || !failover->all)
		return any ? WEIR_ELIGIBLE_HEALTHY : WEIR_ELIGIBLE_LAST_RESORT;

	if (!any)
		return p->drop_if_unhealthy ? WEIR_ELIGIBLE_DROP :
					      WEIR_ELIGIBLE_LAST_PRIMARIES;
	if (!primary->healthy)
		return WEIR_ELIGIBLE_FAILOVER;
	if (!failover->healthy || !p->failover_ratio ||
	    ratio_met(primary, p->failover_ratio))
		return WEIR_ELIGIBLE_PRIMARY;

	return WEIR_ELIGIBLE_FAILOVER;
}

static enum weir_role role_in_use(u8 reason, u8 last)
{
	switch (reason) {
	case WEIR_ELIGIBLE_PRIMARY:
	case WEIR_ELIGIBLE_LAST_PRIMARIES:
		return WEIR_ROLE_PRIMARY;
	case WEIR_ELIGIBLE_FAILOVER:
		return WEIR_ROLE_FAILOVER;
	case WEIR_ELIGIBLE_DROP:
		/* An empty set is no flip: flows stay as they are (decision 18). */
		return last == WEIR_ROLE_FAILOVER ? WEIR_ROLE_FAILOVER :
						    WEIR_ROLE_PRIMARY;
	default:
		return WEIR_ROLE_ALL;
	}
}

static bool has_role(const struct weir_candidate *c, u8 role)
{
	if (c->draining)
		return false;

	return role == WEIR_ROLE_ALL ||
	       c->failover == (role == WEIR_ROLE_FAILOVER);
}

/* Nobody is healthy, and the unhealthy ones serve. */
static bool is_last_resort(const struct weir_role_set *set)
{
	return set->reason == WEIR_ELIGIBLE_LAST_RESORT ||
	       set->reason == WEIR_ELIGIBLE_LAST_PRIMARIES;
}

static bool belongs(const struct weir_role_set *set,
		    const struct weir_candidate *c)
{
	return has_role(c, set->role) && (c->healthy || is_last_resort(set));
}

struct weir_role_set weir_eligible_choose(const struct weir_policy *p,
					  const struct weir_candidate *c,
					  u32 n, u8 last,
					  unsigned long *eligible)
{
	struct weir_role_set set = {};
	u32 i;

	for (i = 0; i < n; i++)
		if (!c[i].draining)
			count(c[i].failover ? &set.failover : &set.primary,
			      c[i].healthy);

	set.reason = decide(p, &set.primary, &set.failover);
	set.role = role_in_use(set.reason, last);

	bitmap_zero(eligible, n);
	for (i = 0; i < n; i++) {
		if (!belongs(&set, &c[i]))
			continue;
		__set_bit(i, eligible);
		set.n++;
	}

	return set;
}

/* A member of the role in use in the zone, whatever its health. */
static bool is_there(const struct weir_candidate *c, u8 role, u32 zone)
{
	return c->zone == zone && has_role(c, role);
}

static enum weir_zonal_reason decide_zone(const struct weir_policy *p,
					  const struct weir_role_set *set,
					  const struct weir_tally *there)
{
	/* An empty set has nothing to narrow, though members may be there. */
	if (!set->n || !there->all)
		return WEIR_ZONAL_NO_MATCH;

	/* As a last resort all are eligible, so those there too. */
	if (p->zonal_affinity == WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE)
		return is_last_resort(set) || there->healthy ?
		       WEIR_ZONAL_WITHIN : WEIR_ZONAL_UNHEALTHY;

	if (is_last_resort(set))
		return WEIR_ZONAL_NOBODY;

	/* Ratio 0 still wants one (3.4), which the comparison would not. */
	if (there->healthy && ratio_met(there, p->spill_ratio))
		return WEIR_ZONAL_WITHIN;

	return WEIR_ZONAL_SPILL;
}

struct weir_zone_set weir_eligible_zone(const struct weir_policy *p,
					const struct weir_role_set *set,
					const struct weir_candidate *c, u32 n,
					const unsigned long *eligible, u32 zone,
					unsigned long *in_zone)
{
	struct weir_zone_set out = {};
	u32 i;

	for (i = 0; i < n; i++)
		if (is_there(&c[i], set->role, zone))
			count(&out.in_zone,
			      c[i].healthy && test_bit(i, eligible));

	out.reason = decide_zone(p, set, &out.in_zone);

	bitmap_zero(in_zone, n);
	for (i = 0; i < n; i++) {
		bool chosen = test_bit(i, eligible);

		/* None there is eligible: all of the role there are unhealthy. */
		if (out.reason == WEIR_ZONAL_UNHEALTHY)
			chosen = is_there(&c[i], set->role, zone);
		else if (out.reason == WEIR_ZONAL_WITHIN)
			chosen = chosen && c[i].zone == zone;
		if (!chosen)
			continue;
		__set_bit(i, in_zone);
		out.n++;
	}

	return out;
}

/* Only a reply can spoil the weights; a probe without one does not (4). */
static bool is_spoilt(const struct weir_weight *w)
{
	return w->state == WEIR_WEIGHT_STATE_MISSING ||
	       w->state == WEIR_WEIGHT_STATE_INVALID;
}

static u16 weight_of(const struct weir_weight *w, bool reports)
{
	return reports && w->has_report ? w->reported : w->configured;
}

static enum weir_weighting decide_weighting(bool reports,
					    const struct weir_weight *w,
					    const struct weir_candidate *c,
					    u32 n,
					    const unsigned long *eligible)
{
	bool any = false, all_zero = true;
	u32 i;

	for (i = 0; i < n; i++) {
		if (reports && !c[i].draining && is_spoilt(&w[i]))
			return WEIR_WEIGHTING_REPORTS;
		if (!test_bit(i, eligible))
			continue;
		any = true;
		if (weight_of(&w[i], reports))
			all_zero = false;
	}

	/* With nobody eligible no weight is at fault. */
	return any && all_zero ? WEIR_WEIGHTING_ZERO : WEIR_WEIGHTING_ON;
}

u8 weir_weights(bool weighted, bool reports, const struct weir_weight *w,
		const struct weir_candidate *c, u32 n,
		const unsigned long *eligible, u16 *effective)
{
	enum weir_weighting kind = WEIR_WEIGHTING_OFF;
	u32 i;

	if (weighted)
		kind = decide_weighting(reports, w, c, n, eligible);

	for (i = 0; i < n; i++) {
		if (!test_bit(i, eligible))
			effective[i] = 0;
		else if (kind == WEIR_WEIGHTING_ON)
			effective[i] = weight_of(&w[i], reports);
		else
			effective[i] = 1;
	}

	return kind;
}
