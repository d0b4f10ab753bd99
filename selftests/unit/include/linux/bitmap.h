/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_BITMAP_H
#define WEIR_UNIT_LINUX_BITMAP_H

#include <linux/bitops.h>
#include <linux/string.h>

static inline void bitmap_zero(unsigned long *map, unsigned int n)
{
	memset(map, 0, BITS_TO_LONGS(n) * sizeof(*map));
}

#endif /* WEIR_UNIT_LINUX_BITMAP_H */
