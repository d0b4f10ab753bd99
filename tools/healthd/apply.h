/* SPDX-License-Identifier: GPL-2.0 */
/* `weir apply FILE`, as a process of its own: big files take their time, and probes
 * do not wait. */
#ifndef WEIR_APPLY_H
#define WEIR_APPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"

struct weir_apply {
	pid_t pid;		/* 0: none runs */
	int output;		/* a file in memory with what it prints */
};

/* Starts it; its end is told by SIGCHLD. */
int weir_apply_start(struct weir_apply *apply, const char *file,
		     struct weir_err *err);
/* Reaps it if it has ended, or waits for that. True if it has; then OK says how, and
 * TEXT has what it printed. */
bool weir_apply_end(struct weir_apply *apply, bool wait, bool *ok, char *text,
		    size_t size);

#endif
