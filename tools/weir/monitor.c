// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "command.h"
#include "decode.h"
#include "print.h"

/* A descriptor that becomes readable when we are told to end: unlike a handler
 * it is seen however fast events come. */
static int signals_as_file(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
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

static int watch(struct weir_ctx *ctx, int signals)
{
	struct pollfd fds[] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = weir_nl_fd(&ctx->nl), .events = POLLIN },
	};
	struct weir_err err;
	int ret;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return weir_complain("cannot wait: %s",
					     strerror(errno));
		if (fds[0].revents)
			return WEIR_DONE;
		ret = weir_nl_events(&ctx->nl, take_event, ctx, &err);
		if (ret < 0)
			return weir_refuse(&err);
		if (ret)
			weir_complain("events were lost: more came than the socket could hold; weir show has the state");
		if (ferror(ctx->out.f))
			return WEIR_REFUSED;
	}
}

int weir_monitor(struct weir_ctx *ctx, struct weir_args args)
{
	int signals = signals_as_file(), ret;
	struct weir_err err;

	(void)args;
	if (signals < 0)
		return weir_complain("cannot wait for signals: %s",
				     strerror(errno));
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	if (weir_nl_join(&ctx->nl, &err))
		return weir_refuse(&err);
	ctx->out.each_line = true;
	ret = watch(ctx, signals);
	close(signals);
	return ret;
}
