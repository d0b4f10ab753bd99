// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lex.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* One word at *FROM, written to TO, which has as much room. */
static char *lex_word(const char **from, const char *end, char *to,
		      struct weir_err *err)
{
	const char *p = *from;
	bool quoted = false;

	for (; p < end && (quoted || !is_blank(*p)); p++) {
		if (*p == '"') {
			quoted = !quoted;
			continue;
		}
		if (quoted && *p == '\\' && p + 1 < end &&
		    (p[1] == '"' || p[1] == '\\'))
			p++;
		*to++ = *p;
	}
	*from = p;
	*to++ = '\0';
	if (quoted) {
		weir_err_set(err, WEIR_ERR_VALUE,
			     "a quote (\") is opened and not closed in this line");
		return NULL;
	}
	return to;
}

int weir_lex(struct weir_line *line, const char *from, size_t len,
	     struct weir_err *err)
{
	const char *end = from + len;
	char *to;

	line->n = 0;
	if (memchr(from, '\0', len))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "a NUL byte: this is not a text file");
	if (len && end[-1] == '\r')
		end--;
	/* The last word has no blank behind it, so its NUL takes one more. */
	if (line->size < len + 1) {
		free(line->text);
		line->text = weir_alloc(len + 1);
		line->size = len + 1;
	}
	to = line->text;
	for (;;) {
		while (from < end && is_blank(*from))
			from++;
		if (from == end || *from == '#')
			return 0;
		line->word = weir_grow(line->word, line->n, sizeof(char *));
		line->word[line->n++] = to;
		to = lex_word(&from, end, to, err);
		if (!to)
			return -1;
	}
}

void weir_lex_free(struct weir_line *line)
{
	free(line->word);
	free(line->text);
	memset(line, 0, sizeof(*line));
}

static bool needs_quotes(const char *word)
{
	return !*word || word[strcspn(word, " \t\"\\#")];
}

char *weir_lex_join(unsigned int n, char *const *word)
{
	size_t size = 1;
	unsigned int i;
	char *line, *to;

	for (i = 0; i < n; i++)
		size += 2 * strlen(word[i]) + 3;
	line = weir_alloc(size);
	to = line;
	for (i = 0; i < n; i++) {
		const char *p = word[i];
		bool quotes = needs_quotes(p);

		if (i)
			*to++ = ' ';
		if (quotes)
			*to++ = '"';
		for (; *p; p++) {
			if (*p == '"' || *p == '\\')
				*to++ = '\\';
			*to++ = *p;
		}
		if (quotes)
			*to++ = '"';
	}
	*to = '\0';
	return line;
}
