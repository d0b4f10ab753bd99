// SPDX-License-Identifier: GPL-2.0
#include "command.h"
#include "encode.h"

static int change_rule(struct weir_ctx *ctx, uint8_t cmd, struct weir_args args)
{
	struct weir_rule rule = { .n_ports = 0 };
	char service[WEIR_NAME_SIZE];
	struct nlmsghdr *nlh;
	struct weir_err err;
	int ret;

	if (weir_parse_name("service", args.word[0], service, &err))
		return weir_refuse(&err);
	if (weir_parse_rule((struct weir_args){ args.n - 1, args.word + 1 },
			    &rule, &err))
		ret = weir_refuse(&err);
	else if (weir_connect(ctx))
		ret = WEIR_REFUSED;
	else {
		nlh = weir_nl_begin(&ctx->nl, cmd);
		weir_put_rule(nlh, service, &rule);
		ret = weir_change(ctx, nlh);
	}
	weir_rule_free(&rule);
	return ret;
}

int weir_rule_add(struct weir_ctx *ctx, struct weir_args args)
{
	return change_rule(ctx, WEIR_CMD_RULE_ADD, args);
}

int weir_rule_del(struct weir_ctx *ctx, struct weir_args args)
{
	return change_rule(ctx, WEIR_CMD_RULE_DEL, args);
}
