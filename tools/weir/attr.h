/* SPDX-License-Identifier: GPL-2.0 */
/* The attributes of one level of a message, each checked for type and length
 * before it is used. Pure; for the decoders alone. */
#ifndef WEIR_ATTR_H
#define WEIR_ATTR_H

#include <libmnl/libmnl.h>
#include <stddef.h>
#include <stdint.h>

#include "value.h"

#define WEIR_ATTRS_MAX	64	/* of one level; a bit each in a u64 */

/* Kinds of attribute: a length in bytes, or one of these. */
enum { NONE, U8 = 1, U16 = 2, U32 = 4, U64 = 8, STRING = 100, ADDR, BYTES,
       NEST, FLAG };

typedef const uint8_t weir_policy[WEIR_ATTRS_MAX];

/* A later one of the same type wins. */
struct weir_attrs {
	const struct nlattr *a[WEIR_ATTRS_MAX];
	uint64_t set;
};

/* -1 if one has the wrong length; one that the policy does not know is
 * skipped. */
int weir_attrs_nest(const struct nlattr *a, weir_policy policy,
		    struct weir_attrs *attrs);
/* The top level of a message of our family. */
int weir_attrs_top(const struct nlmsghdr *nlh, struct weir_attrs *attrs);

/* What is absent is 0, "" and an address of no bytes. */
uint64_t weir_attr_num(const struct weir_attrs *attrs, unsigned int type);
void weir_attr_str(const struct weir_attrs *attrs, unsigned int type, char *to,
		   size_t size);
void weir_attr_addr(const struct weir_attrs *attrs, unsigned int type,
		    struct weir_addr *addr);

#endif
