// SPDX-License-Identifier: GPL-2.0
/* http, https, http2, grpc and grpc-tls. libcurl speaks the protocols on sockets
 * that we have connected, in our loop; what it reads is judged here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>
#include <linux/weir.h>

#include "answer.h"
#include "engine.h"
#include "err.h"

#define IDLE_MAX	64	/* handles kept for the next probe */
#define BUFFER_SIZE	4096	/* of a handle: header and 1024 bytes, mostly */
/* With HTTP/2, libcurl 7.88 waits for more if a header does not fit, though all is
 * there. Memory that is not written to costs nothing. */
#define BUFFER_HTTP2	100000

struct weir_web_shared {
	struct weir_prober *prober;
	CURLM *multi;
	struct weir_timer timer;	/* the one that libcurl asks for */
	CURL *idle[IDLE_MAX];
	unsigned int n_idle;
};

/* One of libcurl's sockets. Not part of struct web: a connection may live a bit
 * longer than the transfer. */
struct web_socket {
	struct weir_watch watch;
	struct weir_web_shared *shared;
};

struct web {
	struct weir_probe *probe;
	CURL *easy;
	bool tls, grpc, http2;
	bool taken;			/* the socket is libcurl's */
	bool enough;			/* we have ended the transfer, knowing all */
	bool wrong_version, too_much;	/* we have ended it for this */
	struct weir_head head;
	size_t body_len;
	/* Elements of the lists that libcurl reads, in place of allocations. */
	struct curl_slist header[4], connect_to;
	char *host_header, *target, *post;
	size_t post_len;
	char url[300], to[WEIR_ADDR_TEXT + 12];
	char error[CURL_ERROR_SIZE];
	char body[WEIR_BODY_MAX];
};

/* ---- the loop ---- */

static void finish(struct web *web, CURLcode code);

/* What has ended. A callback of a probe may start and cancel others. */
static void drain(struct weir_web_shared *shared)
{
	struct web *web;
	CURLMsg *msg;
	int left;

	while ((msg = curl_multi_info_read(shared->multi, &left))) {
		CURLcode code = msg->data.result;

		if (msg->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, &web);
		finish(web, code);
	}
}

static void on_ready(struct weir_watch *watch, uint32_t events)
{
	struct web_socket *sock = weir_holder(watch, struct web_socket, watch);
	struct weir_web_shared *shared = sock->shared;
	int what = 0, running;

	if (events & (EPOLLIN | EPOLLHUP))
		what |= CURL_CSELECT_IN;
	if (events & EPOLLOUT)
		what |= CURL_CSELECT_OUT;
	if (events & EPOLLERR)
		what |= CURL_CSELECT_ERR;
	/* sock may be gone after this. */
	curl_multi_socket_action(shared->multi, watch->fd, what, &running);
	drain(shared);
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg,
		     void *assigned)
{
	struct weir_web_shared *shared = arg;
	struct web_socket *sock = assigned;
	uint32_t events = 0;

	(void)easy;
	if (what == CURL_POLL_REMOVE) {
		if (sock)
			weir_loop_unwatch(shared->prober->loop, &sock->watch);
		free(sock);
		return 0;
	}
	if (!sock) {
		sock = weir_alloc(sizeof(*sock));
		sock->shared = shared;
		sock->watch.fd = fd;
		sock->watch.ready = on_ready;
		curl_multi_assign(shared->multi, fd, sock);
	}
	if (what & CURL_POLL_IN)
		events |= EPOLLIN;
	if (what & CURL_POLL_OUT)
		events |= EPOLLOUT;
	/* If this fails the probe runs into its timeout. */
	weir_loop_watch(shared->prober->loop, &sock->watch, events);
	return 0;
}

static void on_timer(struct weir_timer *timer)
{
	struct weir_web_shared *shared =
		weir_holder(timer, struct weir_web_shared, timer);
	int running;

	curl_multi_socket_action(shared->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	drain(shared);
}

static int set_timer(CURLM *multi, long ms, void *arg)
{
	struct weir_web_shared *shared = arg;

	(void)multi;
	if (ms < 0)
		weir_loop_disarm(shared->prober->loop, &shared->timer);
	else
		weir_loop_arm(shared->prober->loop, &shared->timer,
			      weir_loop_now() + ms * WEIR_MS);
	return 0;
}

struct weir_web_shared *weir_web_new(struct weir_prober *prober)
{
	struct weir_web_shared *shared;

	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return NULL;
	shared = weir_alloc(sizeof(*shared));
	shared->prober = prober;
	shared->timer.fire = on_timer;
	shared->multi = curl_multi_init();
	if (!shared->multi) {
		weir_web_free(shared);
		return NULL;
	}
	curl_multi_setopt(shared->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(shared->multi, CURLMOPT_SOCKETDATA, shared);
	curl_multi_setopt(shared->multi, CURLMOPT_TIMERFUNCTION, set_timer);
	curl_multi_setopt(shared->multi, CURLMOPT_TIMERDATA, shared);
	/* No probe may wait for, or share, the connection of another one. */
	curl_multi_setopt(shared->multi, CURLMOPT_PIPELINING,
			  (long)CURLPIPE_NOTHING);
	return shared;
}

void weir_web_free(struct weir_web_shared *shared)
{
	if (!shared)
		return;
	while (shared->n_idle)
		curl_easy_cleanup(shared->idle[--shared->n_idle]);
	if (shared->multi)
		curl_multi_cleanup(shared->multi);
	weir_loop_disarm(shared->prober->loop, &shared->timer);
	free(shared);
	curl_global_cleanup();
}

/* ---- what libcurl asks of us ---- */

static curl_socket_t open_socket(void *arg, curlsocktype purpose,
				 struct curl_sockaddr *addr)
{
	struct web *web = arg;

	(void)purpose;
	(void)addr;
	/* A second try would be a second connection, which nobody asked for. */
	if (web->taken)
		return CURL_SOCKET_BAD;
	web->taken = true;
	return weir_conn_take(&web->probe->conn);
}

static int already_connected(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	(void)arg;
	(void)fd;
	(void)purpose;
	return CURL_SOCKOPT_ALREADY_CONNECTED;
}

static CURLcode set_up_tls(CURL *easy, void *tls, void *arg)
{
	struct web *web = arg;

	(void)easy;
	weir_probe_tls_mode(tls);
	if (web->http2 && SSL_CTX_set_alpn_protos(tls, (const uint8_t *)"\2h2", 3))
		return CURLE_SSL_CONNECT_ERROR;
	if (web->probe->job.line->verify) {
		X509_STORE *trusted = weir_prober_trusted(web->probe->prober);

		if (!trusted)
			return CURLE_OUT_OF_MEMORY;
		SSL_CTX_set1_cert_store(tls, trusted);
	}
	return CURLE_OK;
}

/* Another size than n ends the transfer. */
static size_t on_header(char *line, size_t size, size_t n, void *arg)
{
	struct web *web = arg;

	(void)size;
	weir_head_line(&web->head, line, n);
	web->wrong_version = web->http2 && web->head.version &&
			     web->head.version != 2;
	web->enough = web->head.complete && web->head.status != 200;
	return web->head.too_long || web->wrong_version || web->enough ? 0 : n;
}

static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
	struct web *web = arg;
	size_t room = WEIR_BODY_MAX - web->body_len;
	size_t take = n < room ? n : room;

	(void)size;
	memcpy(web->body + web->body_len, data, take);
	web->body_len += take;
	/* A gRPC message this long is no answer to our question. */
	web->too_much = web->grpc && n > room;
	web->enough = !web->grpc && web->body_len == WEIR_BODY_MAX;
	return web->too_much || web->enough ? 0 : n;
}

/* ---- the request ---- */

/* The path as it was typed, but for what would end a request line early. */
static char *request_target(const char *path)
{
	char *target = weir_alloc(strlen(path) * 3 + 1), *to = target;

	for (; *path; path++) {
		if (*path == ' ' || *path == '#')
			to += sprintf(to, "%%%02X", *path);
		else
			*to++ = *path;
	}
	return target;
}

static const char *bracketed(const struct weir_addr *addr,
			     char buf[WEIR_ADDR_TEXT + 2])
{
	char text[WEIR_ADDR_TEXT];

	snprintf(buf, WEIR_ADDR_TEXT + 2, addr->len == 16 ? "[%s]" : "%s",
		 weir_addr_text(addr, text));
	return buf;
}

static void add_header(struct web *web, unsigned int i, char *line)
{
	web->header[i].data = line;
	if (i)
		web->header[i - 1].next = &web->header[i];
}

static void make_host_header(struct web *web)
{
	const struct weir_probe_job *job = &web->probe->job;
	const char *host = job->line->host;
	char buf[WEIR_ADDR_TEXT + 2];
	size_t size;

	if (!host || !*host)
		host = bracketed(job->vip.len ? &job->vip : &job->backend, buf);
	size = strlen(host) + sizeof("Host: ");
	web->host_header = weir_alloc(size);
	snprintf(web->host_header, size, "Host: %s", host);
	add_header(web, 0, web->host_header);
}

/* The name in the URL is the one that TLS asks for; where the socket leads to
 * was decided before, and CONNECT_TO saves libcurl from looking it up. */
static void make_url(struct web *web)
{
	const struct weir_healthcheck *line = web->probe->job.line;
	char addr[WEIR_ADDR_TEXT + 2], name[256];
	const char *host = web->tls ? weir_probe_tls_name(web->probe, name) : NULL;
	const char *at = bracketed(&web->probe->job.backend, addr);

	snprintf(web->to, sizeof(web->to), "::%s:%u", at, line->port);
	web->connect_to.data = web->to;
	snprintf(web->url, sizeof(web->url),
		 host && strchr(host, ':') ? "%s://[%s]:%u/" : "%s://%s:%u/",
		 web->tls ? "https" : "http", host ? host : at, line->port);
}

static void make_request(struct web *web)
{
	const struct weir_healthcheck *line = web->probe->job.line;
	static char type[] = "Content-Type: application/grpc";
	static char trailers[] = "TE: trailers";

	make_host_header(web);
	if (!web->grpc) {
		web->target = request_target(line->path);
		return;
	}
	add_header(web, 1, type);
	add_header(web, 2, trailers);
	web->target = request_target("/grpc.health.v1.Health/Check");
	web->post_len = weir_grpc_request_size(line->service);
	web->post = weir_alloc(web->post_len);
	weir_grpc_request((uint8_t *)web->post, line->service);
}

static void set_request(struct web *web)
{
	long version = CURL_HTTP_VERSION_1_1;
	CURL *easy = web->easy;

	if (web->http2)
		version = web->tls ? CURL_HTTP_VERSION_2TLS :
			  CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
	curl_easy_setopt(easy, CURLOPT_URL, web->url);
	curl_easy_setopt(easy, CURLOPT_REQUEST_TARGET, web->target);
	curl_easy_setopt(easy, CURLOPT_CONNECT_TO, &web->connect_to);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, web->header);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "weir-healthd");
	if (web->post) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE, (long)web->post_len);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, web->post);
	}
}

static void set_tls(struct web *web)
{
	long verify = web->probe->job.line->verify;
	CURL *easy = web->easy;

	/* libcurl would read the file of all certificates for each probe. */
	curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
	curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, verify);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
	curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, set_up_tls);
	curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, web);
}

static void set_transport(struct web *web)
{
	CURL *easy = web->easy;

	curl_easy_setopt(easy, CURLOPT_PRIVATE, web);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, web->error);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, web->tls ? "https" : "http");
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE,
			 (long)(web->http2 ? BUFFER_HTTP2 : BUFFER_SIZE));
	/* The cache is searched after each transfer: let it be empty. */
	curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, web);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, already_connected);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, web);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, web);
}

static CURL *take_handle(struct weir_web_shared *shared)
{
	return shared->n_idle ? shared->idle[--shared->n_idle] : curl_easy_init();
}

static void put_handle(struct weir_web_shared *shared, CURL *easy)
{
	if (shared->n_idle == IDLE_MAX) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_reset(easy);
	shared->idle[shared->n_idle++] = easy;
}

static void start(struct weir_probe *probe)
{
	struct weir_web_shared *shared = probe->prober->web;
	enum weir_hc_protocol protocol = probe->job.line->protocol;
	struct web *web = weir_alloc(sizeof(*web));

	probe->state = web;
	web->probe = probe;
	web->grpc = protocol == WEIR_HC_GRPC || protocol == WEIR_HC_GRPC_TLS;
	web->tls = protocol != WEIR_HC_HTTP && protocol != WEIR_HC_GRPC;
	web->http2 = web->grpc || protocol == WEIR_HC_HTTP2;
	make_url(web);
	make_request(web);
	web->easy = take_handle(shared);
	if (web->easy) {
		set_transport(web);
		set_request(web);
		if (web->tls)
			set_tls(web);
	}
	if (!web->easy || curl_multi_add_handle(shared->multi, web->easy)) {
		probe->result.local = true;
		weir_probe_fail(probe, "out of memory");
	}
}

static void stop(struct weir_probe *probe)
{
	struct web *web = probe->state;

	if (web->easy) {
		curl_multi_remove_handle(probe->prober->web->multi, web->easy);
		put_handle(probe->prober->web, web->easy);
	}
	free(web->host_header);
	free(web->target);
	free(web->post);
	free(web);
	probe->state = NULL;
}

/* ---- the judgement ---- */

static void judge_http(struct web *web)
{
	struct weir_probe *probe = web->probe;
	const char *wanted = probe->job.line->response;
	char *text;
	size_t len;
	bool found;

	if (web->head.status != 200) {
		weir_probe_fail(probe, "HTTP %u", web->head.status);
		return;
	}
	text = weir_alloc(wanted ? strlen(wanted) : 0);
	len = wanted ? weir_unescape(text, wanted) : 0;
	found = weir_body_has(web->body, web->body_len, text, len);
	free(text);
	if (found)
		weir_probe_pass(probe, "HTTP 200");
	else
		weir_probe_fail(probe, "text not found in the body");
}

static void judge_grpc(struct web *web)
{
	static const char *const names[] = {
		"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"
	};
	struct weir_probe *probe = web->probe;
	int status;

	if (web->head.status != 200) {
		weir_probe_fail(probe, "HTTP %u", web->head.status);
		return;
	}
	if (!web->head.has_grpc_status || web->head.grpc_status == UINT32_MAX) {
		weir_probe_fail(probe, "no grpc-status");
		return;
	}
	if (web->head.grpc_status) {
		weir_probe_fail(probe, "grpc-status %u", web->head.grpc_status);
		return;
	}
	status = weir_grpc_answer((const uint8_t *)web->body, web->body_len);
	if (status == WEIR_GRPC_SERVING)
		weir_probe_pass(probe, names[status]);
	else if (status < 0)
		weir_probe_fail(probe, "not a gRPC answer");
	else if ((size_t)status < sizeof(names) / sizeof(names[0]))
		weir_probe_fail(probe, "%s", names[status]);
	else
		weir_probe_fail(probe, "serving status %d", status);
}

static const char *certificate_reason(struct web *web)
{
	long result = X509_V_OK;
	struct weir_addr addr;
	char buf[256];
	const char *name = weir_probe_tls_name(web->probe, buf);

	curl_easy_getinfo(web->easy, CURLINFO_SSL_VERIFYRESULT, &result);
	/* libcurl compares the name itself, after OpenSSL has approved the rest. */
	if (result == X509_V_OK || result == X509_V_ERR_UNSPECIFIED)
		result = name && weir_parse_addr(name, &addr) ?
			X509_V_ERR_HOSTNAME_MISMATCH :
			X509_V_ERR_IP_ADDRESS_MISMATCH;
	return X509_verify_cert_error_string(result);
}

/* Behind the last colon: "error:0A00010B:SSL routines::wrong version number" */
static const char *tls_reason(const struct web *web)
{
	return strstr(web->error, "error:") ? strrchr(web->error, ':') + 1 :
		web->error;
}

static void fail_tls(struct web *web)
{
	if (web->http2 && strstr(web->error, "no application protocol"))
		weir_probe_fail(web->probe, "no HTTP/2 offered");
	else if (strstr(web->error, "unexpected eof") ||
		 strstr(web->error, "SSL_ERROR_SYSCALL"))
		weir_probe_fail(web->probe, "closed before an answer");
	else
		weir_probe_fail(web->probe, "TLS: %s", tls_reason(web));
}

static void fail(struct web *web, CURLcode code)
{
	struct weir_probe *probe = web->probe;

	if (strstr(web->error, "reset by peer") || strstr(web->error, "Broken pipe")) {
		weir_probe_fail(probe, "reset by the backend");
		return;
	}
	/* Longer than libcurl itself puts up with: it says that it has no memory, and
	 * a backend could say that for us. */
	if (strstr(web->error, "oo large") || code == CURLE_OUT_OF_MEMORY) {
		weir_probe_fail(probe, "header too long");
		return;
	}
	if (code == CURLE_HTTP2 || strstr(web->error, "nghttp2")) {
		weir_probe_fail(probe, "not an HTTP/2 answer");
		return;
	}
	switch (code) {
	case CURLE_COULDNT_CONNECT:
		/* It was connected when libcurl got it. */
		weir_probe_fail(probe, "reset by the backend");
		break;
	case CURLE_GOT_NOTHING:
		weir_probe_fail(probe, "closed before an answer");
		break;
	case CURLE_PARTIAL_FILE:
		weir_probe_fail(probe, web->head.complete ?
				"closed before the end of the answer" :
				"closed before an answer");
		break;
	case CURLE_HTTP2_STREAM:
		weir_probe_fail(probe, "stream ended by the backend");
		break;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY:
		weir_probe_fail(probe, "not an HTTP answer");
		break;
	case CURLE_PEER_FAILED_VERIFICATION:
		weir_probe_fail(probe, "certificate: %s", certificate_reason(web));
		break;
	case CURLE_SSL_CONNECT_ERROR:
		fail_tls(web);
		break;
	default:
		weir_probe_fail(probe, "%s", *web->error ? web->error :
				curl_easy_strerror(code));
	}
}

static void finish(struct web *web, CURLcode code)
{
	struct weir_probe_result *result = &web->probe->result;

	if (web->head.complete && (web->enough || code == CURLE_OK)) {
		result->weight_state = weir_head_weight_state(&web->head);
		result->weight = web->head.weight;
		if (web->wrong_version)
			weir_probe_fail(web->probe, "no HTTP/2 offered");
		else if (web->grpc)
			judge_grpc(web);
		else
			judge_http(web);
	} else if (web->head.too_long) {
		weir_probe_fail(web->probe, "header too long");
	} else if (web->wrong_version) {
		weir_probe_fail(web->probe, "no HTTP/2 offered");
	} else if (web->too_much) {
		weir_probe_fail(web->probe, "not a gRPC answer");
	} else {
		fail(web, code);
	}
}

const struct weir_engine weir_web_engine = { .start = start, .stop = stop };
