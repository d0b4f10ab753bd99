/* SPDX-License-Identifier: GPL-2.0 */
/*
 * weir - which backends of a service may be chosen (semantics 2.1 to 3.6, 4)
 *
 * Pure: no allocation, no lock; may be called in any context.
 */
#ifndef WEIR_ELIGIBLE_H
#define WEIR_ELIGIBLE_H

#include <linux/types.h>
#include <linux/weir.h>

/**
 * struct weir_candidate - a backend that takes part
 * @healthy: what counts after the operator's override
 * @failover: member of a failover group, else of a primary one
 * @draining: counts in no ratio and no set (decision 4), and is never chosen
 * @zone: number of its group's zone, 0 for none
 */
struct weir_candidate {
	bool	healthy;
	bool	failover;
	bool	draining;
	u32	zone;
};

/**
 * struct weir_policy - the service's failover policy and zonal affinity
 * @failover_ratio: millionths, 0 to WEIR_RATIO_ONE
 * @drop_if_unhealthy: nobody healthy means nobody eligible
 * @zonal_affinity: enum weir_zonal_affinity
 * @spill_ratio: millionths, 0 to WEIR_RATIO_ONE
 *
 * The first two mean nothing while failover is off.
 */
struct weir_policy {
	u32	failover_ratio;
	bool	drop_if_unhealthy;
	u8	zonal_affinity;
	u32	spill_ratio;
};

/* Members of one role. */
struct weir_tally {
	u32	all;
	u32	healthy;
};

/**
 * struct weir_role_set - the outcome
 * @reason: enum weir_eligible
 * @role: enum weir_role, of which members the set is
 * @n: backends in the set
 * @primary: the primaries
 * @failover: the failover members
 */
struct weir_role_set {
	u8	reason;
	u8	role;
	u32	n;
	struct weir_tally primary;
	struct weir_tally failover;
};

/**
 * struct weir_zone_set - what zonal affinity makes of it for clients of a zone
 * @reason: enum weir_zonal_reason
 * @n: backends in the set
 * @in_zone: members of the role in use there; @in_zone.healthy are healthy and in
 *	the eligible set
 */
struct weir_zone_set {
	u8	reason;
	u32	n;
	struct weir_tally in_zone;
};

/**
 * weir_eligible_choose() - choose the eligible set
 * @p: the policy
 * @c: the backends of the service
 * @n: how many
 * @last: enum weir_role that was in use before; stays while the set is empty for
 *	WEIR_ELIGIBLE_DROP (decision 18)
 * @eligible: bitmap of @n bits, owned by the caller; its BITS_TO_LONGS(@n)
 *	words are overwritten: bit i is set if @c[i] may be chosen
 *
 * Failover is on only with at least one primary and at least one failover
 * member in @c. The ratio is compared exactly, as integers.
 *
 * Context: any.
 * Return: the reason, the role, the number of bits set (0 only for
 * WEIR_ELIGIBLE_NO_BACKENDS and WEIR_ELIGIBLE_DROP) and both tallies.
 */
struct weir_role_set weir_eligible_choose(const struct weir_policy *p,
					  const struct weir_candidate *c,
					  u32 n, u8 last,
					  unsigned long *eligible);

/**
 * weir_eligible_zone() - the set for clients of one zone (semantics 3.2 to 3.5)
 * @p: the policy, with zonal affinity on
 * @set: what weir_eligible_choose() returned for the same backends
 * @c: the backends of the service
 * @n: how many
 * @eligible: what it wrote
 * @zone: number of the clients' zone, not 0
 * @in_zone: bitmap of @n bits, owned by the caller, overwritten
 *
 * Context: any.
 * Return: the reason, the number of bits set and the tally.
 */
struct weir_zone_set weir_eligible_zone(const struct weir_policy *p,
					const struct weir_role_set *set,
					const struct weir_candidate *c, u32 n,
					const unsigned long *eligible, u32 zone,
					unsigned long *in_zone);

/**
 * struct weir_weight - what is known of a backend's weight
 * @configured: 0 to WEIR_WEIGHT_MAX, by the operator
 * @reported: the checker's last valid report, 0 to WEIR_WEIGHT_MAX
 * @has_report: there was a valid one
 * @state: enum weir_weight_state, of the checker's last word
 */
struct weir_weight {
	u16	configured;
	u16	reported;
	bool	has_report;
	u8	state;
};

/**
 * weir_weights() - the weights in force (semantics 4)
 * @weighted: the locality is a weighted kind
 * @reports: the checker's reports rule, not the operator's numbers
 * @w: the backends of the service
 * @c: the same backends; draining ones do not count
 * @n: how many
 * @eligible: bitmap of @n bits, the set that shares
 * @effective: @n weights, overwritten; 0 for who is not in @eligible or gets no new
 *	selections
 *
 * One missing or invalid report of a backend that is not draining makes the whole
 * service equal. Without a report yet, or with one that is unavailable, the last
 * valid one rules, and before there was one the configured weight does.
 *
 * Context: any.
 * Return: enum weir_weighting; but for WEIR_WEIGHTING_ON all of @eligible weigh 1.
 */
u8 weir_weights(bool weighted, bool reports, const struct weir_weight *w,
		const struct weir_candidate *c, u32 n,
		const unsigned long *eligible, u16 *effective);

#endif /* WEIR_ELIGIBLE_H */
