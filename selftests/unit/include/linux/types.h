/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's type names, for the pure files of the module in userspace. This
 * directory comes before the system's in the search path.
 */
#ifndef WEIR_UNIT_LINUX_TYPES_H
#define WEIR_UNIT_LINUX_TYPES_H

#include_next <linux/types.h>

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef unsigned long long u64;	/* as in the kernel, on every machine */

#define U16_MAX		((u16)~0U)

#define __force			/* for sparse */
#define __aligned(x)	__attribute__((__aligned__(x)))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define be32_to_cpu(x)	be32toh(x)
#define cpu_to_be32(x)	htobe32(x)
#define cpu_to_be16(x)	htobe16(x)

#endif /* WEIR_UNIT_LINUX_TYPES_H */
