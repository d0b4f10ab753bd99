/* SPDX-License-Identifier: GPL-2.0 */
/* What systemd is told, if it started us: nothing happens otherwise. */
#ifndef WEIR_NOTIFY_H
#define WEIR_NOTIFY_H

#include <stdint.h>

/* "READY=1", "STOPPING=1", "STATUS=..." */
void weir_notify(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* How often the watchdog wants to hear of us, in ns; 0: it does not. */
uint64_t weir_notify_watchdog(void);

#endif
