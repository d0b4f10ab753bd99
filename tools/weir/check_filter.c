// SPDX-License-Identifier: GPL-2.0
/* Firewalls on the way: chains of the forward hook that drop what no rule
 * accepts, and rules that take packets away from us. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "check.h"
#include "run.h"

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static bool is(json_t *object, const char *key, const char *value)
{
	return !strcmp(text_of(object, key), value);
}

/* Does the key stand anywhere inside? Depth is what jansson's parser allows. */
static bool contains_key(json_t *value, const char *key)
{
	const char *k;
	json_t *v;
	size_t i;

	if (json_is_object(value)) {
		json_object_foreach(value, k, v)
			if (!strcmp(k, key) || contains_key(v, key))
				return true;
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, v)
			if (contains_key(v, key))
				return true;
	}
	return false;
}

static bool contains_string(json_t *value, const char *string)
{
	const char *k;
	json_t *v;
	size_t i;

	if (json_is_string(value))
		return !strcmp(json_string_value(value), string);
	if (json_is_object(value)) {
		json_object_foreach(value, k, v)
			if (contains_string(v, string))
				return true;
	} else if (json_is_array(value)) {
		json_array_foreach(value, i, v)
			if (contains_string(v, string))
				return true;
	}
	return false;
}

/* What a family of tables sees of our traffic. */
static bool concerns_us(const struct weir_check_state *state,
			const char *family)
{
	if (!strcmp(family, "ip"))
		return state->v4;
	if (!strcmp(family, "ip6"))
		return state->v6;
	return !strcmp(family, "inet");
}

/* What the rules of one chain let through. */
enum lets { NOTHING, SOMETHING, DNAT };

/* `ct status dnat accept` lets both directions of every balanced flow pass. */
static enum lets judge_rule(json_t *rule)
{
	json_t *expr = json_object_get(rule, "expr");

	if (contains_key(expr, "accept"))
		return contains_key(expr, "ct") &&
		       contains_string(expr, "status") &&
		       contains_string(expr, "dnat") ? DNAT : SOMETHING;
	/* iptables-nft: nft shows the match by its name only */
	return contains_key(expr, "jump") || contains_key(expr, "goto") ||
	       contains_key(expr, "xt") || contains_key(expr, "vmap") ?
	       SOMETHING : NOTHING;
}

static enum lets judge_chain(json_t *ruleset, json_t *chain)
{
	enum lets best = NOTHING;
	json_t *item;
	size_t i;

	json_array_foreach(ruleset, i, item) {
		json_t *rule = json_object_get(item, "rule");
		enum lets lets;

		if (!rule || !is(rule, "family", text_of(chain, "family")) ||
		    !is(rule, "table", text_of(chain, "table")) ||
		    !is(rule, "chain", text_of(chain, "name")))
			continue;
		lets = judge_rule(rule);
		if (lets > best)
			best = lets;
	}
	return best;
}

static void find_drop(struct weir_check_state *state, const char *where,
		      enum lets lets, const char *command)
{
	char what[WEIR_TEXT];

	if (lets == DNAT)
		return;
	weir_text(what, "%s has the policy drop", where);
	if (lets == NOTHING)
		weir_find(state, WEIR_ERROR, what,
			  "it accepts no forwarded packet, so none reaches a backend",
			  command);
	else
		weir_find(state, WEIR_WARNING, what,
			  "whether its rules accept what is balanced (ct status dnat) was not judged",
			  command);
}

/* iptables -S FORWARD: "-A FORWARD -m conntrack --ctstate DNAT -j ACCEPT" */
static enum lets judge_iptables(const char *text)
{
	enum lets best = NOTHING;
	const char *line;

	for (line = text; line; line = strchr(line, '\n')) {
		char rule[512];

		line += *line == '\n';
		if (!*line)
			break;
		snprintf(rule, sizeof(rule), "%.*s", (int)strcspn(line, "\n"),
			 line);
		if (strncmp(rule, "-A ", 3))
			continue;
		if (strstr(rule, "-j ACCEPT") && strstr(rule, "--ctstate") &&
		    strstr(rule, "DNAT"))
			return DNAT;
		if (!strstr(rule, "-j DROP") && !strstr(rule, "-j REJECT"))
			best = SOMETHING;
	}
	return best;
}

static void check_iptables(struct weir_check_state *state, const char *program)
{
	char *argv[] = { (char *)program, "-w", "-S", "FORWARD", NULL };
	char where[WEIR_TEXT], command[WEIR_TEXT];
	bool missing;
	char *text = weir_run_program(argv, &missing);

	if (!text) {
		weir_text(where, "the chain FORWARD cannot be read: %s %s",
			  program, missing ? "is not installed" : "failed");
		weir_find(state, WEIR_WARNING, where,
			  "whether the firewall lets packets pass was not judged",
			  weir_text(command, missing ?
				    "apt install iptables  # %s" :
				    "%s -S FORWARD  # as root", program));
		return;
	}
	if (!strncmp(text, "-P FORWARD DROP", 15)) {
		weir_text(where, "the chain FORWARD of %s", program);
		weir_text(command,
			  "%s -I FORWARD -m conntrack --ctstate DNAT -j ACCEPT",
			  program);
		find_drop(state, where, judge_iptables(text), command);
	}
	free(text);
}

/* The tables of old iptables are seen by its own program only. It is asked
 * only if such a table is in use: asking would load its modules. */
static void check_legacy(struct weir_check_state *state, const char *list,
			 const char *program)
{
	char line[64];
	bool filter = false;
	FILE *f = fopen(list, "re");

	while (f && fgets(line, sizeof(line), f))
		filter |= !strcmp(line, "filter\n");
	if (f)
		fclose(f);
	if (filter)
		check_iptables(state, program);
}

/* A chain that iptables-nft made is changed by iptables, not by nft. */
static bool is_iptables(json_t *chain)
{
	return is(chain, "table", "filter") && is(chain, "name", "FORWARD") &&
	       !is(chain, "family", "inet");
}

static void check_chain(struct weir_check_state *state, json_t *ruleset,
			json_t *chain)
{
	const char *family = text_of(chain, "family");
	char where[WEIR_TEXT], command[WEIR_TEXT];

	if (!is(chain, "hook", "forward") || !is(chain, "policy", "drop") ||
	    !is(chain, "type", "filter") || !concerns_us(state, family))
		return;
	if (is_iptables(chain)) {
		check_iptables(state, strcmp(family, "ip") ? "ip6tables-nft" :
							     "iptables-nft");
		return;
	}
	weir_text(where, "the nftables chain %s %s %s", family,
		  text_of(chain, "table"), text_of(chain, "name"));
	weir_text(command, "nft insert rule %s %s %s ct status dnat accept",
		  family, text_of(chain, "table"), text_of(chain, "name"));
	find_drop(state, where, judge_chain(ruleset, chain), command);
}

/* What a rule may do to our packets that takes them away from us. */
static const struct deed {
	const char *key;	/* in the rule's expressions */
	const char *why;
	const char *command;	/* family, table, chain */
} deeds[] = {
	{ "notrack",
	  "packets to a VIP that it matches are not tracked, so they are not balanced",
	  "nft -a list chain %s %s %s" },
	{ "synproxy",
	  "connections to a VIP that it matches are answered by this host, so they are not balanced",
	  "nft -a list chain %s %s %s" },
	{ "ct timeout",
	  "it takes the place where a flow keeps its backend: flows that it matches are dropped (no-binding)",
	  "nft -a list chain %s %s %s" },
	{ "flow",
	  "a balanced flow that enters the flowtable is forwarded past weir: it stays on its backend whatever becomes of that",
	  "nft insert rule %s %s %s ct status dnat accept" },
};

static void check_rule(struct weir_check_state *state, json_t *rule)
{
	json_t *expr = json_object_get(rule, "expr");
	const char *family = text_of(rule, "family");
	char what[WEIR_TEXT], command[WEIR_TEXT];
	size_t i;

	if (!concerns_us(state, family))
		return;
	for (i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
		if (!contains_key(expr, deeds[i].key))
			continue;
		weir_text(what, "a rule of the nftables chain %s %s %s says %s",
			  family, text_of(rule, "table"),
			  text_of(rule, "chain"), deeds[i].key);
		snprintf(command, sizeof(command), deeds[i].command, family,
			 text_of(rule, "table"), text_of(rule, "chain"));
		weir_find(state, WEIR_WARNING, what, deeds[i].why, command);
	}
}

static void check_ruleset(struct weir_check_state *state, json_t *ruleset)
{
	json_t *item;
	size_t i;

	json_array_foreach(ruleset, i, item) {
		json_t *chain = json_object_get(item, "chain");
		json_t *rule = json_object_get(item, "rule");

		if (chain)
			check_chain(state, ruleset, chain);
		if (rule)
			check_rule(state, rule);
	}
}

static void check_nft(struct weir_check_state *state)
{
	char *argv[] = { "nft", "-j", "list", "ruleset", NULL };
	bool missing;
	char *text = weir_run_program(argv, &missing);
	json_t *root = text ? json_loads(text, 0, NULL) : NULL;

	if (root)
		check_ruleset(state, json_object_get(root, "nftables"));
	else
		weir_find(state, WEIR_WARNING, missing ?
			  "nftables cannot be read: nft is not installed" :
			  "nftables cannot be read: nft -j list ruleset failed",
			  "whether the firewall lets packets pass was not judged",
			  missing ? "apt install nftables" :
				    "nft -j list ruleset  # as root");
	json_decref(root);
	free(text);
}

void weir_check_filters(struct weir_check_state *state)
{
	if (!state->v4 && !state->v6)
		return;
	check_nft(state);
	if (state->v4)
		check_legacy(state, "/proc/net/ip_tables_names",
			     "iptables-legacy");
	if (state->v6)
		check_legacy(state, "/proc/net/ip6_tables_names",
			     "ip6tables-legacy");
}
