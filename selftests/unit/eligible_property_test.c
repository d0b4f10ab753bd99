// SPDX-License-Identifier: GPL-2.0
/*
 * The eligible set, its zones and its weights against a model: the text of the
 * reference with sets of backends, rule by rule, and fractions compared by
 * Euclid's way. All small pools, and random ones with groups as operators have.
 */
#include <linux/bitops.h>

#include "unit.h"
#include "../../kmod/eligible.h"

#define LARGEST		160	/* backends: more than one word, or two */
#define RANDOM_POOLS	150000
#define MIXED_POOLS	20000
#define ENOUGH		100	/* of each outcome, or the dice are loaded */
#define NOBODYS_ZONE	9

struct pool {
	u32			n;
	struct weir_candidate	c[LARGEST];
	struct weir_weight	w[LARGEST];
	struct weir_policy	policy;
	u8			last;
	bool			weighted;
	bool			reports;
};

struct set {
	bool	in[LARGEST];
};

/* What the module made of a pool. */
struct outcome {
	struct weir_role_set	roles;
	struct weir_zone_set	zonal;
	u8			weighting;
	unsigned long		eligible[BITS_TO_LONGS(LARGEST) + 1];
	unsigned long		in_zone[BITS_TO_LONGS(LARGEST) + 1];
	u16			effective[LARGEST + 1];
};

/* What the model makes of it. */
struct model {
	u8	eligible;
	u8	role;
	u8	zonal;
	u8	weighting;
	bool	equal_failover;		/* the share is just the ratio */
	bool	equal_spill;
	u32	primary, up_primary, failover, up_failover, there, up_there;
	struct set set;
	struct set in_zone;
	u32	effective[LARGEST];
};

/* ---- the model ---- */

static bool is_configured(const struct weir_candidate *c)
{
	return !c->draining;
}

static bool is_primary(const struct weir_candidate *c)
{
	return !c->failover;
}

static bool is_failover(const struct weir_candidate *c)
{
	return c->failover;
}

static bool is_healthy(const struct weir_candidate *c)
{
	return c->healthy;
}

static bool is_unhealthy(const struct weir_candidate *c)
{
	return !c->healthy;
}

/* Those of a set of whom something is true; without a set, of the whole pool. */
static struct set those(const struct pool *p, const struct set *of,
			bool (*is)(const struct weir_candidate *c))
{
	struct set s;
	u32 i;

	for (i = 0; i < p->n; i++)
		s.in[i] = (!of || of->in[i]) && is(&p->c[i]);

	return s;
}

static struct set those_in_zone(const struct pool *p, const struct set *of,
				u32 zone)
{
	struct set s;
	u32 i;

	for (i = 0; i < p->n; i++)
		s.in[i] = of->in[i] && p->c[i].zone == zone;

	return s;
}

static u32 size(const struct pool *p, const struct set *s)
{
	u32 i, n = 0;

	for (i = 0; i < p->n; i++)
		if (s->in[i])
			n++;

	return n;
}

/*
 * a/b against c/d, below 0, 0 or above: the whole parts, and if they are the same,
 * the rests upside down. Nothing is multiplied.
 */
static int compare(u32 a, u32 b, u32 c, u32 d)
{
	if (a / b != c / d)
		return a / b < c / d ? -1 : 1;
	if (a % b == 0 || c % d == 0)
		return (a % b != 0) - (c % d != 0);

	return compare(d, c % d, b, a % b);
}

static void model_failover_on(const struct pool *p, struct model *m,
			      const struct set *primary,
			      const struct set *up_primary,
			      const struct set *up_failover)
{
	u32 ratio = p->policy.failover_ratio;
	int share = compare(m->up_primary, m->primary, ratio, 1000000);
	int rule;

	if (m->up_primary + m->up_failover > 0) {
		if (m->up_primary == 0)
			rule = 1;
		else if (m->up_failover == 0)
			rule = 2;
		else if (ratio == 0)
			rule = 3;
		else if (share >= 0)
			rule = 4;
		else
			rule = 5;
	} else {
		rule = p->policy.drop_if_unhealthy ? 6 : 7;
	}
	m->equal_failover = rule == 4 && share == 0;

	if (rule == 1 || rule == 5) {
		m->eligible = WEIR_ELIGIBLE_FAILOVER;
		m->role = WEIR_ROLE_FAILOVER;
		m->set = *up_failover;
	} else if (rule == 2 || rule == 3 || rule == 4) {
		m->eligible = WEIR_ELIGIBLE_PRIMARY;
		m->role = WEIR_ROLE_PRIMARY;
		m->set = *up_primary;
	} else if (rule == 6) {
		m->eligible = WEIR_ELIGIBLE_DROP;
		m->role = p->last != WEIR_ROLE_ALL ? p->last :
						     WEIR_ROLE_PRIMARY;
	} else {
		m->eligible = WEIR_ELIGIBLE_LAST_PRIMARIES;
		m->role = WEIR_ROLE_PRIMARY;
		m->set = *primary;
	}
}

static void model_choose(const struct pool *p, struct model *m)
{
	struct set configured = those(p, NULL, is_configured);
	struct set primary = those(p, &configured, is_primary);
	struct set failover = those(p, &configured, is_failover);
	struct set up = those(p, &configured, is_healthy);
	struct set up_primary = those(p, &primary, is_healthy);
	struct set up_failover = those(p, &failover, is_healthy);

	m->primary = size(p, &primary);
	m->failover = size(p, &failover);
	m->up_primary = size(p, &up_primary);
	m->up_failover = size(p, &up_failover);

	if (m->primary >= 1 && m->failover >= 1) {
		model_failover_on(p, m, &primary, &up_primary, &up_failover);
		return;
	}
	m->role = WEIR_ROLE_ALL;
	if (size(p, &configured) == 0) {
		m->eligible = WEIR_ELIGIBLE_NO_BACKENDS;
	} else if (size(p, &up) >= 1) {
		m->eligible = WEIR_ELIGIBLE_HEALTHY;
		m->set = up;
	} else {
		m->eligible = WEIR_ELIGIBLE_LAST_RESORT;
		m->set = configured;
	}
}

/* Tables 3.4 and 3.5, on what is eligible and who of that is healthy there. */
static void model_spill(const struct pool *p, struct model *m,
			const struct set *eligible_there)
{
	struct set up = those(p, &m->set, is_healthy);
	u32 ratio = p->policy.spill_ratio;
	bool stay;

	m->in_zone = m->set;
	if (size(p, &up) == 0) {
		m->zonal = WEIR_ZONAL_NOBODY;
		return;
	}
	if (ratio == 0) {
		stay = size(p, eligible_there) >= 1;
	} else {
		int share = compare(m->up_there, m->there, ratio, 1000000);

		stay = share >= 0;
		m->equal_spill = share == 0;
	}
	m->zonal = stay ? WEIR_ZONAL_WITHIN : WEIR_ZONAL_SPILL;
	if (stay)
		m->in_zone = *eligible_there;
}

static void model_zone(const struct pool *p, struct model *m, u32 zone)
{
	struct set members = those(p, NULL, is_configured);
	struct set there, eligible_there, up_there;

	if (m->role == WEIR_ROLE_PRIMARY)
		members = those(p, &members, is_primary);
	if (m->role == WEIR_ROLE_FAILOVER)
		members = those(p, &members, is_failover);
	there = those_in_zone(p, &members, zone);
	eligible_there = those_in_zone(p, &m->set, zone);
	up_there = those(p, &eligible_there, is_healthy);
	m->there = size(p, &there);
	m->up_there = size(p, &up_there);

	if (size(p, &m->set) == 0 || m->there == 0) {
		m->zonal = WEIR_ZONAL_NO_MATCH;
		m->in_zone = m->set;
	} else if (p->policy.zonal_affinity ==
		   WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE) {
		model_spill(p, m, &eligible_there);
	} else if (size(p, &eligible_there) >= 1) {
		m->zonal = WEIR_ZONAL_WITHIN;
		m->in_zone = eligible_there;
	} else {
		m->zonal = WEIR_ZONAL_UNHEALTHY;
		m->in_zone = those(p, &there, is_unhealthy);
	}
}

/* Section 4: what each weighs, then what makes that void. */
static void model_weights(const struct pool *p, struct model *m)
{
	bool spoilt = false;
	u32 i, sum = 0, n = size(p, &m->in_zone);

	for (i = 0; i < p->n; i++) {
		u8 state = p->w[i].state;

		m->effective[i] = p->w[i].configured;
		if (p->reports && p->w[i].has_report)
			m->effective[i] = p->w[i].reported;
		if (!m->in_zone.in[i])
			m->effective[i] = 0;
		sum += m->effective[i];
		if (!p->c[i].draining && state != WEIR_WEIGHT_STATE_NONE &&
		    state != WEIR_WEIGHT_STATE_VALID &&
		    state != WEIR_WEIGHT_STATE_UNAVAILABLE)
			spoilt = true;
	}

	m->weighting = WEIR_WEIGHTING_ON;
	if (n > 0 && sum == 0)
		m->weighting = WEIR_WEIGHTING_ZERO;
	if (p->reports && spoilt)
		m->weighting = WEIR_WEIGHTING_REPORTS;
	if (!p->weighted)
		m->weighting = WEIR_WEIGHTING_OFF;
	for (i = 0; i < p->n; i++)
		if (m->weighting != WEIR_WEIGHTING_ON)
			m->effective[i] = m->in_zone.in[i];
}

/* ---- the module ---- */

/* Contents before must not matter, and what is behind must stay. The weights are
 * of the zone's set.
 */
static void run(const struct pool *p, u32 zone, struct outcome *o)
{
	u32 words = BITS_TO_LONGS(p->n);

	memset(o, 0xff, sizeof(*o));
	o->roles = weir_eligible_choose(&p->policy, p->c, p->n, p->last,
					o->eligible);
	o->zonal = weir_eligible_zone(&p->policy, &o->roles, p->c, p->n,
				      o->eligible, zone, o->in_zone);
	o->weighting = weir_weights(p->weighted, p->reports, p->w, p->c, p->n,
				    o->in_zone, o->effective);
	assert_true(o->eligible[words] == ~0UL);
	assert_true(o->in_zone[words] == ~0UL);
	assert_int_equal(o->effective[p->n], U16_MAX);
}

static bool same_set(const struct pool *p, const unsigned long *map, u32 n,
		     const struct set *want)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (test_bit(i, map) != want->in[i])
			return false;

	return n == size(p, want);
}

static bool same_weights(const struct pool *p, const struct outcome *o,
			 const struct model *m)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (o->effective[i] != m->effective[i])
			return false;

	return o->weighting == m->weighting;
}

static bool tally_is(const struct weir_tally *tally, u32 all, u32 healthy)
{
	return tally->all == all && tally->healthy == healthy;
}

static void explain_backend(const struct pool *p, u32 i,
			    const struct outcome *o, const struct model *m)
{
	const struct weir_candidate *c = &p->c[i];
	const struct weir_weight *w = &p->w[i];

	print_error("%3u: %s, zone %u, %s%s, weight %u, report %u (%d, state %u)\n",
		    i, c->failover ? "failover" : "primary", c->zone,
		    c->healthy ? "up" : "down", c->draining ? ", drains" : "",
		    w->configured, w->reported, w->has_report, w->state);
	print_error("     in %d, want %d; there %d, want %d; weighs %u, want %u\n",
		    test_bit(i, o->eligible), m->set.in[i],
		    test_bit(i, o->in_zone), m->in_zone.in[i],
		    o->effective[i], m->effective[i]);
}

static void explain(const struct pool *p, u32 zone, const struct outcome *o,
		    const struct model *m)
{
	u32 i;

	print_error("failover ratio %u, drop %d, last role %u\n",
		    p->policy.failover_ratio, p->policy.drop_if_unhealthy,
		    p->last);
	print_error("zonal affinity %u, spill ratio %u, zone %u\n",
		    p->policy.zonal_affinity, p->policy.spill_ratio, zone);
	print_error("weighted %d, reports %d\n", p->weighted, p->reports);
	for (i = 0; i < p->n; i++)
		explain_backend(p, i, o, m);
	print_error("eligible %u, want %u; role %u, want %u\n",
		    o->roles.reason, m->eligible, o->roles.role, m->role);
	fail_msg("zonal %u, want %u; weighting %u, want %u", o->zonal.reason,
		 m->zonal, o->weighting, m->weighting);
}

static void check(const struct pool *p, u32 zone, struct model *m)
{
	struct outcome o;

	*m = (struct model){};
	model_choose(p, m);
	model_zone(p, m, zone);
	model_weights(p, m);
	run(p, zone, &o);
	if (o.roles.reason != m->eligible || o.roles.role != m->role ||
	    !tally_is(&o.roles.primary, m->primary, m->up_primary) ||
	    !tally_is(&o.roles.failover, m->failover, m->up_failover) ||
	    !same_set(p, o.eligible, o.roles.n, &m->set) ||
	    o.zonal.reason != m->zonal ||
	    !tally_is(&o.zonal.in_zone, m->there, m->up_there) ||
	    !same_set(p, o.in_zone, o.zonal.n, &m->in_zone) ||
	    !same_weights(p, &o, m))
		explain(p, zone, &o, m);
}

/* ---- all small pools ---- */

static const u32 ratios[] = {
	0, 1, 333333, 500000, 666666, 670000, 750000, 1000000,
};

static void each_ratio(struct pool *p)
{
	struct model m;
	unsigned int i;
	int drop;

	for (i = 0; i < ARRAY_SIZE(ratios); i++)
		for (drop = 0; drop < 2; drop++) {
			p->policy.failover_ratio = ratios[i];
			p->policy.drop_if_unhealthy = drop;
			p->last = (i + p->n) % __WEIR_ROLE_MAX;
			check(p, NOBODYS_ZONE, &m);
		}
}

/* All roles and all states in every order, up to eight backends: four primaries
 * with four failovers, and more.
 */
static void set_is_that_of_the_model_up_to_eight(void **state)
{
	struct pool p = {
		.policy.zonal_affinity = WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE,
	};
	u32 healthy, failover, i;

	(void)state;
	for (p.n = 0; p.n <= 8; p.n++)
		for (healthy = 0; healthy < 1U << p.n; healthy++)
			for (failover = 0; failover < 1U << p.n; failover++) {
				for (i = 0; i < p.n; i++) {
					p.c[i].healthy = healthy >> i & 1;
					p.c[i].failover = failover >> i & 1;
				}
				each_ratio(&p);
			}
}

static void each_policy(struct pool *p)
{
	static const u32 few[] = { 0, 1, 500000, 750000, 1000000 };
	unsigned int spill, i;
	struct model m;

	for (i = 0; i < 2 * 2 * 3; i++) {
		p->policy.drop_if_unhealthy = i & 1;
		p->policy.failover_ratio = i & 2 ? 1000000 : 0;
		p->last = i >> 2;
		p->policy.zonal_affinity = WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE;
		check(p, 1, &m);
		p->policy.zonal_affinity = WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE;
		for (spill = 0; spill < ARRAY_SIZE(few); spill++) {
			p->policy.spill_ratio = few[spill];
			check(p, 1, &m);
		}
	}
}

/* Each backend: role, health, here or elsewhere; or draining here, in perfect
 * health.
 */
static void zone_is_that_of_the_model_up_to_four(void **state)
{
	u32 kinds = 9, number, rest, all, i;
	struct pool p = {};

	(void)state;
	for (p.n = 0, all = 1; p.n <= 4; p.n++, all *= kinds)
		for (number = 0; number < all; number++) {
			for (i = 0, rest = number; i < p.n; i++, rest /= kinds) {
				u32 kind = rest % kinds;

				p.c[i].healthy = kind & 1 || kind == 8;
				p.c[i].failover = kind & 2;
				p.c[i].zone = kind & 4 ? 2 : 1;
				p.c[i].draining = kind == 8;
			}
			each_policy(&p);
		}
}

/* ---- random pools ---- */

static bool chance(u32 percent)
{
	return unit_below(100) < percent;
}

/* One of @n percentages. */
static u32 one_of(const u8 *percent, u32 n)
{
	return percent[unit_below(n)];
}

/* What @n of @of just reach, or just miss by at most a millionth. */
static u32 near(u32 n, u32 of)
{
	u32 ratio = n * WEIR_RATIO_ONE / of + unit_below(2);

	return ratio < WEIR_RATIO_ONE ? ratio : WEIR_RATIO_ONE;
}

/* Mostly near what few backends can have. */
static u32 random_ratio(void)
{
	u32 of = 1 + unit_below(8);

	if (chance(15))
		return 0;
	if (chance(30))
		return ratios[unit_below(ARRAY_SIZE(ratios))];
	if (chance(20))
		return unit_below(WEIR_RATIO_ONE + 1);

	return near(unit_below(of + 1), of);
}

static struct weir_weight random_weight(u32 spoilt, u32 zero)
{
	static const u8 good[] = {
		WEIR_WEIGHT_STATE_NONE,
		WEIR_WEIGHT_STATE_VALID,
		WEIR_WEIGHT_STATE_UNAVAILABLE,
	};
	struct weir_weight w = {
		.configured = chance(zero) ? 0 : unit_below(WEIR_WEIGHT_MAX + 1),
		.state = good[unit_below(ARRAY_SIZE(good))],
		.has_report = unit_below(2),
	};

	if (chance(spoilt))
		w.state = unit_below(2) ? WEIR_WEIGHT_STATE_MISSING :
					  WEIR_WEIGHT_STATE_INVALID;
	if (w.state == WEIR_WEIGHT_STATE_VALID)
		w.has_report = true;
	if (w.has_report && !chance(zero))
		w.reported = unit_below(WEIR_WEIGHT_MAX + 1);

	return w;
}

static void swap(struct pool *p, u32 i, u32 j)
{
	struct weir_candidate c = p->c[i];
	struct weir_weight w = p->w[i];

	p->c[i] = p->c[j];
	p->w[i] = p->w[j];
	p->c[j] = c;
	p->w[j] = w;
}

static void shuffle(struct pool *p)
{
	u32 i;

	for (i = p->n; i > 1; i--)
		swap(p, i - 1, unit_below(i));
}

/* Members of a group share role and zone, and often their fate. */
static void add_group(struct pool *p, u32 most, bool failover, u32 draining)
{
	static const u8 percents[] = { 0, 0, 50, 75, 90, 100 };
	static const u8 spoilers[] = { 0, 0, 0, 5 };
	static const u8 zeros[] = { 0, 10, 90, 100, 100 };
	u32 zone = unit_below(4), members = unit_below(most + 1);
	u32 healthy = one_of(percents, sizeof(percents));
	u32 spoilt = one_of(spoilers, sizeof(spoilers));
	u32 zero = one_of(zeros, sizeof(zeros));

	for (; members; members--, p->n++) {
		p->c[p->n] = (struct weir_candidate) {
			.healthy = chance(healthy),
			.failover = failover,
			.draining = chance(draining),
			.zone = zone,
		};
		p->w[p->n] = random_weight(spoilt, zero);
	}
}

/* Ratios near the very shares of this pool: of the primaries, and of all in a zone. */
static void sharpen(struct pool *p)
{
	struct weir_tally primary = {}, there = {};
	u32 i;

	for (i = 0; i < p->n; i++) {
		if (p->c[i].draining)
			continue;
		if (!p->c[i].failover) {
			primary.all++;
			primary.healthy += p->c[i].healthy;
		}
		if (p->c[i].zone == 1) {
			there.all++;
			there.healthy += p->c[i].healthy;
		}
	}
	if (primary.all)
		p->policy.failover_ratio = near(primary.healthy, primary.all);
	if (there.all)
		p->policy.spill_ratio = near(there.healthy, there.all);
}

/* Up to five groups; @room backends stay free. */
static void deal(struct pool *p, u32 room)
{
	static const u8 failovers[] = { 0, 40, 50, 50, 100 };
	static const u8 drains[] = { 0, 0, 20, 60 };
	u32 most = chance(5) ? (LARGEST - room) / 5 : 1 + unit_below(6);
	u32 failover = one_of(failovers, sizeof(failovers));
	u32 draining = one_of(drains, sizeof(drains));
	u32 groups = 1 + unit_below(5);
	bool dead = chance(25);
	u32 i;

	*p = (struct pool) {
		.policy.failover_ratio = random_ratio(),
		.policy.drop_if_unhealthy = unit_below(2),
		.policy.zonal_affinity = WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE +
					 unit_below(2),
		.policy.spill_ratio = random_ratio(),
		.last = unit_below(__WEIR_ROLE_MAX),
		.weighted = chance(80),
		.reports = unit_below(2),
	};
	while (groups--)
		add_group(p, most, chance(failover), draining);
	for (i = 0; dead && i < p->n; i++)
		p->c[i].healthy = false;
	if (chance(20))
		sharpen(p);
	shuffle(p);
}

static u32 seen[__WEIR_ELIGIBLE_MAX][__WEIR_ZONAL_AFFINITY_MAX]
	       [__WEIR_ZONAL_MAX];

static bool is_possible(u8 eligible, bool spill, u8 zonal)
{
	switch (eligible) {
	case WEIR_ELIGIBLE_NO_BACKENDS:
	case WEIR_ELIGIBLE_DROP:
		return zonal == WEIR_ZONAL_NO_MATCH;
	case WEIR_ELIGIBLE_LAST_RESORT:
	case WEIR_ELIGIBLE_LAST_PRIMARIES:
		return zonal == WEIR_ZONAL_NO_MATCH ||
		       zonal == (spill ? WEIR_ZONAL_NOBODY : WEIR_ZONAL_WITHIN);
	default:
		return zonal == WEIR_ZONAL_NO_MATCH ||
		       zonal == WEIR_ZONAL_WITHIN ||
		       zonal == (spill ? WEIR_ZONAL_SPILL : WEIR_ZONAL_UNHEALTHY);
	}
}

/* Every cell of the tables was met often, and those that cannot happen never. */
static void check_seen(void)
{
	u8 eligible, affinity, zonal;

	for (eligible = 0; eligible < __WEIR_ELIGIBLE_MAX; eligible++)
		for (affinity = WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE;
		     affinity <= WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE; affinity++)
			for (zonal = 0; zonal < __WEIR_ZONAL_MAX; zonal++) {
				u32 n = seen[eligible][affinity][zonal];
				bool spill = affinity ==
					     WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE;

				if (is_possible(eligible, spill, zonal) ?
				    n < ENOUGH : n > 0)
					fail_msg("%u, affinity %u, zonal %u: %u times",
						 eligible, affinity, zonal, n);
			}
}

static void all_is_that_of_the_model(void **state)
{
	u32 i, zone, equal_failover = 0, equal_spill = 0;
	u32 weighting[__WEIR_WEIGHTING_MAX] = {};
	struct pool p;
	struct model m;

	(void)state;
	for (i = 0; i < RANDOM_POOLS; i++) {
		deal(&p, 0);
		for (zone = 1; zone <= 4; zone++) {
			check(&p, zone, &m);
			seen[m.eligible][p.policy.zonal_affinity][m.zonal]++;
			weighting[m.weighting]++;
			equal_failover += m.equal_failover;
			equal_spill += m.equal_spill;
		}
	}

	check_seen();
	assert_true(equal_failover >= ENOUGH);
	assert_true(equal_spill >= ENOUGH);
	for (i = 0; i < __WEIR_WEIGHTING_MAX; i++)
		assert_true(weighting[i] >= ENOUGH);
}

/* The same pool in another order, with strangers in between. A backend's configured
 * weight says which it is, and need not be what it weighs.
 */
static struct pool mix(struct pool *p)
{
	struct pool mixed;
	u32 i, n;

	for (i = 0; i < p->n; i++)
		p->w[i].configured = i;
	mixed = *p;
	for (n = unit_below(LARGEST / 4); n; n--) {
		i = mixed.n++;
		mixed.c[i].healthy = unit_below(2);
		mixed.c[i].failover = unit_below(2);
		mixed.c[i].draining = true;
		mixed.c[i].zone = unit_below(4);
		mixed.w[i] = random_weight(50, 10);
		mixed.w[i].configured = i;
	}
	shuffle(&mixed);

	return mixed;
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->roles.reason, b->roles.reason);
	assert_int_equal(a->roles.role, b->roles.role);
	assert_int_equal(a->roles.n, b->roles.n);
	assert_true(tally_is(&a->roles.primary, b->roles.primary.all,
			     b->roles.primary.healthy));
	assert_true(tally_is(&a->roles.failover, b->roles.failover.all,
			     b->roles.failover.healthy));
	assert_int_equal(a->zonal.reason, b->zonal.reason);
	assert_int_equal(a->zonal.n, b->zonal.n);
	assert_true(tally_is(&a->zonal.in_zone, b->zonal.in_zone.all,
			     b->zonal.in_zone.healthy));
	assert_int_equal(a->weighting, b->weighting);
}

/* Without the model: each backend has what it had, and who drains has nothing. */
static void order_and_draining_change_nothing(void **state)
{
	struct outcome before, after;
	struct pool p, mixed;
	u32 i, r, was;

	(void)state;
	for (r = 0; r < MIXED_POOLS; r++) {
		deal(&p, LARGEST / 4);
		mixed = mix(&p);
		run(&p, 1, &before);
		run(&mixed, 1, &after);
		check_same(&before, &after);
		for (i = 0; i < mixed.n; i++) {
			bool old = mixed.w[i].configured < p.n;

			was = old ? mixed.w[i].configured : 0;
			assert_int_equal(test_bit(i, after.eligible),
					 old && test_bit(was, before.eligible));
			assert_int_equal(test_bit(i, after.in_zone),
					 old && test_bit(was, before.in_zone));
			assert_int_equal(after.effective[i],
					 old ? before.effective[was] : 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_is_that_of_the_model_up_to_eight),
		cmocka_unit_test(zone_is_that_of_the_model_up_to_four),
		cmocka_unit_test(all_is_that_of_the_model),
		cmocka_unit_test(order_and_draining_change_nothing),
	};

	return cmocka_run_group_tests_name("eligible_property", tests, unit_seed,
					   NULL);
}
