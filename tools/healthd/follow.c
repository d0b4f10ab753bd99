// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "decode.h"
#include "follow.h"
#include "log.h"

#define SETTLE		(10 * WEIR_MS)	/* events of one change come together */
#define AGAIN		WEIR_SECOND
#define REST		4		/* times what the last reading took */
#define NAMES_MAX	64		/* more services, and all are read */

static void add_name(struct weir_follow *follow, const char *name)
{
	unsigned int i;

	for (i = 0; i < follow->n && !follow->all; i++)
		if (!strcmp(follow->names[i], name))
			return;
	if (follow->n == NAMES_MAX)
		follow->all = true;
	if (follow->all)
		return;
	strcpy(follow->names[follow->n++], name);
}

/* Results, health by hand, weights and zones change nobody's probes. */
static bool matters(const struct weir_change_record *change)
{
	switch (change->object) {
	case WEIR_OBJECT_SERVICE:
	case WEIR_OBJECT_RULE:
		return true;
	case WEIR_OBJECT_BACKEND:
		return change->kind != WEIR_CHANGE_CHANGED;
	default:
		return false;
	}
}

static int take_event(const struct nlmsghdr *nlh, void *arg)
{
	struct weir_changes changes = { .n = 0 };
	struct weir_follow *follow = arg;
	unsigned int i;
	int ret = weir_decode_changes(nlh, &changes);

	for (i = 0; !ret && i < changes.n; i++)
		if (matters(&changes.change[i]))
			add_name(follow, changes.change[i].service);
	weir_changes_free(&changes);
	return ret;
}

static void plan(struct weir_follow *follow, uint64_t in)
{
	uint64_t when = weir_loop_now() + in;

	if (when < follow->rested)
		when = follow->rested;
	if (!follow->timer.place)
		weir_loop_arm(follow->loop, &follow->timer, when);
}

static void ready(struct weir_watch *watch, uint32_t events)
{
	struct weir_follow *follow = weir_holder(watch, struct weir_follow,
						 watch);
	struct weir_err err;
	int ret;

	(void)events;
	ret = weir_nl_events(&follow->events, take_event, follow, &err);
	if (ret < 0) {
		follow->lost(err.text);
		return;
	}
	if (ret)
		follow->all = true;
	if (follow->all || follow->n)
		plan(follow, SETTLE);
}

/* The service may be gone by now, and the kernel says so; any other failure changes
 * nothing. */
static int read_one(struct weir_follow *follow, const char *name,
		    struct weir_err *err)
{
	struct weir_config config;

	if (!weir_read_config(follow->calls, name, false, &config, err)) {
		weir_roster_put(follow->roster, &config.services[0]);
		weir_config_free(&config);
		return 0;
	}
	if (err->num != ENOENT)
		return -1;
	weir_roster_drop(follow->roster, name);
	return 0;
}

int weir_follow_read(struct weir_follow *follow, struct weir_err *err)
{
	struct weir_config config;

	if (weir_read_config(follow->calls, NULL, false, &config, err))
		return -1;
	weir_roster_put_all(follow->roster, &config);
	weir_config_free(&config);
	follow->all = false;
	follow->n = 0;
	return 0;
}

static int read_changed(struct weir_follow *follow, struct weir_err *err)
{
	if (follow->all)
		return weir_follow_read(follow, err);
	while (follow->n) {
		if (read_one(follow, follow->names[follow->n - 1], err))
			return -1;
		follow->n--;
	}
	return 0;
}

static void fire(struct weir_timer *timer)
{
	struct weir_follow *follow = weir_holder(timer, struct weir_follow,
						 timer);
	uint64_t begun = weir_loop_now();
	struct weir_err err;
	int ret = read_changed(follow, &err);

	/* Probes want their time too. */
	follow->rested = weir_loop_now() + REST * (weir_loop_now() - begun);
	if (!ret)
		return;
	weir_log(WEIR_LOG_WARNING, "cannot read the configuration, will try again: %s",
		 err.text);
	plan(follow, AGAIN);
}

int weir_follow_init(struct weir_follow *follow, struct weir_loop *loop,
		     struct weir_roster *roster, struct weir_nl *calls,
		     void (*lost)(const char *why), struct weir_err *err)
{
	memset(follow, 0, sizeof(*follow));
	follow->loop = loop;
	follow->roster = roster;
	follow->calls = calls;
	follow->lost = lost;
	follow->timer.fire = fire;
	follow->names = weir_alloc(NAMES_MAX * sizeof(*follow->names));
	if (weir_nl_open(&follow->events, err))
		return -1;
	/* Before reading: nothing may change between the two. */
	if (weir_nl_join(&follow->events, err))
		return -1;
	follow->watch.fd = weir_nl_fd(&follow->events);
	follow->watch.ready = ready;
	if (weir_loop_watch(loop, &follow->watch, EPOLLIN))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "cannot wait for events of the kernel");
	return weir_follow_read(follow, err);
}

void weir_follow_free(struct weir_follow *follow)
{
	if (follow->watch.watched)
		weir_loop_unwatch(follow->loop, &follow->watch);
	weir_loop_disarm(follow->loop, &follow->timer);
	weir_nl_close(&follow->events);
	free(follow->names);
}
