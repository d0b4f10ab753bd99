// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

#define QUOTE_SHOWN	64	/* bytes of a word that a message repeats */
#define QUOTE_BUFFERS	8

int weir_err_set(struct weir_err *err, enum weir_err_kind kind,
		 const char *fmt, ...)
{
	va_list ap;

	err->kind = kind;
	err->num = 0;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -1;
}

/* Words come from files of any content: what would steer a terminal is shown
 * as \xNN. */
const char *weir_quote(const char *s)
{
	static char buffers[QUOTE_BUFFERS][QUOTE_SHOWN * 4 + 8];
	static unsigned int turn;
	char *buf = buffers[turn++ % QUOTE_BUFFERS];
	size_t i, n = 0;

	buf[n++] = '"';
	for (i = 0; s[i] && i < QUOTE_SHOWN; i++) {
		unsigned char c = s[i];

		if (c < 0x20 || c >= 0x7f)
			n += sprintf(buf + n, "\\x%02x", c);
		else
			buf[n++] = c;
	}
	strcpy(buf + n, s[i] ? "...\"" : "\"");
	return buf;
}

int weir_complain(const char *fmt, ...)
{
	va_list ap;

	fputs("weir: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

static void *checked(void *mem)
{
	if (!mem) {
		fputs("weir: out of memory\n", stderr);
		exit(1);
	}
	return mem;
}

void *weir_alloc(size_t size)
{
	return checked(calloc(1, size ? size : 1));
}

/* Room for one more element behind COUNT of them: doubles at powers of two, so
 * the caller needs to keep no capacity. */
void *weir_grow(void *mem, size_t count, size_t size)
{
	if (count & (count - 1))
		return mem;
	return checked(reallocarray(mem, count ? count * 2 : 1, size));
}

char *weir_strdup(const char *s)
{
	return checked(strdup(s));
}
