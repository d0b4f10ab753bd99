/* SPDX-License-Identifier: GPL-2.0 */
/*
 * finish - from what is configured to what packets need: health, eligible set,
 * table, run-time halves
 */
#ifndef WEIR_FINISH_H
#define WEIR_FINISH_H

#include <linux/siphash.h>

struct netlink_ext_ack;
struct weir_net;
struct weir_service;

/**
 * weir_finish_inherit() - take over what the operator does not configure
 * @svc: private service
 * @was: the live one of the same name
 *
 * Health check results and run-time halves follow the backend's address, however
 * the new version came about. So does draining: what was live and is not in @svc
 * stays there for drain-timeout, unless it was removed with "now".
 *
 * weir_net.lock held, may sleep. Return: 0 or -ENOMEM.
 */
int weir_finish_inherit(struct weir_service *svc,
			const struct weir_service *was);

/**
 * weir_finish() - validate a service as a whole and derive the rest
 * @svc: private service, written
 * @was: the live one if its table may be shared, else NULL
 * @key: hash key
 *
 * weir_net.lock held, may sleep. Return: 0, -EINVAL, -ENOSPC (both with a
 * message) or -ENOMEM.
 */
int weir_finish(struct weir_net *wn, struct weir_service *svc,
		const struct weir_service *was, const siphash_key_t *key,
		struct netlink_ext_ack *extack);

#endif /* WEIR_FINISH_H */
