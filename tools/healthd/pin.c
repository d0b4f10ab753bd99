// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include <linux/weir.h>

#include "encode.h"
#include "pin.h"

/* Behind a connection that nobody answered the kernel goes on for so long: a late answer
 * finds its way back, and so does what we say to it. */
#define LINGER		60

/* There is little room for it, and who reads it knows the service. */
static void shorten(char *text, const char *service)
{
	char object[40 + WEIR_NAME_MAX];
	size_t skip = snprintf(object, sizeof(object), "service %s: pin: ", service);

	if (!strncmp(text, object, skip))
		memmove(text, text + skip, strlen(text + skip) + 1);
}

int weir_pin(void *arg, const struct weir_probe_job *job, uint16_t port,
	     struct weir_err *err)
{
	struct weir_nl *nl = arg;
	struct nlmsghdr *nlh = weir_nl_begin(nl, WEIR_CMD_PIN);
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, job->service);
	nest = mnl_attr_nest_start(nlh, WEIR_A_BACKEND);
	weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &job->backend);
	mnl_attr_nest_end(nlh, nest);
	nest = mnl_attr_nest_start(nlh, WEIR_A_PIN);
	weir_put_addr(nlh, WEIR_PIN_A_VIP, &job->vip);
	mnl_attr_put_u16(nlh, WEIR_PIN_A_SPORT, port);
	mnl_attr_put_u16(nlh, WEIR_PIN_A_DPORT, job->line->port);
	mnl_attr_put_u32(nlh, WEIR_PIN_A_LIFE, job->line->timeout + LINGER);
	mnl_attr_nest_end(nlh, nest);
	if (!weir_nl_call(nl, nlh, NULL, NULL, err))
		return 0;
	shorten(err->text, job->service);
	return -1;
}
