// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/weir.h>

#include "answer.h"
#include "engine.h"
#include "err.h"

#define LATE		(500 * WEIR_MS)	/* we had no time to look */
#define NAME_MAX_LEN	253	/* of a DNS name */

/* Else a read goes on for as long as the backend sends what is no data. */
void weir_probe_tls_mode(SSL_CTX *tls)
{
	SSL_CTX_clear_mode(tls, SSL_MODE_AUTO_RETRY);
}

static SSL_CTX *new_tls(void)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_client_method());

	if (!tls)
		return NULL;
	/* Each connection is a new one, so that the whole handshake is tested. */
	SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS |
			 SSL_MODE_ENABLE_PARTIAL_WRITE |
			 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	weir_probe_tls_mode(tls);
	SSL_CTX_set_verify(tls, SSL_VERIFY_NONE, NULL);
	return tls;
}

struct weir_prober *weir_prober_new(struct weir_loop *loop)
{
	struct weir_prober *prober = weir_alloc(sizeof(*prober));

	signal(SIGPIPE, SIG_IGN);
	prober->loop = loop;
	prober->tls = new_tls();
	prober->web = weir_web_new(prober);
	if (!prober->tls || !prober->web) {
		weir_prober_free(prober);
		return NULL;
	}
	return prober;
}

void weir_prober_free(struct weir_prober *prober)
{
	if (!prober)
		return;
	weir_web_free(prober->web);
	X509_STORE_free(prober->trusted);
	SSL_CTX_free(prober->tls);
	free(prober);
}

void weir_prober_set_pin(struct weir_prober *prober, weir_probe_pin pin, void *arg)
{
	prober->pin = pin;
	prober->pin_arg = arg;
}

void weir_prober_forget_trust(struct weir_prober *prober)
{
	X509_STORE_free(prober->trusted);
	prober->trusted = NULL;
}

X509_STORE *weir_prober_trusted(struct weir_prober *prober)
{
	if (!prober->trusted) {
		prober->trusted = X509_STORE_new();
		/* Without any, every certificate is refused, which is right. */
		if (prober->trusted)
			X509_STORE_set_default_paths(prober->trusted);
	}
	return prober->trusted;
}

const char *weir_probe_tls_name(const struct weir_probe *probe, char *buf)
{
	const char *host = probe->job.line->host;
	/* A port behind the name belongs into the Host header only. */
	size_t len = host ? strcspn(host, ":") : 0;
	struct weir_addr addr;
	uint16_t port;
	bool has_port;
	size_t i;

	if (host && !weir_parse_endpoint(host, &addr, &port, &has_port))
		return weir_addr_text(&addr, buf);
	if (!len || len > NAME_MAX_LEN)
		return NULL;
	for (i = 0; i < len; i++)
		if (!strchr("-._", host[i]) &&
		    !((host[i] | 0x20) >= 'a' && (host[i] | 0x20) <= 'z') &&
		    !(host[i] >= '0' && host[i] <= '9'))
			return NULL;
	memcpy(buf, host, len);
	buf[len] = '\0';
	return buf;
}

static void release(struct weir_probe *probe)
{
	weir_loop_disarm(probe->prober->loop, &probe->deadline);
	if (probe->state)
		probe->engine->stop(probe);
	weir_conn_stop(&probe->conn);
	free(probe);
}

/* First all is freed, then the caller is told: it may start the next probe and
 * find the descriptor free. */
static void end(struct weir_probe *probe)
{
	struct weir_probe_result result = probe->result;
	weir_probe_done done = probe->done;
	void *arg = probe->arg;

	if (!probe->job.line->weights)
		result.weight_state = WEIR_WEIGHT_STATE_NONE;
	if (result.weight_state != WEIR_WEIGHT_STATE_VALID)
		result.weight = 0;
	release(probe);
	done(&result, arg);
}

void weir_probe_pass(struct weir_probe *probe, const char *text)
{
	probe->result.passed = true;
	weir_text_clean(probe->result.text, WEIR_PROBE_TEXT, text, strlen(text));
	end(probe);
}

static void set_failure(struct weir_probe *probe, const char *fmt, va_list ap)
{
	char text[256];

	vsnprintf(text, sizeof(text), fmt, ap);
	weir_text_clean(probe->result.text, WEIR_PROBE_TEXT, text, strlen(text));
}

void weir_probe_fail(struct weir_probe *probe, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_failure(probe, fmt, ap);
	va_end(ap);
	end(probe);
}

void weir_probe_fail_errno(struct weir_probe *probe, int error)
{
	char text[WEIR_CONN_TEXT];

	weir_conn_error(error, text);
	probe->result.local = weir_conn_error_is_local(error);
	weir_probe_fail(probe, "%s", text);
}

static void on_deadline(struct weir_timer *timer)
{
	struct weir_probe *probe = weir_holder(timer, struct weir_probe, deadline);

	/* Whatever has come by now, it was not a whole answer. */
	probe->result.weight_state = WEIR_WEIGHT_STATE_UNAVAILABLE;
	/* Its answer may wait for us. */
	if (weir_loop_now() - timer->when > LATE) {
		probe->result.local = true;
		weir_probe_fail(probe, "this machine was too busy");
		return;
	}
	weir_probe_fail(probe, "timeout after %u s", probe->job.line->timeout);
}

/* What connect() says of routes that are missing, blackhole, unreachable, prohibit. */
static bool is_no_route(int error)
{
	return error == ENETUNREACH || error == EINVAL || error == EHOSTUNREACH ||
	       error == EACCES;
}

/* In the place of on_deadline() where there was not even a begin. */
static void on_no_start(struct weir_timer *timer)
{
	struct weir_probe *probe = weir_holder(timer, struct weir_probe, deadline);

	if (probe->refused) {
		probe->result.local = true;
		weir_probe_fail(probe, "%s", probe->result.text);
	} else if (probe->job.line->via_vip && is_no_route(probe->start_error)) {
		/* The backend's own address may well have one. */
		probe->result.local = true;
		weir_probe_fail(probe, "this router has no route to the VIP");
	} else {
		weir_probe_fail_errno(probe, probe->start_error);
	}
}

/* No certificate would match such a `host`, and libcurl would misread it. */
static bool cannot_verify(const struct weir_probe *probe)
{
	const struct weir_healthcheck *line = probe->job.line;
	char buf[256];

	return line->verify && line->host && *line->host &&
	       !weir_probe_tls_name(probe, buf);
}

static void on_connected(struct weir_conn *conn, int error)
{
	struct weir_probe *probe = weir_holder(conn, struct weir_probe, conn);

	if (error)
		weir_probe_fail_errno(probe, error);
	else if (cannot_verify(probe))
		weir_probe_fail(probe, "certificate: host is no name");
	else
		probe->engine->start(probe);
}

/* The connection is to the VIP, as those of clients are, and the kernel takes it to the
 * backend. */
static int pin(void *arg, uint16_t port)
{
	struct weir_probe *probe = arg;
	const struct weir_prober *prober = probe->prober;
	struct weir_err err = { .text = "the module cannot be asked" };

	if (prober->pin && !prober->pin(prober->pin_arg, &probe->job, port, &err))
		return 0;
	probe->refused = true;
	weir_text_clean(probe->result.text, WEIR_PROBE_TEXT, err.text,
			strlen(err.text));
	return ECANCELED;
}

static int open_conn(struct weir_probe *probe)
{
	const struct weir_healthcheck *line = probe->job.line;
	const struct weir_conn_target target = {
		.addr = line->via_vip ? &probe->job.vip : &probe->job.backend,
		.port = line->port,
		.source = &line->source,
		.dev = line->dev,
		.has_mark = line->has_mark,
		.mark = line->mark,
		.proxy_header = line->proxy_header,
		.bound = line->via_vip ? pin : NULL,
		.arg = probe,
	};

	probe->conn.done = on_connected;
	return weir_conn_start(&probe->conn, probe->prober->loop, &target);
}

struct weir_probe *weir_probe_start(struct weir_prober *prober,
				    const struct weir_probe_job *job,
				    weir_probe_done done, void *arg)
{
	struct weir_probe *probe = weir_alloc(sizeof(*probe));
	uint64_t now = weir_loop_now();

	probe->prober = prober;
	probe->job = *job;
	probe->done = done;
	probe->arg = arg;
	probe->result.weight_state = WEIR_WEIGHT_STATE_UNAVAILABLE;
	probe->engine = job->line->protocol == WEIR_HC_TCP ||
			job->line->protocol == WEIR_HC_SSL ?
		&weir_bare_engine : &weir_web_engine;
	probe->deadline.fire = on_deadline;
	probe->start_error = open_conn(probe);
	if (probe->start_error) {
		probe->deadline.fire = on_no_start;
		weir_loop_arm(prober->loop, &probe->deadline, now);
	} else {
		weir_loop_arm(prober->loop, &probe->deadline,
			      now + job->line->timeout * WEIR_SECOND);
	}
	return probe;
}

void weir_probe_cancel(struct weir_probe *probe)
{
	release(probe);
}
