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
	struct weir_session *session;
	unsigned int n_sessions;
};

static int take_flow(const struct nlmsghdr *nlh, void *arg)
{
	struct flows *flows = arg;

	if (weir_decode_is_session(nlh)) {
		flows->session = weir_grow(flows->session, flows->n_sessions,
					   sizeof(*flows->session));
		return weir_decode_session(nlh,
					   &flows->session[flows->n_sessions++]);
	}
	flows->flow = weir_grow(flows->flow, flows->n, sizeof(*flows->flow));
	return weir_decode_flow(nlh, &flows->flow[flows->n++]);
}

static void reset_flows(void *arg)
{
	struct flows *flows = arg;

	free(flows->flow);
	free(flows->session);
	memset(flows, 0, sizeof(*flows));
}

static void print_flows(struct weir_out *out, const struct flows *flows)
{
	unsigned int i;

	weir_out_array(out, NULL);
	for (i = 0; i < flows->n; i++) {
		weir_out_object(out, NULL);
		weir_out_str(out, "kind", NULL, "flow");
		weir_out_flow(out, &flows->flow[i]);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	for (i = 0; i < flows->n_sessions; i++) {
		weir_out_object(out, NULL);
		weir_out_str(out, "kind", "%s ", "session");
		weir_out_session(out, &flows->session[i]);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	weir_out_end(out);
}

int weir_flows(struct weir_ctx *ctx, struct weir_args args)
{
	struct flows flows = { .n = 0 };
	struct nlmsghdr *nlh;
	struct which which;
	struct weir_err err;
	int ret;

	if (parse_which(args, &which, &err))
		return weir_refuse(&err);
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_FLOW_GET);
	put_which(nlh, &which);
	ret = weir_nl_dump(&ctx->nl, nlh, take_flow, reset_flows, &flows, &err);
	if (!ret)
		print_flows(&ctx->out, &flows);
	reset_flows(&flows);
	return ret ? weir_refuse(&err) : WEIR_DONE;
}

struct flushed {
	uint32_t n_flows, n_sessions;
};

static int take_flushed(const struct nlmsghdr *nlh, void *arg)
{
	struct flushed *flushed = arg;

	return weir_decode_flushed(nlh, &flushed->n_flows,
				   &flushed->n_sessions);
}

int weir_flush(struct weir_ctx *ctx, struct weir_args args)
{
	struct flushed flushed = { .n_flows = 0 };
	struct nlmsghdr *nlh;
	struct which which;
	struct weir_err err;

	if (parse_which(args, &which, &err))
		return weir_refuse(&err);
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_FLOW_FLUSH);
	put_which(nlh, &which);
	if (weir_nl_call(&ctx->nl, nlh, take_flushed, &flushed, &err))
		return weir_refuse(&err);
	weir_out_object(&ctx->out, NULL);
	weir_out_num(&ctx->out, "n-flows",
		     flushed.n_flows == 1 ? "%s flow" : "%s flows",
		     flushed.n_flows);
	weir_out_num(&ctx->out, "n-sessions",
		     flushed.n_sessions == 1 ? " and %s session removed\n" :
					       " and %s sessions removed\n",
		     flushed.n_sessions);
	weir_out_end(&ctx->out);
	return WEIR_DONE;
}
