/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_RANDOM_H
#define WEIR_UNIT_LINUX_RANDOM_H

#include <linux/types.h>

/* The tests' own are what is random. */
static inline u32 get_random_u32(void)
{
	return 0x243f6a88;
}

#endif /* WEIR_UNIT_LINUX_RANDOM_H */
