/* SPDX-License-Identifier: GPL-2.0 */
/*
 * others - traffic of others, which need not be in the conntrack table
 */
#ifndef WEIR_OTHERS_H
#define WEIR_OTHERS_H

#include <linux/types.h>

struct weir_net;

/**
 * weir_others_switch() - net.weir.track_others was written
 * @track: false: what is neither to a VIP nor to or from a backend gets no entry
 *
 * What has one goes on without it. Takes weir_net.lock, may sleep. Return: 0 or -ENOMEM, with
 * everything tracked.
 */
int weir_others_switch(struct weir_net *wn, bool track);

/**
 * weir_others_disable() - take the hooks out, if they are in
 *
 * Nobody switches any more, or weir_net.lock is held. May sleep.
 */
void weir_others_disable(struct weir_net *wn);

#endif /* WEIR_OTHERS_H */
