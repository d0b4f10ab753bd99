// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/weir.h>

#include "healthcheck.h"
#include "lex.h"
#include "value.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define IF_NAME_MAX	15

enum kind { ALONE, NUMBER, TEXT, PATH, ADDR, DEVICE, VIP };

static const char *const protocols[] = {
	"tcp", "ssl", "http", "https", "http2", "grpc", "grpc-tls"
};

static const struct param {
	const char *word;
	enum kind kind;
	uint32_t min, max;
} params[] = {
	{ "port", NUMBER, 1, 65535 },
	{ "path", PATH, 0, 0 },
	{ "host", TEXT, 0, 0 },
	{ "request", TEXT, 0, 0 },
	{ "response", TEXT, 0, 0 },
	{ "service", TEXT, 0, 0 },
	{ "proxy-header", ALONE, 0, 0 },
	{ "weights", ALONE, 0, 0 },
	{ "via", VIP, 0, 0 },
	{ "source", ADDR, 0, 0 },
	{ "mark", NUMBER, 0, UINT32_MAX },
	{ "dev", DEVICE, 0, 0 },
	{ "verify", ALONE, 0, 0 },
	{ "interval", NUMBER, 1, 300 },
	{ "timeout", NUMBER, 1, 300 },
	{ "healthy", NUMBER, 1, 10 },
	{ "unhealthy", NUMBER, 1, 10 },
};

/* What was said, for the rules that join two of them. */
struct said {
	uint32_t seen;			/* a bit for each of params */
	uint32_t number[COUNT(params)];
};

const char *weir_healthcheck_word(bool first, unsigned int i)
{
	if (first)
		return i < COUNT(protocols) ? protocols[i] : NULL;
	return i < COUNT(params) ? params[i].word : NULL;
}

static int find(const char *word)
{
	unsigned int i;

	for (i = 0; i < COUNT(params); i++)
		if (!strcmp(params[i].word, word))
			return i;
	return -1;
}

bool weir_healthcheck_has_value(const char *word)
{
	int p = find(word);

	return p >= 0 && params[p].kind != ALONE;
}

bool weir_healthcheck_weights(const char *line)
{
	struct weir_line words = { 0 };
	bool weights = false;
	struct weir_err err;
	unsigned int i;

	if (!line || weir_lex(&words, line, strlen(line), &err))
		words.n = 0;
	for (i = 1; i < words.n && !weights; i++) {
		weights = !strcmp(words.word[i], "weights");
		if (weir_healthcheck_has_value(words.word[i]))
			i++;
	}
	weir_lex_free(&words);
	return weights;
}

static const char *list(bool first, char *buf, size_t size)
{
	const char *word;
	unsigned int i;
	size_t n = 0;

	for (i = 0; (word = weir_healthcheck_word(first, i)) && n < size; i++)
		n += snprintf(buf + n, size - n, "%s%s", i ? ", " : "", word);
	return buf;
}

static int check_value(const char *object, const struct param *param,
		       const char *value, uint32_t *number,
		       struct weir_err *err)
{
	struct weir_addr addr;
	const char *give = NULL;
	char range[32];

	if (param->kind == NUMBER &&
	    weir_parse_number(value, param->min, param->max, number)) {
		snprintf(range, sizeof(range), "%u..%u", param->min, param->max);
		give = range;
	} else if (param->kind == PATH && value[0] != '/') {
		give = "a path that begins with /";
	} else if (param->kind == ADDR && weir_parse_addr(value, &addr)) {
		give = "an IPv4 or IPv6 address";
	} else if (param->kind == VIP && strcmp(value, "vip")) {
		give = "vip";
	} else if (param->kind == DEVICE &&
		   (!*value || strlen(value) > IF_NAME_MAX ||
		    strpbrk(value, "/ \t"))) {
		give = "the name of an interface";
	}
	if (give)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: health-check: %s %s: give %s",
				    object, param->word, weir_quote(value),
				    give);
	return 0;
}

static int parse_params(const char *object, unsigned int n, char **word,
			struct said *said, struct weir_err *err)
{
	unsigned int i;
	char text[300];

	for (i = 1; i < n; i++) {
		int p = find(word[i]);

		if (p < 0)
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: health-check: %s: unknown option; options are %s",
					    object, weir_quote(word[i]),
					    list(false, text, sizeof(text)));
		if (said->seen & 1u << p)
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: health-check: %s is given twice",
					    object, params[p].word);
		said->seen |= 1u << p;
		if (params[p].kind == ALONE)
			continue;
		if (++i == n)
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: health-check: %s needs a value",
					    object, params[p].word);
		if (check_value(object, &params[p], word[i], &said->number[p],
				err))
			return -1;
	}
	return 0;
}

static uint32_t number_of(const struct said *said, const char *word,
			  uint32_t dflt)
{
	int p = find(word);

	return said->seen & 1u << p ? said->number[p] : dflt;
}

static int check_line(const char *object, unsigned int n, char **word,
		      struct weir_err *err)
{
	uint32_t interval, timeout;
	struct said said = { 0 };
	unsigned int i, protocol;
	char text[100];

	for (protocol = 0; protocol < COUNT(protocols); protocol++)
		if (!strcmp(protocols[protocol], word[0]))
			break;
	if (protocol == COUNT(protocols))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: health-check: protocol %s: unknown word, give one of: %s; or none",
				    object, weir_quote(word[0]),
				    list(true, text, sizeof(text)));
	for (i = 0; i < n; i++) {
		const char *p;

		for (p = word[i]; *p; p++)
			if (*p < 0x20 || *p > 0x7e)
				return weir_err_set(err, WEIR_ERR_VALUE,
						    "%s: health-check: %s: use ASCII characters only",
						    object, weir_quote(word[i]));
	}
	if (parse_params(object, n, word, &said, err))
		return -1;
	interval = number_of(&said, "interval", 5);
	timeout = number_of(&said, "timeout", 5);
	if (timeout > interval)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: health-check: timeout %u is longer than interval %u: give a timeout up to %u",
				    object, timeout, interval, interval);
	if (!strncmp(word[0], "grpc", 4) && !number_of(&said, "port", 0))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: health-check: %s has no default port: give port P",
				    object, word[0]);
	return 0;
}

static char *parse_words(const char *object, unsigned int n, char **word,
			 struct weir_err *err)
{
	char *line;

	if (!n || (n == 1 && (!strcmp(word[0], "none") || !*word[0])))
		return weir_strdup("");
	if (check_line(object, n, word, err))
		return NULL;
	line = weir_lex_join(n, word);
	if (strlen(line) > WEIR_HEALTH_CHECK_MAX) {
		weir_err_set(err, WEIR_ERR_VALUE,
			     "%s: health-check: the line has %zu bytes, give at most %d",
			     object, strlen(line), WEIR_HEALTH_CHECK_MAX);
		free(line);
		return NULL;
	}
	return line;
}

char *weir_healthcheck_parse(const char *object, int n, char **word,
			     struct weir_err *err)
{
	struct weir_line line = { 0 };
	char *result = NULL;

	if (n != 1 || !strpbrk(word[0], " \t"))
		return parse_words(object, n, word, err);
	if (!weir_lex(&line, word[0], strlen(word[0]), err))
		result = parse_words(object, line.n, line.word, err);
	weir_lex_free(&line);
	return result;
}
