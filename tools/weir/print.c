// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "file.h"
#include "print.h"

static void out_option(struct weir_out *out, const struct weir_option *option,
		       const struct weir_opts *opts)
{
	uint32_t n = weir_opts_has(opts, option->attr) ?
		     opts->num[option->attr] : option->dflt;

	switch (option->kind) {
	case WEIR_KIND_WORD:
		weir_out_str(out, option->word, "%s",
			     weir_word(option->words, n));
		break;
	case WEIR_KIND_SWITCH:
		weir_out_bool(out, option->word, "%s", n);
		break;
	case WEIR_KIND_RATIO:
		weir_out_ratio(out, option->word, "%s", n);
		break;
	case WEIR_KIND_NUMBER:
	case WEIR_KIND_TABLE:
		weir_out_num(out, option->word, "%s", n);
		break;
	case WEIR_KIND_NAME:
	case WEIR_KIND_LINE:
		weir_out_str(out, option->word, "%s",
			     opts->str ? opts->str : "");
		break;
	}
}

static bool worth_text(const struct weir_option *option,
		       const struct weir_opts *opts)
{
	if (!weir_opts_has(opts, option->attr))
		return false;
	if (option->kind == WEIR_KIND_NAME || option->kind == WEIR_KIND_LINE)
		return opts->str && *opts->str;
	return opts->num[option->attr] != option->dflt;
}

void weir_out_options(struct weir_out *out, const struct weir_options *options,
		      const struct weir_opts *opts, const char *before,
		      const char *behind)
{
	unsigned int i;

	for (i = 0; i < options->count; i++) {
		const struct weir_option *option = &options->option[i];

		if (!out->json && !worth_text(option, opts))
			continue;
		weir_out_text(out, "%s%s ", before, option->word);
		out_option(out, option, opts);
		weir_out_text(out, "%s", behind);
	}
}

void weir_out_rule(struct weir_out *out, const struct weir_rule *rule)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	weir_out_str(out, "vip", "%s", weir_prefix_text(&rule->vip, text));
	weir_out_str(out, "proto", " %s",
		     weir_word(&weir_proto_words, rule->proto));
	weir_out_bool(out, "all-ports", NULL, !rule->n_ports);
	if (!rule->n_ports)
		weir_out_text(out, " all");
	weir_out_array(out, "ports");
	for (i = 0; i < rule->n_ports; i++)
		weir_out_num(out, NULL, i ? ",%s" : " %s", rule->ports[i]);
	weir_out_end(out);
}

void weir_out_group(struct weir_out *out, const struct weir_group *group)
{
	if (!out->json) {
		weir_print_group(out->f, group);
		return;
	}
	weir_out_str(out, "name", NULL, group->name);
	weir_out_options(out, &weir_group_options, &group->opts, "", "");
}

void weir_out_backend(struct weir_out *out, const struct weir_backend *backend)
{
	char text[WEIR_ADDR_TEXT];

	if (!out->json) {
		weir_print_backend(out->f, backend);
		return;
	}
	weir_out_str(out, "addr", NULL, weir_addr_text(&backend->addr, text));
	weir_out_options(out, &weir_backend_options, &backend->opts, "", "");
}

void weir_out_backend_state(struct weir_out *out,
			    const struct weir_backend *backend,
			    const char *before)
{
	weir_out_text(out, "%s", weir_backend_drains(backend) ? before : "");
	weir_out_str(out, "state", weir_backend_drains(backend) ? "%s" : NULL,
		     weir_word(&weir_state_words,
			       backend->opts.num[WEIR_BACKEND_A_STATE]));
}

void weir_out_probe(struct weir_out *out, const struct weir_backend *backend)
{
	const uint32_t *num = backend->opts.num;
	bool has = weir_opts_has(&backend->opts, WEIR_BACKEND_A_PROBE_PASSED);
	bool passed = num[WEIR_BACKEND_A_PROBE_PASSED];

	weir_out_bool(out, "has-probe", NULL, has);
	weir_out_str(out, "probe-text", has ? ", probe \"%s\"" : NULL,
		     backend->probe_text);
	weir_out_bool(out, "probe-passed", NULL, passed);
	weir_out_num(out, "probe-run",
		     !has ? NULL : passed ? " (passed, %s in a row" :
					    " (failed, %s in a row",
		     num[WEIR_BACKEND_A_PROBE_RUN]);
	weir_out_num(out, "probe-age", has ? ", %s s ago)" : NULL,
		     num[WEIR_BACKEND_A_PROBE_AGE]);
}

void weir_out_zone(struct weir_out *out, const struct weir_zone *zone,
		   unsigned int max)
{
	char text[WEIR_ADDR_TEXT];
	unsigned int i;

	weir_out_str(out, "name", "%s", zone->name);
	weir_out_array(out, "prefixes");
	for (i = 0; i < zone->n_prefixes; i++)
		weir_out_str(out, NULL, i < max ? " %s" : NULL,
			     weir_prefix_text(&zone->prefixes[i].prefix, text));
	weir_out_end(out);
}

void weir_out_counters(struct weir_out *out, const char *before,
		       const struct weir_counters *counters)
{
	unsigned int i;

	weir_out_object(out, "counters");
	weir_out_text(out, "%scounters", before);
	for (i = 0; i < __WEIR_COUNTER_A_MAX; i++) {
		if (!weir_counter_word[i])
			continue;
		weir_out_text(out, " %s", weir_counter_word[i]);
		weir_out_num(out, weir_counter_word[i], " %s",
			     counters->value[i]);
	}
	weir_out_end(out);
}

/* A removed backend that has to drain has only changed so far. */
static void out_changed_backend(struct weir_out *out,
				const struct weir_change_record *change)
{
	const struct weir_backend *backend = &change->backend;
	uint32_t check = backend->opts.num[WEIR_BACKEND_A_CHECK];

	weir_out_backend(out, backend);
	if (!out->json && change->kind == WEIR_CHANGE_REMOVED)
		return;
	weir_out_backend_state(out, backend, ": ");
	weir_out_str(out, "check",
		     check == WEIR_HEALTH_AUTO ? NULL : ", check %s",
		     weir_word(&weir_health_words, check));
	weir_out_probe(out, backend);
}

/* + backend web 10.2.0.12 group east */
void weir_out_change(struct weir_out *out,
		     const struct weir_change_record *change)
{
	static const char *const object[] = {
		[WEIR_OBJECT_ZONE] = "zone",
		[WEIR_OBJECT_SERVICE] = "service",
		[WEIR_OBJECT_RULE] = "rule",
		[WEIR_OBJECT_GROUP] = "group",
		[WEIR_OBJECT_BACKEND] = "backend",
	};
	static const char sign[] = { '+', '~', '-' };
	const char *what = object[change->object];

	weir_out_text(out, "%c ", change->kind < sizeof(sign) ?
			   sign[change->kind] : '?');
	weir_out_str(out, "change", NULL,
		     weir_word(&weir_change_words, change->kind));
	weir_out_str(out, "object", "%s", what);
	weir_out_str(out, "service", *change->service ? " %s" : NULL,
		     change->service);
	if (change->object == WEIR_OBJECT_SERVICE)
		return;
	weir_out_text(out, " ");
	weir_out_object(out, what);
	if (change->object == WEIR_OBJECT_RULE)
		weir_out_rule(out, &change->rule);
	else if (change->object == WEIR_OBJECT_GROUP)
		weir_out_group(out, &change->group);
	else if (change->object == WEIR_OBJECT_ZONE)
		weir_out_str(out, "name", "%s", change->zone);
	else
		out_changed_backend(out, change);
	weir_out_end(out);
}

/* tcp 198.51.100.7:40000 203.0.113.10:80 backend 10.2.0.11:80 ... */
void weir_out_flow(struct weir_out *out, const struct weir_flow *flow)
{
	char text[WEIR_ADDR_TEXT + 8], proto[8];
	bool ports = weir_has(flow->set, WEIR_FLOW_A_SPORT);

	weir_out_str(out, "proto", "%s", weir_ipproto_text(flow->proto, proto));
	weir_out_str(out, "src", NULL, weir_addr_text(&flow->src, text));
	weir_out_num(out, "sport", NULL, flow->sport);
	weir_out_text(out, " %s", weir_endpoint_text(&flow->src, ports,
						     flow->sport, text));
	weir_out_str(out, "dst", NULL, weir_addr_text(&flow->dst, text));
	weir_out_num(out, "dport", NULL, flow->dport);
	weir_out_text(out, " %s", weir_endpoint_text(&flow->dst, ports,
						     flow->dport, text));
	weir_out_str(out, "service", " service %s", flow->service);
	weir_out_str(out, "backend", NULL, weir_addr_text(&flow->backend, text));
	weir_out_num(out, "backend-port", NULL, flow->backend_port);
	weir_out_text(out, " backend %s",
		      weir_endpoint_text(&flow->backend, ports &&
					 weir_has(flow->set,
						  WEIR_FLOW_A_BACKEND_PORT),
					 flow->backend_port, text));
	weir_out_str(out, "tcp-state", weir_has(flow->set,
						WEIR_FLOW_A_TCP_STATE) ?
				       " tcp-state %s" : NULL,
		     weir_has(flow->set, WEIR_FLOW_A_TCP_STATE) ?
		     weir_word(&weir_tcp_words, flow->tcp_state) : "");
	weir_out_num(out, "expires", " expires %s", flow->expires);
	weir_out_bool(out, "replied", NULL, flow->replied);
	weir_out_text(out, " %s", flow->replied ? "replied" : "unreplied");
	weir_out_str(out, "stay", " stay %s",
		     weir_word(&weir_stay_words, flow->stay));
}

/* 198.51.100.7 backend ..., 198.51.100.7 203.0.113.10 backend ... or
 * tcp 198.51.100.7 203.0.113.10 backend ...: as many fields as the key has. */
void weir_out_session(struct weir_out *out, const struct weir_session *session)
{
	bool has_dst = weir_has(session->set, WEIR_SESSION_A_DST);
	bool has_proto = weir_has(session->set, WEIR_SESSION_A_PROTO);
	bool has_ports = weir_has(session->set, WEIR_SESSION_A_DPORT);
	char text[WEIR_ADDR_TEXT + 8], proto[8];

	weir_out_num(out, "fields", NULL, session->fields);
	weir_out_str(out, "proto", has_proto ? "%s " : NULL,
		     has_proto ? weir_ipproto_text(session->proto, proto) : "");
	weir_out_str(out, "src", has_ports ? NULL : "%s",
		     weir_addr_text(&session->src, text));
	weir_out_num(out, "sport", NULL, session->sport);
	weir_out_str(out, "dst", has_dst && !has_ports ? " %s" : NULL,
		     has_dst ? weir_addr_text(&session->dst, text) : "");
	weir_out_num(out, "dport", NULL, session->dport);
	if (has_ports) {
		weir_out_text(out, "%s", weir_endpoint_text(&session->src, true,
							    session->sport, text));
		weir_out_text(out, " %s", weir_endpoint_text(&session->dst, true,
							     session->dport, text));
	}
	weir_out_str(out, "service", " service %s", session->service);
	weir_out_str(out, "backend", " backend %s",
		     weir_addr_text(&session->backend, text));
	weir_out_num(out, "expires", " expires %s", session->expires);
	weir_out_bool(out, "confirmed", NULL, session->confirmed);
	weir_out_text(out, " %s",
		      session->confirmed ? "confirmed" : "unconfirmed");
}
