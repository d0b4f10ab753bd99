// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "notify.h"

/* Opened once, and kept: at the time of a message there may be no descriptor left. */
static int notify_socket(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd;
}

void weir_notify(const char *fmt, ...)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	char text[300];
	va_list ap;

	if (!len || len >= sizeof(to.sun_path))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	memcpy(to.sun_path, path, len);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	/* Nobody to tell is no reason to stop. */
	if (sendto(notify_socket(), text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		   (struct sockaddr *)&to,
		   offsetof(struct sockaddr_un, sun_path) + len) < 0)
		return;
}

uint64_t weir_notify_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (!usec || (pid && strtol(pid, NULL, 10) != getpid()))
		return 0;
	return strtoull(usec, NULL, 10) * 1000;
}
