/* SPDX-License-Identifier: GPL-2.0 */
/*
 * report - what a health checker found
 *
 * A report that changes neither a result nor a weight, which is nearly every one,
 * costs two searches and publishes nothing.
 */
#ifndef WEIR_REPORT_H
#define WEIR_REPORT_H

#include <linux/types.h>
#include <linux/weir.h>

struct netlink_ext_ack;
struct nlattr;
struct weir_net;

/* The last probe of a backend. */
struct weir_probe {
	time64_t when;		/* when it was reported: seconds since boot */
	u32 run;		/* so many in a row came to the same */
	bool passed;
	char text[WEIR_PROBE_TEXT_MAX + 1];
};

/**
 * weir_report_take() - all reports of a message
 * @attrs: first attribute of the message, of @len bytes in all; what is no
 *	WEIR_A_REPORT is ignored
 *
 * All are judged before the first takes effect. May sleep; takes weir_net.lock.
 * Return: 0, or the errno of the refusal. -ENOMEM may come when the texts of some
 * have been stored; no result and no weight is in force then.
 */
int weir_report_take(struct weir_net *wn, const struct nlattr *attrs, int len,
		     struct netlink_ext_ack *extack);

#endif /* WEIR_REPORT_H */
