/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_GCD_H
#define WEIR_UNIT_LINUX_GCD_H

static inline unsigned long gcd(unsigned long a, unsigned long b)
{
	while (b) {
		unsigned long rest = a % b;

		a = b;
		b = rest;
	}

	return a;
}

#endif /* WEIR_UNIT_LINUX_GCD_H */
