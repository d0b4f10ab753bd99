/* SPDX-License-Identifier: GPL-2.0 */
/*
 * site - an address that backends have, in whatever services and states
 */
#ifndef WEIR_SITE_H
#define WEIR_SITE_H

#include <linux/types.h>

#include "tuple.h"

struct weir_net;
struct weir_site;

/**
 * weir_site_init() - before the first one of a namespace
 * May sleep. Return: 0 or negative errno.
 */
int weir_site_init(struct weir_net *wn);

/**
 * weir_site_exit() - after the last one was put; may sleep
 */
void weir_site_exit(struct weir_net *wn);

/**
 * weir_site_get() - one more backend has this address
 * @addr: copied
 * weir_net.lock held, may sleep. Return: to be put, or NULL when there is no memory.
 */
struct weir_site *weir_site_get(struct weir_net *wn, u8 family, const struct weir_addr *addr);

/**
 * weir_site_put() - a backend with this address is gone; weir_net.lock held
 */
void weir_site_put(struct weir_net *wn, struct weir_site *site);

/**
 * weir_site_is() - has a backend this address?
 * RCU read lock; any context.
 */
bool weir_site_is(struct weir_net *wn, u8 family, const struct weir_addr *addr);

/**
 * weir_site_left() - did the last backend of an address go within so many jiffies?
 * Any context.
 */
bool weir_site_left(const struct weir_net *wn, unsigned long within);

#endif /* WEIR_SITE_H */
