/* SPDX-License-Identifier: GPL-2.0 */
/* The print layer. One call prints a field in both ways: as text with FMT, or
 * as JSON under KEY. FMT NULL: JSON only. A key always has the same type: what
 * is absent is an empty string, 0 or false. */
#ifndef WEIR_OUT_H
#define WEIR_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#define WEIR_OUT_DEPTH	8

struct weir_out {
	FILE *f;
	bool json, pretty;
	bool each_line;		/* flush after each value of the top level */
	json_t *stack[WEIR_OUT_DEPTH];
	const char *key[WEIR_OUT_DEPTH];
	int depth;
	bool stream;		/* the top level is an array: print as we go */
	bool first;		/* no element of it was printed yet */
};

void weir_out_object(struct weir_out *out, const char *key);
void weir_out_array(struct weir_out *out, const char *key);
void weir_out_end(struct weir_out *out);

void weir_out_str(struct weir_out *out, const char *key, const char *fmt,
		  const char *value);
void weir_out_num(struct weir_out *out, const char *key, const char *fmt,
		  uint64_t value);
/* Text: on or off */
void weir_out_bool(struct weir_out *out, const char *key, const char *fmt,
		   bool value);
/* Ratio in millionths; text: 0.75 */
void weir_out_ratio(struct weir_out *out, const char *key, const char *fmt,
		    uint32_t millionths);
/* Decoration: text only. */
void weir_out_text(struct weir_out *out, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Everything printed? -1 and a complaint if the output could not take it. */
int weir_out_finish(struct weir_out *out);

#endif
