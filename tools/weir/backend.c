// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "command.h"
#include "encode.h"

static int send_backend(struct weir_ctx *ctx, uint8_t cmd, const char *service,
			const struct weir_backend *backend, bool now)
{
	struct nlmsghdr *nlh;

	if (weir_connect(ctx))
		return WEIR_REFUSED;
	nlh = weir_nl_begin(&ctx->nl, cmd);
	weir_put_backend(nlh, service, backend);
	if (now)
		mnl_attr_put(nlh, WEIR_A_NOW, 0, NULL);
	return weir_change(ctx, nlh);
}

/* `group G` where an address could stand: all backends of that group. */
static int parse_who(struct weir_args *args, struct weir_backend *backend,
		     struct weir_err *err)
{
	char name[WEIR_NAME_SIZE];
	int used = 1;

	if (strcmp(args->word[0], "group")) {
		if (weir_parse_backend_addr(args->word[0], &backend->addr, err))
			return -1;
	} else {
		if (args->n < 2)
			return weir_err_set(err, WEIR_ERR_GRAMMAR,
					    "group needs the name of a group");
		if (weir_parse_name("group", args->word[1], name, err))
			return -1;
		weir_opts_str(&backend->opts, WEIR_BACKEND_A_GROUP, name);
		used = 2;
	}
	args->n -= used;
	args->word += used;
	return 0;
}

static int parse_set(struct weir_args args, struct weir_backend *backend,
		     struct weir_err *err)
{
	if (strcmp(args.word[0], "group"))
		return weir_parse_backend(args, backend, err);
	if (parse_who(&args, backend, err))
		return -1;
	return weir_parse_options(&weir_backend_options, "backend", args,
				  &backend->opts, err);
}

int weir_backend_add(struct weir_ctx *ctx, struct weir_args args)
{
	struct weir_backend backend = { .line = 0 };
	char service[WEIR_NAME_SIZE];
	struct weir_err err;
	int ret;

	if (weir_parse_name("service", args.word[0], service, &err))
		return weir_refuse(&err);
	if (weir_parse_backend((struct weir_args){ args.n - 1, args.word + 1 },
			       &backend, &err))
		ret = weir_refuse(&err);
	else
		ret = send_backend(ctx, WEIR_CMD_BACKEND_ADD, service, &backend,
				   false);
	weir_opts_free(&backend.opts);
	return ret;
}

int weir_backend_set(struct weir_ctx *ctx, struct weir_args args)
{
	struct weir_backend backend = { .line = 0 };
	char service[WEIR_NAME_SIZE];
	struct weir_err err;
	int ret;

	if (weir_parse_name("service", args.word[0], service, &err))
		return weir_refuse(&err);
	if (parse_set((struct weir_args){ args.n - 1, args.word + 1 }, &backend,
		      &err))
		ret = weir_refuse(&err);
	else
		ret = send_backend(ctx, WEIR_CMD_BACKEND_SET, service, &backend,
				   false);
	weir_opts_free(&backend.opts);
	return ret;
}

int weir_backend_del(struct weir_ctx *ctx, struct weir_args args)
{
	struct weir_args rest = { args.n - 1, args.word + 1 };
	struct weir_backend backend = { .line = 0 };
	char service[WEIR_NAME_SIZE];
	struct weir_err err;
	int ret;

	if (weir_parse_name("service", args.word[0], service, &err))
		return weir_refuse(&err);
	if (parse_who(&rest, &backend, &err))
		ret = weir_refuse(&err);
	else if (rest.n > 1 || (rest.n && strcmp(rest.word[0], "now")))
		ret = weir_bad_grammar("%s: only now may stand here",
				       weir_quote(rest.word[0]));
	else
		ret = send_backend(ctx, WEIR_CMD_BACKEND_DEL, service, &backend,
				   rest.n);
	weir_opts_free(&backend.opts);
	return ret;
}
