/* SPDX-License-Identifier: GPL-2.0 */
/* One probe of one backend, from the connect to the result. */
#ifndef WEIR_PROBE_H
#define WEIR_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "healthcheck.h"
#include "loop.h"
#include "value.h"

#define WEIR_PROBE_TEXT		64

struct weir_probe_result {
	bool passed;
	/* The probe could not be made, for a reason on this machine (no
	 * descriptors left, no such interface): it says nothing about the
	 * backend. Never with passed. */
	bool local;
	uint8_t weight_state;	/* enum weir_weight_state: NONE unless the line
				 * says `weights`; UNAVAILABLE without answer */
	uint16_t weight;	/* with VALID */
	char text[WEIR_PROBE_TEXT];	/* printable ASCII */
};

/* What probes share. The loop outlives it. From its making on SIGPIPE is
 * ignored, as TLS libraries write to sockets without asking. */
struct weir_prober;

/* NULL if the libraries do not work. */
struct weir_prober *weir_prober_new(struct weir_loop *loop);
/* The system's certificates are read anew by the next line with `verify`. */
void weir_prober_forget_trust(struct weir_prober *prober);
/* All probes have ended by then. Not from within a callback of a probe. */
void weir_prober_free(struct weir_prober *prober);

struct weir_probe_job {
	const struct weir_healthcheck *line;	/* outlives the probe */
	struct weir_addr backend;
	struct weir_addr vip;	/* len 0: none; name for HTTP by default */
	const char *service;	/* its name; for `via vip`, which needs a VIP too */
};

/* What `via vip` takes: the next connection from PORT to the VIP is to go to the backend
 * of the job. 0, or -1 with the error. */
typedef int (*weir_probe_pin)(void *arg, const struct weir_probe_job *job,
			      uint16_t port, struct weir_err *err);
void weir_prober_set_pin(struct weir_prober *prober, weir_probe_pin pin, void *arg);

typedef void (*weir_probe_done)(const struct weir_probe_result *result,
				void *arg);

/* The timeout of the line counts from here. done is called once, never before
 * this returns; by then the probe is gone, and done may start or cancel others. */
struct weir_probe *weir_probe_start(struct weir_prober *prober,
				    const struct weir_probe_job *job,
				    weir_probe_done done, void *arg);
/* Frees it; done is not called. */
void weir_probe_cancel(struct weir_probe *probe);

#endif
