// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include <linux/weir.h>

#include "encode.h"
#include "log.h"
#include "report.h"
#include "roster.h"

#define SOON		(5 * WEIR_MS)	/* for what else comes of the same cause */
#define LATER		(200 * WEIR_MS)
/* Bytes of one report at most, with a name and an address as long as can be. */
#define REPORT_MAX	256
#define AGAIN		WEIR_SECOND
/* A change is a configuration to be made and a grace period: let others at it too. */
#define REST		4		/* times what the last sending took */

static void fire(struct weir_timer *timer)
{
	weir_report_flush(weir_holder(timer, struct weir_report, timer));
}

void weir_report_init(struct weir_report *report, struct weir_loop *loop,
		      struct weir_nl *nl, void (*lost)(const char *why))
{
	memset(report, 0, sizeof(*report));
	report->loop = loop;
	report->nl = nl;
	report->lost = lost;
	report->timer.fire = fire;
	report->last = &report->first;
}

static void unlink_check(struct weir_report *report, struct weir_check *check)
{
	*check->prev = check->next;
	if (check->next)
		check->next->prev = check->prev;
	else
		report->last = check->prev;
	check->queued = false;
}

void weir_report_queue(struct weir_report *report, struct weir_check *check,
		       bool urgent)
{
	uint64_t when = weir_loop_now() + (urgent ? SOON : LATER);

	if (when < report->rested)
		when = report->rested;
	if (!report->timer.place || when < report->timer.when)
		weir_loop_arm(report->loop, &report->timer, when);
	if (check->queued)
		return;
	check->queued = true;
	check->next = NULL;
	check->prev = report->last;
	*report->last = check;
	report->last = &check->next;
}

void weir_report_forget(struct weir_check *check)
{
	if (check->queued)
		unlink_check(check->service->roster->report, check);
}

static void put_weight(struct nlmsghdr *nlh, const struct weir_check *check)
{
	const struct weir_probe_result *last = &check->last;

	/* Those of a line that asked for them rule no more, and not again either. */
	if (!check->service->line.weights)
		mnl_attr_put_u8(nlh, WEIR_BACKEND_A_WEIGHT_STATE,
				WEIR_WEIGHT_STATE_NONE);
	else if (last->weight_state != WEIR_WEIGHT_STATE_NONE)
		mnl_attr_put_u8(nlh, WEIR_BACKEND_A_WEIGHT_STATE,
				last->weight_state);
	if (last->weight_state == WEIR_WEIGHT_STATE_VALID)
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_REPORTED, last->weight);
}

/* A probe that could not be made is told, so that nobody takes what was found long ago
 * for news; but it changes nothing. */
static void put_check(struct nlmsghdr *nlh, const struct weir_check *check)
{
	const struct weir_probe_result *last = &check->last;
	struct nlattr *report, *backend;

	report = mnl_attr_nest_start(nlh, WEIR_A_REPORT);
	mnl_attr_put_strz(nlh, WEIR_REPORT_A_SERVICE_NAME, check->service->name);
	backend = mnl_attr_nest_start(nlh, WEIR_REPORT_A_BACKEND);
	weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &check->addr);
	if (check->judge.state != WEIR_HEALTH_AUTO)
		mnl_attr_put_u8(nlh, WEIR_BACKEND_A_CHECK, check->judge.state);
	if (!last->local)
		put_weight(nlh, check);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_PROBE_PASSED, last->passed);
	mnl_attr_put_u32(nlh, WEIR_BACKEND_A_PROBE_RUN,
			 last->local ? check->local : check->judge.run);
	mnl_attr_put_strz(nlh, WEIR_BACKEND_A_PROBE_TEXT, last->text);
	mnl_attr_nest_end(nlh, backend);
	mnl_attr_nest_end(nlh, report);
}

/* As many as fit. Returns how many. */
static unsigned int put_some(const struct weir_report *report,
			     struct nlmsghdr *nlh)
{
	const struct weir_check *check;
	unsigned int n = 0;

	for (check = report->first;
	     check && nlh->nlmsg_len + REPORT_MAX <= WEIR_MESSAGE_MAX;
	     check = check->next, n++)
		put_check(nlh, check);
	return n;
}

/* The module is gone, or another one, or not ours to change any more. */
static bool is_final(const struct weir_err *err)
{
	return err->num == ENOENT || err->num == EPERM ||
	       err->num == EOPNOTSUPP || err->num == ESHUTDOWN;
}

static void fail(struct weir_report *report, const struct weir_err *err)
{
	if (is_final(err)) {
		report->lost(err->text);
		return;
	}
	if (!report->failed)
		weir_log(WEIR_LOG_ERROR, "cannot report, will try again: %s",
			 err->text);
	report->failed = true;
	weir_loop_arm(report->loop, &report->timer, weir_loop_now() + AGAIN);
}

void weir_report_flush(struct weir_report *report)
{
	uint64_t begun = weir_loop_now();
	struct weir_err err;
	unsigned int n;

	weir_loop_disarm(report->loop, &report->timer);
	while (report->first) {
		struct nlmsghdr *nlh = weir_nl_begin(report->nl,
						     WEIR_CMD_REPORT);

		n = put_some(report, nlh);
		if (weir_nl_call(report->nl, nlh, NULL, NULL, &err)) {
			fail(report, &err);
			return;
		}
		while (n--)
			unlink_check(report, report->first);
	}
	report->failed = false;
	report->rested = weir_loop_now() + REST * (weir_loop_now() - begun);
}
