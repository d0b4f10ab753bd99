/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's configuration and state, read. */
#ifndef WEIR_CONFIG_H
#define WEIR_CONFIG_H

#include "model.h"
#include "nl.h"

/* The whole state, sorted, or that of one service (then it must exist). FLOWS: count
 * them. 0 or -1 with the error set. */
int weir_read_config(struct weir_nl *nl, const char *service, bool flows,
		     struct weir_config *config, struct weir_err *err);

#endif
