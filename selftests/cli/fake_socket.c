// SPDX-License-Identifier: GPL-2.0
/*
 * The socket of the fake kernel: what the linker puts in the place of libmnl's and
 * libc's functions.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>

#include "fake.h"

#define QUEUE_MAX	100000

/* What waits in the socket. */
static struct { char *bytes; size_t len; } queue[QUEUE_MAX];
static unsigned int head, tail;
static bool lost;
static bool joined;
static int event_fd = -1;

static struct mnl_socket { int dummy; } the_socket;

static void keep_answer(const void *bytes, size_t len)
{
	const char *name = getenv("FAKE_ANSWERS");
	FILE *f = name ? fopen(name, "a") : NULL;

	if (!f)
		return;
	fwrite(bytes, 1, len, f);
	fclose(f);
}

void fake_push(const void *bytes, size_t len)
{
	long room = fake_number("FAKE_ROOM");

	keep_answer(bytes, len);
	if (room && tail - head >= (unsigned int)room) {
		lost = true;
		return;
	}
	if (tail == QUEUE_MAX)
		fake_die("the queue is full");
	queue[tail].bytes = malloc(len);
	memcpy(queue[tail].bytes, bytes, len);
	queue[tail++].len = len;
}

struct nlmsghdr *fake_last(void)
{
	return (struct nlmsghdr *)queue[tail - 1].bytes;
}

struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags);
int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups,
			   pid_t pid);
unsigned int __wrap_mnl_socket_get_portid(const struct mnl_socket *nl);
int __wrap_mnl_socket_get_fd(const struct mnl_socket *nl);
int __wrap_mnl_socket_setsockopt(const struct mnl_socket *nl, int type,
				 void *buf, socklen_t len);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t size);
int __wrap_mnl_socket_close(struct mnl_socket *nl);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
struct mnl_socket *__real_mnl_socket_open2(int bus, int flags);
int __real_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups,
			   pid_t pid);
unsigned int __real_mnl_socket_get_portid(const struct mnl_socket *nl);
ssize_t __real_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t size);
int __real_mnl_socket_close(struct mnl_socket *nl);

/* `check` asks the real kernel about routes. */
struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags)
{
	if (bus != NETLINK_GENERIC)
		return __real_mnl_socket_open2(bus, flags);
	event_fd = eventfd(0, EFD_CLOEXEC);
	return &the_socket;
}

int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups,
			   pid_t pid)
{
	return nl == &the_socket ? 0 : __real_mnl_socket_bind(nl, groups, pid);
}

unsigned int __wrap_mnl_socket_get_portid(const struct mnl_socket *nl)
{
	return nl == &the_socket ? FAKE_PORTID : __real_mnl_socket_get_portid(nl);
}

int __wrap_mnl_socket_get_fd(const struct mnl_socket *nl)
{
	if (nl != &the_socket)
		fake_die("the descriptor of another socket");
	return event_fd;
}

int __wrap_mnl_socket_setsockopt(const struct mnl_socket *nl, int type,
				 void *buf, socklen_t len)
{
	uint64_t one = 1;

	(void)nl;
	if (type != NETLINK_ADD_MEMBERSHIP)
		return 0;
	if (len != sizeof(uint32_t) || *(uint32_t *)buf != FAKE_GROUP)
		fake_die("another group");
	joined = true;
	fake_events();
	lost = true;
	if (write(event_fd, &one, sizeof(one)) != sizeof(one))
		fake_die("eventfd");
	return 0;
}

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t size)
{
	const struct nlmsghdr *nlh = req;
	int len = size;

	if (nl != &the_socket)
		return __real_mnl_socket_sendto(nl, req, size);
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		fake_take(nlh);
	if (len)
		fake_die("a packet that is not made of whole messages");
	return size;
}

int __wrap_mnl_socket_close(struct mnl_socket *nl)
{
	return nl == &the_socket ? 0 : __real_mnl_socket_close(nl);
}

/* The queue, then what was lost, then nothing: a monitor is told to end. */
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl *from = msg->msg_name;
	size_t len;

	if (fd != event_fd)
		fake_die("another descriptor");
	if (head == tail && lost) {
		lost = false;
		errno = ENOBUFS;
		return -1;
	}
	if (head == tail) {
		if (!(flags & MSG_DONTWAIT))
			fake_die("the tool waits for an answer that never comes");
		if (joined)
			raise(SIGTERM);
		errno = EAGAIN;
		return -1;
	}
	len = queue[head].len;
	if (len > msg->msg_iov[0].iov_len)
		fake_die("a buffer that is too small");
	memcpy(msg->msg_iov[0].iov_base, queue[head].bytes, len);
	free(queue[head++].bytes);
	memset(from, 0, sizeof(*from));
	from->nl_family = AF_NETLINK;
	msg->msg_namelen = sizeof(*from);
	msg->msg_flags = 0;
	return len;
}
