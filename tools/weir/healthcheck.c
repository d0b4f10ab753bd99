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

/* In the order of enum weir_hc_protocol. */
static const struct {
	const char *word;
	uint16_t port;			/* 0: none by default */
} protocols[] = {
	{ "tcp", 80 }, { "ssl", 443 }, { "http", 80 }, { "https", 443 },
	{ "http2", 443 }, { "grpc", 0 }, { "grpc-tls", 0 },
};

#define BARE	(1 << WEIR_HC_TCP | 1 << WEIR_HC_SSL)
#define WEB	(1 << WEIR_HC_HTTP | 1 << WEIR_HC_HTTPS | 1 << WEIR_HC_HTTP2)
#define GRPC	(1 << WEIR_HC_GRPC | 1 << WEIR_HC_GRPC_TLS)
#define TLS	(1 << WEIR_HC_SSL | 1 << WEIR_HC_HTTPS | 1 << WEIR_HC_HTTP2 | \
		 1 << WEIR_HC_GRPC_TLS)
#define EVERY	(BARE | WEB | GRPC)

enum {
	PORT, PATH_, HOST, REQUEST, RESPONSE, SERVICE, PROXY_HEADER, WEIGHTS, VIA,
	SOURCE, MARK, DEV, VERIFY, INTERVAL, TIMEOUT, HEALTHY, UNHEALTHY,
};

static const struct param {
	const char *word;
	enum kind kind;
	uint32_t min, max;
	unsigned int with;		/* protocols that know it, a bit for each */
} params[] = {
	[PORT] = { "port", NUMBER, 1, 65535, EVERY },
	[PATH_] = { "path", PATH, 0, 0, WEB },
	[HOST] = { "host", TEXT, 0, 0, WEB | GRPC | TLS },
	[REQUEST] = { "request", TEXT, 0, 0, BARE },
	[RESPONSE] = { "response", TEXT, 0, 0, BARE | WEB },
	[SERVICE] = { "service", TEXT, 0, 0, GRPC },
	[PROXY_HEADER] = { "proxy-header", ALONE, 0, 0, BARE | WEB },
	[WEIGHTS] = { "weights", ALONE, 0, 0, WEB },
	[VIA] = { "via", VIP, 0, 0, EVERY },
	[SOURCE] = { "source", ADDR, 0, 0, EVERY },
	[MARK] = { "mark", NUMBER, 0, UINT32_MAX, EVERY },
	[DEV] = { "dev", DEVICE, 0, 0, EVERY },
	[VERIFY] = { "verify", ALONE, 0, 0, TLS },
	[INTERVAL] = { "interval", NUMBER, 1, 300, EVERY },
	[TIMEOUT] = { "timeout", NUMBER, 1, 300, EVERY },
	[HEALTHY] = { "healthy", NUMBER, 1, 10, EVERY },
	[UNHEALTHY] = { "unhealthy", NUMBER, 1, 10, EVERY },
};

/* What was said, for the rules that join two of them. */
struct said {
	uint32_t seen;			/* a bit for each of params */
	uint32_t number[COUNT(params)];
	const char *text[COUNT(params)];
};

const char *weir_healthcheck_word(bool first, unsigned int i)
{
	if (first)
		return i < COUNT(protocols) ? protocols[i].word : NULL;
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

/* Which protocols know it, for a message. */
static const char *list_with(unsigned int with, char *buf, size_t size)
{
	unsigned int i;
	size_t n = 0;

	for (i = 0; i < COUNT(protocols) && n < size; i++)
		if (with & 1u << i)
			n += snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
				      protocols[i].word);
	return buf;
}

static int parse_params(const char *object, unsigned int n, char **word,
			unsigned int protocol, struct said *said,
			struct weir_err *err)
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
		if (!(params[p].with & 1u << protocol))
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: health-check: %s: %s does not know it, but %s",
					    object, params[p].word,
					    protocols[protocol].word,
					    list_with(params[p].with, text,
						      sizeof(text)));
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
		said->text[p] = word[i];
	}
	return 0;
}

static uint32_t number_of(const struct said *said, unsigned int p, uint32_t dflt)
{
	return said->seen & 1u << p ? said->number[p] : dflt;
}

static bool is_said(const struct said *said, unsigned int p)
{
	return said->seen & 1u << p;
}

/* Texts go on pointing into WORD. */
static void fill(struct weir_healthcheck *hc, unsigned int protocol,
		 const struct said *said)
{
	hc->protocol = protocol;
	hc->port = number_of(said, PORT, protocols[protocol].port);
	hc->path = is_said(said, PATH_) ? said->text[PATH_] : "/";
	hc->host = said->text[HOST];
	hc->request = said->text[REQUEST];
	hc->response = said->text[RESPONSE];
	hc->service = said->text[SERVICE];
	hc->proxy_header = is_said(said, PROXY_HEADER);
	hc->weights = is_said(said, WEIGHTS);
	hc->via_vip = is_said(said, VIA);
	hc->verify = is_said(said, VERIFY);
	if (is_said(said, SOURCE))
		weir_parse_addr(said->text[SOURCE], &hc->source);
	hc->has_mark = is_said(said, MARK);
	hc->mark = number_of(said, MARK, 0);
	hc->dev = said->text[DEV];
	hc->interval = number_of(said, INTERVAL, 5);
	hc->timeout = number_of(said, TIMEOUT, 5);
	hc->healthy = number_of(said, HEALTHY, 2);
	hc->unhealthy = number_of(said, UNHEALTHY, 2);
}

static int check_line(const char *object, unsigned int n, char **word,
		      struct weir_healthcheck *hc, struct weir_err *err)
{
	struct said said = { 0 };
	unsigned int i, protocol;
	char text[100];

	for (protocol = 0; protocol < COUNT(protocols); protocol++)
		if (!strcmp(protocols[protocol].word, word[0]))
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
	if (parse_params(object, n, word, protocol, &said, err))
		return -1;
	fill(hc, protocol, &said);
	if (hc->timeout > hc->interval)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: health-check: timeout %u is longer than interval %u: give a timeout up to %u",
				    object, hc->timeout, hc->interval,
				    hc->interval);
	if (!hc->port)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: health-check: %s has no default port: give port P",
				    object, word[0]);
	return 0;
}

int weir_healthcheck_read(struct weir_healthcheck *hc, const char *line,
			  struct weir_err *err)
{
	memset(hc, 0, sizeof(*hc));
	if (!weir_lex(&hc->words, line, strlen(line), err)) {
		if (!hc->words.n)
			weir_err_set(err, WEIR_ERR_VALUE,
				     "health-check: the line is empty");
		else if (!check_line("kernel", hc->words.n, hc->words.word, hc,
				     err))
			return 0;
	}
	weir_healthcheck_free(hc);
	return -1;
}

void weir_healthcheck_free(struct weir_healthcheck *hc)
{
	weir_lex_free(&hc->words);
	memset(hc, 0, sizeof(*hc));
}

static char *parse_words(const char *object, unsigned int n, char **word,
			 struct weir_err *err)
{
	struct weir_healthcheck hc = { .port = 0 };
	char *line;

	if (!n || (n == 1 && (!strcmp(word[0], "none") || !*word[0])))
		return weir_strdup("");
	if (check_line(object, n, word, &hc, err))
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
