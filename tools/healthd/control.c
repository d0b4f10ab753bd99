// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control.h"
#include "log.h"

#define DIR		"/run/weir-healthd"
#define ANSWER_MAX	4096

/* Only its owner gets into the directory: nobody else can be the daemon, or talk to it. */
static int make_dir(void)
{
	struct stat st;

	if (mkdir(DIR, 0700) && errno != EEXIST)
		return -1;
	if (lstat(DIR, &st))
		return -1;
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    !(st.st_mode & 077))
		return 0;
	errno = EPERM;
	return -1;
}

/* One name for each network namespace: the number of its inode. */
static int control_path(struct sockaddr_un *sun, const char *suffix)
{
	struct stat st;

	memset(sun, 0, sizeof(*sun));
	sun->sun_family = AF_UNIX;
	if (stat("/proc/self/ns/net", &st))
		return -1;
	snprintf(sun->sun_path, sizeof(sun->sun_path), DIR "/%llu%s",
		 (unsigned long long)st.st_ino, suffix);
	return 0;
}

/* Held as long as we live, however we die. */
static int take_lock(void)
{
	struct sockaddr_un sun;
	int fd;

	if (make_dir() || control_path(&sun, ".lock"))
		return -1;
	fd = open(sun.sun_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static int open_socket(void)
{
	struct sockaddr_un sun;
	int fd;

	if (control_path(&sun, ""))
		return -1;
	unlink(sun.sun_path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (!bind(fd, (struct sockaddr *)&sun, sizeof(sun)) &&
	    !listen(fd, WEIR_CONTROL_CLIENTS))
		return fd;
	close(fd);
	return -1;
}

/* Whoever went away hears nothing. */
static void answer(int fd, const char *text)
{
	if (send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		weir_log(WEIR_LOG_INFO, "a client of reload went away: %s",
			 strerror(errno));
	close(fd);
}

/* There is one thing to ask for: that a client comes says it. Without a descriptor left
 * it waits in the queue, and we for the next turn. */
static void ready(struct weir_watch *watch, uint32_t events)
{
	struct weir_control *control = weir_holder(watch, struct weir_control,
						   watch);
	int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	if (control->n == WEIR_CONTROL_CLIENTS) {
		answer(fd, "too many wait for a reload already");
		return;
	}
	control->waiting[control->n++] = fd;
	control->reload();
}

int weir_control_init(struct weir_control *control, struct weir_loop *loop,
		      void (*reload)(void), struct weir_err *err)
{
	memset(control, 0, sizeof(*control));
	control->loop = loop;
	control->reload = reload;
	control->watch.fd = -1;
	control->lock = take_lock();
	if (control->lock < 0)
		return weir_err_set(err, WEIR_ERR_VALUE, errno == EWOULDBLOCK ?
				    "another weir-healthd runs in this network namespace: weir-healthd reload talks to it" :
				    DIR ": %s", strerror(errno));
	control->watch.fd = open_socket();
	control->watch.ready = ready;
	if (control->watch.fd >= 0 &&
	    !weir_loop_watch(loop, &control->watch, EPOLLIN))
		return 0;
	return weir_err_set(err, WEIR_ERR_VALUE,
			    "cannot open the control socket: %s",
			    strerror(errno));
}

void weir_control_free(struct weir_control *control)
{
	struct sockaddr_un sun;

	if (!control->loop)
		return;
	weir_control_answer(control, "weir-healthd is being stopped");
	if (control->watch.watched)
		weir_loop_unwatch(control->loop, &control->watch);
	if (control->watch.fd >= 0) {
		if (!control_path(&sun, ""))
			unlink(sun.sun_path);
		close(control->watch.fd);
	}
	if (control->lock >= 0)
		close(control->lock);
}

void weir_control_answer(struct weir_control *control, const char *why)
{
	while (control->n)
		answer(control->waiting[--control->n], *why ? why : "ok");
}

int weir_control_reload(void)
{
	struct sockaddr_un sun;
	char text[ANSWER_MAX + 1];
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	ssize_t got;

	if (fd < 0 || control_path(&sun, "") ||
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun))) {
		fprintf(stderr, "weir-healthd: %s\n", errno == EACCES ?
			"only root may ask for that" :
			"no weir-healthd runs in this network namespace");
		if (fd >= 0)
			close(fd);
		return 1;
	}
	do {
		got = recv(fd, text, ANSWER_MAX, 0);
	} while (got < 0 && errno == EINTR);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	if (!strcmp(text, "ok"))
		return 0;
	fprintf(stderr, "weir-healthd: %s\n",
		*text ? text : "the daemon went away without an answer");
	return 1;
}
