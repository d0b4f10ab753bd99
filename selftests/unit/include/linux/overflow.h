/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_OVERFLOW_H
#define WEIR_UNIT_LINUX_OVERFLOW_H

#define struct_size(p, member, n)	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))

#endif /* WEIR_UNIT_LINUX_OVERFLOW_H */
