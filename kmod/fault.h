/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fault - in debug builds, a step of loading fails on purpose
 */
#ifndef WEIR_FAULT_H
#define WEIR_FAULT_H

#ifdef WEIR_FAULTS
/**
 * weir_fault() - is it this step's turn to fail?
 *
 * Counts the steps; the module parameter fail_step names one. Module and namespace
 * init only, which are serialized. Return: 0 or -ENOMEM.
 */
int weir_fault(void);
#else
static inline int weir_fault(void)
{
	return 0;
}
#endif

#endif /* WEIR_FAULT_H */
