/* SPDX-License-Identifier: GPL-2.0 */
/*
 * direct - forwarding without translation
 */
#ifndef WEIR_DIRECT_H
#define WEIR_DIRECT_H

#include <linux/types.h>

struct weir_config;
struct weir_match;
struct weir_net;
struct weir_tuple;

/**
 * weir_direct_enable() - register the hooks of one family, once
 * @family: AF_INET or AF_INET6
 * weir_net.lock held, may sleep. Return: 0 or an errno.
 */
int weir_direct_enable(struct weir_net *wn, u8 family);

/**
 * weir_direct_disable() - unregister what is registered
 *
 * A grace period later no packet is with us, on no queue either. May sleep.
 */
void weir_direct_disable(struct weir_net *wn);

/**
 * weir_direct_key() - what selects and tracks a packet, of either direction
 * @tuple: as it came; where both directions choose alike (semantics 6.6) written anew,
 *	the same for both
 */
void weir_direct_key(const struct weir_match *match, struct weir_tuple *tuple);

/**
 * weir_direct_prefix() - the rule of a next hop that takes a packet which no exact rule has
 * @tuple: of a packet that comes in outside of VRFs, and not from a next hop
 * @match: written on success
 *
 * RCU read lock.
 */
bool weir_direct_prefix(struct weir_net *wn, const struct weir_config *cfg,
			const struct weir_tuple *tuple, struct weir_match *match);

#endif /* WEIR_DIRECT_H */
