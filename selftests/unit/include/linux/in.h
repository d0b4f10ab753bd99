/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_IN_H
#define WEIR_UNIT_LINUX_IN_H

#include <netinet/in.h>

#endif /* WEIR_UNIT_LINUX_IN_H */
