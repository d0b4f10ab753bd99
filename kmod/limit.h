/* SPDX-License-Identifier: GPL-2.0 */
/*
 * limit - keeps flows below net.weir.max_flows, and closed ones short-lived when the
 * conntrack table fills
 *
 * Conntrack allocates before any hook of ours sees a packet, and tells nobody when an
 * entry goes: there is no refusing a flow, nor an exact count. So a timer looks at the
 * number of entries, and a walk removes what is worth least: unanswered flows first,
 * then closed ones, then the least recently used.
 */
#ifndef WEIR_LIMIT_H
#define WEIR_LIMIT_H

#include <linux/types.h>

struct weir_net;

/**
 * weir_limit_init() - prepare the timer of a namespace
 */
void weir_limit_init(struct weir_net *wn);

/**
 * weir_limit_start() - begin to look; again and again does no harm
 */
void weir_limit_start(struct weir_net *wn);

/**
 * weir_limit_exit() - no walk runs after this; may sleep
 */
void weir_limit_exit(struct weir_net *wn);

/**
 * weir_limit_effective() - flows that may be tracked, 0 for no limit
 *
 * 90 % of nf_conntrack_max unless net.weir.max_flows was written.
 */
u32 weir_limit_effective(const struct weir_net *wn);

#endif /* WEIR_LIMIT_H */
