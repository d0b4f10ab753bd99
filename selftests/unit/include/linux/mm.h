/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_MM_H
#define WEIR_UNIT_LINUX_MM_H

#include <linux/slab.h>

#endif /* WEIR_UNIT_LINUX_MM_H */
