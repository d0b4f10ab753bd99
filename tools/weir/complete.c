// SPDX-License-Identifier: GPL-2.0
/* `weir __complete WORD...`: what may stand in place of the last word, which
 * may be empty, one a line. The completion of the shell is a few lines around
 * this, so words are never listed twice. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "config.h"
#include "healthcheck.h"
#include "netns.h"

struct completion {
	struct weir_ctx *ctx;
	const char *prefix;		/* what was typed of the last word */
	struct weir_args before;	/* words of the verb before it */
	int used_from;			/* the first that may be an option */
	struct weir_config config;	/* empty if the kernel cannot be asked */
};

static void offer(const struct completion *c, const char *word)
{
	if (!strncmp(word, c->prefix, strlen(c->prefix)))
		puts(word);
}

static void offer_words(const struct completion *c,
			const struct weir_words *words)
{
	unsigned int i;

	for (i = 0; i < words->count; i++)
		offer(c, words->word[i]);
}

static bool is_used(const struct completion *c, int from, const char *word)
{
	int i;

	for (i = from; i < c->before.n; i++)
		if (!strcmp(c->before.word[i], word))
			return true;
	return false;
}

/* Names need the kernel; without it there is nothing to offer, and no noise. */
static void load(struct completion *c)
{
	struct weir_err err;

	if (c->ctx->nl.sock || weir_nl_open(&c->ctx->nl, &err))
		return;
	weir_read_config(&c->ctx->nl, NULL, false, &c->config, &err);
}

static void offer_services(struct completion *c)
{
	unsigned int i;

	load(c);
	for (i = 0; i < c->config.n_services; i++)
		offer(c, c->config.services[i].name);
}

/* The service that the first word names. */
static const struct weir_service *service_of(struct completion *c)
{
	load(c);
	return c->before.n ? weir_config_find(&c->config, c->before.word[0]) :
			     NULL;
}

static void offer_groups(struct completion *c)
{
	const struct weir_service *service = service_of(c);
	unsigned int i;

	for (i = 0; service && i < service->n_groups; i++)
		offer(c, service->groups[i].name);
}

static void offer_zones(struct completion *c)
{
	unsigned int i;

	load(c);
	for (i = 0; i < c->config.n_zones; i++)
		offer(c, c->config.zones[i].name);
}

static void offer_prefixes(struct completion *c)
{
	const struct weir_zone *zone;
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	load(c);
	zone = weir_config_find_zone(&c->config, c->before.word[0]);
	for (i = 0; zone && i < zone->n_prefixes; i++) {
		weir_prefix_text(&zone->prefixes[i].prefix, text);
		if (!is_used(c, 1, text))
			offer(c, text);
	}
}

static void offer_backends(struct completion *c,
			   const struct weir_service *service)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	for (i = 0; service && i < service->n_backends; i++)
		offer(c, weir_addr_text(&service->backends[i].addr, text));
}

static void offer_vips(struct completion *c)
{
	const struct weir_service *service = service_of(c);
	char text[WEIR_ADDR_TEXT], last[WEIR_ADDR_TEXT] = "";
	unsigned int i;

	for (i = 0; service && i < service->n_rules; i++) {
		weir_prefix_text(&service->rules[i].vip, text);
		if (strcmp(text, last))
			offer(c, text);
		strcpy(last, text);
	}
}

/* [SERVICE] [backend ADDR] */
static void offer_which(struct completion *c)
{
	int n = c->before.n;
	unsigned int i;

	if (!n)
		offer_services(c);
	if (!n || (n == 1 && strcmp(c->before.word[0], "backend")))
		offer(c, "backend");
	else if (n == 2)
		offer_backends(c, service_of(c));
	else if (n == 1) {
		load(c);
		for (i = 0; i < c->config.n_services; i++)
			offer_backends(c, &c->config.services[i]);
	}
}

/* HEALTH is the place of the word health-check. */
static void offer_healthcheck(const struct completion *c, int health)
{
	bool first = c->before.n == health + 1;
	const char *word;
	unsigned int i;
	int at;

	if (first)
		offer(c, "none");
	for (at = health + 2; at < c->before.n; at++)
		if (weir_healthcheck_has_value(c->before.word[at]) &&
		    ++at == c->before.n)
			return;
	for (i = 0; (word = weir_healthcheck_word(first, i)); i++)
		if (!is_used(c, health + 1, word))
			offer(c, word);
}

static void offer_values(struct completion *c, const struct weir_option *option)
{
	if (option->words)
		offer_words(c, option->words);
	else if (option->kind == WEIR_KIND_TABLE)
		offer(c, "auto");
	else if (!strcmp(option->word, "group"))
		offer_groups(c);
	else if (!strcmp(option->word, "zone"))
		offer_zones(c);
}

/* FROM: the place of the first option. */
static void offer_options(struct completion *c,
			  const struct weir_options *options, int from)
{
	const struct weir_option *option;
	unsigned int i;
	int at;

	for (at = from; at < c->before.n; at += 2) {
		option = weir_option_find(options, c->before.word[at]);
		if (!option)
			return;
		if (option->kind == WEIR_KIND_LINE) {
			offer_healthcheck(c, at);
			return;
		}
		if (at + 1 == c->before.n) {
			offer_values(c, option);
			return;
		}
	}
	for (i = 0; i < options->count; i++)
		if (!is_used(c, c->used_from, options->option[i].word))
			offer(c, options->option[i].word);
}

static void offer_slot(struct completion *c, enum weir_slot slot)
{
	switch (slot) {
	case WEIR_SLOT_SERVICE:
		offer_services(c);
		break;
	case WEIR_SLOT_GROUP:
		offer_groups(c);
		break;
	case WEIR_SLOT_BACKEND:
		offer_backends(c, service_of(c));
		offer(c, "group");
		break;
	case WEIR_SLOT_ZONE:
		offer_zones(c);
		break;
	case WEIR_SLOT_PREFIXES:
		offer_prefixes(c);
		break;
	case WEIR_SLOT_PROTO:
		offer(c, weir_proto_words.word[WEIR_PROTO_ANY]);
		/* fall through */
	case WEIR_SLOT_IPPROTO:
		offer_words(c, &(struct weir_words){
				weir_proto_words.word + 1,
				weir_proto_words.count - 1 });
		break;
	case WEIR_SLOT_VIP:
		offer_vips(c);
		break;
	case WEIR_SLOT_ALL:
		offer(c, "all");
		break;
	case WEIR_SLOT_FILE:
		/* The shell knows files; a word with / is no word of ours. */
		if (!c->before.n)
			offer(c, "--dry-run");
		puts("//files");
		break;
	case WEIR_SLOT_WHICH:
		offer_which(c);
		break;
	case WEIR_SLOT_NEW:
	case WEIR_SLOT_NONE:
		break;
	}
}

static void complete_verb(struct completion *c, const struct weir_verb *verb)
{
	int slots = 0, n = c->before.n;

	while (slots < WEIR_SLOTS && verb->slot[slots])
		slots++;
	if (!n)
		offer(c, "help");
	/* `group G` takes two places where an address takes one */
	if (slots == 2 && verb->slot[1] == WEIR_SLOT_BACKEND && n >= 2 &&
	    !strcmp(c->before.word[1], "group")) {
		if (n == 2) {
			offer_groups(c);
			return;
		}
		slots = 3;
	}
	c->used_from = verb->slot[0] ? 1 : 0;
	if (n < slots)
		offer_slot(c, verb->slot[n]);
	else if (slots && verb->slot[slots - 1] == WEIR_SLOT_PREFIXES)
		offer_slot(c, WEIR_SLOT_PREFIXES);
	else if (verb->options)
		offer_options(c, verb->options, slots);
	else if (verb->flag && n == slots)
		offer(c, verb->flag);
}

static void shift(struct completion *c)
{
	c->before.n--;
	c->before.word++;
}

static void complete_command(struct completion *c,
			     const struct weir_command *command)
{
	unsigned int i;

	if (!command->verb[0].word) {
		complete_verb(c, &command->verb[0]);
		return;
	}
	if (!c->before.n)
		offer(c, "help");
	for (i = 0; i < command->n_verbs; i++) {
		const struct weir_verb *verb = &command->verb[i];

		if (!c->before.n) {
			offer(c, verb->word);
		} else if (!strcmp(c->before.word[0], verb->word)) {
			shift(c);
			complete_verb(c, verb);
			return;
		}
	}
}

static void offer_netns(const struct completion *c)
{
	DIR *dir = opendir("/var/run/netns");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			offer(c, entry->d_name);
	closedir(dir);
}

/* Skips the flags, obeying -n; false if the word itself is one of theirs. */
static bool skip_flags(struct completion *c)
{
	struct weir_err err;
	bool netns;

	while (c->before.n && c->before.word[0][0] == '-') {
		netns = strchr(c->before.word[0], 'n');
		shift(c);
		if (!netns)
			continue;
		if (!c->before.n) {
			offer_netns(c);
			return false;
		}
		if (weir_netns_enter(c->before.word[0], &err))
			return false;
		shift(c);
	}
	return true;
}

int weir_complete(struct weir_ctx *ctx, struct weir_args args)
{
	static const char *const flags[] = { "-j", "-p", "-s", "-n" };
	struct completion c = { .ctx = ctx };
	unsigned int i;

	if (!args.n)
		return WEIR_DONE;
	c.prefix = args.word[args.n - 1];
	c.before = (struct weir_args){ args.n - 1, args.word };
	if (!skip_flags(&c))
		return WEIR_DONE;
	if (!c.before.n) {
		for (i = 0; *c.prefix == '-' && i < 4; i++)
			offer(&c, flags[i]);
		offer(&c, "help");
	}
	for (i = 0; i < weir_n_commands; i++) {
		const struct weir_command *command = &weir_commands[i];

		if (!c.before.n) {
			offer(&c, command->word);
		} else if (!strcmp(c.before.word[0], command->word)) {
			shift(&c);
			complete_command(&c, command);
			break;
		}
	}
	weir_config_free(&c.config);
	return WEIR_DONE;
}
