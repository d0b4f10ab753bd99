// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include <linux/weir.h>

#include "line.h"
#include "log.h"

int weir_line_read(const struct weir_service *service,
		   struct weir_healthcheck *line)
{
	struct weir_err err;

	if (!service->opts.str || !*service->opts.str)
		return 1;
	if (weir_healthcheck_read(line, service->opts.str, &err)) {
		weir_log(WEIR_LOG_ERROR, "service %s is not checked: %s",
			 service->name, err.text);
		return -1;
	}
	if (weir_line_fits(service, line))
		return 0;
	weir_healthcheck_free(line);
	return -1;
}

static const char *why_not(const struct weir_service *service)
{
	struct weir_addr vip;

	if (service->opts.num[WEIR_SERVICE_A_FORWARD] != WEIR_FORWARD_DIRECT)
		return "it needs forward direct: in nat mode no backend has the VIP";
	weir_line_vip(service, &vip);
	return vip.len ? NULL : "it needs a rule for one address";
}

bool weir_line_fits(const struct weir_service *service,
		    const struct weir_healthcheck *line)
{
	const char *why = line->via_vip ? why_not(service) : NULL;

	if (why)
		weir_log(WEIR_LOG_ERROR, "service %s is not checked: health-check: via vip: %s",
			 service->name, why);
	return !why;
}

void weir_line_vip(const struct weir_service *service, struct weir_addr *vip)
{
	unsigned int i;

	memset(vip, 0, sizeof(*vip));
	for (i = 0; i < service->n_rules && !vip->len; i++) {
		const struct weir_prefix *rule = &service->rules[i].vip;

		if (rule->plen == weir_addr_bits(&rule->addr))
			*vip = rule->addr;
	}
}
