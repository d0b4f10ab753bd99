// SPDX-License-Identifier: GPL-2.0
/*
 * The config file's parser, with bytes of any kind. What it accepts must come
 * back the same: printed, parsed and printed again. What it refuses must name a
 * line of the file and say something.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *print(const struct weir_config *config)
{
	struct weir_err err;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f || weir_file_print(f, config, &err) || fclose(f))
		abort();
	return text;
}

static void check_error(const uint8_t *data, size_t size, unsigned int line,
			const struct weir_err *err)
{
	unsigned int lines = 1;
	const char *p;
	size_t i;

	for (i = 0; i < size; i++)
		lines += data[i] == '\n';
	if (!line || line > lines || !*err->text)
		abort();
	for (p = err->text; *p; p++)
		if (*p < 0x20 || *p > 0x7e)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weir_config config = { 0 }, again = { 0 };
	char *first, *second;
	struct weir_err err;
	unsigned int line;

	if (weir_file_parse((const char *)data, size, &config, &line, &err)) {
		check_error(data, size, line, &err);
		weir_config_free(&config);
		return 0;
	}
	first = print(&config);
	if (weir_file_parse(first, strlen(first), &again, &line, &err))
		abort();
	second = print(&again);
	if (strcmp(first, second))
		abort();
	free(first);
	free(second);
	weir_config_free(&config);
	weir_config_free(&again);
	return 0;
}
