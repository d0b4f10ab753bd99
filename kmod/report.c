// SPDX-License-Identifier: GPL-2.0
/*
 * report - what a health checker found
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <net/netlink.h>

#include "commit.h"
#include "config.h"
#include "dest.h"
#include "draft.h"
#include "netns.h"
#include "parse.h"
#include "policy.h"
#include "refuse.h"
#include "report.h"
#include "service.h"

/* One report, taken apart. */
struct report {
	const struct nlattr *nest;	/* BACKEND */
	char service[WEIR_NAME_MAX + 1];
	struct weir_backend_which which;
	bool has_probe;
	struct weir_probe probe;
};

/* The text comes from far away, and goes to terminals and into files. */
static int parse_text(const struct nlattr *attr, const char *label,
		      struct weir_probe *probe, struct netlink_ext_ack *extack)
{
	int i, len = nla_len(attr);
	const char *text = nla_data(attr);

	if (len && !text[len - 1])
		len--;
	if (len > WEIR_PROBE_TEXT_MAX)
		return weir_refuse_attr(extack, attr, -ERANGE,
					"%s: PROBE_TEXT of %d bytes: at most %d",
					label, len, WEIR_PROBE_TEXT_MAX);
	for (i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return weir_refuse_attr(extack, attr, -EINVAL,
						"%s: PROBE_TEXT: byte %d is 0x%02x: printable ASCII only",
						label, i, (u8)text[i]);
	memcpy(probe->text, text, len);
	probe->text[len] = '\0';
	return 0;
}

static int parse_probe(struct report *report, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_BACKEND_A_MAX + 1];
	struct weir_probe *probe = &report->probe;
	const struct nlattr *passed, *more;
	char label[128], addr[WEIR_ADDR_TEXT];
	int err;

	err = nla_parse_nested(tb, WEIR_BACKEND_A_MAX, report->nest,
			       weir_nest_backend, extack);
	if (err)
		return err;
	snprintf(label, sizeof(label), "service %s: backend %s", report->service,
		 weir_addr_text(addr, report->which.family,
				&report->which.addr));
	passed = tb[WEIR_BACKEND_A_PROBE_PASSED];
	more = tb[WEIR_BACKEND_A_PROBE_TEXT] ?: tb[WEIR_BACKEND_A_PROBE_RUN];
	if (!passed && more)
		return weir_refuse_attr(extack, more, -EINVAL,
					"%s: a probe without PROBE_PASSED says nothing",
					label);
	if (!passed)
		return 0;
	if (nla_get_u8(passed) > 1)
		return weir_refuse_attr(extack, passed, -EINVAL,
					"%s: PROBE_PASSED %u: it is 0 or 1",
					label, nla_get_u8(passed));
	report->has_probe = true;
	probe->when = ktime_get_boottime_seconds();
	probe->passed = nla_get_u8(passed);
	probe->run = 1;
	if (tb[WEIR_BACKEND_A_PROBE_RUN])
		probe->run = nla_get_u32(tb[WEIR_BACKEND_A_PROBE_RUN]);
	if (tb[WEIR_BACKEND_A_PROBE_TEXT])
		return parse_text(tb[WEIR_BACKEND_A_PROBE_TEXT], label, probe,
				  extack);
	return 0;
}

static int parse(const struct nlattr *attr, struct report *report,
		 struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_REPORT_A_MAX + 1];
	int err;

	memset(report, 0, sizeof(*report));
	err = nla_parse_nested(tb, WEIR_REPORT_A_MAX, attr, weir_nest_report,
			       extack) ?:
	      weir_parse_service_name(tb[WEIR_REPORT_A_SERVICE_NAME],
				      report->service, extack);
	if (err)
		return err;
	report->nest = tb[WEIR_REPORT_A_BACKEND];
	if (!report->nest)
		return weir_parse_missing(extack, attr, WEIR_REPORT_A_BACKEND,
					  "report: BACKEND");
	err = weir_parse_backend_which(report->nest, report->service,
				       &report->which, extack);
	if (err)
		return err;
	if (!report->which.has_addr)
		return weir_parse_missing(extack, report->nest,
					  WEIR_BACKEND_A_ADDR,
					  "report: ADDR, the backend's address,");
	return parse_probe(report, extack);
}

/* Store what was found. weir_net.lock held. */
static int note_probe(struct weir_dest *dest, const struct weir_probe *probe)
{
	if (!dest->probe)
		dest->probe = kmalloc(sizeof(*dest->probe), GFP_KERNEL_ACCOUNT);
	if (!dest->probe)
		return -ENOMEM;
	*dest->probe = *probe;
	return 0;
}

/* The live backend that a report is about, or NULL. weir_net.lock held. */
static struct weir_backend *find(struct weir_net *wn,
				 const struct report *report)
{
	const struct weir_config *cfg = rcu_dereference_protected(wn->config,
						lockdep_is_held(&wn->lock));
	struct weir_service *svc = weir_config_find(cfg, report->service);

	if (!svc || !svc->health_check)
		return NULL;
	return weir_backend_find(svc, &report->which.addr,
				 report->which.family);
}

/* What takes effect with a new configuration goes into @draft, which is made when it
 * is first needed.
 */
static int apply(struct weir_net *wn, const struct report *report,
		 struct weir_draft **draft, struct netlink_ext_ack *extack)
{
	struct weir_backend *be = find(wn, report), next;
	struct weir_service *svc;
	int err;

	if (!be)
		return 0;
	err = report->has_probe ? note_probe(be->dest, &report->probe) : 0;
	if (err)
		return err;
	next = *be;
	err = weir_parse_backend(report->nest, report->service, &report->which,
				 &next, extack);
	/* Behind an earlier report of the message the live one is old. */
	if (err || (!*draft && weir_backend_equal(be, &next)))
		return err;
	if (!*draft)
		*draft = weir_draft_new(wn, false);
	if (!*draft)
		return -ENOMEM;
	svc = weir_draft_edit(*draft, report->service, extack);
	if (IS_ERR(svc))
		return PTR_ERR(svc);
	be = weir_backend_find(svc, &report->which.addr, report->which.family);
	return be ? weir_parse_backend(report->nest, report->service,
				       &report->which, be, extack) : 0;
}

/* Values too: applying may not stop half way. */
static int check(const struct nlattr *attrs, int len,
		 struct netlink_ext_ack *extack)
{
	struct weir_backend unused;
	const struct nlattr *attr;
	struct report report;
	int left, err;

	nla_for_each_attr(attr, attrs, len, left) {
		if (nla_type(attr) != WEIR_A_REPORT)
			continue;
		memset(&unused, 0, sizeof(unused));
		err = parse(attr, &report, extack) ?:
		      weir_parse_backend(report.nest, report.service,
					 &report.which, &unused, extack);
		if (err)
			return err;
	}
	return 0;
}

int weir_report_take(struct weir_net *wn, const struct nlattr *attrs, int len,
		     struct netlink_ext_ack *extack)
{
	struct weir_draft *draft = NULL;
	struct weir_summary sum;
	const struct nlattr *attr;
	struct report report;
	int left, err;

	err = check(attrs, len, extack);
	if (err)
		return err;
	mutex_lock(&wn->lock);
	nla_for_each_attr(attr, attrs, len, left) {
		if (nla_type(attr) != WEIR_A_REPORT)
			continue;
		err = parse(attr, &report, extack) ?:
		      apply(wn, &report, &draft, extack);
		if (err)
			break;
	}
	if (err || !draft) {
		weir_draft_free(draft);
	} else {
		weir_draft_only_results(draft);
		err = weir_commit(wn, draft, false, NULL, &sum, NULL, extack);
	}
	mutex_unlock(&wn->lock);
	return err;
}
