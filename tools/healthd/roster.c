// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include <linux/weir.h>

#include "line.h"
#include "log.h"
#include "report.h"
#include "roster.h"

/* 2^32 divided by the golden ratio: multiples of it modulo 2^32 are spread evenly,
 * however many there are. */
#define GOLDEN		2654435769u
#define OVERSLEPT	(500 * WEIR_MS)

static const char *const state_words[] = {
	[WEIR_HEALTH_AUTO] = "not known",
	[WEIR_HEALTH_UP] = "up",
	[WEIR_HEALTH_DOWN] = "down",
};

void weir_roster_init(struct weir_roster *roster, struct weir_loop *loop,
		      struct weir_prober *prober, struct weir_report *report)
{
	memset(roster, 0, sizeof(*roster));
	roster->loop = loop;
	roster->prober = prober;
	roster->report = report;
}

/* Probes. */

static void done(const struct weir_probe_result *result, void *arg);

static void start_probe(struct weir_check *check)
{
	struct weir_watched *service = check->service;
	struct weir_probe_job job = { &service->line, check->addr, service->vip,
				      service->name };

	check->late = false;
	check->probe = weir_probe_start(check->service->roster->prober, &job, done,
					check);
}

/* The interval goes from start to start; what was missed, while the machine slept for
 * instance, is not made up for. */
static void fire(struct weir_timer *timer)
{
	struct weir_check *check = weir_holder(timer, struct weir_check, timer);
	uint64_t interval = check->service->line.interval * WEIR_SECOND;
	uint64_t now = weir_loop_now();
	bool overslept;

	/* All that became due while this machine did something else would come at
	 * once: they wait for their own time. */
	overslept = now - check->due > OVERSLEPT;
	check->due += interval;
	if (check->due <= now)
		check->due += (now - check->due) / interval * interval + interval;
	weir_loop_arm(check->service->roster->loop, timer, check->due);
	/* A timeout as long as the interval ends when the next one is due. */
	if (check->probe)
		check->late = true;
	else if (!overslept)
		start_probe(check);
}

static void log_change(const struct weir_check *check)
{
	const struct weir_judge *judge = &check->judge;
	char addr[WEIR_ADDR_TEXT];

	weir_log(judge->state == WEIR_HEALTH_UP ? WEIR_LOG_NOTICE :
						  WEIR_LOG_WARNING,
		 "service %s backend %s is %s: %s (%u in a row)",
		 check->service->name, weir_addr_text(&check->addr, addr),
		 state_words[judge->state], check->last.text, judge->run);
}

/* It says nothing about the backend; said once, not at each probe. */
static void log_local(const struct weir_check *check)
{
	char addr[WEIR_ADDR_TEXT];

	weir_log(WEIR_LOG_ERROR, "service %s backend %s: no probe could be made: %s",
		 check->service->name, weir_addr_text(&check->addr, addr),
		 check->last.text);
}

static void done(const struct weir_probe_result *result, void *arg)
{
	struct weir_check *check = arg;
	const struct weir_healthcheck *line = &check->service->line;
	bool changed = false;

	check->probe = NULL;
	check->last = *result;
	if (result->local) {
		if (!check->local++)
			log_local(check);
	} else {
		check->local = 0;
		changed = weir_judge_take(&check->judge, result->passed,
					  line->healthy, line->unhealthy);
		if (changed)
			log_change(check);
	}
	weir_report_queue(check->service->roster->report, check, changed);
	if (check->late)
		start_probe(check);
}

/* The set of checks. */

/* Each begins at another time of its interval, or all backends would be probed at
 * once. */
static void schedule(struct weir_roster *roster, struct weir_check *check)
{
	uint64_t interval = check->service->line.interval * WEIR_SECOND;
	uint32_t phase = roster->begun++ * GOLDEN;

	check->due = weir_loop_now() + (interval * (phase >> 12) >> 20);
	weir_loop_arm(roster->loop, &check->timer, check->due);
}

/* What another checker found before us holds until we know better. */
static uint8_t known_state(const struct weir_backend *backend)
{
	uint32_t state = backend->opts.num[WEIR_BACKEND_A_CHECK];

	return state > WEIR_HEALTH_DOWN ? WEIR_HEALTH_AUTO : state;
}

static struct weir_check *new_check(struct weir_roster *roster,
				    struct weir_watched *service,
				    const struct weir_backend *backend)
{
	struct weir_check *check = weir_alloc(sizeof(*check));

	check->service = service;
	check->addr = backend->addr;
	check->timer.fire = fire;
	check->judge.state = known_state(backend);
	schedule(roster, check);
	return check;
}

static void stop_check(struct weir_roster *roster, struct weir_check *check)
{
	if (check->probe)
		weir_probe_cancel(check->probe);
	check->probe = NULL;
	check->late = false;
	weir_loop_disarm(roster->loop, &check->timer);
	weir_report_forget(check);
}

static void free_check(struct weir_roster *roster, struct weir_check *check)
{
	stop_check(roster, check);
	free(check);
}

static void free_service(struct weir_roster *roster,
			 struct weir_watched *service)
{
	unsigned int i;

	for (i = 0; i < service->n; i++)
		free_check(roster, service->checks[i]);
	weir_healthcheck_free(&service->line);
	free(service->checks);
	free(service->text);
	free(service);
}

void weir_roster_free(struct weir_roster *roster)
{
	unsigned int i;

	for (i = 0; i < roster->n; i++)
		free_service(roster, roster->services[i]);
	free(roster->services);
	memset(roster, 0, sizeof(*roster));
}

/* What was found holds, and is counted anew. */
static void forget_run(struct weir_check *check)
{
	check->judge.run = 0;
	check->local = 0;
	memset(&check->last, 0, sizeof(check->last));
}

/* Another line. What the old one found last is told before. */
static void set_line(struct weir_watched *service, const char *text,
		     struct weir_healthcheck *line)
{
	unsigned int i;

	weir_report_flush(service->roster->report);
	for (i = 0; i < service->n; i++) {
		stop_check(service->roster, service->checks[i]);
		forget_run(service->checks[i]);
	}
	weir_healthcheck_free(&service->line);
	free(service->text);
	service->text = weir_strdup(text);
	service->line = *line;
	for (i = 0; i < service->n; i++)
		schedule(service->roster, service->checks[i]);
}

/* The kernel knows what we told it. Where it knows something else the backend or the
 * line went and came back between two readings, and is a new one. */
static void agree(struct weir_check *check, const struct weir_backend *backend)
{
	uint8_t state = known_state(backend);

	if (check->queued || check->judge.state == state)
		return;
	forget_run(check);
	check->judge.state = state;
}

/* Both are ascending by address. */
static void merge_checks(struct weir_watched *service,
			 const struct weir_service *from)
{
	struct weir_check **checks, **old = service->checks;
	unsigned int i, left = service->n;

	checks = weir_alloc(from->n_backends * sizeof(struct weir_check *));
	for (i = 0; i < from->n_backends; i++) {
		const struct weir_backend *backend = &from->backends[i];

		while (left && weir_addr_cmp(&(*old)->addr, &backend->addr) < 0) {
			free_check(service->roster, *old++);
			left--;
		}
		if (left && !weir_addr_cmp(&(*old)->addr, &backend->addr)) {
			checks[i] = *old++;
			agree(checks[i], backend);
			left--;
		} else {
			checks[i] = new_check(service->roster, service, backend);
		}
	}
	while (left--)
		free_check(service->roster, *old++);
	free(service->checks);
	service->checks = checks;
	service->n = from->n_backends;
}

/* The place of NAME, or where it would be inserted. */
static bool find(const struct weir_roster *roster, const char *name,
		 unsigned int *at)
{
	unsigned int low = 0, high = roster->n;

	while (low < high) {
		unsigned int middle = low + (high - low) / 2;
		int cmp = strcmp(roster->services[middle]->name, name);

		if (!cmp) {
			*at = middle;
			return true;
		}
		if (cmp < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*at = low;
	return false;
}

static struct weir_watched *insert(struct weir_roster *roster, const char *name,
				   unsigned int at)
{
	struct weir_watched *service = weir_alloc(sizeof(*service));

	service->roster = roster;
	memcpy(service->name, name, strnlen(name, WEIR_NAME_MAX));
	roster->services = weir_grow(roster->services, roster->n,
				     sizeof(struct weir_watched *));
	memmove(&roster->services[at + 1], &roster->services[at],
		(roster->n - at) * sizeof(struct weir_watched *));
	roster->services[at] = service;
	roster->n++;
	return service;
}

void weir_roster_drop(struct weir_roster *roster, const char *name)
{
	unsigned int at;

	if (!find(roster, name, &at))
		return;
	free_service(roster, roster->services[at]);
	roster->n--;
	memmove(&roster->services[at], &roster->services[at + 1],
		(roster->n - at) * sizeof(struct weir_watched *));
}

void weir_roster_put(struct weir_roster *roster,
		     const struct weir_service *service)
{
	const char *text = service->opts.str;
	struct weir_watched *watched = NULL;
	struct weir_healthcheck line;
	unsigned int at;

	if (find(roster, service->name, &at))
		watched = roster->services[at];
	if (!watched || !text || strcmp(watched->text, text)) {
		if (weir_line_read(service, &line)) {
			weir_roster_drop(roster, service->name);
			return;
		}
		if (!watched)
			watched = insert(roster, service->name, at);
		set_line(watched, text, &line);
	} else if (!weir_line_fits(service, &watched->line)) {
		weir_roster_drop(roster, service->name);
		return;
	}
	weir_line_vip(service, &watched->vip);
	merge_checks(watched, service);
	watched->seen = true;
}

void weir_roster_put_all(struct weir_roster *roster,
			 const struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < roster->n; i++)
		roster->services[i]->seen = false;
	for (i = 0; i < config->n_services; i++)
		weir_roster_put(roster, &config->services[i]);
	for (i = roster->n; i-- > 0;)
		if (!roster->services[i]->seen)
			weir_roster_drop(roster, roster->services[i]->name);
}

void weir_roster_count(const struct weir_roster *roster, unsigned int *up,
		       unsigned int *down, unsigned int *unknown)
{
	unsigned int i, j, n[3] = { 0 };

	for (i = 0; i < roster->n; i++)
		for (j = 0; j < roster->services[i]->n; j++)
			n[roster->services[i]->checks[j]->judge.state]++;
	*up = n[WEIR_HEALTH_UP];
	*down = n[WEIR_HEALTH_DOWN];
	*unknown = n[WEIR_HEALTH_AUTO];
}
