/* SPDX-License-Identifier: GPL-2.0 */
/*
 * References on struct nf_ct_timeout. Some kernels count them and free the
 * object themselves at zero (6.1.192, Debian 13's 6.12.117, 7.2), others do
 * neither (6.12.95), within one stable series: the build looks at the header,
 * see Kbuild, and defines WEIR_HAVE_TIMEOUT_REFCNT.
 */
#ifndef WEIR_COMPAT_TIMEOUT_H
#define WEIR_COMPAT_TIMEOUT_H

#include <linux/refcount.h>
#include <linux/slab.h>
#include <net/netfilter/nf_conntrack_timeout.h>

#ifdef WEIR_HAVE_TIMEOUT_REFCNT

#define WEIR_TIMEOUT_COUNTED	true

static inline void weir_timeout_init(struct nf_ct_timeout *timeout)
{
	refcount_set(&timeout->refcnt, 1);
}

static inline bool weir_timeout_get(struct nf_ct_timeout *timeout)
{
	return refcount_inc_not_zero(&timeout->refcnt);
}

static inline void weir_timeout_put(struct nf_ct_timeout *timeout)
{
	if (refcount_dec_and_test(&timeout->refcnt))
		kfree_rcu(timeout, rcu);
}

/* Is the caller's reference the only one? */
static inline bool weir_timeout_unused(const struct nf_ct_timeout *timeout)
{
	return refcount_read(&timeout->refcnt) == 1;
}

#else

#define WEIR_TIMEOUT_COUNTED	false

static inline void weir_timeout_init(struct nf_ct_timeout *timeout)
{
}

static inline bool weir_timeout_get(struct nf_ct_timeout *timeout)
{
	return true;
}

/* Nobody counts: the owner keeps the object until no entry can be left. */
static inline void weir_timeout_put(struct nf_ct_timeout *timeout)
{
}

static inline bool weir_timeout_unused(const struct nf_ct_timeout *timeout)
{
	return false;
}

#endif

#endif /* WEIR_COMPAT_TIMEOUT_H */
