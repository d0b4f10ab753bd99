/* SPDX-License-Identifier: GPL-2.0 */
/*
 * refuse - say in the extended ack why a request is not carried out
 *
 * The kernel's own formatted form keeps 80 bytes from 6.2 on and does not exist
 * before; a sentence that names object, attribute, value and what would be
 * right needs more.
 */
#ifndef WEIR_REFUSE_H
#define WEIR_REFUSE_H

#include <linux/compiler.h>

struct netlink_ext_ack;
struct nlattr;

#define WEIR_REFUSE_LEN		200

/**
 * weir_refuse() - set the message, and return the error
 * @extack: may be NULL
 * @err: negative errno
 * @fmt: a sentence of at most WEIR_REFUSE_LEN bytes, without a newline; names
 *	the object first ("service web: idle-timeout 30: ...")
 *
 * Any context. Return: @err.
 */
__printf(3, 4)
int weir_refuse(struct netlink_ext_ack *extack, int err, const char *fmt, ...);

/**
 * weir_refuse_attr() - the same, pointing at the attribute that is wrong
 */
__printf(4, 5)
int weir_refuse_attr(struct netlink_ext_ack *extack, const struct nlattr *attr,
		     int err, const char *fmt, ...);

#endif /* WEIR_REFUSE_H */
