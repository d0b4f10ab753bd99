/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What conntrack says of itself, where its form differs between kernels.
 */
#ifndef WEIR_COMPAT_CONNTRACK_H
#define WEIR_COMPAT_CONNTRACK_H

#include <net/netfilter/nf_conntrack.h>

/* 0 is no limit. */
static inline unsigned int weir_conntrack_max(const struct net *net)
{
	return READ_ONCE(nf_conntrack_max);
}

#endif /* WEIR_COMPAT_CONNTRACK_H */
