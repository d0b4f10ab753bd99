/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's configuration, followed as it changes. */
#ifndef WEIR_FOLLOW_H
#define WEIR_FOLLOW_H

#include "err.h"
#include "loop.h"
#include "nl.h"
#include "roster.h"

struct weir_follow {
	struct weir_loop *loop;
	struct weir_roster *roster;
	struct weir_nl *calls;		/* for reading */
	struct weir_nl events;
	struct weir_watch watch;
	struct weir_timer timer;	/* read again, */
	uint64_t rested;		/* but not before then, ns */
	bool all;			/* everything, */
	char (*names)[WEIR_NAME_SIZE];	/* or these services */
	unsigned int n;
	void (*lost)(const char *why);
};

/* Listens, then reads everything. */
int weir_follow_init(struct weir_follow *follow, struct weir_loop *loop,
		     struct weir_roster *roster, struct weir_nl *calls,
		     void (*lost)(const char *why), struct weir_err *err);
void weir_follow_free(struct weir_follow *follow);
/* Reads everything now. If it fails, the roster stays as it was. */
int weir_follow_read(struct weir_follow *follow, struct weir_err *err);

#endif
