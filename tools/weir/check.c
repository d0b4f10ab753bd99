// SPDX-License-Identifier: GPL-2.0
#include "command.h"

int weir_check(struct weir_ctx *ctx, struct weir_args args)
{
	(void)args;
	return weir_connect(ctx) ? WEIR_REFUSED : WEIR_DONE;
}
