// SPDX-License-Identifier: GPL-2.0
#include "command.h"

int weir_complete(struct weir_ctx *ctx, struct weir_args args)
{
	(void)ctx;
	(void)args;
	return WEIR_DONE;
}
