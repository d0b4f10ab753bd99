/* SPDX-License-Identifier: GPL-2.0 */
/* Between probe.c and the engines, which speak the protocols. */
#ifndef WEIR_ENGINE_H
#define WEIR_ENGINE_H

#include <openssl/ssl.h>

#include "conn.h"
#include "probe.h"

struct weir_web_shared;

struct weir_prober {
	struct weir_loop *loop;
	SSL_CTX *tls;			/* of bare.c */
	X509_STORE *trusted;		/* NULL until a line says `verify` */
	struct weir_web_shared *web;
	weir_probe_pin pin;		/* NULL: no `via vip` */
	void *pin_arg;
};

/* An engine gets a probe whose connection is made, and ends it. */
struct weir_engine {
	void (*start)(struct weir_probe *probe);
	void (*stop)(struct weir_probe *probe);	/* frees probe->state */
};

struct weir_probe {
	struct weir_prober *prober;
	struct weir_probe_job job;
	weir_probe_done done;
	void *arg;
	struct weir_timer deadline;
	struct weir_conn conn;
	int start_error;		/* why conn could not even begin */
	bool refused;			/* because of what result.text says */
	const struct weir_engine *engine;
	void *state;			/* of the engine; NULL: not started */
	struct weir_probe_result result;
};

extern const struct weir_engine weir_bare_engine, weir_web_engine;

struct weir_web_shared *weir_web_new(struct weir_prober *prober);
void weir_web_free(struct weir_web_shared *web);

/* The probe is gone after these. */
void weir_probe_pass(struct weir_probe *probe, const char *text);
void weir_probe_fail(struct weir_probe *probe, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void weir_probe_fail_errno(struct weir_probe *probe, int error);

/* How every TLS context of ours reads. */
void weir_probe_tls_mode(SSL_CTX *tls);

/* The system's certificates, read when first needed. */
X509_STORE *weir_prober_trusted(struct weir_prober *prober);
/* The name that TLS asks for and checks, or NULL if `host` is none; buf of 256. */
const char *weir_probe_tls_name(const struct weir_probe *probe, char *buf);

#endif
