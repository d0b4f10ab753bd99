/* SPDX-License-Identifier: GPL-2.0 */
/* The health-check line. The kernel only stores it and the health checker
 * obeys it; here its words are judged, so that a slip of the keyboard is seen
 * when it is typed and not in the log of a daemon. Pure. */
#ifndef WEIR_HEALTHCHECK_H
#define WEIR_HEALTHCHECK_H

#include <stdbool.h>

#include "err.h"

/* The line in its normal form, to be freed; "" for `none`; NULL on error. One
 * word with blanks in it is taken as the whole line. */
char *weir_healthcheck_parse(const char *object, int n, char **word,
			     struct weir_err *err);
/* Words for completion: protocols if first, else options. */
const char *weir_healthcheck_word(bool first, unsigned int i);
bool weir_healthcheck_has_value(const char *word);
/* Does the line, in its normal form or NULL, make the checker's weights rule? */
bool weir_healthcheck_weights(const char *line);

#endif
