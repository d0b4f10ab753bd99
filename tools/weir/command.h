/* SPDX-License-Identifier: GPL-2.0 */
/* The table of commands, and what a command gets to work with. */
#ifndef WEIR_COMMAND_H
#define WEIR_COMMAND_H

#include <stdbool.h>

#include "grammar.h"
#include "nl.h"
#include "out.h"

enum weir_exit { WEIR_DONE, WEIR_REFUSED, WEIR_USAGE };

struct weir_ctx {
	struct weir_out out;
	struct weir_nl nl;
	bool counters;		/* -s */
};

/* What stands at a place of the command line, for completion. */
enum weir_slot {
	WEIR_SLOT_NONE,
	WEIR_SLOT_SERVICE,
	WEIR_SLOT_NEW,		/* a new name: nothing to offer */
	WEIR_SLOT_GROUP,
	WEIR_SLOT_BACKEND,	/* ADDR, or `group` G */
	WEIR_SLOT_ZONE,
	WEIR_SLOT_PREFIXES,	/* of the zone before it, any number */
	WEIR_SLOT_PROTO,
	WEIR_SLOT_IPPROTO,
	WEIR_SLOT_VIP,		/* one that has a rule */
	WEIR_SLOT_ALL,		/* ports: `all` */
	WEIR_SLOT_FILE,
	WEIR_SLOT_WHICH,	/* [SERVICE] [backend ADDR] */
};

/* Returns an exit code; WEIR_USAGE prints the usage behind it. */
typedef int (*weir_run)(struct weir_ctx *ctx, struct weir_args args);

#define WEIR_SLOTS	4

struct weir_verb {
	const char *word;	/* NULL: the command has no verbs */
	const char *usage;	/* what follows the words of the command */
	int min, max;		/* words that may follow; max -1: any number */
	weir_run run;
	enum weir_slot slot[WEIR_SLOTS];
	const struct weir_options *options;
	const char *flag;	/* a word that may stand behind the slots */
};

struct weir_command {
	const char *word;
	const char *what;	/* one line for the list of commands */
	const struct weir_verb *verb;
	unsigned int n_verbs;
};

extern const struct weir_command weir_commands[];
extern const unsigned int weir_n_commands;

/* Opens the socket; complains and returns -1 if it cannot. */
int weir_connect(struct weir_ctx *ctx);
/* Sends a change that ctx->nl.out holds; returns an exit code. */
int weir_change(struct weir_ctx *ctx, struct nlmsghdr *nlh);
/* Prints what the parser says: an exit code. */
int weir_refuse(const struct weir_err *err);
/* WEIR_USAGE after a complaint. */
int weir_bad_grammar(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));

int weir_dispatch(struct weir_ctx *ctx, struct weir_args args);
void weir_help(FILE *f);

/* The commands, each in the file of its object. */
int weir_show(struct weir_ctx *ctx, struct weir_args args);
int weir_service_add(struct weir_ctx *ctx, struct weir_args args);
int weir_service_set(struct weir_ctx *ctx, struct weir_args args);
int weir_service_del(struct weir_ctx *ctx, struct weir_args args);
int weir_rule_add(struct weir_ctx *ctx, struct weir_args args);
int weir_rule_del(struct weir_ctx *ctx, struct weir_args args);
int weir_group_add(struct weir_ctx *ctx, struct weir_args args);
int weir_group_set(struct weir_ctx *ctx, struct weir_args args);
int weir_group_del(struct weir_ctx *ctx, struct weir_args args);
int weir_backend_add(struct weir_ctx *ctx, struct weir_args args);
int weir_backend_set(struct weir_ctx *ctx, struct weir_args args);
int weir_backend_del(struct weir_ctx *ctx, struct weir_args args);
int weir_zone_add(struct weir_ctx *ctx, struct weir_args args);
int weir_zone_del(struct weir_ctx *ctx, struct weir_args args);
int weir_apply(struct weir_ctx *ctx, struct weir_args args);
int weir_save(struct weir_ctx *ctx, struct weir_args args);
int weir_lookup(struct weir_ctx *ctx, struct weir_args args);
int weir_flows(struct weir_ctx *ctx, struct weir_args args);
int weir_flush(struct weir_ctx *ctx, struct weir_args args);
int weir_stats(struct weir_ctx *ctx, struct weir_args args);
int weir_monitor(struct weir_ctx *ctx, struct weir_args args);
int weir_check(struct weir_ctx *ctx, struct weir_args args);
int weir_complete(struct weir_ctx *ctx, struct weir_args args);

#endif
