/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_RUN_H
#define WEIR_RUN_H

/* Runs a program and gives what it printed, to be freed. NULL if it is not
 * installed or failed; then *missing says which of the two. */
#include <stdbool.h>

char *weir_run_program(char *const argv[], bool *missing);

#endif
