/* SPDX-License-Identifier: GPL-2.0 */
/* `weir-healthd reload` talks to the daemon of its network namespace through a socket
 * below /run/weir-healthd, where a lock makes that the only one. */
#ifndef WEIR_CONTROL_H
#define WEIR_CONTROL_H

#include "err.h"
#include "loop.h"

#define WEIR_CONTROL_CLIENTS	8

struct weir_control {
	struct weir_loop *loop;
	struct weir_watch watch;
	int lock;
	int waiting[WEIR_CONTROL_CLIENTS];	/* for the end of a reload */
	unsigned int n;
	/* Called from the loop; may answer at once. */
	void (*reload)(void);
};

/* Fails if there is another daemon. */
int weir_control_init(struct weir_control *control, struct weir_loop *loop,
		      void (*reload)(void), struct weir_err *err);
void weir_control_free(struct weir_control *control);
/* A reload is over: WHY it failed, or "". */
void weir_control_answer(struct weir_control *control, const char *why);

/* The other side: asks, waits, and prints why it failed. An exit code. */
int weir_control_reload(void);

#endif
