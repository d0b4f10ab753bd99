/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_LOG2_H
#define WEIR_UNIT_LINUX_LOG2_H

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return n < 2 ? 1 : 1UL << (64 - __builtin_clzl(n - 1));
}

#endif /* WEIR_UNIT_LINUX_LOG2_H */
