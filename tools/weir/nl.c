// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/weir.h>

#include "decode.h"
#include "encode.h"
#include "nl.h"

#define IN_SIZE		(256 * 1024)	/* one read */
#define BATCH_SIZE	65536		/* what is sent at once, and one more */
#define BUFFER_SIZE	(8 * 1024 * 1024)
#define DUMP_TRIES	20

static int complain(struct weir_err *err, const char *what, int num)
{
	return weir_err_set(err, WEIR_ERR_VALUE, "%s: %s", what, strerror(num));
}

/* What a refusal without a sentence means. */
static void describe(int num, const char *sentence, char *text, size_t size)
{
	size_t i;

	if (*sentence) {
		snprintf(text, size, "%s", sentence);
		for (i = 0; text[i]; i++)
			if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
				text[i] = '?';
	} else if (num == EPERM || num == EACCES) {
		snprintf(text, size,
			 "this needs CAP_NET_ADMIN in the network namespace: run it as root");
	} else if (num == EOPNOTSUPP) {
		snprintf(text, size,
			 "the weir module in this kernel does not know this command: it is another version than the tool (weir check)");
	} else {
		snprintf(text, size, "the kernel refused: %s", strerror(num));
	}
}

static int refused(struct weir_err *err, int num, const char *sentence)
{
	char text[600];

	describe(num, sentence, text, sizeof(text));
	weir_err_set(err, WEIR_ERR_VALUE, "%s", text);
	err->num = num;
	return -1;
}

static int malformed(struct weir_err *err)
{
	return weir_err_set(err, WEIR_ERR_VALUE,
			    "the kernel's answer is malformed: module and tool do not fit together (weir check)");
}

/* The forced variant ignores the limit of the system but needs more than our
 * own user namespace gives; the plain one takes what it gets. */
static void set_buffer(int fd, int force, int plain)
{
	int size = BUFFER_SIZE;

	if (setsockopt(fd, SOL_SOCKET, force, &size, sizeof(size)))
		setsockopt(fd, SOL_SOCKET, plain, &size, sizeof(size));
}

static int open_socket(struct weir_nl *nl, struct weir_err *err)
{
	int one = 1, fd;

	nl->sock = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!nl->sock || mnl_socket_bind(nl->sock, 0, MNL_SOCKET_AUTOPID) < 0)
		return complain(err, "cannot open a generic netlink socket",
				errno);
	nl->portid = mnl_socket_get_portid(nl->sock);
	fd = mnl_socket_get_fd(nl->sock);
	set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
	set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
	/* Without these there are no sentences, which is worse but no reason
	 * to stop. */
	mnl_socket_setsockopt(nl->sock, NETLINK_EXT_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_CAP_ACK, &one, sizeof(one));
	mnl_socket_setsockopt(nl->sock, NETLINK_GET_STRICT_CHK, &one,
			      sizeof(one));
	return 0;
}

static struct nlmsghdr *put_header(char *buf, uint16_t family, uint8_t cmd,
				   uint8_t version, uint32_t seq)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = family;
	nlh->nlmsg_flags = NLM_F_REQUEST;
	nlh->nlmsg_seq = seq;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = version;
	return nlh;
}

struct nlmsghdr *weir_nl_begin(struct weir_nl *nl, uint8_t cmd)
{
	return put_header(nl->out, nl->family, cmd, WEIR_GENL_VERSION,
			  ++nl->seq);
}

static int send_bytes(struct weir_nl *nl, const void *buf, size_t len,
		      struct weir_err *err)
{
	ssize_t ret;

	do {
		ret = mnl_socket_sendto(nl->sock, buf, len);
	} while (ret < 0 && errno == EINTR);
	return ret < 0 ? complain(err, "cannot send to the kernel", errno) : 0;
}

/* One read. Packets that are not the kernel's are skipped; length, or -1 with
 * errno set. */
static ssize_t receive(struct weir_nl *nl, int flags)
{
	struct sockaddr_nl from;
	struct iovec iov = { nl->in, IN_SIZE };
	struct msghdr msg = { .msg_name = &from, .msg_namelen = sizeof(from),
			      .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t len;

	for (;;) {
		msg.msg_namelen = sizeof(from);
		len = recvmsg(mnl_socket_get_fd(nl->sock), &msg, flags);
		if (len < 0 && errno == EINTR && !(flags & MSG_DONTWAIT))
			continue;
		if (len < 0)
			return -1;
		if (msg.msg_flags & MSG_TRUNC) {
			errno = ENOSPC;
			return -1;
		}
		if (msg.msg_namelen == sizeof(from) && !from.nl_pid)
			return len;
	}
}

/* The state of one request while its answers come in. */
struct exchange {
	uint32_t seq;
	weir_nl_cb cb;
	void *arg;
	bool done, interrupted;
	int num;		/* errno of the kernel's refusal */
	char sentence[512];
};

static int take_message(const struct nlmsghdr *nlh, struct exchange *x)
{
	if (nlh->nlmsg_seq != x->seq)
		return 0;
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		x->interrupted = true;
	switch (nlh->nlmsg_type) {
	case NLMSG_NOOP:
		return 0;
	case NLMSG_ERROR:
	case NLMSG_DONE:
		x->done = true;
		return weir_decode_error(nlh, &x->num, x->sentence,
					 sizeof(x->sentence));
	case NLMSG_OVERRUN:
		return -1;
	}
	/* What comes now does not fit what came; all of it is read anew. */
	if (x->interrupted)
		return 0;
	return x->cb ? x->cb(nlh, x->arg) : 0;
}

static int finish(struct weir_nl *nl, struct exchange *x, struct weir_err *err)
{
	while (!x->done) {
		ssize_t got = receive(nl, 0);
		const struct nlmsghdr *nlh = (void *)nl->in;
		int len = got;

		if (got < 0)
			return complain(err, "cannot receive from the kernel",
					errno);
		for (; weir_message_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len))
			if (take_message(nlh, x))
				return malformed(err);
	}
	return 0;
}

int weir_nl_call(struct weir_nl *nl, struct nlmsghdr *nlh, weir_nl_cb cb,
		 void *arg, struct weir_err *err)
{
	struct exchange x = { .seq = nlh->nlmsg_seq, .cb = cb, .arg = arg };

	nlh->nlmsg_flags |= NLM_F_ACK;
	if (send_bytes(nl, nlh, nlh->nlmsg_len, err) || finish(nl, &x, err))
		return -1;
	return x.num ? refused(err, x.num, x.sentence) : 0;
}

int weir_nl_dump(struct weir_nl *nl, struct nlmsghdr *nlh, weir_nl_cb cb,
		 void (*reset)(void *arg), void *arg, struct weir_err *err)
{
	int tries;

	nlh->nlmsg_flags |= NLM_F_DUMP;
	for (tries = 0; tries < DUMP_TRIES; tries++) {
		struct exchange x = { .seq = nlh->nlmsg_seq, .cb = cb,
				      .arg = arg };

		if (send_bytes(nl, nlh, nlh->nlmsg_len, err) ||
		    finish(nl, &x, err))
			return -1;
		if (x.num && x.num != EINTR)
			return refused(err, x.num, x.sentence);
		if (!x.num && !x.interrupted)
			return 0;
		reset(arg);
		nlh->nlmsg_seq = ++nl->seq;
	}
	return weir_err_set(err, WEIR_ERR_VALUE,
			    "the state kept changing while it was read (%d times): try again",
			    DUMP_TRIES);
}

static int take_family(const struct nlmsghdr *nlh, void *arg)
{
	struct weir_nl *nl = arg;

	return weir_decode_family(nlh, &nl->family, WEIR_MCGRP_EVENTS,
				  &nl->group);
}

static int resolve(struct weir_nl *nl, struct weir_err *err)
{
	struct exchange x = { .cb = take_family, .arg = nl };
	struct nlmsghdr *nlh = put_header(nl->out, GENL_ID_CTRL,
					  CTRL_CMD_GETFAMILY, 1, ++nl->seq);

	x.seq = nlh->nlmsg_seq;
	nlh->nlmsg_flags |= NLM_F_ACK;
	mnl_attr_put_strz(nlh, CTRL_ATTR_FAMILY_NAME, WEIR_GENL_NAME);
	if (send_bytes(nl, nlh, nlh->nlmsg_len, err) || finish(nl, &x, err))
		return -1;
	if (x.num == ENOENT || (!x.num && !nl->family))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "the weir module is not loaded in this kernel: modprobe weir");
	return x.num ? refused(err, x.num, x.sentence) : 0;
}

int weir_nl_open(struct weir_nl *nl, struct weir_err *err)
{
	memset(nl, 0, sizeof(*nl));
	nl->in = weir_alloc(IN_SIZE);
	nl->out = weir_alloc(WEIR_MESSAGE_MAX);
	if (!open_socket(nl, err) && !resolve(nl, err))
		return 0;
	weir_nl_close(nl);
	return -1;
}

void weir_nl_close(struct weir_nl *nl)
{
	if (nl->sock)
		mnl_socket_close(nl->sock);
	free(nl->in);
	free(nl->out);
	memset(nl, 0, sizeof(*nl));
}

void weir_batch_begin(struct weir_batch *batch, struct weir_nl *nl,
		      void (*report)(unsigned int line, const char *why,
				     void *arg),
		      void *arg)
{
	memset(batch, 0, sizeof(*batch));
	batch->nl = nl;
	batch->buf = weir_alloc(BATCH_SIZE + WEIR_MESSAGE_MAX);
	batch->report = report;
	batch->arg = arg;
}

struct nlmsghdr *weir_batch_add(struct weir_batch *batch, uint8_t cmd,
				unsigned int line, struct weir_err *err)
{
	struct weir_nl *nl = batch->nl;

	if (batch->used >= BATCH_SIZE && weir_batch_flush(batch, err))
		return NULL;
	if (!batch->n)
		batch->first = nl->seq + 1;
	batch->line = weir_grow(batch->line, batch->n, sizeof(*batch->line));
	batch->line[batch->n++] = line;
	return put_header(batch->buf + batch->used, nl->family, cmd,
			  WEIR_GENL_VERSION, ++nl->seq);
}

void weir_batch_done(struct weir_batch *batch, struct nlmsghdr *nlh)
{
	batch->used += MNL_ALIGN(nlh->nlmsg_len);
}

/* True when it was the acknowledgement of the packet's last message. */
static bool take_report(struct weir_batch *batch, const struct nlmsghdr *nlh)
{
	uint32_t at = nlh->nlmsg_seq - batch->first;
	char sentence[512], text[600];
	int num;

	if (nlh->nlmsg_type != NLMSG_ERROR || at >= batch->n)
		return false;
	if (weir_decode_error(nlh, &num, sentence, sizeof(sentence)))
		num = EBADMSG;
	if (num) {
		batch->n_failed++;
		describe(num, sentence, text, sizeof(text));
		batch->report(batch->line[at], text, batch->arg);
	}
	return at == batch->n - 1;
}

/* The kernel has worked off all messages of a packet when the send returns, so
 * its reports wait in the socket: what does not fit there is lost, and said to
 * be lost, but then others were seen and the transaction fails anyway. */
static int read_reports(struct weir_batch *batch, struct weir_err *err)
{
	int flags = 0;

	for (;;) {
		const struct nlmsghdr *nlh = (void *)batch->nl->in;
		ssize_t got = receive(batch->nl, flags);
		int len = got;

		if (got < 0 && errno == ENOBUFS) {
			batch->lost = true;
			flags = MSG_DONTWAIT;
			continue;
		}
		if (got < 0 && flags && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (got < 0)
			return complain(err, "cannot receive from the kernel",
					errno);
		for (; weir_message_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len))
			if (take_report(batch, nlh))
				return 0;
	}
}

int weir_batch_flush(struct weir_batch *batch, struct weir_err *err)
{
	struct nlmsghdr *nlh = (void *)batch->buf;
	size_t at = 0;
	int ret;

	if (!batch->used)
		return 0;
	while (at + MNL_ALIGN(nlh->nlmsg_len) < batch->used) {
		at += MNL_ALIGN(nlh->nlmsg_len);
		nlh = (void *)(batch->buf + at);
	}
	nlh->nlmsg_flags |= NLM_F_ACK;
	ret = send_bytes(batch->nl, batch->buf, batch->used, err);
	if (!ret)
		ret = read_reports(batch, err);
	batch->used = 0;
	batch->n = 0;
	free(batch->line);
	batch->line = NULL;
	return ret;
}

void weir_batch_free(struct weir_batch *batch)
{
	free(batch->buf);
	free(batch->line);
	memset(batch, 0, sizeof(*batch));
}

int weir_nl_join(struct weir_nl *nl, struct weir_err *err)
{
	if (!nl->group)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "the weir module in this kernel has no group of events: it is another version than the tool (weir check)");
	if (mnl_socket_setsockopt(nl->sock, NETLINK_ADD_MEMBERSHIP, &nl->group,
				  sizeof(nl->group)))
		return complain(err, "cannot join the group of events", errno);
	return 0;
}

int weir_nl_fd(const struct weir_nl *nl)
{
	return mnl_socket_get_fd(nl->sock);
}

int weir_nl_events(struct weir_nl *nl, weir_nl_cb cb, void *arg,
		   struct weir_err *err)
{
	for (;;) {
		ssize_t got = receive(nl, MSG_DONTWAIT);
		const struct nlmsghdr *nlh = (void *)nl->in;
		int len = got;

		if (got < 0 && errno == ENOBUFS)
			return 1;
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (got < 0)
			return complain(err, "cannot receive from the kernel",
					errno);
		for (; weir_message_ok(nlh, len);
		     nlh = mnl_nlmsg_next(nlh, &len))
			if (nlh->nlmsg_type == nl->family && cb(nlh, arg))
				return malformed(err);
	}
}
