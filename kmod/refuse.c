// SPDX-License-Identifier: GPL-2.0
/*
 * refuse - say in the extended ack why a request is not carried out
 *
 * The acknowledgement is written after the handler has returned and without any
 * lock, so the text must outlive both. It stands in a ring of fixed slots. A
 * slot always holds a string of the same length, padded with blanks and written
 * without an intermediate NUL: whoever wins a race for a slot, the kernel finds
 * a whole string of the length that it measured before it copied.
 */
#include <linux/atomic.h>
#include <linux/kernel.h>
#include <linux/netlink.h>
#include <linux/string.h>

#include "refuse.h"

#define SLOTS	64

static char slots[SLOTS][WEIR_REFUSE_LEN + 1];
static atomic_t next_slot;

static __printf(2, 0)
void set_message(struct netlink_ext_ack *extack, const char *fmt, va_list args)
{
	char text[WEIR_REFUSE_LEN + 1];
	char *slot;
	int len;

	len = vscnprintf(text, sizeof(text), fmt, args);
	memset(text + len, ' ', WEIR_REFUSE_LEN - len);
	slot = slots[(u32)atomic_inc_return(&next_slot) % SLOTS];
	memcpy(slot, text, WEIR_REFUSE_LEN);
	extack->_msg = slot;
}

int weir_refuse(struct netlink_ext_ack *extack, int err, const char *fmt, ...)
{
	va_list args;

	if (extack) {
		va_start(args, fmt);
		set_message(extack, fmt, args);
		va_end(args);
	}
	return err;
}

int weir_refuse_attr(struct netlink_ext_ack *extack, const struct nlattr *attr,
		     int err, const char *fmt, ...)
{
	va_list args;

	if (extack) {
		va_start(args, fmt);
		set_message(extack, fmt, args);
		va_end(args);
		extack->bad_attr = attr;
	}
	return err;
}
