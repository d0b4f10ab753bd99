/* SPDX-License-Identifier: GPL-2.0 */
/* What was found -> the kernel, many at a time. */
#ifndef WEIR_REPORT_H
#define WEIR_REPORT_H

#include "loop.h"
#include "nl.h"

struct weir_check;

struct weir_report {
	struct weir_loop *loop;
	struct weir_nl *nl;
	struct weir_timer timer;
	struct weir_check *first, **last;
	uint64_t rested;		/* not before then, ns */
	bool failed;			/* the last try */
	void (*lost)(const char *why);	/* the kernel does not take them */
};

/* NL is used whenever the queue is sent. */
void weir_report_init(struct weir_report *report, struct weir_loop *loop,
		      struct weir_nl *nl, void (*lost)(const char *why));
/* Its last result is to be told: URGENT ones, which change something, at once, the
 * others in a moment. */
void weir_report_queue(struct weir_report *report, struct weir_check *check,
		       bool urgent);
/* The check goes away. */
void weir_report_forget(struct weir_check *check);
/* Sends what is queued. What the kernel refuses stays so, and is tried again in a
 * second; if there is no hope, lost is called. */
void weir_report_flush(struct weir_report *report);

#endif
