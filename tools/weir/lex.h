/* SPDX-License-Identifier: GPL-2.0 */
/* Lines -> words. Words are separated by blanks; one that stands in double
 * quotes may hold blanks and #, and \" and \\ for those two. A # at the begin
 * of a word starts a comment. Pure. */
#ifndef WEIR_LEX_H
#define WEIR_LEX_H

#include <stddef.h>

#include "err.h"

struct weir_line {
	char **word;
	unsigned int n;
	char *text;		/* where the words live */
	size_t size;
};

/* LINE is reused from call to call; zeroed before the first. */
int weir_lex(struct weir_line *line, const char *from, size_t len,
	     struct weir_err *err);
void weir_lex_free(struct weir_line *line);
/* The words as one line that weir_lex takes apart into the same words. */
char *weir_lex_join(unsigned int n, char *const *word);

#endif
