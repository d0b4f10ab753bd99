/* SPDX-License-Identifier: GPL-2.0 */
/* `weir check`: each part adds findings. */
#ifndef WEIR_CHECK_H
#define WEIR_CHECK_H

#include "command.h"
#include "model.h"

enum weir_severity {
	WEIR_WARNING,		/* some traffic may suffer */
	WEIR_ERROR,		/* traffic stops */
};

struct weir_families {
	bool v4, v6;
};

struct weir_check_state {
	struct weir_ctx *ctx;
	struct weir_config config;
	bool v4, v6;		/* families that have rules */
	struct weir_families nat, direct;	/* of services that forward so */
	unsigned int n_errors, n_warnings;
};

bool weir_is_direct(const struct weir_service *service);

/* Prints a finding: WHAT is wrong, WHY it matters, the COMMAND that mends it. */
void weir_find(struct weir_check_state *state, enum weir_severity severity,
	       const char *what, const char *why, const char *command);

void weir_check_services(struct weir_check_state *state);
void weir_check_direct(struct weir_check_state *state);
void weir_check_via(struct weir_check_state *state);
void weir_check_sysctls(struct weir_check_state *state);
void weir_check_routes(struct weir_check_state *state);
void weir_check_filters(struct weir_check_state *state);
void weir_check_bridges(struct weir_check_state *state);

/* Room for one text of a finding. */
#define WEIR_TEXT	512
const char *weir_text(char buf[WEIR_TEXT], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
