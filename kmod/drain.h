/* SPDX-License-Identifier: GPL-2.0 */
/*
 * drain - removed backends, and the time that their flows have left
 */
#ifndef WEIR_DRAIN_H
#define WEIR_DRAIN_H

#include <linux/jiffies.h>
#include <linux/types.h>

#include "service.h"

struct weir_config;
struct weir_net;

/**
 * weir_drain_is_over() - has the deadline of a draining backend come?
 */
static inline bool weir_drain_is_over(const struct weir_backend *be)
{
	return time_after_eq(jiffies, be->drain_until);
}

void weir_drain_init(struct weir_net *wn);

/**
 * weir_drain_schedule() - take out what has drained, when its time has come
 * @cfg: the configuration that was just published; weir_net.lock held
 */
void weir_drain_schedule(struct weir_net *wn, const struct weir_config *cfg);

/**
 * weir_drain_exit() - nothing is taken out any more
 *
 * May sleep; weir_net.lock not held. The namespace is closing.
 */
void weir_drain_exit(struct weir_net *wn);

#endif /* WEIR_DRAIN_H */
