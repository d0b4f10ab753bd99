// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "grammar.h"
#include "lex.h"

#define LINE_LENGTH	80	/* of a zone; others are as long as they are */

struct parser {
	struct weir_config *config;
	struct weir_service *service;	/* the block that is open, or NULL */
	unsigned int line;
	struct weir_err *err;
};

static int parse_hash_key(struct parser *p, struct weir_args args)
{
	if (args.n != 1 || weir_parse_key(args.word[0], p->config->key))
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "hash-key %s: give 32 hexadecimal digits",
				    args.n ? weir_quote(args.word[0]) : "");
	if (p->config->has_key)
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "hash-key is given twice: it already stands in line %u",
				    p->config->key_line);
	p->config->has_key = true;
	p->config->key_line = p->line;
	return 0;
}

static int parse_zone(struct parser *p, struct weir_args args)
{
	struct weir_zone *zone = weir_config_add_zone(p->config, "");

	zone->line = p->line;
	if (weir_parse_zone(args, zone, p->err))
		return -1;
	if (!zone->n_prefixes)
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "zone %s has no prefix: a zone is NAME PREFIX..., like: zone %s 10.1.0.0/16",
				    zone->name, zone->name);
	return 0;
}

static int parse_service(struct parser *p, struct weir_args args)
{
	char name[WEIR_NAME_SIZE];

	if (args.n != 2 || strcmp(args.word[1], "{"))
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "a service begins with: service NAME {");
	if (weir_parse_name("service", args.word[0], name, p->err))
		return -1;
	p->service = weir_config_add_service(p->config, name);
	p->service->line = p->line;
	return 0;
}

static int parse_rule(struct parser *p, struct weir_args args)
{
	struct weir_rule rule = { .line = p->line };

	/* Added before it is judged, so that it is freed with the rest. */
	return weir_parse_rule(args, weir_service_add_rule(p->service, &rule),
			       p->err);
}

static int parse_group(struct parser *p, struct weir_args args)
{
	struct weir_group group = { .line = p->line };

	return weir_parse_group(args, weir_service_add_group(p->service, &group),
				p->err);
}

static int parse_backend(struct parser *p, struct weir_args args)
{
	struct weir_backend backend = { .line = p->line };

	return weir_parse_backend(args, weir_service_add_backend(p->service,
								 &backend),
				  p->err);
}

static const struct statement {
	const char *word;
	int (*parse)(struct parser *p, struct weir_args args);
} outer[] = {
	{ "hash-key", parse_hash_key },
	{ "zone", parse_zone },
	{ "service", parse_service },
}, inner[] = {
	{ "rule", parse_rule },
	{ "group", parse_group },
	{ "backend", parse_backend },
};

static const struct statement *find_statement(const struct statement *table,
					      size_t n, const char *word)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(table[i].word, word))
			return &table[i];
	return NULL;
}

/* One option a line; a health-check takes the rest of its line. */
static int parse_option(struct parser *p, struct weir_args args)
{
	const struct weir_option *option;
	char object[WEIR_NAME_SIZE + 10], list[512];

	option = weir_option_find(&weir_service_options, args.word[0]);
	if (!option)
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "%s: unknown option; options are rule, group, backend, %s",
				    weir_quote(args.word[0]),
				    weir_option_list(&weir_service_options,
						     list, sizeof(list)));
	if (args.n > 2 && option->kind != WEIR_KIND_LINE)
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "%s: a word too many behind %s %s: one option in a line",
				    weir_quote(args.word[2]), option->word,
				    weir_quote(args.word[1]));
	snprintf(object, sizeof(object), "service %s", p->service->name);
	return weir_parse_options(&weir_service_options, object, args,
				  &p->service->opts, p->err);
}

static int parse_statement(struct parser *p, struct weir_args args)
{
	struct weir_args rest = { args.n - 1, args.word + 1 };
	const struct statement *s;

	if (!p->service) {
		s = find_statement(outer, 3, args.word[0]);
		if (s)
			return s->parse(p, rest);
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "%s: unknown statement; outside of a service there are hash-key, zone, service",
				    weir_quote(args.word[0]));
	}
	if (!strcmp(args.word[0], "}")) {
		p->service = NULL;
		if (rest.n)
			return weir_err_set(p->err, WEIR_ERR_VALUE,
					    "%s: nothing may stand behind the }",
					    weir_quote(rest.word[0]));
		return 0;
	}
	s = find_statement(inner, 3, args.word[0]);
	return s ? s->parse(p, rest) : parse_option(p, args);
}

static int parse_lines(struct parser *p, struct weir_line *words,
		       const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *newline = memchr(text, '\n', end - text);
		const char *eol = newline ? newline : end;

		p->line++;
		if (weir_lex(words, text, eol - text, p->err))
			return -1;
		if (words->n && parse_statement(p, (struct weir_args){
						words->n, words->word }))
			return -1;
		text = eol + 1;
	}
	if (p->service) {
		p->line = p->service->line;
		return weir_err_set(p->err, WEIR_ERR_VALUE,
				    "service %s: its { is not closed: the last line of a service is }",
				    p->service->name);
	}
	return 0;
}

int weir_file_parse(const char *text, size_t len, struct weir_config *config,
		    unsigned int *line, struct weir_err *err)
{
	struct parser p = { .config = config, .err = err };
	struct weir_line words = { 0 };
	int ret = parse_lines(&p, &words, text, len);

	weir_lex_free(&words);
	*line = p.line;
	if (ret)
		return ret;
	weir_config_sort(config);
	return weir_config_unique(config, line, err);
}

static void print_ports(FILE *f, const struct weir_rule *rule)
{
	unsigned int i;

	if (!rule->n_ports)
		fputs("all", f);
	for (i = 0; i < rule->n_ports; i++)
		fprintf(f, "%s%u", i ? "," : "", rule->ports[i]);
}

void weir_print_rule(FILE *f, const struct weir_rule *rule)
{
	char text[WEIR_ADDR_TEXT];

	fprintf(f, "%s %s ", weir_prefix_text(&rule->vip, text),
		weir_word(&weir_proto_words, rule->proto));
	print_ports(f, rule);
}

/* `failover off` is the default and never printed, so `failover` stands alone. */
void weir_print_group(FILE *f, const struct weir_group *group)
{
	fprintf(f, "%s", group->name);
	if (group->opts.str && *group->opts.str)
		fprintf(f, " zone %s", group->opts.str);
	if (group->opts.num[WEIR_GROUP_A_FAILOVER])
		fputs(" failover", f);
}

static void print_value(FILE *f, const struct weir_option *option,
			const struct weir_opts *opts)
{
	uint32_t n = opts->num[option->attr];
	char text[WEIR_RATIO_TEXT];

	switch (option->kind) {
	case WEIR_KIND_WORD:
	case WEIR_KIND_SWITCH:
		fputs(weir_word(option->words, n), f);
		break;
	case WEIR_KIND_RATIO:
		fputs(weir_ratio_text(n, text), f);
		break;
	case WEIR_KIND_NUMBER:
	case WEIR_KIND_TABLE:
		if (option->kind == WEIR_KIND_TABLE && !n)
			fputs("auto", f);
		else
			fprintf(f, "%u", n);
		break;
	case WEIR_KIND_NAME:
	case WEIR_KIND_LINE:
		fputs(opts->str, f);
		break;
	}
}

/* Is it set, and to something else than its default? */
static bool differs(const struct weir_option *option,
		    const struct weir_opts *opts)
{
	if (!weir_opts_has(opts, option->attr))
		return false;
	if (option->kind == WEIR_KIND_NAME || option->kind == WEIR_KIND_LINE)
		return opts->str && *opts->str;
	return opts->num[option->attr] != option->dflt;
}

void weir_print_backend(FILE *f, const struct weir_backend *backend)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	fputs(weir_addr_text(&backend->addr, text), f);
	for (i = 0; i < weir_backend_options.count; i++) {
		const struct weir_option *option =
			&weir_backend_options.option[i];

		if (!differs(option, &backend->opts) ||
		    (option->kind == WEIR_KIND_NAME &&
		     !strcmp(backend->opts.str, "default")))
			continue;
		fprintf(f, " %s ", option->word);
		print_value(f, option, &backend->opts);
	}
}

/* The kernel stores the line of any client; ours are always good. */
static int check_line(const struct weir_service *service, struct weir_err *err)
{
	const char *text = service->opts.str;
	struct weir_line line = { 0 };
	char *joined = NULL;
	int ret = 0;

	if (!text || !*text)
		return 0;
	if (!text[strcspn(text, "\r\n")] &&
	    !weir_lex(&line, text, strlen(text), err))
		joined = weir_lex_join(line.n, line.word);
	if (!joined || strcmp(joined, text))
		ret = weir_err_set(err, WEIR_ERR_VALUE,
				   "service %s: health-check %s cannot be written as one line; give another: weir service set %s health-check ...",
				   service->name, weir_quote(text),
				   service->name);
	free(joined);
	weir_lex_free(&line);
	return ret;
}

static int print_service(FILE *f, const struct weir_service *service,
			 struct weir_err *err)
{
	unsigned int i;

	if (check_line(service, err))
		return -1;
	fprintf(f, "service %s {\n", service->name);
	for (i = 0; i < service->n_rules; i++) {
		fputs("    rule ", f);
		weir_print_rule(f, &service->rules[i]);
		fputc('\n', f);
	}
	for (i = 0; i < weir_service_options.count; i++) {
		const struct weir_option *option =
			&weir_service_options.option[i];

		if (!differs(option, &service->opts))
			continue;
		fprintf(f, "    %s ", option->word);
		print_value(f, option, &service->opts);
		fputc('\n', f);
	}
	for (i = 0; i < service->n_groups; i++) {
		fputs("    group ", f);
		weir_print_group(f, &service->groups[i]);
		fputc('\n', f);
	}
	for (i = 0; i < service->n_backends; i++) {
		if (weir_backend_drains(&service->backends[i]))
			continue;
		fputs("    backend ", f);
		weir_print_backend(f, &service->backends[i]);
		fputc('\n', f);
	}
	fputs("}\n", f);
	return 0;
}

/* A long zone takes several lines, each with its name. */
static void print_zone(FILE *f, const struct weir_zone *zone)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i, used = 0;

	for (i = 0; i < zone->n_prefixes; i++) {
		weir_prefix_text(&zone->prefixes[i].prefix, text);
		if (used && used + 1 + strlen(text) > LINE_LENGTH) {
			fputc('\n', f);
			used = 0;
		}
		if (!used)
			used = fprintf(f, "zone %s", zone->name);
		used += fprintf(f, " %s", text);
	}
	if (used)
		fputc('\n', f);
}

int weir_file_print(FILE *f, const struct weir_config *config,
		    struct weir_err *err)
{
	char key[WEIR_KEY_TEXT];
	unsigned int i;

	if (config->has_key)
		fprintf(f, "hash-key %s\n", weir_key_text(config->key, key));
	for (i = 0; i < config->n_zones; i++)
		print_zone(f, &config->zones[i]);
	for (i = 0; i < config->n_services; i++)
		if (print_service(f, &config->services[i], err))
			return -1;
	return 0;
}
