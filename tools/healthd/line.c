// SPDX-License-Identifier: GPL-2.0
#include <string.h>

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
	if (line->via_vip) {
		weir_log(WEIR_LOG_ERROR, "service %s is not checked: health-check: via vip: it needs forward direct",
			 service->name);
		weir_healthcheck_free(line);
		return -1;
	}
	return 0;
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
