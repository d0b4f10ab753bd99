// SPDX-License-Identifier: GPL-2.0
#include "command.h"
#include "encode.h"

static int change_group(struct weir_ctx *ctx, uint8_t cmd,
			struct weir_args args)
{
	struct weir_group group = { .name = "" };
	char service[WEIR_NAME_SIZE];
	struct nlmsghdr *nlh;
	struct weir_err err;
	int ret;

	if (weir_parse_name("service", args.word[0], service, &err))
		return weir_refuse(&err);
	if (weir_parse_group((struct weir_args){ args.n - 1, args.word + 1 },
			     &group, &err))
		ret = weir_refuse(&err);
	else if (weir_connect(ctx))
		ret = WEIR_REFUSED;
	else {
		nlh = weir_nl_begin(&ctx->nl, cmd);
		weir_put_group(nlh, service, &group);
		ret = weir_change(ctx, nlh);
	}
	weir_opts_free(&group.opts);
	return ret;
}

int weir_group_add(struct weir_ctx *ctx, struct weir_args args)
{
	return change_group(ctx, WEIR_CMD_GROUP_ADD, args);
}

int weir_group_set(struct weir_ctx *ctx, struct weir_args args)
{
	return change_group(ctx, WEIR_CMD_GROUP_SET, args);
}

int weir_group_del(struct weir_ctx *ctx, struct weir_args args)
{
	return change_group(ctx, WEIR_CMD_GROUP_DEL, args);
}
