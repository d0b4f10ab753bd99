/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sysctl - net.weir.*, per network namespace
 */
#ifndef WEIR_SYSCTL_H
#define WEIR_SYSCTL_H

struct weir_net;

/**
 * weir_sysctl_init() - register the table of a namespace; may sleep
 * Return: 0 or -ENOMEM.
 */
int weir_sysctl_init(struct weir_net *wn);

/**
 * weir_sysctl_exit() - no handler runs after this; may sleep
 */
void weir_sysctl_exit(struct weir_net *wn);

#endif /* WEIR_SYSCTL_H */
