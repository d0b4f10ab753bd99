/* SPDX-License-Identifier: GPL-2.0 */
/* Every backend probed one time. */
#ifndef WEIR_ONCE_H
#define WEIR_ONCE_H

#include "model.h"
#include "out.h"

/* Prints a table. An exit code: 1 if any is down. */
int weir_once(struct weir_out *out, const struct weir_config *config);

#endif
