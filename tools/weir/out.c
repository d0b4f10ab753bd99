// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "out.h"
#include "value.h"

#define INDENT		4
/* Ratios have six digits behind the point and are at most 1: with six digits
 * they are exact. */
#define RATIO_DIGITS	6

static size_t dump_flags(const struct weir_out *out)
{
	size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(RATIO_DIGITS);

	return flags | (out->pretty ? JSON_INDENT(INDENT) : JSON_COMPACT);
}

/* MARGIN: what a line of it begins with, for elements of a streamed array. */
static void print_value(struct weir_out *out, json_t *value, const char *margin)
{
	char *text = json_dumps(value, dump_flags(out)), *p;

	if (!text) {
		fputs("weir: out of memory\n", stderr);
		exit(1);
	}
	for (p = text; *p; p++) {
		fputc(*p, out->f);
		if (*p == '\n')
			fputs(margin, out->f);
	}
	free(text);
}

static void print_element(struct weir_out *out, json_t *value)
{
	const char *margin = out->pretty ? "    " : "";

	if (!out->first)
		fputc(',', out->f);
	out->first = false;
	if (out->pretty)
		fprintf(out->f, "\n%s", margin);
	print_value(out, value, margin);
}

/* Puts a finished value where it belongs; the reference is consumed. */
static void put(struct weir_out *out, const char *key, json_t *value)
{
	json_t *parent = out->depth ? out->stack[out->depth - 1] : NULL;

	if (!parent && out->depth) {
		print_element(out, value);
		json_decref(value);
	} else if (!parent) {
		print_value(out, value, "");
		fputc('\n', out->f);
		json_decref(value);
	} else if (json_is_array(parent)) {
		json_array_append_new(parent, value);
	} else {
		json_object_set_new(parent, key, value);
	}
}

static void open_value(struct weir_out *out, const char *key, json_t *value)
{
	if (out->depth == WEIR_OUT_DEPTH)
		abort();
	out->key[out->depth] = key;
	out->stack[out->depth++] = value;
}

void weir_out_object(struct weir_out *out, const char *key)
{
	if (out->json)
		open_value(out, key, json_object());
}

/* An array on the top level is printed element by element: the list of flows
 * may have millions. */
void weir_out_array(struct weir_out *out, const char *key)
{
	if (!out->json)
		return;
	if (out->depth) {
		open_value(out, key, json_array());
		return;
	}
	open_value(out, key, NULL);
	out->stream = out->first = true;
	fputc('[', out->f);
}

void weir_out_end(struct weir_out *out)
{
	json_t *value;

	if (out->json) {
		value = out->stack[--out->depth];
		if (value)
			put(out, out->key[out->depth], value);
		else
			fputs(out->pretty && !out->first ? "\n]\n" : "]\n",
			      out->f);
	}
	if (!out->depth && out->each_line)
		fflush(out->f);
}

/* Strings come from the kernel, where others put them: bytes that steer a
 * terminal are not passed on. */
static char *clean(const char *value, bool ascii)
{
	char *text = weir_strdup(value), *p;

	for (p = text; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f ||
		    (ascii && *p & 0x80))
			*p = '?';
	return text;
}

void weir_out_str(struct weir_out *out, const char *key, const char *fmt,
		  const char *value)
{
	json_t *string;
	char *text;

	if (!out->json && !fmt)
		return;
	if (!out->json) {
		text = clean(value, false);
		fprintf(out->f, fmt, text);
		free(text);
		return;
	}
	string = json_string(value);
	if (!string) {
		/* not UTF-8 */
		text = clean(value, true);
		string = json_string(text);
		free(text);
	}
	put(out, key, string);
}

void weir_out_num(struct weir_out *out, const char *key, const char *fmt,
		  uint64_t value)
{
	char text[24];

	if (out->json) {
		put(out, key, json_integer((json_int_t)value));
	} else if (fmt) {
		snprintf(text, sizeof(text), "%" PRIu64, value);
		fprintf(out->f, fmt, text);
	}
}

void weir_out_bool(struct weir_out *out, const char *key, const char *fmt,
		   bool value)
{
	if (out->json)
		put(out, key, json_boolean(value));
	else if (fmt)
		fprintf(out->f, fmt, value ? "on" : "off");
}

void weir_out_ratio(struct weir_out *out, const char *key, const char *fmt,
		    uint32_t millionths)
{
	char text[WEIR_RATIO_TEXT];

	if (out->json)
		put(out, key, json_real(millionths / 1e6));
	else if (fmt)
		fprintf(out->f, fmt, weir_ratio_text(millionths, text));
}

void weir_out_text(struct weir_out *out, const char *fmt, ...)
{
	va_list ap;

	if (out->json)
		return;
	va_start(ap, fmt);
	vfprintf(out->f, fmt, ap);
	va_end(ap);
}

int weir_out_finish(struct weir_out *out)
{
	if (!fflush(out->f) && !ferror(out->f))
		return 0;
	weir_complain("cannot write the output: %s", strerror(errno));
	return -1;
}
