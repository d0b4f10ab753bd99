// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "command.h"
#include "decode.h"
#include "print.h"

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* Signals are blocked except while we wait, so none is missed in between. */
static void catch_signals(sigset_t *while_waiting)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t block;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigprocmask(SIG_BLOCK, &block, while_waiting);
	sigdelset(while_waiting, SIGINT);
	sigdelset(while_waiting, SIGTERM);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static void print_event(struct weir_out *out, const struct weir_changes *changes,
			const struct weir_change_record *change)
{
	weir_out_object(out, NULL);
	weir_out_num(out, "generation", "generation %s: ", changes->generation);
	if (change)
		weir_out_change(out, change);
	else
		weir_out_text(out, "published");
	weir_out_text(out, "\n");
	weir_out_end(out);
}

static int take_event(const struct nlmsghdr *nlh, void *arg)
{
	struct weir_changes changes = { .n = 0 };
	struct weir_ctx *ctx = arg;
	unsigned int i;
	int ret;

	ret = weir_decode_changes(nlh, &changes);
	if (!ret && !changes.n)
		print_event(&ctx->out, &changes, NULL);
	for (i = 0; !ret && i < changes.n; i++)
		print_event(&ctx->out, &changes, &changes.change[i]);
	weir_changes_free(&changes);
	return ret;
}

int weir_monitor(struct weir_ctx *ctx, struct weir_args args)
{
	struct pollfd pfd = { .events = POLLIN };
	sigset_t while_waiting;
	struct weir_err err;
	int ret;

	(void)args;
	catch_signals(&while_waiting);
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (weir_nl_join(&ctx->nl, &err))
		return weir_refuse(&err);
	ctx->out.each_line = true;
	pfd.fd = weir_nl_fd(&ctx->nl);
	while (!stop) {
		if (ppoll(&pfd, 1, NULL, &while_waiting) < 0 && errno != EINTR)
			return weir_complain("cannot wait: %s",
					     strerror(errno));
		ret = weir_nl_events(&ctx->nl, take_event, ctx, &err);
		if (ret < 0)
			return weir_refuse(&err);
		if (ret)
			weir_complain("events were lost: more came than the socket could hold; weir show has the state");
		if (ferror(ctx->out.f))
			return WEIR_REFUSED;
	}
	return WEIR_DONE;
}
