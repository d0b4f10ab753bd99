/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_STRING_H
#define WEIR_UNIT_LINUX_STRING_H

#include <string.h>

#endif /* WEIR_UNIT_LINUX_STRING_H */
