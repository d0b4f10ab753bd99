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

/* What a family of tables sees of these. */
static struct weir_families seen_of(const struct weir_families *families,
				    const char *family)
{
	bool inet = !strcmp(family, "inet");
	struct weir_families seen = {
		.v4 = families->v4 && (inet || !strcmp(family, "ip")),
		.v6 = families->v6 && (inet || !strcmp(family, "ip6")),
	};

	return seen;
}

static bool any(struct weir_families families)
{
	return families.v4 || families.v6;
}

/*
 * What FORWARD sees of direct mode has the VIP as its destination, and belongs to no
 * connection. A match of connections would bring conntrack, which direct mode does
 * without: the advice is to match addresses.
 */

#define VIPS_MAX	5	/* that are named one by one */

struct vips {
	unsigned int n;		/* VIPS_MAX + 1: more than that */
	char text[VIPS_MAX][WEIR_ADDR_TEXT];	/* without their length */
	char list[VIPS_MAX * (WEIR_ADDR_TEXT + 6)];
};

static void add_vip(struct vips *vips, const struct weir_prefix *vip)
{
	size_t end = strlen(vips->list);
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	weir_addr_text(&vip->addr, text);
	for (i = 0; i < vips->n && i < VIPS_MAX; i++)
		if (!strcmp(vips->text[i], text))
			return;
	vips->n = i + 1;
	if (i == VIPS_MAX)
		return;
	strcpy(vips->text[i], text);
	end += snprintf(vips->list + end, sizeof(vips->list) - end, "%s%s",
			i ? "," : "", text);
	if (vip->plen != weir_addr_bits(&vip->addr))
		snprintf(vips->list + end, sizeof(vips->list) - end, "/%u",
			 vip->plen);
}

static void list_vips(const struct weir_check_state *state, uint8_t len,
		      struct vips *vips)
{
	unsigned int i, j;

	memset(vips, 0, sizeof(*vips));
	for (i = 0; i < state->config.n_services; i++) {
		const struct weir_service *service = &state->config.services[i];

		if (!weir_is_direct(service))
			continue;
		for (j = 0; j < service->n_rules; j++)
			if (service->rules[j].vip.addr.len == len)
				add_vip(vips, &service->rules[j].vip);
	}
}

/* What the rules of one chain let through; ALL: all that is asked for. */
enum lets { NOTHING, SOMETHING, ALL };

struct judge {
	enum lets lets;
	const struct vips *vips;	/* NULL: of nat mode */
	bool accepted[VIPS_MAX];
};

static void accepts_vips(struct judge *judge, json_t *expr)
{
	unsigned int i, n = 0;

	for (i = 0; i < judge->vips->n && i < VIPS_MAX; i++) {
		judge->accepted[i] |= contains_string(expr, judge->vips->text[i]);
		n += judge->accepted[i];
	}
	if (n == judge->vips->n || contains_string(expr, "untracked"))
		judge->lets = ALL;
}

static void judge_rule(struct judge *judge, json_t *rule)
{
	json_t *expr = json_object_get(rule, "expr");
	bool accepts = contains_key(expr, "accept");

	/* iptables-nft: nft shows the match by its name only */
	if (judge->lets == NOTHING &&
	    (accepts || contains_key(expr, "jump") || contains_key(expr, "goto") ||
	     contains_key(expr, "xt") || contains_key(expr, "vmap")))
		judge->lets = SOMETHING;
	if (!accepts)
		return;
	if (judge->vips)
		accepts_vips(judge, expr);
	/* It lets both directions of every balanced flow pass. */
	else if (contains_key(expr, "ct") && contains_string(expr, "status") &&
		 contains_string(expr, "dnat"))
		judge->lets = ALL;
}

static enum lets judge_chain(json_t *ruleset, json_t *chain,
			     const struct vips *vips)
{
	struct judge judge = { .lets = NOTHING, .vips = vips };
	json_t *item;
	size_t i;

	json_array_foreach(ruleset, i, item) {
		json_t *rule = json_object_get(item, "rule");

		if (rule && is(rule, "family", text_of(chain, "family")) &&
		    is(rule, "table", text_of(chain, "table")) &&
		    is(rule, "chain", text_of(chain, "name")))
			judge_rule(&judge, rule);
	}
	return judge.lets;
}

static void find_drop(struct weir_check_state *state, const char *where,
		      enum lets lets, bool direct, const char *command)
{
	char what[WEIR_TEXT];

	if (lets == ALL)
		return;
	weir_text(what, "%s has the policy drop", where);
	if (lets == NOTHING)
		weir_find(state, WEIR_ERROR, what,
			  "it accepts no forwarded packet, so none reaches a backend",
			  command);
	else
		weir_find(state, WEIR_WARNING, what, direct ?
			  "whether its rules accept what direct mode forwards (untracked, to the VIP) was not judged" :
			  "whether its rules accept what is balanced (ct status dnat) was not judged",
			  command);
}

/* One line of `iptables -S FORWARD`, which accepts. */
static bool line_lets_all(const char *rule, struct judge *judge)
{
	unsigned int i, n = 0;

	if (!judge->vips)
		return strstr(rule, "--ctstate") && strstr(rule, "DNAT");
	for (i = 0; i < judge->vips->n && i < VIPS_MAX; i++) {
		char word[WEIR_ADDR_TEXT + 8];

		snprintf(word, sizeof(word), "-d %s/", judge->vips->text[i]);
		judge->accepted[i] |= !!strstr(rule, word);
		n += judge->accepted[i];
	}
	return n == judge->vips->n || strstr(rule, "UNTRACKED");
}

/* iptables -S FORWARD: "-A FORWARD -m conntrack --ctstate DNAT -j ACCEPT" */
static enum lets judge_iptables(const char *text, const struct vips *vips)
{
	struct judge judge = { .vips = vips };
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
		if (strstr(rule, "-j ACCEPT") && line_lets_all(rule, &judge))
			return ALL;
		if (!strstr(rule, "-j DROP") && !strstr(rule, "-j REJECT"))
			best = SOMETHING;
	}
	return best;
}

static void judge_forward(struct weir_check_state *state, const char *program,
			  const char *text, bool v6)
{
	char where[WEIR_TEXT], command[WEIR_TEXT];
	struct vips vips;

	weir_text(where, "the chain FORWARD of %s", program);
	if (v6 ? state->nat.v6 : state->nat.v4)
		find_drop(state, where, judge_iptables(text, NULL), false,
			  weir_text(command,
				    "%s -I FORWARD -m conntrack --ctstate DNAT -j ACCEPT",
				    program));
	if (!(v6 ? state->direct.v6 : state->direct.v4))
		return;
	list_vips(state, v6 ? 16 : 4, &vips);
	find_drop(state, where, judge_iptables(text, &vips), true,
		  vips.n > VIPS_MAX ?
		  weir_text(command,
			    "%s -I FORWARD -m conntrack --ctstate UNTRACKED -j ACCEPT",
			    program) :
		  weir_text(command, "%s -I FORWARD -d %s -j ACCEPT", program,
			    vips.list));
}

static void check_iptables(struct weir_check_state *state, const char *program,
			   bool v6)
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
	if (!strncmp(text, "-P FORWARD DROP", 15))
		judge_forward(state, program, text, v6);
	free(text);
}

/* The tables of old iptables are seen by its own program only. It is asked
 * only if such a table is in use: asking would load its modules. */
static void check_legacy(struct weir_check_state *state, const char *list,
			 const char *program, bool v6)
{
	char line[64];
	bool filter = false;
	FILE *f = fopen(list, "re");

	while (f && fgets(line, sizeof(line), f))
		filter |= !strcmp(line, "filter\n");
	if (f)
		fclose(f);
	if (filter)
		check_iptables(state, program, v6);
}

/* A chain that iptables-nft made is changed by iptables, not by nft. */
static bool is_iptables(json_t *chain)
{
	return is(chain, "table", "filter") && is(chain, "name", "FORWARD") &&
	       !is(chain, "family", "inet");
}

/* Adds a command that lets the VIPs of a family pass. */
static void accept_vips(const struct weir_check_state *state, json_t *chain,
			uint8_t len, char command[WEIR_TEXT])
{
	size_t end = strlen(command);
	struct vips vips;

	list_vips(state, len, &vips);
	end += snprintf(command + end, WEIR_TEXT - end,
			"%snft insert rule %s %s %s ", end ? " && " : "",
			text_of(chain, "family"), text_of(chain, "table"),
			text_of(chain, "name"));
	if (vips.n > VIPS_MAX)
		snprintf(command + end, WEIR_TEXT - end,
			 "ct state untracked accept");
	else
		snprintf(command + end, WEIR_TEXT - end,
			 "%s daddr '{ %s }' accept", len == 4 ? "ip" : "ip6",
			 vips.list);
}

static void check_direct(struct weir_check_state *state, json_t *ruleset,
			 json_t *chain, const char *where)
{
	struct weir_families seen = seen_of(&state->direct,
					    text_of(chain, "family"));
	char command[WEIR_TEXT] = "";
	enum lets lets = ALL, other;
	struct vips vips;

	if (seen.v4) {
		list_vips(state, 4, &vips);
		lets = judge_chain(ruleset, chain, &vips);
		if (lets != ALL)
			accept_vips(state, chain, 4, command);
	}
	if (seen.v6) {
		list_vips(state, 16, &vips);
		other = judge_chain(ruleset, chain, &vips);
		if (other != ALL)
			accept_vips(state, chain, 16, command);
		if (other < lets)
			lets = other;
	}
	find_drop(state, where, lets, true, command);
}

static void check_chain(struct weir_check_state *state, json_t *ruleset,
			json_t *chain)
{
	const char *family = text_of(chain, "family");
	bool nat = any(seen_of(&state->nat, family));
	bool direct = any(seen_of(&state->direct, family));
	char where[WEIR_TEXT], command[WEIR_TEXT];

	if (!is(chain, "hook", "forward") || !is(chain, "policy", "drop") ||
	    !is(chain, "type", "filter") || !(nat || direct))
		return;
	if (is_iptables(chain)) {
		bool v6 = strcmp(family, "ip");

		check_iptables(state, v6 ? "ip6tables-nft" : "iptables-nft", v6);
		return;
	}
	weir_text(where, "the nftables chain %s %s %s", family,
		  text_of(chain, "table"), text_of(chain, "name"));
	weir_text(command, "nft insert rule %s %s %s ct status dnat accept",
		  family, text_of(chain, "table"), text_of(chain, "name"));
	if (nat)
		find_drop(state, where, judge_chain(ruleset, chain, NULL), false,
			  command);
	if (direct)
		check_direct(state, ruleset, chain, where);
}

/* What a rule may do to packets of nat mode that takes them away from us. */
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

	if (!any(seen_of(&state->nat, family)))
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
			     "iptables-legacy", false);
	if (state->v6)
		check_legacy(state, "/proc/net/ip6_tables_names",
			     "ip6tables-legacy", true);
}
