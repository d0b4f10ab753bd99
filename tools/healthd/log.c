// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"

void weir_log(enum weir_level level, const char *fmt, ...)
{
	bool journal = getenv("JOURNAL_STREAM");
	char text[1500];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* In one call, so that lines of ours stay whole among those of others. */
	if (journal)
		fprintf(stderr, "<%d>%s\n", level, text);
	else
		fprintf(stderr, "weir-healthd: %s\n", text);
}
