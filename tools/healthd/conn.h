/* SPDX-License-Identifier: GPL-2.0 */
/* A TCP connection to a backend, made without waiting. */
#ifndef WEIR_CONN_H
#define WEIR_CONN_H

#include "loop.h"
#include "value.h"

#define WEIR_CONN_TEXT	64

struct weir_conn_target {
	const struct weir_addr *addr;
	uint16_t port;
	const struct weir_addr *source;	/* len 0: any */
	const char *dev;		/* NULL: any */
	bool has_mark, proxy_header;
	uint32_t mark;
	/* If set, called before the connect with the port that it will come from: 0, or
	 * an errno, with which it ends. Such a connection is closed by a reset. */
	int (*bound)(void *arg, uint16_t port);
	void *arg;
};

/* Zeroed = none. */
struct weir_conn {
	/* error: 0, or an errno. Called once, never from weir_conn_start(). */
	void (*done)(struct weir_conn *conn, int error);
	/* private */
	struct weir_loop *loop;
	struct weir_watch watch;
	bool open, connected;
	uint8_t proxy_left;		/* bytes of the PROXY line not yet sent */
};

/* 0, or the errno that says why not; then nothing is open and nobody is called. */
int weir_conn_start(struct weir_conn *conn, struct weir_loop *loop,
		    const struct weir_conn_target *target);
/* Closes it, in any state. */
void weir_conn_stop(struct weir_conn *conn);
/* The descriptor, which is the caller's from now on. */
int weir_conn_take(struct weir_conn *conn);

/* For people: "connection refused". */
void weir_conn_error(int error, char buf[WEIR_CONN_TEXT]);
/* Is this machine to blame, and not the backend or what lies between? */
bool weir_conn_error_is_local(int error);

#endif
