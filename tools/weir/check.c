// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "config.h"
#include "decode.h"
#include "print.h"
#include "version.h"

const char *weir_text(char buf[WEIR_TEXT], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, WEIR_TEXT, fmt, ap);
	va_end(ap);
	return buf;
}

bool weir_is_direct(const struct weir_service *service)
{
	return service->opts.num[WEIR_SERVICE_A_FORWARD] == WEIR_FORWARD_DIRECT;
}

void weir_find(struct weir_check_state *state, enum weir_severity severity,
	       const char *what, const char *why, const char *command)
{
	struct weir_out *out = &state->ctx->out;

	if (severity == WEIR_ERROR)
		state->n_errors++;
	else
		state->n_warnings++;
	weir_out_object(out, NULL);
	weir_out_str(out, "severity", "%s: ",
		     severity == WEIR_ERROR ? "error" : "warning");
	weir_out_str(out, "what", "%s\n", what);
	weir_out_str(out, "why", "    why:  %s\n", why);
	weir_out_str(out, "command", "    type: %s\n", command);
	weir_out_end(out);
}

static int take_info(const struct nlmsghdr *nlh, void *arg)
{
	return weir_decode_info(nlh, arg);
}

/* The module: absent is the one finding that leaves nothing to look at. */
static int check_module(struct weir_check_state *state)
{
	struct weir_ctx *ctx = state->ctx;
	struct weir_info info = { .version = "" };
	char text[WEIR_TEXT];
	struct weir_err err;

	if (weir_nl_open(&ctx->nl, &err)) {
		weir_find(state, WEIR_ERROR, err.text,
			  "without the module nothing is balanced: packets to a VIP are routed like any other",
			  "modprobe weir");
		return -1;
	}
	if (weir_nl_call(&ctx->nl, weir_nl_begin(&ctx->nl, WEIR_CMD_INFO_GET),
			 take_info, &info, &err) ||
	    weir_read_config(&ctx->nl, NULL, false, &state->config, &err)) {
		weir_find(state, WEIR_ERROR, err.text,
			  "the tool cannot ask the module for its state",
			  "weir -V; cat /sys/module/weir/version");
		return -1;
	}
	if (strcmp(info.version, WEIR_VERSION))
		weir_find(state, WEIR_WARNING,
			  weir_text(text, "the module is version %s, the tool is version %s",
				    info.version, WEIR_VERSION),
			  "they may differ in what they know; if the module was just upgraded, the old one is still loaded",
			  "weir save > /tmp/weir.conf && rmmod weir && modprobe weir && weir apply /tmp/weir.conf");
	return 0;
}

static void find_families(struct weir_check_state *state)
{
	unsigned int i, j;

	for (i = 0; i < state->config.n_services; i++) {
		const struct weir_service *service = &state->config.services[i];
		struct weir_families *families = weir_is_direct(service) ?
						 &state->direct : &state->nat;

		for (j = 0; j < service->n_rules; j++) {
			if (service->rules[j].vip.addr.len == 4)
				families->v4 = true;
			else
				families->v6 = true;
		}
	}
	state->v4 = state->nat.v4 || state->direct.v4;
	state->v6 = state->nat.v6 || state->direct.v6;
}

static void print_sum(const struct weir_check_state *state)
{
	struct weir_out *out = &state->ctx->out;

	if (state->n_errors + state->n_warnings)
		weir_out_text(out, "%u error%s, %u warning%s\n",
			      state->n_errors, state->n_errors == 1 ? "" : "s",
			      state->n_warnings,
			      state->n_warnings == 1 ? "" : "s");
	else
		weir_out_text(out, "nothing was found that would stop traffic\n");
}

int weir_check(struct weir_ctx *ctx, struct weir_args args)
{
	struct weir_check_state state = { .ctx = ctx };

	(void)args;
	weir_out_array(&ctx->out, NULL);
	if (!check_module(&state)) {
		find_families(&state);
		weir_check_services(&state);
		weir_check_direct(&state);
		weir_check_via(&state);
		weir_check_sysctls(&state);
		weir_check_routes(&state);
		weir_check_filters(&state);
		weir_check_bridges(&state);
	}
	weir_out_end(&ctx->out);
	print_sum(&state);
	weir_config_free(&state.config);
	return state.n_errors ? WEIR_REFUSED : WEIR_DONE;
}
