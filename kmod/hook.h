/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hook - where weir sees packets
 */
#ifndef WEIR_HOOK_H
#define WEIR_HOOK_H

#include <linux/types.h>

struct weir_net;

/**
 * weir_hook_enable() - see packets of one family
 * @family: AF_INET, AF_INET6
 *
 * Comes with the first rule and stays until weir_hook_disable(): taking a hook away
 * drops what the namespace has in user-space queues. weir_net.lock held, may sleep.
 * Return: 0 or negative errno, with nothing left registered for the family.
 */
int weir_hook_enable(struct weir_net *wn, u8 family);

/**
 * weir_hook_disable() - take all hooks away, the guard last
 *
 * The caller has removed our flows. May sleep.
 */
void weir_hook_disable(struct weir_net *wn);

#endif /* WEIR_HOOK_H */
