/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_BITS_H
#define WEIR_UNIT_LINUX_BITS_H

#define BIT_ULL(nr)	(1ULL << (nr))

#endif /* WEIR_UNIT_LINUX_BITS_H */
