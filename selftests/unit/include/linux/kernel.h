/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_KERNEL_H
#define WEIR_UNIT_LINUX_KERNEL_H

#include <linux/types.h>

#endif /* WEIR_UNIT_LINUX_KERNEL_H */
