/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_SLAB_H
#define WEIR_UNIT_LINUX_SLAB_H

#include <stdlib.h>

#define GFP_KERNEL_ACCOUNT	0

/* Allocations so far, and the number of the one that fails, or 0. */
extern unsigned long weir_shim_allocs, weir_shim_fail_at;

static inline void *kvmalloc(size_t size, int flags)
{
	(void)flags;
	return ++weir_shim_allocs == weir_shim_fail_at ? NULL : malloc(size);
}

static inline void *kvmalloc_array(size_t n, size_t size, int flags)
{
	return kvmalloc(n * size, flags);
}

static inline void kvfree(void *at)
{
	free(at);
}

#endif /* WEIR_UNIT_LINUX_SLAB_H */
