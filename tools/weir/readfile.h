/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_READFILE_H
#define WEIR_READFILE_H

#include <stddef.h>

/* All of a file, "-" for the standard input, in memory that is to be freed, even if it
 * fails: then -1 and errno. */
int weir_read_file(const char *name, char **text, size_t *len);

#endif
