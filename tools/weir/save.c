// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "command.h"
#include "config.h"
#include "decode.h"
#include "file.h"
#include "print.h"

static int take_info(const struct nlmsghdr *nlh, void *arg)
{
	return weir_decode_info(nlh, arg);
}

/* The key is no part of the dump: only who may write gets it. */
static int read_key(struct weir_ctx *ctx, struct weir_config *config,
		    struct weir_err *err)
{
	struct weir_info info = { .has_key = false };

	if (weir_nl_call(&ctx->nl, weir_nl_begin(&ctx->nl, WEIR_CMD_INFO_GET),
			 take_info, &info, err))
		return -1;
	config->has_key = info.has_key;
	memcpy(config->key, info.key, sizeof(config->key));
	return 0;
}

static void json_zones(struct weir_out *out, const struct weir_config *config)
{
	unsigned int i;

	weir_out_array(out, "zones");
	for (i = 0; i < config->n_zones; i++) {
		weir_out_object(out, NULL);
		weir_out_zone(out, &config->zones[i], 0);
		weir_out_end(out);
	}
	weir_out_end(out);
}

static void json_service(struct weir_out *out,
			 const struct weir_service *service)
{
	unsigned int i;

	weir_out_object(out, NULL);
	weir_out_str(out, "name", NULL, service->name);
	weir_out_options(out, &weir_service_options, &service->opts, "", "");
	weir_out_array(out, "rules");
	for (i = 0; i < service->n_rules; i++) {
		weir_out_object(out, NULL);
		weir_out_rule(out, &service->rules[i]);
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_array(out, "groups");
	for (i = 0; i < service->n_groups; i++) {
		weir_out_object(out, NULL);
		weir_out_group(out, &service->groups[i]);
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_array(out, "backends");
	for (i = 0; i < service->n_backends; i++) {
		if (weir_backend_drains(&service->backends[i]))
			continue;
		weir_out_object(out, NULL);
		weir_out_backend(out, &service->backends[i]);
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_end(out);
}

static void json_config(struct weir_out *out, const struct weir_config *config)
{
	char key[WEIR_KEY_TEXT] = "";
	unsigned int i;

	weir_out_object(out, NULL);
	if (config->has_key)
		weir_key_text(config->key, key);
	weir_out_str(out, "hash-key", NULL, key);
	json_zones(out, config);
	weir_out_array(out, "services");
	for (i = 0; i < config->n_services; i++)
		json_service(out, &config->services[i]);
	weir_out_end(out);
	weir_out_end(out);
}

int weir_save(struct weir_ctx *ctx, struct weir_args args)
{
	struct weir_config config;
	struct weir_err err;
	int ret = 0;

	(void)args;
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (weir_read_config(&ctx->nl, NULL, false, &config, &err))
		return weir_refuse(&err);
	ret = read_key(ctx, &config, &err);
	if (!ret && ctx->out.json)
		json_config(&ctx->out, &config);
	else if (!ret)
		ret = weir_file_print(ctx->out.f, &config, &err);
	weir_config_free(&config);
	return ret ? weir_refuse(&err) : WEIR_DONE;
}
