/* SPDX-License-Identifier: GPL-2.0 */
/* Refusals: whose fault it is, and one sentence for people. */
#ifndef WEIR_ERR_H
#define WEIR_ERR_H

#include <stddef.h>

enum weir_err_kind {
	WEIR_ERR_NONE,
	WEIR_ERR_GRAMMAR,	/* the words do not form a command: exit 2 */
	WEIR_ERR_VALUE,		/* a value or a change is refused: exit 1 */
};

struct weir_err {
	enum weir_err_kind kind;
	int num;		/* errno of a refusal by the kernel, else 0 */
	char text[1024];
};

/* Sets the error and returns -1, so that callers can return it directly. */
int weir_err_set(struct weir_err *err, enum weir_err_kind kind,
		 const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* "s" with quotes, control bytes escaped, long text cut. The result is one of
 * eight rotating buffers: enough for one message. */
const char *weir_quote(const char *s);

/* weir: MESSAGE on stderr; returns 1, the exit code of a refusal. */
int weir_complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Allocation that ends the program when memory is out: there is nothing better
 * that a tool could do, and nothing was sent by then that needs undoing. */
void *weir_alloc(size_t size);
void *weir_grow(void *mem, size_t count, size_t size);
char *weir_strdup(const char *s);

#endif
