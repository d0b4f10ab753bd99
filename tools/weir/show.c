// SPDX-License-Identifier: GPL-2.0
#include "command.h"
#include "config.h"
#include "print_state.h"

/* Services come first: a script that wants the first one gets it, whether there
 * are zones or not. */
static void print(struct weir_ctx *ctx, const struct weir_config *config)
{
	unsigned int i;

	weir_out_array(&ctx->out, NULL);
	for (i = 0; i < config->n_services; i++)
		weir_out_service_state(&ctx->out, &config->services[i],
				       ctx->counters);
	if (!config->n_services)
		weir_out_text(&ctx->out,
			      "no service is configured: weir service add NAME, or weir apply FILE\n");
	for (i = 0; i < config->n_zones; i++)
		weir_out_zone_state(&ctx->out, &config->zones[i]);
	weir_out_end(&ctx->out);
}

int weir_show(struct weir_ctx *ctx, struct weir_args args)
{
	const char *name = args.n ? args.word[0] : NULL;
	struct weir_config config;
	struct weir_err err;

	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (weir_read_config(&ctx->nl, name, true, &config, &err))
		return weir_refuse(&err);
	print(ctx, &config);
	weir_config_free(&config);
	return WEIR_DONE;
}
