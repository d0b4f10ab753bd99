/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_NETNS_H
#define WEIR_NETNS_H

#include "err.h"

/* Enters a network namespace for the rest of our life: a name of `ip netns`, a
 * process id, or a path. */
int weir_netns_enter(const char *netns, struct weir_err *err);

#endif
