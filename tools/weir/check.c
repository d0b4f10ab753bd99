// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "decode.h"
#include "print.h"
#include "version.h"

#define SLOTS_PER_BACKEND	100	/* below, shares differ by a percent */
#define PACKETS_UNANSWERED	3	/* so many, and silence is no accident */

const char *weir_text(char buf[WEIR_TEXT], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, WEIR_TEXT, fmt, ap);
	va_end(ap);
	return buf;
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
	    weir_read_config(ctx, NULL, false, &state->config, &err)) {
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

		for (j = 0; j < service->n_rules; j++) {
			if (service->rules[j].vip.addr.len == 4)
				state->v4 = true;
			else
				state->v6 = true;
		}
	}
}

static void check_eligible(struct weir_check_state *state,
			   const struct weir_service *service)
{
	uint32_t why = service->opts.num[WEIR_SERVICE_A_ELIGIBLE];
	char what[WEIR_TEXT], command[WEIR_TEXT];

	weir_text(what, "service %s: eligible: %s", service->name,
		  weir_eligible_sentence(why));
	if (why == WEIR_ELIGIBLE_NO_BACKENDS)
		weir_find(state, WEIR_ERROR, what,
			  "new flows are dropped or rejected, as when-empty says",
			  weir_text(command, "weir backend add %s ADDR",
				    service->name));
	else if (why == WEIR_ELIGIBLE_DROP)
		weir_find(state, WEIR_ERROR, what, "new flows are dropped",
			  weir_text(command, "weir show %s", service->name));
	else if (why == WEIR_ELIGIBLE_LAST_RESORT ||
		 why == WEIR_ELIGIBLE_LAST_PRIMARIES)
		weir_find(state, WEIR_WARNING, what,
			  "flows go to backends that are said to be unhealthy",
			  weir_text(command, "weir show %s", service->name));
}

/* The commonest fault: a backend whose way to the client is not through here. */
static void check_answers(struct weir_check_state *state,
			  const struct weir_service *service)
{
	char what[WEIR_TEXT], text[WEIR_ADDR_TEXT];
	unsigned int i;

	for (i = 0; i < service->n_backends; i++) {
		const struct weir_backend *backend = &service->backends[i];
		const uint64_t *counter = backend->counters.value;

		if (counter[WEIR_COUNTER_A_PACKETS_IN] < PACKETS_UNANSWERED ||
		    counter[WEIR_COUNTER_A_PACKETS_OUT])
			continue;
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s: backend %s has never answered",
				    service->name,
				    weir_addr_text(&backend->addr, text)),
			  "unless its clients expect no answer: it is dead, or its answers do not pass this router",
			  "ip route replace default via ROUTER  # on the backend");
	}
}

void weir_check_services(struct weir_check_state *state)
{
	char what[WEIR_TEXT], command[WEIR_TEXT];
	unsigned int i;

	for (i = 0; i < state->config.n_services; i++) {
		const struct weir_service *service = &state->config.services[i];
		uint32_t slots = service->opts.num[WEIR_SERVICE_A_TABLE_SLOTS];

		check_eligible(state, service);
		check_answers(state, service);
		if (!service->n_rules)
			weir_find(state, WEIR_WARNING,
				  weir_text(what, "service %s has no rule",
					    service->name),
				  "no packet is for it",
				  weir_text(command, "weir rule add %s VIP PROTO PORTS",
					    service->name));
		if (slots && service->n_backends &&
		    slots / service->n_backends < SLOTS_PER_BACKEND)
			weir_find(state, WEIR_WARNING,
				  weir_text(what, "service %s: table-size %u for %u backends",
					    service->name, slots,
					    service->n_backends),
				  "below 100 slots per backend the shares of the backends differ visibly",
				  weir_text(command, "weir service set %s table-size auto",
					    service->name));
	}
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
		weir_check_sysctls(&state);
		weir_check_routes(&state);
		weir_check_filters(&state);
	}
	weir_out_end(&ctx->out);
	print_sum(&state);
	weir_config_free(&state.config);
	return state.n_errors ? WEIR_REFUSED : WEIR_DONE;
}
