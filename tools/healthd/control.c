// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "log.h"

#define NAME		"weir-healthd"
#define ANSWER_MAX	4096

static socklen_t control_address(struct sockaddr_un *sun)
{
	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	memcpy(sun->sun_path + 1, NAME, strlen(NAME));
	return offsetof(struct sockaddr_un, sun_path) + 1 + strlen(NAME);
}

/* The socket is in no directory whose permissions would protect it. */
static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
	       (!peer.uid || peer.uid == geteuid());
}

static void refuse(int fd, const char *why)
{
	if (send(fd, why, strlen(why), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		weir_log(WEIR_LOG_INFO, "a client went away: %s",
			 strerror(errno));
	close(fd);
}

static void ready(struct weir_watch *watch, uint32_t events)
{
	struct weir_control *control = weir_holder(watch, struct weir_control,
						   watch);
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	if (!may_ask(fd)) {
		refuse(fd, "only root may ask for that");
		return;
	}
	if (control->n == WEIR_CONTROL_CLIENTS) {
		refuse(fd, "too many wait for a reload already");
		return;
	}
	/* There is one thing to ask for: that a client comes says it. */
	control->waiting[control->n++] = fd;
	control->reload();
}

int weir_control_init(struct weir_control *control, struct weir_loop *loop,
		      void (*reload)(void), struct weir_err *err)
{
	struct sockaddr_un sun;
	socklen_t len = control_address(&sun);
	int fd;

	memset(control, 0, sizeof(*control));
	control->loop = loop;
	control->reload = reload;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sun, len) ||
	    listen(fd, WEIR_CONTROL_CLIENTS)) {
		weir_err_set(err, WEIR_ERR_VALUE, errno == EADDRINUSE ?
			     "another weir-healthd runs in this network namespace: weir-healthd reload talks to it" :
			     "cannot open the control socket: %s",
			     strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	control->watch.fd = fd;
	control->watch.ready = ready;
	if (!weir_loop_watch(loop, &control->watch, EPOLLIN))
		return 0;
	return weir_err_set(err, WEIR_ERR_VALUE,
			    "cannot wait for the control socket: %s",
			    strerror(errno));
}

void weir_control_free(struct weir_control *control)
{
	if (!control->loop)
		return;
	weir_control_answer(control, "weir-healthd is being stopped");
	if (control->watch.watched)
		weir_loop_unwatch(control->loop, &control->watch);
	if (control->watch.fd > 0)
		close(control->watch.fd);
}

void weir_control_answer(struct weir_control *control, const char *why)
{
	while (control->n)
		refuse(control->waiting[--control->n], *why ? why : "ok");
}

int weir_control_reload(void)
{
	struct sockaddr_un sun;
	socklen_t len = control_address(&sun);
	char answer[ANSWER_MAX + 1];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ssize_t got;

	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, len)) {
		fprintf(stderr, "weir-healthd: no weir-healthd runs in this network namespace\n");
		if (fd >= 0)
			close(fd);
		return 1;
	}
	do {
		got = recv(fd, answer, ANSWER_MAX, 0);
	} while (got < 0 && errno == EINTR);
	close(fd);
	answer[got > 0 ? got : 0] = '\0';
	if (!strcmp(answer, "ok"))
		return 0;
	fprintf(stderr, "weir-healthd: %s\n",
		*answer ? answer : "the daemon went away without an answer");
	return 1;
}
