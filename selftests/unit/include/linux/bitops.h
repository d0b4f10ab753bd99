/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_BITOPS_H
#define WEIR_UNIT_LINUX_BITOPS_H

#include <linux/types.h>

#define BITS_PER_LONG		(8 * sizeof(long))
#define BITS_TO_LONGS(n)	(((n) + BITS_PER_LONG - 1) / BITS_PER_LONG)

static inline void __set_bit(unsigned long nr, unsigned long *map)
{
	map[nr / BITS_PER_LONG] |= 1UL << nr % BITS_PER_LONG;
}

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return map[nr / BITS_PER_LONG] >> nr % BITS_PER_LONG & 1;
}

static inline int fls(unsigned int x)
{
	return x ? 32 - __builtin_clz(x) : 0;
}

#endif /* WEIR_UNIT_LINUX_BITOPS_H */
