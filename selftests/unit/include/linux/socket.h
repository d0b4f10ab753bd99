/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WEIR_UNIT_LINUX_SOCKET_H
#define WEIR_UNIT_LINUX_SOCKET_H

#include <sys/socket.h>

#endif /* WEIR_UNIT_LINUX_SOCKET_H */
