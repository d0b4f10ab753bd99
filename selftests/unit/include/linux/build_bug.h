/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_BUILD_BUG_H
#define WEIR_UNIT_LINUX_BUILD_BUG_H

#define BUILD_BUG_ON(wrong)	_Static_assert(!(wrong), #wrong)

#endif /* WEIR_UNIT_LINUX_BUILD_BUG_H */
