/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_SCHED_H
#define WEIR_UNIT_LINUX_SCHED_H

/* How often the code offered the CPU: long work has to, and tests look. */
extern unsigned long weir_shim_rescheds;

static inline int cond_resched(void)
{
	weir_shim_rescheds++;

	return 0;
}

#endif /* WEIR_UNIT_LINUX_SCHED_H */
