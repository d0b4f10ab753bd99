/* SPDX-License-Identifier: GPL-2.0 */
/* Who is checked, and when: each backend of each service that has a health-check. */
#ifndef WEIR_ROSTER_H
#define WEIR_ROSTER_H

#include "healthcheck.h"
#include "judge.h"
#include "loop.h"
#include "model.h"
#include "probe.h"

struct weir_report;
struct weir_roster;

struct weir_watched {
	struct weir_roster *roster;
	char name[WEIR_NAME_SIZE];
	char *text;			/* the line, */
	struct weir_healthcheck line;	/* and what it says */
	struct weir_addr vip;		/* of its first rule; len 0: none */
	struct weir_check **checks;	/* ascending by address */
	unsigned int n;
	bool seen;			/* scratch of a whole reading */
};

/* One backend of one service. */
struct weir_check {
	struct weir_watched *service;
	struct weir_addr addr;
	struct weir_judge judge;
	struct weir_timer timer;	/* the next probe */
	uint64_t due;			/* when it is to begin */
	bool late;			/* it is due, and the last one goes on */
	uint32_t local;			/* so many in a row could not be made here */
	struct weir_probe *probe;	/* one that goes on, or NULL */
	struct weir_probe_result last;
	/* Of the queue of reports. */
	bool queued;
	struct weir_check *next, **prev;
};

struct weir_roster {
	struct weir_loop *loop;
	struct weir_prober *prober;
	struct weir_report *report;
	struct weir_watched **services;	/* ascending by name */
	unsigned int n;
	uint32_t begun;			/* checks so far, for their phases */
};

void weir_roster_init(struct weir_roster *roster, struct weir_loop *loop,
		      struct weir_prober *prober, struct weir_report *report);
/* Ends all probes. */
void weir_roster_free(struct weir_roster *roster);

/* What the kernel says of one service: checks that stay as they are keep their state,
 * their counts and their time. Its backends are ascending by address. */
void weir_roster_put(struct weir_roster *roster,
		     const struct weir_service *service);
/* It is gone. */
void weir_roster_drop(struct weir_roster *roster, const char *name);
/* All services: what is not among them is gone. */
void weir_roster_put_all(struct weir_roster *roster,
			 const struct weir_config *config);
/* How many backends are up, down, and not known yet. */
void weir_roster_count(const struct weir_roster *roster, unsigned int *up,
		       unsigned int *down, unsigned int *unknown);

#endif
