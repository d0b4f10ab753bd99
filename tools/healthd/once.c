// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/weir.h>

#include "line.h"
#include "log.h"
#include "once.h"
#include "pin.h"
#include "probe.h"
#include "words.h"

#define AT_ONCE_MAX	500	/* probes under way */
#define TRIES_MAX	3

struct row {
	struct job *job;
	const struct weir_service *service;
	const struct weir_backend *backend;
	const struct weir_healthcheck *line;
	struct weir_addr vip;
	unsigned int tries;
	struct weir_probe_result result;
};

struct job {
	struct weir_loop loop;
	struct weir_prober *prober;
	struct weir_healthcheck *lines;	/* one for each service */
	struct row *rows;
	unsigned int n, begun, ended;
	bool unreadable;
	bool pins;			/* some line says `via vip` */
	struct weir_nl nl;
};

static void begin(struct job *job);
static void probe(struct row *row);

static void done(const struct weir_probe_result *result, void *arg)
{
	struct row *row = arg;

	row->result = *result;
	/* Many begin at once here, and it says nothing about the backend. */
	if (result->local && ++row->tries < TRIES_MAX) {
		probe(row);
		return;
	}
	row->job->ended++;
	begin(row->job);
}

static void probe(struct row *row)
{
	const struct weir_probe_job job = { row->line, row->backend->addr,
					    row->vip, row->service->name };

	weir_probe_start(row->job->prober, &job, done, row);
}

static void begin(struct job *job)
{
	while (job->begun < job->n && job->begun - job->ended < AT_ONCE_MAX)
		probe(&job->rows[job->begun++]);
	if (job->ended == job->n)
		weir_loop_stop(&job->loop);
}

static void add_rows(struct job *job, const struct weir_service *service,
		     const struct weir_healthcheck *line)
{
	struct row row = { .job = job, .service = service, .line = line };
	unsigned int i;

	weir_line_vip(service, &row.vip);
	for (i = 0; i < service->n_backends; i++) {
		row.backend = &service->backends[i];
		job->rows = weir_grow(job->rows, job->n, sizeof(row));
		job->rows[job->n++] = row;
	}
}

static void collect(struct job *job, const struct weir_config *config)
{
	unsigned int i;

	job->lines = weir_alloc(config->n_services * sizeof(*job->lines));
	for (i = 0; i < config->n_services; i++) {
		const struct weir_service *service = &config->services[i];
		int ret = weir_line_read(service, &job->lines[i]);

		if (!ret) {
			add_rows(job, service, &job->lines[i]);
			job->pins |= job->lines[i].via_vip;
		}
		if (ret < 0)
			job->unreadable = true;
	}
}

/* The kernel is needed for nothing else: a file can be tried where there is no module. */
static void open_pins(struct job *job)
{
	struct weir_err err;

	if (!job->pins)
		return;
	job->pins = !weir_nl_open(&job->nl, &err);
	if (job->pins)
		weir_prober_set_pin(job->prober, weir_pin, &job->nl);
	else
		weir_log(WEIR_LOG_ERROR, "via vip: %s", err.text);
}

static void print_weight(struct weir_out *out, const struct row *row)
{
	bool valid = row->result.weight_state == WEIR_WEIGHT_STATE_VALID;

	weir_out_str(out, "weight-state",
		     row->line->weights && !valid ? ", weight %s" : NULL,
		     weir_word(&weir_weight_state_words,
			       row->result.weight_state));
	weir_out_num(out, "weight", valid ? ", weight %s" : NULL,
		     row->result.weight);
}

static unsigned int print(struct weir_out *out, const struct job *job)
{
	char addr[WEIR_ADDR_TEXT];
	unsigned int i, down = 0;

	weir_out_array(out, NULL);
	for (i = 0; i < job->n; i++) {
		const struct row *row = &job->rows[i];

		down += !row->result.passed;
		weir_out_object(out, NULL);
		weir_out_str(out, "service", "%-16s ", row->service->name);
		weir_out_str(out, "backend", "%-24s ",
			     weir_addr_text(&row->backend->addr, addr));
		weir_out_bool(out, "passed", NULL, row->result.passed);
		weir_out_text(out, "%-5s ", row->result.passed ? "up" : "down");
		weir_out_str(out, "text", "%s", row->result.text);
		print_weight(out, row);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	weir_out_end(out);
	return down;
}

int weir_once(struct weir_out *out, const struct weir_config *config)
{
	struct job job = { .n = 0 };
	unsigned int i, down = 0;

	if (weir_loop_init(&job.loop) ||
	    !(job.prober = weir_prober_new(&job.loop))) {
		weir_log(WEIR_LOG_ERROR, "cannot begin: %s", strerror(errno));
		return 1;
	}
	collect(&job, config);
	open_pins(&job);
	begin(&job);
	if (job.n && weir_loop_run(&job.loop)) {
		weir_log(WEIR_LOG_ERROR, "cannot wait: %s", strerror(errno));
		down = 1;
	} else {
		down = print(out, &job);
	}
	if (!job.n)
		weir_log(WEIR_LOG_NOTICE, "no backend has a health-check");
	weir_prober_free(job.prober);
	if (job.pins)
		weir_nl_close(&job.nl);
	weir_loop_free(&job.loop);
	for (i = 0; i < config->n_services; i++)
		weir_healthcheck_free(&job.lines[i]);
	free(job.lines);
	free(job.rows);
	return down || job.unreadable;
}
