/* SPDX-License-Identifier: GPL-2.0 */
/* What a backend sends, taken apart. It may be anything: nothing here trusts a
 * length, keeps a state of its own or does I/O. Pure. */
#ifndef WEIR_ANSWER_H
#define WEIR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIR_HEADER_MAX		16384	/* bytes of all header lines */
#define WEIR_BODY_MAX		1024	/* bytes of a body that count */
#define WEIR_WEIGHT_MAX		1000
#define WEIR_GRPC_FRAME		5	/* bytes before a gRPC message */
#define WEIR_GRPC_SERVING	1

/* The header of an HTTP answer, line by line; zeroed at first. */
struct weir_head {
	size_t size;			/* bytes so far, all answers */
	bool too_long;
	bool complete;			/* of the final answer, not a 1xx */
	uint16_t status;		/* 0: no status line yet */
	uint8_t version;		/* 1 or 2 */
	uint8_t weight_state;		/* NONE: no line yet; VALID, INVALID */
	uint16_t weight;
	bool has_grpc_status;
	uint32_t grpc_status;		/* UINT32_MAX: not a number */
};

/* One line, with or without its line end; an empty one ends the header. What
 * comes after that are trailers, where only grpc-status counts. */
void weir_head_line(struct weir_head *head, const char *line, size_t len);
/* State for a report, enum weir_weight_state, once the header is complete. */
uint8_t weir_head_weight_state(const struct weir_head *head);

/* "0" to "1000", or with a fraction, which is rounded; else -1. */
int weir_weight_parse(const char *s, size_t len, uint16_t *weight);

/* Is it in the body, and ends within the first WEIR_BODY_MAX bytes? */
bool weir_body_has(const void *body, size_t len, const void *text,
		   size_t text_len);

/* Bytes of a Check request for this service, frame included. */
size_t weir_grpc_request_size(const char *service);
void weir_grpc_request(uint8_t *buf, const char *service);
/* The serving status of an answer that is one whole frame; else -1. */
int weir_grpc_answer(const uint8_t *body, size_t len);

/* \r \n \t \\ become what they mean, others stay. dst has room for src. */
size_t weir_unescape(char *dst, const char *src);
/* Printable ASCII only, cut to size. */
void weir_text_clean(char *dst, size_t size, const char *src, size_t len);

#endif
