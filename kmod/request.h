/* SPDX-License-Identifier: GPL-2.0 */
/*
 * request - one change, as a message asks for it, on a draft
 */
#ifndef WEIR_REQUEST_H
#define WEIR_REQUEST_H

#include <linux/types.h>

struct netlink_ext_ack;
struct nlattr;
struct weir_draft;

/**
 * weir_request_apply() - change @draft as the command says
 * @cmd: enum weir_cmd, SERVICE_ADD to ZONE_DEL
 * @attrs: WEIR_A_MAX + 1 of them, validated by the command's policy
 *
 * weir_net.lock held, may sleep. Return: 0, or the errno of a refusal, which
 * has an extended-ack message and leaves the draft as it was.
 */
int weir_request_apply(u8 cmd, struct nlattr **attrs, struct weir_draft *draft,
		       struct netlink_ext_ack *extack);

#endif /* WEIR_REQUEST_H */
