/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stay - may a live flow keep its backend?
 */
#ifndef WEIR_STAY_H
#define WEIR_STAY_H

#include <linux/weir.h>

struct nf_conn;
struct weir_addr;
struct weir_binding;
struct weir_config;

/**
 * weir_stay() - judge a flow by what is configured now (semantics 1.7)
 * @ct: an entry of ours, any direction of packet
 * @binding: its binding
 *
 * RCU read lock. Return: YES, GONE, UNHEALTHY, FAILOVER or, when the rule that led
 * to it is gone or a more specific one leads elsewhere, UNBOUND.
 */
enum weir_stay weir_stay(const struct weir_config *cfg,
			 const struct nf_conn *ct,
			 const struct weir_binding *binding);

/**
 * weir_stay_with() - may what is tracked for a client stay with a backend?
 * @binding: of the backend and the protocol
 * @family: AF_INET or AF_INET6
 * @client: address
 *
 * RCU read lock. Return: YES, GONE, UNHEALTHY or FAILOVER.
 */
enum weir_stay weir_stay_with(const struct weir_config *cfg,
			      const struct weir_binding *binding, u8 family,
			      const struct weir_addr *client);

#endif /* WEIR_STAY_H */
