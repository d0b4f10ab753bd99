/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hex2bin() and bin2hex() moved from linux/kernel.h to a header of their own in
 * 6.4; the build looks for it, see Kbuild.
 */
#ifndef WEIR_COMPAT_HEX_H
#define WEIR_COMPAT_HEX_H

#ifdef WEIR_HAVE_HEX_H
#include <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

#endif /* WEIR_COMPAT_HEX_H */
