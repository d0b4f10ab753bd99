// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "encode.h"

static int change_service(struct weir_ctx *ctx, uint8_t cmd,
			  struct weir_args args)
{
	struct weir_service service = { .n_rules = 0 };
	char object[WEIR_NAME_SIZE + 10];
	struct nlmsghdr *nlh;
	struct weir_err err;
	int ret;

	if (weir_parse_name("service", args.word[0], service.name, &err))
		return weir_refuse(&err);
	snprintf(object, sizeof(object), "service %s", service.name);
	if (weir_parse_options(&weir_service_options, object,
			       (struct weir_args){ args.n - 1, args.word + 1 },
			       &service.opts, &err)) {
		weir_opts_free(&service.opts);
		return weir_refuse(&err);
	}
	ret = WEIR_REFUSED;
	if (!weir_connect(ctx)) {
		nlh = weir_nl_begin(&ctx->nl, cmd);
		weir_put_service(nlh, &service);
		ret = weir_change(ctx, nlh);
	}
	weir_opts_free(&service.opts);
	return ret;
}

int weir_service_add(struct weir_ctx *ctx, struct weir_args args)
{
	return change_service(ctx, WEIR_CMD_SERVICE_ADD, args);
}

int weir_service_set(struct weir_ctx *ctx, struct weir_args args)
{
	return change_service(ctx, WEIR_CMD_SERVICE_SET, args);
}

int weir_service_del(struct weir_ctx *ctx, struct weir_args args)
{
	char name[WEIR_NAME_SIZE];
	struct nlmsghdr *nlh;
	struct weir_err err;

	if (weir_parse_name("service", args.word[0], name, &err))
		return weir_refuse(&err);
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_SERVICE_DEL);
	mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, name);
	return weir_change(ctx, nlh);
}
