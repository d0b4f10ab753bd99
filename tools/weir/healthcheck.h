/* SPDX-License-Identifier: GPL-2.0 */
/* The health-check line. The kernel only stores it and the health checker
 * obeys it; here its words are judged, so that a slip of the keyboard is seen
 * when it is typed and not in the log of a daemon. Pure. */
#ifndef WEIR_HEALTHCHECK_H
#define WEIR_HEALTHCHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "lex.h"
#include "value.h"

enum weir_hc_protocol {
	WEIR_HC_TCP,
	WEIR_HC_SSL,
	WEIR_HC_HTTP,
	WEIR_HC_HTTPS,
	WEIR_HC_HTTP2,
	WEIR_HC_GRPC,
	WEIR_HC_GRPC_TLS,
};

/* A line taken apart, with the defaults in (semantics 5.1). Texts live in WORDS; one
 * that was not said is NULL. */
struct weir_healthcheck {
	enum weir_hc_protocol protocol;
	uint16_t port;
	const char *path;		/* never NULL: "/" */
	const char *host, *request, *response, *service;
	bool proxy_header, weights, via_vip, verify;
	struct weir_addr source;	/* len 0: any */
	bool has_mark;
	uint32_t mark;
	const char *dev;
	uint32_t interval, timeout;	/* seconds */
	uint32_t healthy, unhealthy;	/* results in a row */
	struct weir_line words;
};

/* The line in its normal form, to be freed; "" for `none`; NULL on error. One
 * word with blanks in it is taken as the whole line. */
char *weir_healthcheck_parse(const char *object, int n, char **word,
			     struct weir_err *err);
/* Takes apart a line that is in its normal form and not empty. */
int weir_healthcheck_read(struct weir_healthcheck *hc, const char *line,
			  struct weir_err *err);
void weir_healthcheck_free(struct weir_healthcheck *hc);
/* Words for completion: protocols if first, else options. */
const char *weir_healthcheck_word(bool first, unsigned int i);
bool weir_healthcheck_has_value(const char *word);
/* Does the line, in its normal form or NULL, make the checker's weights rule? */
bool weir_healthcheck_weights(const char *line);

#endif
