/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fast - the short way of a running flow of nat mode
 *
 * PREROUTING at -450, before defragmentation and conntrack: a packet whose flow has a
 * shortcut is translated and sent on at once. Everything that is not plain goes the long
 * way: what opens or closes a TCP connection, fragments, IP options and extension
 * headers, packets that do not fit, flows whose binding says anything at all.
 */
#ifndef WEIR_FAST_H
#define WEIR_FAST_H

#include <linux/types.h>

struct weir_net;

/**
 * weir_fast_enable() - register the hooks of a family
 * weir_net.lock held, may sleep. Return: 0 or a negative errno.
 */
int weir_fast_enable(struct weir_net *wn, u8 family);

/**
 * weir_fast_switch() - net.weir.fast_path was written
 *
 * Off, it lets go of all that it knows; on, it learns anew. Takes weir_net.lock, may
 * sleep. Return: 0 or -ENOMEM.
 */
int weir_fast_switch(struct weir_net *wn, bool on);

/**
 * weir_fast_disable() - and take out those of both; what was not registered is left
 */
void weir_fast_disable(struct weir_net *wn);

#endif /* WEIR_FAST_H */
