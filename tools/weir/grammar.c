// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar.h"
#include "healthcheck.h"

#define LIST_TEXT	512

static int parse_word(const struct weir_option *option, const char *object,
		      const char *value, struct weir_opts *opts,
		      struct weir_err *err)
{
	int n = weir_word_find(option->words, value);
	char list[LIST_TEXT];

	if (n < 0)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: %s %s: unknown word, give one of: %s",
				    object, option->word, weir_quote(value),
				    weir_word_list(option->words, list,
						   sizeof(list)));
	weir_opts_num(opts, option->attr, n);
	return 0;
}

static int parse_number(const struct weir_option *option, const char *object,
			const char *value, struct weir_opts *opts,
			struct weir_err *err)
{
	uint32_t n;

	if (weir_parse_number(value, option->min, option->max, &n))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: %s %s: give a whole number, %u..%u",
				    object, option->word, weir_quote(value),
				    option->min, option->max);
	weir_opts_num(opts, option->attr, n);
	return 0;
}

static int parse_ratio(const struct weir_option *option, const char *object,
		       const char *value, struct weir_opts *opts,
		       struct weir_err *err)
{
	uint32_t n;

	if (weir_parse_ratio(value, &n))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: %s %s: give 0.0..1.0, with at most 6 digits behind the point",
				    object, option->word, weir_quote(value));
	weir_opts_num(opts, option->attr, n);
	return 0;
}

/* Maglev needs a prime; who typed a round number learns its neighbour. */
static int parse_table(const struct weir_option *option, const char *object,
		       const char *value, struct weir_opts *opts,
		       struct weir_err *err)
{
	uint32_t n = 0, prime;

	if (strcmp(value, "auto")) {
		if (weir_parse_number(value, 2, option->max, &n))
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: %s %s: give auto or a prime up to %u",
					    object, option->word,
					    weir_quote(value), option->max);
		for (prime = n; !weir_is_prime(prime);)
			prime += prime < option->max ? 1 : -1;
		if (prime != n)
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: %s %s: is not a prime, give auto or %u",
					    object, option->word,
					    weir_quote(value), prime);
	}
	weir_opts_num(opts, option->attr, n);
	return 0;
}

int weir_parse_name(const char *what, const char *word,
		    char name[WEIR_NAME_SIZE], struct weir_err *err)
{
	if (!weir_name_ok(word))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s %s: a name has 1..%d of A-Z a-z 0-9 . _ - and is not help",
				    what, weir_quote(word), WEIR_NAME_MAX);
	snprintf(name, WEIR_NAME_SIZE, "%s", word);
	return 0;
}

/* An empty zone takes a group out of its zone. */
static int parse_named(const struct weir_option *option, const char *object,
		       const char *value, struct weir_opts *opts,
		       struct weir_err *err)
{
	bool none = !strcmp(option->word, "zone") && !*value;

	if (!none && !weir_name_ok(value))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: %s %s: a name has 1..%d of A-Z a-z 0-9 . _ - and is not help",
				    object, option->word, weir_quote(value),
				    WEIR_NAME_MAX);
	weir_opts_str(opts, option->attr, value);
	return 0;
}

static int parse_value(const struct weir_option *option, const char *object,
		       const char *value, struct weir_opts *opts,
		       struct weir_err *err)
{
	switch (option->kind) {
	case WEIR_KIND_WORD:
	case WEIR_KIND_SWITCH:
		return parse_word(option, object, value, opts, err);
	case WEIR_KIND_NUMBER:
		return parse_number(option, object, value, opts, err);
	case WEIR_KIND_RATIO:
		return parse_ratio(option, object, value, opts, err);
	case WEIR_KIND_TABLE:
		return parse_table(option, object, value, opts, err);
	case WEIR_KIND_NAME:
		return parse_named(option, object, value, opts, err);
	case WEIR_KIND_LINE:
		break;
	}
	return -1;
}

/* All words that follow belong to it. */
static int parse_line(const struct weir_option *option, const char *object,
		      struct weir_args rest, struct weir_opts *opts,
		      struct weir_err *err)
{
	char *line = weir_healthcheck_parse(object, rest.n, rest.word, err);

	if (!line)
		return -1;
	weir_opts_str(opts, option->attr, line);
	free(line);
	return 0;
}

static int unknown_option(const struct weir_options *options, const char *word,
			  struct weir_err *err)
{
	char list[LIST_TEXT];

	return weir_err_set(err, WEIR_ERR_GRAMMAR,
			    "%s: unknown option; options are %s",
			    weir_quote(word),
			    weir_option_list(options, list, sizeof(list)));
}

int weir_parse_options(const struct weir_options *options, const char *object,
		       struct weir_args args, struct weir_opts *opts,
		       struct weir_err *err)
{
	const struct weir_option *option;
	int i;

	for (i = 0; i < args.n; i += 2) {
		option = weir_option_find(options, args.word[i]);
		if (!option)
			return unknown_option(options, args.word[i], err);
		if (weir_opts_has(opts, option->attr))
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: %s is given twice",
					    object, option->word);
		if (i + 1 == args.n)
			return weir_err_set(err, WEIR_ERR_GRAMMAR,
					    "%s: %s needs a value",
					    object, option->word);
		if (option->kind == WEIR_KIND_LINE)
			return parse_line(option, object,
					  (struct weir_args){
						args.n - i - 1,
						args.word + i + 1 },
					  opts, err);
		if (parse_value(option, object, args.word[i + 1], opts, err))
			return -1;
	}
	return 0;
}

static int port_cmp(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

static int parse_ports(const char *list, const char *object,
		       struct weir_rule *rule, struct weir_err *err)
{
	const char *word = list;
	unsigned int i;
	char text[8];
	uint32_t port;

	for (;;) {
		size_t n = strcspn(word, ",");

		snprintf(text, sizeof(text), "%.*s",
			 n < sizeof(text) ? (int)n : 0, word);
		if (weir_parse_number(text, 1, 65535, &port))
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: ports %s: give all, or ports 1..65535 with commas and no blanks between",
					    object, weir_quote(list));
		if (rule->n_ports == WEIR_PORTS_MAX)
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: more than %d ports: use several rules, or all",
					    object, WEIR_PORTS_MAX);
		weir_rule_add_port(rule, port);
		if (!word[n])
			break;
		word += n + 1;
	}
	qsort(rule->ports, rule->n_ports, sizeof(rule->ports[0]), port_cmp);
	for (i = 1; i < rule->n_ports; i++)
		if (rule->ports[i] == rule->ports[i - 1])
			return weir_err_set(err, WEIR_ERR_VALUE,
					    "%s: port %u is given twice",
					    object, rule->ports[i]);
	return 0;
}

static bool has_ports(uint8_t proto)
{
	return proto == WEIR_PROTO_TCP || proto == WEIR_PROTO_UDP ||
	       proto == WEIR_PROTO_SCTP;
}

int weir_parse_rule(struct weir_args args, struct weir_rule *rule,
		    struct weir_err *err)
{
	char object[WEIR_ADDR_TEXT + 40], text[WEIR_ADDR_TEXT], list[LIST_TEXT];
	int proto;

	if (args.n != 3)
		return weir_err_set(err, WEIR_ERR_GRAMMAR,
				    "a rule is VIP[/PLEN] PROTO PORTS, like: rule 203.0.113.10 tcp 80,443");
	if (weir_parse_prefix(args.word[0], &rule->vip, err)) {
		char why[sizeof(err->text)];

		strcpy(why, err->text);
		return weir_err_set(err, WEIR_ERR_VALUE, "rule: VIP %.900s",
				    why);
	}
	weir_prefix_text(&rule->vip, text);
	proto = weir_word_find(&weir_proto_words, args.word[1]);
	if (proto < 0)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "rule %s: protocol %s: unknown word, give one of: %s",
				    text, weir_quote(args.word[1]),
				    weir_word_list(&weir_proto_words, list,
						   sizeof(list)));
	rule->proto = proto;
	snprintf(object, sizeof(object), "rule %s %s", text, args.word[1]);
	if (!strcmp(args.word[2], "all"))
		return 0;
	if (!has_ports(proto))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "%s: ports %s: a rule for %s takes all",
				    object, weir_quote(args.word[2]),
				    args.word[1]);
	return parse_ports(args.word[2], object, rule, err);
}

/* `failover` may stand without its value, which is then on. */
static int parse_failover(struct weir_args *args, struct weir_opts *opts)
{
	int i;

	for (i = 0; i < args->n; i++) {
		if (strcmp(args->word[i], "failover") ||
		    (i && !strcmp(args->word[i - 1], "zone")))
			continue;
		if (i + 1 < args->n && strcmp(args->word[i + 1], "zone"))
			return 0;
		weir_opts_num(opts, WEIR_GROUP_A_FAILOVER, 1);
		memmove(args->word + i, args->word + i + 1,
			(args->n - i - 1) * sizeof(args->word[0]));
		args->n--;
		return 0;
	}
	return 0;
}

int weir_parse_group(struct weir_args args, struct weir_group *group,
		     struct weir_err *err)
{
	char object[WEIR_NAME_SIZE + 8];

	if (args.n < 1)
		return weir_err_set(err, WEIR_ERR_GRAMMAR,
				    "a group is NAME [zone ZONE] [failover [on|off]]");
	if (weir_parse_name("group", args.word[0], group->name, err))
		return -1;
	snprintf(object, sizeof(object), "group %s", group->name);
	args.n--;
	args.word++;
	parse_failover(&args, &group->opts);
	return weir_parse_options(&weir_group_options, object, args,
				  &group->opts, err);
}

int weir_parse_backend_addr(const char *word, struct weir_addr *addr,
			    struct weir_err *err)
{
	if (weir_parse_addr(word, addr))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "backend %s: is not an IPv4 or IPv6 address, like 10.2.0.11 or 2001:db8::11",
				    weir_quote(word));
	return 0;
}

int weir_parse_backend(struct weir_args args, struct weir_backend *backend,
		       struct weir_err *err)
{
	char object[WEIR_ADDR_TEXT + 10], text[WEIR_ADDR_TEXT];

	if (args.n < 1)
		return weir_err_set(err, WEIR_ERR_GRAMMAR,
				    "a backend is ADDR [OPTION VALUE]...");
	if (weir_parse_backend_addr(args.word[0], &backend->addr, err))
		return -1;
	snprintf(object, sizeof(object), "backend %s",
		 weir_addr_text(&backend->addr, text));
	args.n--;
	args.word++;
	return weir_parse_options(&weir_backend_options, object, args,
				  &backend->opts, err);
}

int weir_parse_zone(struct weir_args args, struct weir_zone *zone,
		    struct weir_err *err)
{
	struct weir_prefix prefix;
	int i;

	if (args.n < 1)
		return weir_err_set(err, WEIR_ERR_GRAMMAR,
				    "a zone is NAME PREFIX..., like: zone a 10.1.0.0/16");
	if (weir_parse_name("zone", args.word[0], zone->name, err))
		return -1;
	for (i = 1; i < args.n; i++) {
		char why[sizeof(err->text)];

		if (!weir_parse_prefix(args.word[i], &prefix, err)) {
			weir_prefix_unmap(&prefix);
			weir_zone_add_prefix(zone, &prefix);
			continue;
		}
		strcpy(why, err->text);
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "zone %s: prefix %.900s", zone->name, why);
	}
	return 0;
}
