// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "config.h"
#include "decode.h"
#include "print.h"

struct reasons {
	struct weir_reason *reason;
	unsigned int n;
};

static int take_reason(const struct nlmsghdr *nlh, void *arg)
{
	struct reasons *reasons = arg;

	reasons->reason = weir_grow(reasons->reason, reasons->n,
				    sizeof(*reasons->reason));
	return weir_decode_reason(nlh, &reasons->reason[reasons->n++]);
}

static void reset_reasons(void *arg)
{
	struct reasons *reasons = arg;

	free(reasons->reason);
	memset(reasons, 0, sizeof(*reasons));
}

static void print_service(struct weir_out *out,
			  const struct weir_service *service)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	weir_out_object(out, NULL);
	weir_out_str(out, "name", "service %s\n", service->name);
	weir_out_counters(out, "    ", &service->counters);
	weir_out_text(out, "\n");
	weir_out_array(out, "backends");
	for (i = 0; i < service->n_backends; i++) {
		const struct weir_backend *backend = &service->backends[i];

		weir_out_object(out, NULL);
		weir_out_str(out, "addr", "    backend %s\n",
			     weir_addr_text(&backend->addr, text));
		weir_out_str(out, "group", NULL,
			     backend->opts.str ? backend->opts.str : "");
		weir_out_counters(out, "        ", &backend->counters);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_end(out);
}

static void print_reasons(struct weir_out *out, const struct reasons *reasons)
{
	unsigned int i;

	weir_out_array(out, "reasons");
	weir_out_text(out, "packets that were not forwarded, by reason; [kernel]: dropped and counted by conntrack, not by weir\n");
	for (i = 0; i < reasons->n; i++) {
		const struct weir_reason *reason = &reasons->reason[i];

		weir_out_object(out, NULL);
		weir_out_str(out, "name", "    %-24s", reason->name);
		weir_out_num(out, "packets", " %12s  ", reason->packets);
		weir_out_bool(out, "kernel", NULL, reason->kernel);
		weir_out_text(out, "%s", reason->kernel ? "[kernel] " : "");
		weir_out_str(out, "text", "%s\n", reason->text);
		weir_out_end(out);
	}
	weir_out_end(out);
}

/* How full the tables are. A module that does not say so is an older one. */
static void print_limits(struct weir_out *out, const struct weir_info *info)
{
	weir_out_object(out, "limits");
	if (info->has_limits) {
		weir_out_text(out, "tables of this network namespace\n");
		weir_out_num(out, "n-entries",
			     "    conntrack entries %s of all kinds",
			     info->n_entries);
		weir_out_num(out, "max-flows",
			     info->max_flows ? ", flows kept below %s\n" : NULL,
			     info->max_flows);
		if (!info->max_flows)
			weir_out_text(out, ", no limit of weir\n");
		weir_out_num(out, "n-sessions", "    sessions %s",
			     info->n_sessions);
		weir_out_num(out, "max-sessions", ", room for %s\n",
			     info->max_sessions);
		weir_out_num(out, "n-held", info->n_held ?
			     "    bindings of removed backends that are kept %s\n" :
			     NULL, info->n_held);
	}
	weir_out_end(out);
}

static int take_info(const struct nlmsghdr *nlh, void *arg)
{
	return weir_decode_info(nlh, arg);
}

int weir_stats(struct weir_ctx *ctx, struct weir_args args)
{
	const char *name = args.n ? args.word[0] : NULL;
	struct weir_info info = { .has_limits = false };
	struct reasons reasons = { .n = 0 };
	struct weir_config config;
	struct weir_err err;
	unsigned int i;
	int ret;

	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (weir_read_config(&ctx->nl, name, false, &config, &err))
		return weir_refuse(&err);
	ret = weir_nl_dump(&ctx->nl,
			   weir_nl_begin(&ctx->nl, WEIR_CMD_COUNTER_GET),
			   take_reason, reset_reasons, &reasons, &err);
	if (!ret)
		ret = weir_nl_call(&ctx->nl,
				   weir_nl_begin(&ctx->nl, WEIR_CMD_INFO_GET),
				   take_info, &info, &err);
	if (!ret) {
		weir_out_object(&ctx->out, NULL);
		weir_out_array(&ctx->out, "services");
		for (i = 0; i < config.n_services; i++)
			print_service(&ctx->out, &config.services[i]);
		weir_out_end(&ctx->out);
		print_reasons(&ctx->out, &reasons);
		print_limits(&ctx->out, &info);
		weir_out_end(&ctx->out);
	}
	free(reasons.reason);
	weir_config_free(&config);
	return ret ? weir_refuse(&err) : WEIR_DONE;
}
