/* SPDX-License-Identifier: GPL-2.0 */
/* The version of the tool. It equals MODULE_VERSION of the module: `weir
 * check` compares the two when they meet. */
#ifndef WEIR_VERSION_H
#define WEIR_VERSION_H

#define WEIR_VERSION	"0.1.0"

#endif
