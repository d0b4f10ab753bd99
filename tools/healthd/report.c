// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <linux/weir.h>

#include "encode.h"
#include "report.h"
#include "roster.h"

#define MS		1000000ull
#define SOON		(5 * MS)	/* for what else comes of the same cause */
#define LATER		(200 * MS)
/* Bytes of one report at most, with a name and an address as long as can be. */
#define REPORT_MAX	256

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
	if (check->service->line.weights &&
	    last->weight_state != WEIR_WEIGHT_STATE_NONE)
		mnl_attr_put_u8(nlh, WEIR_BACKEND_A_WEIGHT_STATE,
				last->weight_state);
	if (check->service->line.weights &&
	    last->weight_state == WEIR_WEIGHT_STATE_VALID)
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_REPORTED, last->weight);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_PROBE_PASSED, check->judge.passed);
	mnl_attr_put_u32(nlh, WEIR_BACKEND_A_PROBE_RUN, check->judge.run);
	mnl_attr_put_strz(nlh, WEIR_BACKEND_A_PROBE_TEXT, last->text);
	mnl_attr_nest_end(nlh, backend);
	mnl_attr_nest_end(nlh, report);
}

void weir_report_flush(struct weir_report *report)
{
	struct weir_err err;

	weir_loop_disarm(report->loop, &report->timer);
	while (report->first) {
		struct nlmsghdr *nlh = weir_nl_begin(report->nl,
						     WEIR_CMD_REPORT);

		while (report->first &&
		       nlh->nlmsg_len + REPORT_MAX <= WEIR_MESSAGE_MAX) {
			put_check(nlh, report->first);
			unlink_check(report, report->first);
		}
		if (weir_nl_call(report->nl, nlh, NULL, NULL, &err)) {
			report->lost(err.text);
			return;
		}
	}
}
