// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "print.h"

static const char *health_why(const struct weir_service *service,
			      const struct weir_backend *backend)
{
	const struct weir_opts *opts = &backend->opts;

	if (opts->num[WEIR_BACKEND_A_HEALTH] != WEIR_HEALTH_AUTO)
		return "operator";
	if (!service->opts.str || !*service->opts.str)
		return "no-health-check";
	if (opts->num[WEIR_BACKEND_A_CHECK] != WEIR_HEALTH_AUTO)
		return "checker";
	return "not-checked-yet";
}

/* For terminals; JSON has slots and table-slots. */
static void out_share(struct weir_out *out, const struct weir_service *service,
		      uint32_t slots)
{
	uint32_t all = service->opts.num[WEIR_SERVICE_A_TABLE_SLOTS];

	if (all)
		weir_out_text(out, " (%.1f%%)", 100.0 * slots / all);
}

static void show_backend(struct weir_ctx *ctx,
			 const struct weir_service *service,
			 const struct weir_backend *backend)
{
	const uint32_t *num = backend->opts.num;
	struct weir_out *out = &ctx->out;

	weir_out_object(out, NULL);
	weir_out_text(out, "    backend ");
	weir_out_backend(out, backend);
	weir_out_bool(out, "healthy", NULL, num[WEIR_BACKEND_A_HEALTHY]);
	weir_out_text(out, ": %s", num[WEIR_BACKEND_A_HEALTHY] ? "healthy" :
								 "unhealthy");
	weir_out_str(out, "health-why", " (%s)", health_why(service, backend));
	weir_out_str(out, "check", NULL,
		     weir_word(&weir_health_words,
			       num[WEIR_BACKEND_A_CHECK]));
	weir_out_str(out, "state", ", %s",
		     weir_word(&weir_state_words, num[WEIR_BACKEND_A_STATE]));
	weir_out_bool(out, "eligible", NULL, num[WEIR_BACKEND_A_ELIGIBLE]);
	weir_out_text(out, ", %s", num[WEIR_BACKEND_A_ELIGIBLE] ?
				   "eligible" : "not eligible");
	weir_out_num(out, "slots", ", slots %s", num[WEIR_BACKEND_A_SLOTS]);
	out_share(out, service, num[WEIR_BACKEND_A_SLOTS]);
	weir_out_num(out, "n-flows", ", flows %s", num[WEIR_BACKEND_A_N_FLOWS]);
	weir_out_text(out, "\n");
	if (ctx->counters) {
		weir_out_counters(out, "        ", &backend->counters);
		weir_out_text(out, "\n");
	}
	weir_out_end(out);
}

static void show_state(struct weir_out *out, const struct weir_service *service)
{
	const uint32_t *num = service->opts.num;
	char digest[17];

	weir_out_text(out, "    eligible");
	weir_out_num(out, "n-eligible", " %s",
		     num[WEIR_SERVICE_A_N_ELIGIBLE]);
	weir_out_num(out, "n-backends", " of %s backends",
		     num[WEIR_SERVICE_A_N_BACKENDS]);
	weir_out_num(out, "n-healthy", ", %s healthy",
		     num[WEIR_SERVICE_A_N_HEALTHY]);
	weir_out_str(out, "eligible", " [%s]",
		     weir_word(&weir_eligible_words,
			       num[WEIR_SERVICE_A_ELIGIBLE]));
	weir_out_text(out, ": %s\n",
		      weir_eligible_sentence(num[WEIR_SERVICE_A_ELIGIBLE]));
	weir_out_num(out, "table-slots", "    table of %s slots",
		     num[WEIR_SERVICE_A_TABLE_SLOTS]);
	snprintf(digest, sizeof(digest), "%016" PRIx64, service->digest);
	weir_out_str(out, "digest", ", digest %s\n", digest);
}

static void show_members(struct weir_ctx *ctx,
			 const struct weir_service *service)
{
	struct weir_out *out = &ctx->out;
	unsigned int i;

	weir_out_array(out, "rules");
	for (i = 0; i < service->n_rules; i++) {
		weir_out_object(out, NULL);
		weir_out_text(out, "    rule ");
		weir_out_rule(out, &service->rules[i]);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_array(out, "groups");
	for (i = 0; i < service->n_groups; i++) {
		weir_out_object(out, NULL);
		weir_out_text(out, "    group ");
		weir_out_group(out, &service->groups[i]);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_array(out, "backends");
	for (i = 0; i < service->n_backends; i++)
		show_backend(ctx, service, &service->backends[i]);
	weir_out_end(out);
}

static void show_service(struct weir_ctx *ctx,
			 const struct weir_service *service)
{
	struct weir_out *out = &ctx->out;

	weir_out_object(out, NULL);
	weir_out_str(out, "name", "service %s\n", service->name);
	/* one line each, as they stand in the config file */
	weir_out_options(out, &weir_service_options, &service->opts, "    ",
			 "\n");
	show_state(out, service);
	if (ctx->counters) {
		weir_out_counters(out, "    ", &service->counters);
		weir_out_text(out, "\n");
	}
	show_members(ctx, service);
	weir_out_end(out);
}

int weir_show(struct weir_ctx *ctx, struct weir_args args)
{
	const char *name = args.n ? args.word[0] : NULL;
	struct weir_config config;
	struct weir_err err;
	unsigned int i;

	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (weir_read_config(ctx, name, true, &config, &err))
		return weir_refuse(&err);
	weir_out_array(&ctx->out, NULL);
	for (i = 0; i < config.n_services; i++)
		show_service(ctx, &config.services[i]);
	weir_out_end(&ctx->out);
	if (!config.n_services)
		weir_out_text(&ctx->out,
			      "no service is configured: weir service add NAME, or weir apply FILE\n");
	weir_config_free(&config);
	return WEIR_DONE;
}
