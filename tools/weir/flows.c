// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "decode.h"
#include "encode.h"
#include "print.h"

/* Which flows: of a service, to a backend, or all. */
struct which {
	const char *service;
	struct weir_addr backend;
};

/* [SERVICE] [backend ADDR]: one word, or an odd number of words, begins with a
 * service, even if that is called backend. */
static int parse_which(struct weir_args args, struct which *which,
		       struct weir_err *err)
{
	memset(which, 0, sizeof(*which));
	if (args.n % 2) {
		if (!weir_name_ok(args.word[0]))
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "service %s: there can be no such name",
					    weir_quote(args.word[0]));
		which->service = args.word[0];
		args.n--;
		args.word++;
	}
	if (!args.n)
		return 0;
	if (strcmp(args.word[0], "backend"))
		return weir_err_set(err, WEIR_ERR_GRAMMAR,
				    "%s: backend ADDR may stand here",
				    weir_quote(args.word[0]));
	return weir_parse_backend_addr(args.word[1], &which->backend, err);
}

static void put_which(struct nlmsghdr *nlh, const struct which *which)
{
	struct nlattr *nest;

	if (which->service)
		mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, which->service);
	if (!which->backend.len)
		return;
	nest = mnl_attr_nest_start(nlh, WEIR_A_BACKEND);
	weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &which->backend);
	mnl_attr_nest_end(nlh, nest);
}

/* Kept until the dump is complete: a dump that was interrupted begins anew. */
struct flows {
	struct weir_flow *flow;
	unsigned int n;
};

static int take_flow(const struct nlmsghdr *nlh, void *arg)
{
	struct flows *flows = arg;

	/* Sessions follow the flows; they are not listed yet. */
	if (weir_decode_is_session(nlh))
		return 0;
	flows->flow = weir_grow(flows->flow, flows->n, sizeof(*flows->flow));
	return weir_decode_flow(nlh, &flows->flow[flows->n++]);
}

static void reset_flows(void *arg)
{
	struct flows *flows = arg;

	free(flows->flow);
	memset(flows, 0, sizeof(*flows));
}

int weir_flows(struct weir_ctx *ctx, struct weir_args args)
{
	struct flows flows = { .n = 0 };
	struct nlmsghdr *nlh;
	struct which which;
	struct weir_err err;
	unsigned int i;
	int ret;

	if (parse_which(args, &which, &err))
		return weir_refuse(&err);
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_FLOW_GET);
	put_which(nlh, &which);
	ret = weir_nl_dump(&ctx->nl, nlh, take_flow, reset_flows, &flows, &err);
	if (!ret) {
		weir_out_array(&ctx->out, NULL);
		for (i = 0; i < flows.n; i++) {
			weir_out_object(&ctx->out, NULL);
			weir_out_flow(&ctx->out, &flows.flow[i]);
			weir_out_text(&ctx->out, "\n");
			weir_out_end(&ctx->out);
		}
		weir_out_end(&ctx->out);
	}
	free(flows.flow);
	return ret ? weir_refuse(&err) : WEIR_DONE;
}

static int take_n_flows(const struct nlmsghdr *nlh, void *arg)
{
	return weir_decode_n_flows(nlh, arg);
}

int weir_flush(struct weir_ctx *ctx, struct weir_args args)
{
	struct nlmsghdr *nlh;
	struct which which;
	struct weir_err err;
	uint32_t n = 0;

	if (parse_which(args, &which, &err))
		return weir_refuse(&err);
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_FLOW_FLUSH);
	put_which(nlh, &which);
	if (weir_nl_call(&ctx->nl, nlh, take_n_flows, &n, &err))
		return weir_refuse(&err);
	weir_out_object(&ctx->out, NULL);
	weir_out_num(&ctx->out, "n-flows",
		     n == 1 ? "%s flow removed\n" : "%s flows removed\n", n);
	weir_out_end(&ctx->out);
	return WEIR_DONE;
}
