/* SPDX-License-Identifier: GPL-2.0 */
/* What the daemon says: one line each on standard error, with the journal's mark of
 * its weight where the journal reads it. */
#ifndef WEIR_LOG_H
#define WEIR_LOG_H

enum weir_level { WEIR_LOG_ERROR = 3, WEIR_LOG_WARNING = 4, WEIR_LOG_NOTICE = 5,
		  WEIR_LOG_INFO = 6 };

void weir_log(enum weir_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
