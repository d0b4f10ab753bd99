/* SPDX-License-Identifier: GPL-2.0 */
/*
 * weir - which backends of a service may be chosen (semantics 2.1 to 2.3).
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
 *
 * A draining backend counts in no ratio and no set: it is not passed in.
 */
struct weir_candidate {
	bool	healthy;
	bool	failover;
};

/**
 * struct weir_policy - the service's failover policy
 * @failover_ratio: millionths, 0 to WEIR_RATIO_ONE
 * @drop_if_unhealthy: nobody healthy means nobody eligible
 *
 * Means nothing while failover is off.
 */
struct weir_policy {
	u32	failover_ratio;
	bool	drop_if_unhealthy;
};

/**
 * struct weir_role_set - the outcome
 * @reason: enum weir_eligible
 * @n: backends in the set
 */
struct weir_role_set {
	u8	reason;
	u32	n;
};

/**
 * weir_eligible_choose() - choose the eligible set
 * @p: the policy
 * @c: the backends of the service which are not draining
 * @n: how many
 * @eligible: bitmap of @n bits, owned by the caller; its BITS_TO_LONGS(@n)
 *	words are overwritten: bit i is set if @c[i] may be chosen
 *
 * Failover is on only with at least one primary and at least one failover
 * member in @c. The ratio is compared exactly, as integers.
 *
 * Context: any.
 * Return: the reason and the number of bits set; n == 0 only for
 * WEIR_ELIGIBLE_NO_BACKENDS and WEIR_ELIGIBLE_DROP.
 */
struct weir_role_set weir_eligible_choose(const struct weir_policy *p,
					  const struct weir_candidate *c,
					  u32 n, unsigned long *eligible);

#endif /* WEIR_ELIGIBLE_H */
