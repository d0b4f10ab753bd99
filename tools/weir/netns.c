// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"
#include "value.h"

static int open_netns(const char *netns)
{
	char path[PATH_MAX];
	uint32_t pid;
	int fd;

	if (strchr(netns, '/'))
		return open(netns, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/var/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 || weir_parse_number(netns, 1, INT_MAX, &pid))
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/ns/net", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int weir_netns_enter(const char *netns, struct weir_err *err)
{
	int fd = open_netns(netns), ret;

	if (fd < 0)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "network namespace %s: %s; `ip netns list` shows the names, a process id or a path will do too",
				    weir_quote(netns), strerror(errno));
	ret = setns(fd, CLONE_NEWNET);
	if (ret)
		weir_err_set(err, WEIR_ERR_VALUE,
			     "network namespace %s: cannot enter it: %s",
			     weir_quote(netns), strerror(errno));
	close(fd);
	return ret;
}
