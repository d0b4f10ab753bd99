// SPDX-License-Identifier: GPL-2.0
/*
 * weir - the eligible set of a service
 *
 * Pure: compiled in the module and, by selftests/unit, in userspace.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/types.h>

#include "eligible.h"

/* Members of one role. */
struct tally {
	u32	all;
	u32	healthy;
};

/*
 * Is the healthy share at least the ratio? Multiplied out, since neither the
 * share (2 of 3) nor the ratio (0.67) need be a binary fraction. An equal share
 * stays on the primaries.
 */
static bool ratio_met(const struct weir_policy *p, const struct tally *primary)
{
	return (u64)primary->healthy * WEIR_RATIO_ONE >=
	       (u64)p->failover_ratio * primary->all;
}

/*
 * The order of the tests is the rule: an empty failover set beats the ratio,
 * and ratio 0 is no comparison (nought of four would meet it).
 */
static enum weir_eligible decide(const struct weir_policy *p,
				 const struct tally *primary,
				 const struct tally *failover)
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
	if (!failover->healthy || !p->failover_ratio || ratio_met(p, primary))
		return WEIR_ELIGIBLE_PRIMARY;

	return WEIR_ELIGIBLE_FAILOVER;
}

static bool belongs(enum weir_eligible reason, const struct weir_candidate *c)
{
	switch (reason) {
	case WEIR_ELIGIBLE_HEALTHY:
		return c->healthy;
	case WEIR_ELIGIBLE_LAST_RESORT:
		return true;
	case WEIR_ELIGIBLE_PRIMARY:
		return c->healthy && !c->failover;
	case WEIR_ELIGIBLE_FAILOVER:
		return c->healthy && c->failover;
	case WEIR_ELIGIBLE_LAST_PRIMARIES:
		return !c->failover;
	default:
		return false;
	}
}

struct weir_role_set weir_eligible_choose(const struct weir_policy *p,
					  const struct weir_candidate *c,
					  u32 n, unsigned long *eligible)
{
	struct tally primary = {}, failover = {};
	struct weir_role_set set = {};
	u32 i;

	for (i = 0; i < n; i++) {
		struct tally *role = c[i].failover ? &failover : &primary;

		role->all++;
		role->healthy += c[i].healthy;
	}

	set.reason = decide(p, &primary, &failover);

	bitmap_zero(eligible, n);
	for (i = 0; i < n; i++) {
		if (!belongs(set.reason, &c[i]))
			continue;
		__set_bit(i, eligible);
		set.n++;
	}

	return set;
}
