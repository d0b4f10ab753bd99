/* SPDX-License-Identifier: GPL-2.0 */
/*
 * 6.11 made the table that a sysctl handler gets const; 6.6 made the number of
 * entries part of the registration, and 6.11 did away with the empty last one.
 * The build looks at the headers, see Kbuild.
 */
#ifndef WEIR_COMPAT_SYSCTL_H
#define WEIR_COMPAT_SYSCTL_H

#include <linux/sysctl.h>
#include <net/net_namespace.h>

#ifdef WEIR_HAVE_CONST_CTL_TABLE
#define weir_handler_table const struct ctl_table
#else
#define weir_handler_table struct ctl_table
#endif

#ifdef register_net_sysctl
#define WEIR_SYSCTL_SENTINELS	0
#define weir_register_net_sysctl(net, path, table, size) \
	register_net_sysctl_sz(net, path, table, size)
#else
#define WEIR_SYSCTL_SENTINELS	1
#define weir_register_net_sysctl(net, path, table, size) \
	register_net_sysctl(net, path, table)
#endif

#endif /* WEIR_COMPAT_SYSCTL_H */
