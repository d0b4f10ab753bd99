// SPDX-License-Identifier: GPL-2.0
/* tcp and ssl: bytes out, bytes in, with or without TLS around them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "answer.h"
#include "engine.h"
#include "err.h"

struct bare {
	struct weir_probe *probe;
	struct weir_watch watch;
	SSL *tls;			/* NULL: tcp */
	bool shaken;			/* the handshake is over */
	char *request, *response, *got;
	size_t request_len, sent;
	size_t response_len, got_len;
};

/* What a step of I/O came to. */
enum step { DONE, AGAIN, ENDED };

static const char *verify_reason(const struct bare *bare)
{
	long result = SSL_get_verify_result(bare->tls);

	return result == X509_V_OK ? NULL : X509_verify_cert_error_string(result);
}

static void fail_tls(struct bare *bare, int error, int saved)
{
	unsigned long code = ERR_peek_last_error();
	const char *reason = ERR_reason_error_string(code);

	if (error == SSL_ERROR_ZERO_RETURN ||
	    (error == SSL_ERROR_SYSCALL && !saved) ||
	    (error == SSL_ERROR_SSL &&
	     ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING))
		weir_probe_fail(bare->probe, bare->shaken && bare->got_len ?
				"closed before the end of the answer" :
				"closed before an answer");
	else if (error == SSL_ERROR_SYSCALL)
		weir_probe_fail_errno(bare->probe, saved);
	else if (bare->probe->job.line->verify && verify_reason(bare))
		weir_probe_fail(bare->probe, "certificate: %s",
				verify_reason(bare));
	else
		weir_probe_fail(bare->probe, "TLS: %s",
				reason ? reason : "failure");
	ERR_clear_error();
}

static void wait_for(struct bare *bare, uint32_t events)
{
	if (weir_loop_watch(bare->probe->prober->loop, &bare->watch, events))
		weir_probe_fail_errno(bare->probe, errno);
}

/* The result of an SSL call that was no success. The probe may be gone. */
static enum step tls_step(struct bare *bare, int ret)
{
	int saved = errno;
	int error = SSL_get_error(bare->tls, ret);

	if (error == SSL_ERROR_WANT_READ)
		wait_for(bare, EPOLLIN);
	else if (error == SSL_ERROR_WANT_WRITE)
		wait_for(bare, EPOLLOUT);
	else
		fail_tls(bare, error, saved);
	return ENDED;
}

static enum step tcp_step(struct bare *bare, ssize_t ret, uint32_t events)
{
	if (ret < 0 && errno == EAGAIN)
		wait_for(bare, events);
	else if (ret < 0)
		weir_probe_fail_errno(bare->probe, errno);
	else
		weir_probe_fail(bare->probe, bare->got_len ?
				"closed before the end of the answer" :
				"closed before an answer");
	return ENDED;
}

static enum step shake_hands(struct bare *bare)
{
	int ret;

	ERR_clear_error();
	errno = 0;
	ret = SSL_connect(bare->tls);
	if (ret != 1)
		return tls_step(bare, ret);
	bare->shaken = true;
	return DONE;
}

static enum step send_some(struct bare *bare)
{
	const char *data = bare->request + bare->sent;
	size_t len = bare->request_len - bare->sent;
	ssize_t n;

	if (bare->tls) {
		ERR_clear_error();
		errno = 0;
		n = SSL_write(bare->tls, data, len);
		if (n <= 0)
			return tls_step(bare, n);
	} else {
		n = send(bare->watch.fd, data, len, MSG_NOSIGNAL);
		if (n < 0)
			return tcp_step(bare, n, EPOLLOUT);
	}
	bare->sent += n;
	return bare->sent == bare->request_len ? DONE : AGAIN;
}

/* One byte more than expected is asked for: if it comes along, the answer is
 * another one. */
static enum step read_some(struct bare *bare)
{
	char *to = bare->got + bare->got_len;
	size_t len = bare->response_len + 1 - bare->got_len;
	ssize_t n;

	if (bare->tls) {
		ERR_clear_error();
		errno = 0;
		n = SSL_read(bare->tls, to, len);
		if (n <= 0)
			return tls_step(bare, n);
	} else {
		n = recv(bare->watch.fd, to, len, 0);
		if (n <= 0)
			return tcp_step(bare, n, EPOLLIN);
	}
	if ((size_t)n == len ||
	    memcmp(to, bare->response + bare->got_len, n)) {
		weir_probe_fail(bare->probe, "answer differs");
		return ENDED;
	}
	bare->got_len += n;
	return bare->got_len == bare->response_len ? DONE : AGAIN;
}

/* As far as it goes without waiting. */
static void go_on(struct bare *bare)
{
	enum step step = DONE;

	if (bare->tls && !bare->shaken)
		step = shake_hands(bare);
	while (step != ENDED && bare->sent < bare->request_len)
		step = send_some(bare);
	while (step != ENDED && bare->got_len < bare->response_len)
		step = read_some(bare);
	if (step != ENDED)
		weir_probe_pass(bare->probe, bare->response_len ?
				"answer as expected" : "connected");
}

static void on_ready(struct weir_watch *watch, uint32_t events)
{
	(void)events;
	go_on(weir_holder(watch, struct bare, watch));
}

/* 0, or -1: out of memory. */
static int set_verify(struct bare *bare)
{
	const struct weir_addr *backend = &bare->probe->job.backend;
	X509_VERIFY_PARAM *param = SSL_get0_param(bare->tls);
	char buf[256];
	const char *name = weir_probe_tls_name(bare->probe, buf);
	X509_STORE *trusted = weir_prober_trusted(bare->probe->prober);

	if (!trusted || SSL_set1_verify_cert_store(bare->tls, trusted) != 1)
		return -1;
	SSL_set_verify(bare->tls, SSL_VERIFY_PEER, NULL);
	if (!name)
		return X509_VERIFY_PARAM_set1_ip(param, backend->b,
						 backend->len) == 1 ? 0 : -1;
	if (X509_VERIFY_PARAM_set1_ip_asc(param, name) == 1)
		return 0;
	return X509_VERIFY_PARAM_set1_host(param, name, 0) == 1 ? 0 : -1;
}

static int start_tls(struct bare *bare)
{
	struct weir_addr addr;
	char buf[256];
	const char *name = weir_probe_tls_name(bare->probe, buf);

	bare->tls = SSL_new(bare->probe->prober->tls);
	if (!bare->tls || SSL_set_fd(bare->tls, bare->watch.fd) != 1)
		return -1;
	/* An address is no server name. */
	if (name && weir_parse_addr(name, &addr) &&
	    SSL_set_tlsext_host_name(bare->tls, name) != 1)
		return -1;
	return bare->probe->job.line->verify ? set_verify(bare) : 0;
}

static char *unescape(const char *text, size_t *len)
{
	char *buf;

	*len = 0;
	if (!text || !*text)
		return NULL;
	buf = weir_alloc(strlen(text));
	*len = weir_unescape(buf, text);
	return buf;
}

/* Where nothing was said there is nothing to be lost by a reset, and neither
 * side has to remember the connection for a minute. */
static void drop(struct weir_probe *probe)
{
	const struct linger now = { .l_onoff = 1 };

	setsockopt(probe->conn.watch.fd, SOL_SOCKET, SO_LINGER, &now,
		   sizeof(now));
	weir_probe_pass(probe, "connected");
}

static void start(struct weir_probe *probe)
{
	const struct weir_healthcheck *line = probe->job.line;
	bool tls = line->protocol == WEIR_HC_SSL;
	struct bare *bare;

	if (!tls && !(line->request && *line->request) &&
	    !(line->response && *line->response) && !line->proxy_header) {
		drop(probe);
		return;
	}
	bare = weir_alloc(sizeof(*bare));
	probe->state = bare;
	bare->probe = probe;
	bare->watch.fd = weir_conn_take(&probe->conn);
	bare->watch.ready = on_ready;
	bare->request = unescape(line->request, &bare->request_len);
	bare->response = unescape(line->response, &bare->response_len);
	if (bare->response_len)
		bare->got = weir_alloc(bare->response_len + 1);
	if (tls && start_tls(bare)) {
		ERR_clear_error();
		weir_probe_fail_errno(probe, ENOMEM);
		return;
	}
	go_on(bare);
}

static void stop(struct weir_probe *probe)
{
	struct bare *bare = probe->state;

	weir_loop_unwatch(probe->prober->loop, &bare->watch);
	/* One farewell, if it can be said without waiting. */
	if (bare->tls && bare->shaken) {
		SSL_shutdown(bare->tls);
		ERR_clear_error();
	}
	SSL_free(bare->tls);
	close(bare->watch.fd);
	free(bare->request);
	free(bare->response);
	free(bare->got);
	free(bare);
	probe->state = NULL;
}

const struct weir_engine weir_bare_engine = { .start = start, .stop = stop };
