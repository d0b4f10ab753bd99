// SPDX-License-Identifier: GPL-2.0
/*
 * fault - in debug builds, a step of loading fails on purpose
 *
 * The kernel's fault injection reaches allocations only.
 */
#ifdef WEIR_FAULTS

#include <linux/errno.h>
#include <linux/moduleparam.h>

#include "fault.h"

static unsigned int fail_step;
module_param(fail_step, uint, 0444);
MODULE_PARM_DESC(fail_step, "number of the step of loading that fails");

static unsigned int steps;

int weir_fault(void)
{
	return ++steps == fail_step ? -ENOMEM : 0;
}

#endif
