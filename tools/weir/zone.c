// SPDX-License-Identifier: GPL-2.0
#include "command.h"
#include "encode.h"

/* A command line may hold more than one message, so a long one goes in parts,
 * like that of a file: all or nothing. Without prefixes all of the zone is
 * meant, which one message says. */
static int send_zone(struct weir_ctx *ctx, uint8_t cmd,
		     const struct weir_zone *zone)
{
	bool parts = zone->n_prefixes > WEIR_ZONE_PART;
	struct nlmsghdr *nlh;
	unsigned int i;
	int ret = 0;

	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (parts)
		ret = weir_change(ctx, weir_nl_begin(&ctx->nl,
						     WEIR_CMD_TXN_BEGIN));
	for (i = 0; !ret && (!i || i < zone->n_prefixes); i += WEIR_ZONE_PART) {
		nlh = weir_nl_begin(&ctx->nl, cmd);
		weir_put_zone(nlh, zone, i);
		ret = weir_change(ctx, nlh);
	}
	if (!ret && parts)
		ret = weir_change(ctx, weir_nl_begin(&ctx->nl,
						     WEIR_CMD_TXN_COMMIT));
	return ret;
}

static int change_zone(struct weir_ctx *ctx, uint8_t cmd, struct weir_args args)
{
	struct weir_zone zone = { .n_prefixes = 0 };
	struct weir_err err;
	int ret;

	if (weir_parse_zone(args, &zone, &err))
		ret = weir_refuse(&err);
	else
		ret = send_zone(ctx, cmd, &zone);
	weir_zone_free(&zone);
	return ret;
}

int weir_zone_add(struct weir_ctx *ctx, struct weir_args args)
{
	return change_zone(ctx, WEIR_CMD_ZONE_ADD, args);
}

int weir_zone_del(struct weir_ctx *ctx, struct weir_args args)
{
	return change_zone(ctx, WEIR_CMD_ZONE_DEL, args);
}
