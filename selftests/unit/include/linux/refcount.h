/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_REFCOUNT_H
#define WEIR_UNIT_LINUX_REFCOUNT_H

#include <linux/types.h>

typedef struct {
	unsigned int n;
} refcount_t;

static inline void refcount_set(refcount_t *ref, unsigned int n)
{
	ref->n = n;
}

static inline unsigned int refcount_read(const refcount_t *ref)
{
	return ref->n;
}

static inline void refcount_inc(refcount_t *ref)
{
	ref->n++;
}

static inline bool refcount_dec_and_test(refcount_t *ref)
{
	return !--ref->n;
}

#endif /* WEIR_UNIT_LINUX_REFCOUNT_H */
