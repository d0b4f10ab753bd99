/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sweep - removes conntrack entries that may not pass any more, and sessions that lead nowhere
 *
 * Hygiene only: what a packet meets is decided by the state word of its binding.
 * Entries that are left lazily (an unhealthy backend) are not touched.
 */
#ifndef WEIR_SWEEP_H
#define WEIR_SWEEP_H

struct weir_config;
struct weir_net;

/**
 * weir_sweep_init() - prepare the work item of a namespace
 */
void weir_sweep_init(struct weir_net *wn);

/**
 * weir_sweep_soon() - walk the conntrack table now, and once more a second
 *	later, for entries that were not hashed yet
 * @cfg: live for a grace period, its flags are set
 *
 * weir_net.lock. Requests are coalesced.
 */
void weir_sweep_soon(struct weir_net *wn, const struct weir_config *cfg);

/**
 * weir_sweep_all() - remove every flow of ours in this namespace
 *
 * Process context, may sleep; the caller has made sure that no new ones come.
 */
void weir_sweep_all(struct weir_net *wn);

/**
 * weir_sweep_exit() - no walk runs after this; may sleep
 */
void weir_sweep_exit(struct weir_net *wn);

#endif /* WEIR_SWEEP_H */
