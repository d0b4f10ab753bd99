// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn.h"

/* The protocol's own words for "whose connection this is does not matter". */
static const char proxy_line[] = "PROXY UNKNOWN\r\n";

#define PROXY_LEN	(sizeof(proxy_line) - 1)

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t fill_address(union address *to, const struct weir_addr *addr,
			      uint16_t port, const char *dev)
{
	memset(to, 0, sizeof(*to));
	if (addr->len == 4) {
		to->v4.sin_family = AF_INET;
		to->v4.sin_port = htons(port);
		memcpy(&to->v4.sin_addr, addr->b, 4);
		return sizeof(to->v4);
	}
	to->v6.sin6_family = AF_INET6;
	to->v6.sin6_port = htons(port);
	memcpy(&to->v6.sin6_addr, addr->b, 16);
	if (dev && IN6_IS_ADDR_LINKLOCAL(&to->v6.sin6_addr))
		to->v6.sin6_scope_id = if_nametoindex(dev);
	return sizeof(to->v6);
}

static int bind_source(int fd, const struct weir_conn_target *target)
{
	const int one = 1;
	union address from;
	socklen_t len;

	if (target->source->len != target->addr->len)
		return EAFNOSUPPORT;
	/* The port is chosen by connect(), which knows the other end: more than
	 * 28000 probes from one address are possible. */
	if (!target->bound)
		setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one,
			   sizeof(one));
	len = fill_address(&from, target->source, 0, target->dev);
	return bind(fd, &from.any, len) ? errno : 0;
}

/* Here the port has to be known before. All go to one address, and closed as usual each
 * would keep its port for a minute: some hundred a second would be too many. */
static int bind_port(int fd, const struct weir_conn_target *target)
{
	const struct linger now = { .l_onoff = 1 };
	const struct weir_addr any = { .len = target->addr->len };
	struct weir_conn_target from = *target;
	union address mine;
	socklen_t len = sizeof(mine);
	int error;

	if (!from.source || !from.source->len)
		from.source = &any;
	error = bind_source(fd, &from);
	if (error)
		return error;
	if (setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)) ||
	    getsockname(fd, &mine.any, &len))
		return errno;
	return target->bound(target->arg, ntohs(mine.any.sa_family == AF_INET ?
						mine.v4.sin_port :
						mine.v6.sin6_port));
}

static int prepare(int fd, const struct weir_conn_target *target)
{
	if (target->has_mark && setsockopt(fd, SOL_SOCKET, SO_MARK,
					   &target->mark, sizeof(target->mark)))
		return errno;
	if (target->dev && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE,
				      target->dev, strlen(target->dev) + 1))
		return errno;
	if (target->bound)
		return bind_port(fd, target);
	return target->source && target->source->len ?
		bind_source(fd, target) : 0;
}

static void finish(struct weir_conn *conn, int error)
{
	weir_loop_unwatch(conn->loop, &conn->watch);
	if (error)
		weir_conn_stop(conn);
	conn->done(conn, error);
}

/* The line fits into any send buffer, but nobody promises that it does at once. */
static int send_proxy_line(struct weir_conn *conn)
{
	ssize_t n;

	while (conn->proxy_left) {
		n = send(conn->watch.fd, proxy_line + PROXY_LEN - conn->proxy_left,
			 conn->proxy_left, MSG_NOSIGNAL);
		if (n < 0)
			return errno;
		conn->proxy_left -= n;
	}
	return 0;
}

static void on_ready(struct weir_watch *watch, uint32_t events)
{
	struct weir_conn *conn = weir_holder(watch, struct weir_conn, watch);
	socklen_t len = sizeof(int);
	int error = 0;

	(void)events;
	if (!conn->connected) {
		if (getsockopt(watch->fd, SOL_SOCKET, SO_ERROR, &error, &len))
			error = errno;
		if (error) {
			finish(conn, error);
			return;
		}
		conn->connected = true;
	}
	error = send_proxy_line(conn);
	if (error != EAGAIN)
		finish(conn, error);
}

int weir_conn_start(struct weir_conn *conn, struct weir_loop *loop,
		    const struct weir_conn_target *target)
{
	union address to;
	socklen_t len = fill_address(&to, target->addr, target->port,
				     target->dev);
	int fd, error;

	fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    IPPROTO_TCP);
	if (fd < 0)
		return errno;
	error = prepare(fd, target);
	if (!error && connect(fd, &to.any, len) && errno != EINPROGRESS)
		error = errno;
	conn->loop = loop;
	conn->open = true;
	conn->connected = false;
	conn->proxy_left = target->proxy_header ? PROXY_LEN : 0;
	conn->watch.fd = fd;
	conn->watch.ready = on_ready;
	conn->watch.watched = false;
	/* A connection that is made already is reported as ready, too. */
	if (!error && weir_loop_watch(loop, &conn->watch, EPOLLOUT))
		error = errno;
	if (error)
		weir_conn_stop(conn);
	return error;
}

void weir_conn_stop(struct weir_conn *conn)
{
	if (!conn->open)
		return;
	close(weir_conn_take(conn));
}

int weir_conn_take(struct weir_conn *conn)
{
	weir_loop_unwatch(conn->loop, &conn->watch);
	conn->open = false;
	return conn->watch.fd;
}

static const struct {
	int error;
	bool local;
	const char *text;
} texts[] = {
	{ ECONNREFUSED, false, "connection refused" },
	{ ECONNRESET, false, "reset by the backend" },
	{ EPIPE, false, "reset by the backend" },
	{ ETIMEDOUT, false, "no answer to the connect" },
	{ EHOSTUNREACH, false, "no route to host" },
	{ ENETUNREACH, false, "no route to the network" },
	{ EADDRNOTAVAIL, true, "no such source address, or no free port" },
	{ EAFNOSUPPORT, true, "source and backend are of different families" },
	{ ENODEV, true, "no such interface" },
	{ EMFILE, true, "too many open files" },
	{ ENFILE, true, "too many open files on this machine" },
	{ ENOMEM, true, "out of memory" },
	{ ENOBUFS, true, "out of memory for sockets" },
	{ EPERM, true, "not permitted: mark, or a filter of this machine" },
	{ EACCES, true, "not permitted" },
};

void weir_conn_error(int error, char buf[WEIR_CONN_TEXT])
{
	const char *text = strerror(error);
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].error == error)
			text = texts[i].text;
	snprintf(buf, WEIR_CONN_TEXT, "%s", text);
}

bool weir_conn_error_is_local(int error)
{
	unsigned int i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].error == error)
			return texts[i].local;
	return false;
}
