// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "version.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define ANY		-1

static const struct weir_verb show_verbs[] = {
	{ .usage = "[SERVICE]", .max = 1, .run = weir_show,
	  .slot = { WEIR_SLOT_SERVICE } },
};

static const struct weir_verb service_verbs[] = {
	{ .word = "add", .usage = "NAME [OPTION VALUE]...", .min = 1, .max = ANY,
	  .run = weir_service_add, .slot = { WEIR_SLOT_NEW },
	  .options = &weir_service_options },
	{ .word = "set", .usage = "NAME [OPTION VALUE]...", .min = 1, .max = ANY,
	  .run = weir_service_set, .slot = { WEIR_SLOT_SERVICE },
	  .options = &weir_service_options },
	{ .word = "del", .usage = "NAME", .min = 1, .max = 1,
	  .run = weir_service_del, .slot = { WEIR_SLOT_SERVICE } },
};

static const struct weir_verb rule_verbs[] = {
	{ .word = "add", .usage = "SERVICE VIP[/PLEN] PROTO PORTS",
	  .min = 4, .max = 4, .run = weir_rule_add,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_NEW, WEIR_SLOT_PROTO,
		    WEIR_SLOT_ALL } },
	{ .word = "del", .usage = "SERVICE VIP[/PLEN] PROTO PORTS",
	  .min = 4, .max = 4, .run = weir_rule_del,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_VIP, WEIR_SLOT_PROTO,
		    WEIR_SLOT_ALL } },
};

static const struct weir_verb group_verbs[] = {
	{ .word = "add", .usage = "SERVICE NAME [zone ZONE] [failover on|off]",
	  .min = 2, .max = ANY, .run = weir_group_add,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_NEW },
	  .options = &weir_group_options },
	{ .word = "set", .usage = "SERVICE NAME [zone ZONE] [failover on|off]",
	  .min = 2, .max = ANY, .run = weir_group_set,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_GROUP },
	  .options = &weir_group_options },
	{ .word = "del", .usage = "SERVICE NAME", .min = 2, .max = 2,
	  .run = weir_group_del,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_GROUP } },
};

static const struct weir_verb backend_verbs[] = {
	{ .word = "add", .usage = "SERVICE ADDR [OPTION VALUE]...",
	  .min = 2, .max = ANY, .run = weir_backend_add,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_NEW },
	  .options = &weir_backend_options },
	{ .word = "set", .usage = "SERVICE { ADDR | group GROUP } [OPTION VALUE]...",
	  .min = 2, .max = ANY, .run = weir_backend_set,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_BACKEND },
	  .options = &weir_backend_options },
	{ .word = "del", .usage = "SERVICE { ADDR | group GROUP } [now]",
	  .min = 2, .max = 4, .run = weir_backend_del,
	  .slot = { WEIR_SLOT_SERVICE, WEIR_SLOT_BACKEND }, .flag = "now" },
};

static const struct weir_verb zone_verbs[] = {
	{ .word = "add", .usage = "NAME PREFIX...", .min = 2, .max = ANY,
	  .run = weir_zone_add, .slot = { WEIR_SLOT_ZONE } },
	{ .word = "del", .usage = "NAME [PREFIX]...", .min = 1, .max = ANY,
	  .run = weir_zone_del,
	  .slot = { WEIR_SLOT_ZONE, WEIR_SLOT_PREFIXES } },
};

static const struct weir_verb apply_verbs[] = {
	{ .usage = "[--dry-run] FILE|-", .min = 1, .max = 2, .run = weir_apply,
	  .slot = { WEIR_SLOT_FILE, WEIR_SLOT_FILE } },
};

static const struct weir_verb save_verbs[] = {
	{ .usage = "", .run = weir_save },
};

static const struct weir_verb lookup_verbs[] = {
	{ .usage = "PROTO SRC[:PORT] DST[:PORT] [tcp-syn]", .min = 3, .max = 4,
	  .run = weir_lookup,
	  .slot = { WEIR_SLOT_IPPROTO, WEIR_SLOT_NEW, WEIR_SLOT_NEW },
	  .flag = "tcp-syn" },
};

static const struct weir_verb flows_verbs[] = {
	{ .usage = "[SERVICE] [backend ADDR]", .max = 3, .run = weir_flows,
	  .slot = { WEIR_SLOT_WHICH, WEIR_SLOT_WHICH, WEIR_SLOT_WHICH } },
};

static const struct weir_verb flush_verbs[] = {
	{ .usage = "[SERVICE] [backend ADDR]", .max = 3, .run = weir_flush,
	  .slot = { WEIR_SLOT_WHICH, WEIR_SLOT_WHICH, WEIR_SLOT_WHICH } },
};

static const struct weir_verb stats_verbs[] = {
	{ .usage = "[SERVICE]", .max = 1, .run = weir_stats,
	  .slot = { WEIR_SLOT_SERVICE } },
};

static const struct weir_verb monitor_verbs[] = {
	{ .usage = "", .run = weir_monitor },
};

static const struct weir_verb check_verbs[] = {
	{ .usage = "", .run = weir_check },
};

#define COMMAND(name, text)						\
	{ .word = #name, .what = text, .verb = name##_verbs,		\
	  .n_verbs = COUNT(name##_verbs) }

const struct weir_command weir_commands[] = {
	COMMAND(show, "state: health, eligible set and why, shares, flows"),
	COMMAND(service, "backends and the policy that picks among them"),
	COMMAND(rule, "VIP, protocol and ports that lead to a service"),
	COMMAND(group, "backends that share a role and a zone"),
	COMMAND(backend, "an address in a group"),
	COMMAND(zone, "a name for prefixes of clients"),
	COMMAND(apply, "whole config, all or nothing, only the difference"),
	COMMAND(save, "print what apply accepts"),
	COMMAND(lookup, "which backend a packet would get, and why; sends nothing"),
	COMMAND(flows, "tracked flows with the time they have left"),
	COMMAND(flush, "remove tracked flows"),
	COMMAND(stats, "counters, and every drop reason with its text"),
	COMMAND(monitor, "events as they happen"),
	COMMAND(check, "what on this host would stop traffic, and what mends it"),
};
const unsigned int weir_n_commands = COUNT(weir_commands);

static void print_usage(FILE *f, const struct weir_command *command,
			const struct weir_verb *verb)
{
	fprintf(f, "weir %s", command->word);
	if (verb->word)
		fprintf(f, " %s", verb->word);
	fprintf(f, "%s%s\n", *verb->usage ? " " : "", verb->usage);
}

static void print_options(FILE *f, const struct weir_options *options)
{
	char values[256];
	unsigned int i;

	fputs("OPTION is one of\n", f);
	for (i = 0; i < options->count; i++)
		fprintf(f, "    %-18s %s\n", options->option[i].word,
			weir_option_values(&options->option[i], values,
					   sizeof(values)));
}

/* VERB NULL: all verbs of the command. */
static void command_help(FILE *f, const struct weir_command *command,
			 const struct weir_verb *verb)
{
	const struct weir_options *options = NULL;
	bool rule = !strcmp(command->word, "rule");
	char list[256];
	unsigned int i;

	for (i = 0; i < command->n_verbs; i++) {
		if (verb && verb != &command->verb[i])
			continue;
		fputs(i && !verb ? "       " : "usage: ", f);
		print_usage(f, command, &command->verb[i]);
		if (command->verb[i].options)
			options = command->verb[i].options;
	}
	if (options)
		print_options(f, options);
	if (rule)
		fprintf(f, "PROTO is one of %s\nPORTS is all, or ports with commas between\n",
			weir_word_list(&weir_proto_words, list, sizeof(list)));
}

void weir_help(FILE *f)
{
	unsigned int i, j;

	fputs("usage: weir [-j] [-p] [-s] [-n NETNS] [COMMAND]\n"
	      "    -j  JSON          -p  JSON, indented   -s  counters too\n"
	      "    -n  in the network namespace NETNS     -V  version\n"
	      "without COMMAND: show; COMMAND is one of\n", f);
	for (i = 0; i < weir_n_commands; i++) {
		const struct weir_command *c = &weir_commands[i];

		fprintf(f, "    %-8s %s\n", c->word, c->what);
		for (j = 0; j < c->n_verbs; j++) {
			fputs("             ", f);
			print_usage(f, c, &c->verb[j]);
		}
	}
	fputs("`help` behind any of these words prints its grammar; weir(8) explains it\n",
	      f);
}

int weir_bad_grammar(const char *fmt, ...)
{
	va_list ap;

	fputs("weir: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return WEIR_USAGE;
}

int weir_refuse(const struct weir_err *err)
{
	weir_complain("%s", err->text);
	return err->kind == WEIR_ERR_GRAMMAR ? WEIR_USAGE : WEIR_REFUSED;
}

static const struct weir_command *find_command(const char *word)
{
	unsigned int i;

	for (i = 0; i < weir_n_commands; i++)
		if (!strcmp(weir_commands[i].word, word))
			return &weir_commands[i];
	return NULL;
}

static bool wants_help(const struct weir_args *args)
{
	return args->n && !strcmp(args->word[0], "help");
}

static void shift(struct weir_args *args)
{
	args->n--;
	args->word++;
}

static int run_verb(struct weir_ctx *ctx, const struct weir_command *command,
		    const struct weir_verb *verb, struct weir_args args)
{
	int ret;

	if (wants_help(&args)) {
		command_help(stdout, command, verb);
		return WEIR_DONE;
	}
	if (args.n < verb->min)
		ret = weir_bad_grammar("%s: too few words", command->word);
	else if (verb->max != ANY && args.n > verb->max)
		ret = weir_bad_grammar("%s: %s: a word too many", command->word,
				       weir_quote(args.word[verb->max]));
	else
		ret = verb->run(ctx, args);
	if (ret == WEIR_USAGE)
		command_help(stderr, command, verb);
	return ret;
}

static int run_command(struct weir_ctx *ctx, const struct weir_command *command,
		       struct weir_args args)
{
	const struct weir_verb *verb = command->verb;
	unsigned int i;

	if (!verb->word)
		return run_verb(ctx, command, verb, args);
	if (wants_help(&args)) {
		command_help(stdout, command, NULL);
		return WEIR_DONE;
	}
	for (i = 0; args.n && i < command->n_verbs; i++) {
		if (strcmp(verb[i].word, args.word[0]))
			continue;
		shift(&args);
		return run_verb(ctx, command, &verb[i], args);
	}
	if (args.n)
		weir_bad_grammar("%s: unknown word behind %s",
				 weir_quote(args.word[0]), command->word);
	else
		weir_bad_grammar("%s needs a verb", command->word);
	command_help(stderr, command, NULL);
	return WEIR_USAGE;
}

int weir_dispatch(struct weir_ctx *ctx, struct weir_args args)
{
	const struct weir_command *command;

	if (!args.n)
		return weir_show(ctx, args);
	if (wants_help(&args)) {
		weir_help(stdout);
		return WEIR_DONE;
	}
	/* Asked by the completion of the shell, of no use to people. */
	if (!strcmp(args.word[0], "__complete")) {
		shift(&args);
		return weir_complete(ctx, args);
	}
	command = find_command(args.word[0]);
	if (!command) {
		weir_bad_grammar("%s: unknown command",
				 weir_quote(args.word[0]));
		weir_help(stderr);
		return WEIR_USAGE;
	}
	shift(&args);
	return run_command(ctx, command, args);
}

int weir_connect(struct weir_ctx *ctx)
{
	struct weir_err err;

	if (ctx->nl.sock || !weir_nl_open(&ctx->nl, &err))
		return 0;
	weir_refuse(&err);
	return -1;
}

int weir_change(struct weir_ctx *ctx, struct nlmsghdr *nlh)
{
	struct weir_err err;

	if (weir_nl_call(&ctx->nl, nlh, NULL, NULL, &err))
		return weir_refuse(&err);
	return WEIR_DONE;
}
