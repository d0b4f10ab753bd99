/* SPDX-License-Identifier: GPL-2.0 */
/* The config file: text -> model -> text. Pure. */
#ifndef WEIR_FILE_H
#define WEIR_FILE_H

#include <stdio.h>

#include "model.h"

/* Sorts the result, so that it is complete and unique. On an error LINE is
 * where it stands and CONFIG is as good as empty (but wants its free). */
int weir_file_parse(const char *text, size_t len, struct weir_config *config,
		    unsigned int *line, struct weir_err *err);

/* What `apply` reads, so no backends that drain. Fails, with nothing said of
 * what it already printed, on values that the format cannot hold. */
int weir_file_print(FILE *f, const struct weir_config *config,
		    struct weir_err *err);

/* Statements without newline, as they stand in a file and in messages. */
void weir_print_rule(FILE *f, const struct weir_rule *rule);
void weir_print_group(FILE *f, const struct weir_group *group);
void weir_print_backend(FILE *f, const struct weir_backend *backend);

#endif
