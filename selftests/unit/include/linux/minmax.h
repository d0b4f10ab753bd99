/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_MINMAX_H
#define WEIR_UNIT_LINUX_MINMAX_H

/* The kernel's evaluate each side once; here none may have side effects. */
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))

#define min_t(type, a, b)	min((type)(a), (type)(b))

#endif /* WEIR_UNIT_LINUX_MINMAX_H */
