/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bh - bottom halves off, where they may be on
 *
 * Hooks run in softirq; but a queue for user space gives packets back in process context,
 * and the hooks that are left run there.
 */
#ifndef WEIR_BH_H
#define WEIR_BH_H

#include <linux/bottom_half.h>
#include <linux/preempt.h>
#include <linux/types.h>

/* Return: for weir_bh_restore(). */
static inline bool weir_bh_off(void)
{
	if (likely(in_softirq()))
		return false;
	local_bh_disable();
	return true;
}

static inline void weir_bh_restore(bool on)
{
	if (unlikely(on))
		local_bh_enable();
}

#endif /* WEIR_BH_H */
