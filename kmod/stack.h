/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stack - variables that are written before they are read
 *
 * Kernels are built to clear each of them first, at an instruction per byte for the large
 * ones. Only for those of the packet path that are filled by one call or by an initializer.
 */
#ifndef WEIR_STACK_H
#define WEIR_STACK_H

#if __has_attribute(__uninitialized__)
#define WEIR_UNINIT	__attribute__((__uninitialized__))
#else
#define WEIR_UNINIT
#endif

#endif /* WEIR_STACK_H */
