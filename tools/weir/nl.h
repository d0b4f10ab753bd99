/* SPDX-License-Identifier: GPL-2.0 */
/* The netlink socket of our family: the only file that sends and receives. */
#ifndef WEIR_NL_H
#define WEIR_NL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stdint.h>

#include "err.h"

struct weir_nl {
	struct mnl_socket *sock;
	uint32_t portid;
	uint32_t seq;
	uint16_t family;
	uint32_t group;		/* of events */
	char *in, *out;
};

/* One answer; returns -1 if it is malformed. */
typedef int (*weir_nl_cb)(const struct nlmsghdr *nlh, void *arg);

/* Fails with the sentence to print: module absent, no permission. */
int weir_nl_open(struct weir_nl *nl, struct weir_err *err);
void weir_nl_close(struct weir_nl *nl);

/* Begins the one message that the socket has room for. */
struct nlmsghdr *weir_nl_begin(struct weir_nl *nl, uint8_t cmd);
/* Sends it and waits for the acknowledgement. CB may be NULL. */
int weir_nl_call(struct weir_nl *nl, struct nlmsghdr *nlh, weir_nl_cb cb,
		 void *arg, struct weir_err *err);
/* Sends it as a dump. RESET forgets what CB collected, before a new try; after
 * too many tries the dump fails. */
int weir_nl_dump(struct weir_nl *nl, struct nlmsghdr *nlh, weir_nl_cb cb,
		 void (*reset)(void *arg), void *arg, struct weir_err *err);

/* Many messages in few system calls. The kernel acknowledges only the last of
 * each packet and reports each that fails; PLACE is what the report calls it. */
struct weir_batch {
	struct weir_nl *nl;
	char *buf;
	size_t used;
	uint32_t first;		/* sequence number of the first message */
	unsigned int *line;	/* by sequence number - first */
	unsigned int n;
	void (*report)(unsigned int line, const char *why, void *arg);
	void *arg;
	unsigned int n_failed;
	bool lost;		/* some reports did not fit in the socket */
};

void weir_batch_begin(struct weir_batch *batch, struct weir_nl *nl,
		      void (*report)(unsigned int line, const char *why,
				     void *arg),
		      void *arg);
/* Room for one more message; NULL if a packet could not be sent. */
struct nlmsghdr *weir_batch_add(struct weir_batch *batch, uint8_t cmd,
				unsigned int line, struct weir_err *err);
/* Called when the message is complete. */
void weir_batch_done(struct weir_batch *batch, struct nlmsghdr *nlh);
int weir_batch_flush(struct weir_batch *batch, struct weir_err *err);
void weir_batch_free(struct weir_batch *batch);

int weir_nl_join(struct weir_nl *nl, struct weir_err *err);
int weir_nl_fd(const struct weir_nl *nl);
/* Reads what has come to a socket that joined: 0, -1 with the error set, or 1
 * if the kernel had to drop events. */
int weir_nl_events(struct weir_nl *nl, weir_nl_cb cb, void *arg,
		   struct weir_err *err);

#endif
