/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ctstat - what the kernel's conntrack has counted itself
 *
 * A packet that conntrack drops never reaches us: whoever asks where packets
 * went needs these beside our own reasons.
 */
#ifndef WEIR_CTSTAT_H
#define WEIR_CTSTAT_H

#include <linux/types.h>

struct net;

struct weir_ctstat {
	const char *name;		/* one word */
	const char *text;		/* one line */
	u64 packets;
};

/**
 * weir_ctstat_read() - one counter, over all CPUs
 * @i: from 0 on
 * @stat: written
 * Return: false when there is no counter @i.
 */
bool weir_ctstat_read(const struct net *net, unsigned int i,
		      struct weir_ctstat *stat);

#endif /* WEIR_CTSTAT_H */
