// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "decode.h"
#include "encode.h"
#include "file.h"
#include "print.h"
#include "readfile.h"

#define REPORTS_SHOWN	20

struct job {
	const char *file;
	struct weir_config config;
	unsigned int n_reports;
};

static void report(unsigned int line, const char *why, void *arg)
{
	struct job *job = arg;

	if (job->n_reports++ < REPORTS_SHOWN)
		weir_complain("%s:%u: %s", job->file, line, why);
}

static int add_zones(struct weir_batch *batch, const struct weir_config *config,
		     struct weir_err *err)
{
	struct nlmsghdr *nlh;
	unsigned int i, j;

	for (i = 0; i < config->n_zones; i++) {
		const struct weir_zone *zone = &config->zones[i];

		for (j = 0; j < zone->n_prefixes; j += WEIR_ZONE_PART) {
			nlh = weir_batch_add(batch, WEIR_CMD_ZONE_ADD,
					     zone->prefixes[j].line, err);
			if (!nlh)
				return -1;
			weir_put_zone(nlh, zone, j);
			weir_batch_done(batch, nlh);
		}
	}
	return 0;
}

static int add_members(struct weir_batch *batch,
		       const struct weir_service *service, struct weir_err *err)
{
	struct nlmsghdr *nlh;
	unsigned int i;

	for (i = 0; i < service->n_groups; i++) {
		nlh = weir_batch_add(batch, WEIR_CMD_GROUP_ADD,
				     service->groups[i].line, err);
		if (!nlh)
			return -1;
		weir_put_group(nlh, service->name, &service->groups[i]);
		weir_batch_done(batch, nlh);
	}
	for (i = 0; i < service->n_rules; i++) {
		nlh = weir_batch_add(batch, WEIR_CMD_RULE_ADD,
				     service->rules[i].line, err);
		if (!nlh)
			return -1;
		weir_put_rule(nlh, service->name, &service->rules[i]);
		weir_batch_done(batch, nlh);
	}
	for (i = 0; i < service->n_backends; i++) {
		nlh = weir_batch_add(batch, WEIR_CMD_BACKEND_ADD,
				     service->backends[i].line, err);
		if (!nlh)
			return -1;
		weir_put_backend(nlh, service->name, &service->backends[i]);
		weir_batch_done(batch, nlh);
	}
	return 0;
}

static int add_services(struct weir_batch *batch,
			const struct weir_config *config, struct weir_err *err)
{
	struct nlmsghdr *nlh;
	unsigned int i;

	for (i = 0; i < config->n_services; i++) {
		const struct weir_service *service = &config->services[i];

		nlh = weir_batch_add(batch, WEIR_CMD_SERVICE_ADD, service->line,
				     err);
		if (!nlh)
			return -1;
		weir_put_service(nlh, service);
		weir_batch_done(batch, nlh);
		if (add_members(batch, service, err))
			return -1;
	}
	return 0;
}

/* Begin has its own acknowledgement: without an open transaction each of the
 * messages that follow would be a change of its own. */
static int stage(struct weir_ctx *ctx, struct job *job, struct weir_err *err)
{
	struct nlmsghdr *nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_TXN_BEGIN);
	struct weir_batch batch;
	int ret;

	mnl_attr_put(nlh, WEIR_A_REPLACE, 0, NULL);
	if (weir_nl_call(&ctx->nl, nlh, NULL, NULL, err))
		return -1;
	weir_batch_begin(&batch, &ctx->nl, report, job);
	ret = add_zones(&batch, &job->config, err);
	if (!ret)
		ret = add_services(&batch, &job->config, err);
	if (!ret)
		ret = weir_batch_flush(&batch, err);
	if (!ret && (batch.n_failed || batch.lost))
		ret = weir_err_set(err, WEIR_ERR_VALUE,
				   "%s%u statements were refused, nothing was changed",
				   batch.lost ? "at least " : "",
				   batch.n_failed);
	weir_batch_free(&batch);
	return ret;
}

static int take_changes(const struct nlmsghdr *nlh, void *arg)
{
	weir_changes_free(arg);
	return weir_decode_changes(nlh, arg);
}

static int commit(struct weir_ctx *ctx, const struct weir_config *config,
		  bool dry_run, struct weir_changes *changes,
		  struct weir_err *err)
{
	struct nlmsghdr *nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_TXN_COMMIT);

	if (dry_run)
		mnl_attr_put(nlh, WEIR_A_DRY_RUN, 0, NULL);
	if (config->has_key)
		mnl_attr_put(nlh, WEIR_A_HASH_KEY, sizeof(config->key),
			     config->key);
	return weir_nl_call(&ctx->nl, nlh, take_changes, changes, err);
}

/* The sums are those of the services alone. */
static bool zones_changed(const struct weir_changes *changes)
{
	unsigned int i;

	for (i = 0; i < changes->n; i++)
		if (changes->change[i].object == WEIR_OBJECT_ZONE)
			return true;
	return false;
}

static void print_result(struct weir_out *out, bool dry_run,
			 const struct weir_changes *changes)
{
	unsigned int i;

	weir_out_object(out, NULL);
	if (dry_run || out->json) {
		weir_out_array(out, "changes");
		for (i = 0; i < changes->n; i++) {
			weir_out_object(out, NULL);
			weir_out_change(out, &changes->change[i]);
			weir_out_text(out, "\n");
			weir_out_end(out);
		}
		weir_out_end(out);
	}
	weir_out_bool(out, "changes-cut", NULL, changes->n < changes->n_all);
	if (dry_run && changes->n < changes->n_all)
		weir_out_text(out, "... and more than one answer of the kernel can list\n");
	weir_out_bool(out, "dry-run", NULL, dry_run);
	if (dry_run)
		weir_out_text(out, "nothing was changed: it would be ");
	weir_out_num(out, "generation", dry_run ? NULL : "generation %s: ",
		     changes->generation);
	weir_out_num(out, "added", changes->n_added == 1 ?
		     "%s service added" : "%s services added",
		     changes->n_added);
	weir_out_num(out, "changed", ", %s changed", changes->n_changed);
	weir_out_num(out, "removed", ", %s removed", changes->n_removed);
	weir_out_num(out, "n-changes", NULL, changes->n_all);
	weir_out_text(out, zones_changed(changes) ? "; zones changed\n" : "\n");
	weir_out_end(out);
}

static int apply(struct weir_ctx *ctx, struct job *job, bool dry_run)
{
	struct weir_changes changes = { .n = 0 };
	struct weir_err err;
	int ret = -1;

	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (!stage(ctx, job, &err))
		ret = commit(ctx, &job->config, dry_run, &changes, &err);
	if (ret)
		weir_complain("%s: %s", job->file, err.text);
	else
		print_result(&ctx->out, dry_run, &changes);
	weir_changes_free(&changes);
	return ret ? WEIR_REFUSED : WEIR_DONE;
}

int weir_apply(struct weir_ctx *ctx, struct weir_args args)
{
	bool dry_run = !strcmp(args.word[0], "--dry-run");
	struct job job = { .file = args.word[args.n - 1] };
	struct weir_err err;
	unsigned int line;
	size_t len;
	char *text;
	int ret = WEIR_REFUSED;

	if (args.n != (dry_run ? 2 : 1) || !strcmp(job.file, "--dry-run"))
		return weir_bad_grammar("apply takes one file, or - for the standard input");
	if (weir_read_file(job.file, &text, &len)) {
		weir_complain("%s: %s", job.file, strerror(errno));
	} else {
		if (!strcmp(job.file, "-"))
			job.file = "stdin";
		if (weir_file_parse(text, len, &job.config, &line, &err))
			weir_complain("%s:%u: %s", job.file, line, err.text);
		else
			ret = apply(ctx, &job, dry_run);
	}
	free(text);
	weir_config_free(&job.config);
	return ret;
}
