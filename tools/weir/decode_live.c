// SPDX-License-Identifier: GPL-2.0
/* What is not configured: fill levels, flows, verdicts, reasons. */
#include <string.h>

#include "attr.h"
#include "decode.h"

static weir_policy flow_policy = {
	[WEIR_FLOW_A_SERVICE_NAME] = STRING,
	[WEIR_FLOW_A_PROTO] = U8,
	[WEIR_FLOW_A_SRC] = ADDR,
	[WEIR_FLOW_A_SPORT] = U16,
	[WEIR_FLOW_A_DST] = ADDR,
	[WEIR_FLOW_A_DPORT] = U16,
	[WEIR_FLOW_A_BACKEND] = ADDR,
	[WEIR_FLOW_A_BACKEND_PORT] = U16,
	[WEIR_FLOW_A_EXPIRES] = U32,
	[WEIR_FLOW_A_TCP_STATE] = U8,
	[WEIR_FLOW_A_REPLIED] = U8,
	[WEIR_FLOW_A_STAY] = U8,
};

static weir_policy session_policy = {
	[WEIR_SESSION_A_SERVICE_NAME] = STRING,
	[WEIR_SESSION_A_FIELDS] = U8,
	[WEIR_SESSION_A_SRC] = ADDR,
	[WEIR_SESSION_A_DST] = ADDR,
	[WEIR_SESSION_A_PROTO] = U8,
	[WEIR_SESSION_A_BACKEND] = ADDR,
	[WEIR_SESSION_A_EXPIRES] = U32,
	[WEIR_SESSION_A_CONFIRMED] = U8,
	[WEIR_SESSION_A_SPORT] = U16,
	[WEIR_SESSION_A_DPORT] = U16,
};

static weir_policy verdict_policy = {
	[WEIR_VERDICT_A_OUTCOME] = U8,
	[WEIR_VERDICT_A_SERVICE_NAME] = STRING,
	[WEIR_VERDICT_A_RULE] = NEST,
	[WEIR_VERDICT_A_STAY] = U8,
	[WEIR_VERDICT_A_FLOW] = NEST,
	[WEIR_VERDICT_A_KEY_FIELDS] = U8,
	[WEIR_VERDICT_A_HASH] = U64,
	[WEIR_VERDICT_A_SLOT] = U32,
	[WEIR_VERDICT_A_TABLE_SLOTS] = U32,
	[WEIR_VERDICT_A_ELIGIBLE] = U8,
	[WEIR_VERDICT_A_N_ELIGIBLE] = U32,
	[WEIR_VERDICT_A_BACKEND] = NEST,
	[WEIR_VERDICT_A_TRACK_FIELDS] = U8,
	[WEIR_VERDICT_A_SESSION] = NEST,
	[WEIR_VERDICT_A_BY_SESSION] = FLAG,
	[WEIR_VERDICT_A_ZONE] = STRING,
	[WEIR_VERDICT_A_ZONAL] = U8,
};

static weir_policy reason_policy = {
	[WEIR_REASON_A_NAME] = STRING,
	[WEIR_REASON_A_TEXT] = STRING,
	[WEIR_REASON_A_PACKETS] = U64,
	[WEIR_REASON_A_KERNEL] = FLAG,
};

int weir_decode_info(const struct nlmsghdr *nlh, struct weir_info *info)
{
	struct weir_attrs top;

	memset(info, 0, sizeof(*info));
	if (weir_attrs_top(nlh, &top))
		return -1;
	weir_attr_str(&top, WEIR_A_VERSION, info->version,
		      sizeof(info->version));
	info->has_generation = top.a[WEIR_A_GENERATION];
	info->generation = weir_attr_num(&top, WEIR_A_GENERATION);
	info->n_services = weir_attr_num(&top, WEIR_A_N_SERVICES);
	info->n_held = weir_attr_num(&top, WEIR_A_N_HELD);
	info->has_limits = top.a[WEIR_A_MAX_SESSIONS];
	info->n_sessions = weir_attr_num(&top, WEIR_A_N_SESSIONS);
	info->max_sessions = weir_attr_num(&top, WEIR_A_MAX_SESSIONS);
	info->n_entries = weir_attr_num(&top, WEIR_A_N_ENTRIES);
	info->max_flows = weir_attr_num(&top, WEIR_A_MAX_FLOWS);
	info->has_key = top.a[WEIR_A_HASH_KEY];
	if (info->has_key)
		memcpy(info->key, mnl_attr_get_payload(top.a[WEIR_A_HASH_KEY]),
		       sizeof(info->key));
	return 0;
}

static int fill_flow(const struct nlattr *a, struct weir_flow *flow)
{
	struct weir_attrs attrs;

	memset(flow, 0, sizeof(*flow));
	if (weir_attrs_nest(a, flow_policy, &attrs))
		return -1;
	flow->set = attrs.set;
	weir_attr_str(&attrs, WEIR_FLOW_A_SERVICE_NAME, flow->service,
		      sizeof(flow->service));
	weir_attr_addr(&attrs, WEIR_FLOW_A_SRC, &flow->src);
	weir_attr_addr(&attrs, WEIR_FLOW_A_DST, &flow->dst);
	weir_attr_addr(&attrs, WEIR_FLOW_A_BACKEND, &flow->backend);
	flow->sport = weir_attr_num(&attrs, WEIR_FLOW_A_SPORT);
	flow->dport = weir_attr_num(&attrs, WEIR_FLOW_A_DPORT);
	flow->backend_port = weir_attr_num(&attrs, WEIR_FLOW_A_BACKEND_PORT);
	flow->expires = weir_attr_num(&attrs, WEIR_FLOW_A_EXPIRES);
	flow->proto = weir_attr_num(&attrs, WEIR_FLOW_A_PROTO);
	flow->tcp_state = weir_attr_num(&attrs, WEIR_FLOW_A_TCP_STATE);
	flow->replied = weir_attr_num(&attrs, WEIR_FLOW_A_REPLIED);
	flow->stay = weir_attr_num(&attrs, WEIR_FLOW_A_STAY);
	return 0;
}

static int fill_session(const struct nlattr *a, struct weir_session *session)
{
	struct weir_attrs attrs;

	memset(session, 0, sizeof(*session));
	if (weir_attrs_nest(a, session_policy, &attrs))
		return -1;
	session->set = attrs.set;
	weir_attr_str(&attrs, WEIR_SESSION_A_SERVICE_NAME, session->service,
		      sizeof(session->service));
	weir_attr_addr(&attrs, WEIR_SESSION_A_SRC, &session->src);
	weir_attr_addr(&attrs, WEIR_SESSION_A_DST, &session->dst);
	weir_attr_addr(&attrs, WEIR_SESSION_A_BACKEND, &session->backend);
	session->fields = weir_attr_num(&attrs, WEIR_SESSION_A_FIELDS);
	session->proto = weir_attr_num(&attrs, WEIR_SESSION_A_PROTO);
	session->expires = weir_attr_num(&attrs, WEIR_SESSION_A_EXPIRES);
	session->confirmed = weir_attr_num(&attrs, WEIR_SESSION_A_CONFIRMED);
	session->sport = weir_attr_num(&attrs, WEIR_SESSION_A_SPORT);
	session->dport = weir_attr_num(&attrs, WEIR_SESSION_A_DPORT);
	return 0;
}

bool weir_decode_is_session(const struct nlmsghdr *nlh)
{
	struct weir_attrs top;

	return !weir_attrs_top(nlh, &top) && top.a[WEIR_A_SESSION];
}

int weir_decode_flow(const struct nlmsghdr *nlh, struct weir_flow *flow)
{
	struct weir_attrs top;

	if (weir_attrs_top(nlh, &top) || !top.a[WEIR_A_FLOW])
		return -1;
	return fill_flow(top.a[WEIR_A_FLOW], flow);
}

int weir_decode_session(const struct nlmsghdr *nlh,
			struct weir_session *session)
{
	struct weir_attrs top;

	if (weir_attrs_top(nlh, &top) || !top.a[WEIR_A_SESSION])
		return -1;
	return fill_session(top.a[WEIR_A_SESSION], session);
}

static int fill_verdict_parts(const struct weir_attrs *attrs,
			      struct weir_verdict *verdict)
{
	if (attrs->a[WEIR_VERDICT_A_RULE] &&
	    weir_decode_rule(attrs->a[WEIR_VERDICT_A_RULE], &verdict->rule))
		return -1;
	if (attrs->a[WEIR_VERDICT_A_FLOW] &&
	    fill_flow(attrs->a[WEIR_VERDICT_A_FLOW], &verdict->flow))
		return -1;
	if (attrs->a[WEIR_VERDICT_A_SESSION] &&
	    fill_session(attrs->a[WEIR_VERDICT_A_SESSION], &verdict->session))
		return -1;
	if (attrs->a[WEIR_VERDICT_A_BACKEND] &&
	    weir_decode_backend(attrs->a[WEIR_VERDICT_A_BACKEND],
				&verdict->backend))
		return -1;
	return 0;
}

int weir_decode_verdict(const struct nlmsghdr *nlh, struct weir_verdict *v)
{
	struct weir_attrs top, attrs;

	memset(v, 0, sizeof(*v));
	if (weir_attrs_top(nlh, &top) || !top.a[WEIR_A_VERDICT] ||
	    weir_attrs_nest(top.a[WEIR_A_VERDICT], verdict_policy, &attrs))
		return -1;
	v->set = attrs.set;
	weir_attr_str(&attrs, WEIR_VERDICT_A_SERVICE_NAME, v->service,
		      sizeof(v->service));
	weir_attr_str(&attrs, WEIR_VERDICT_A_ZONE, v->zone, sizeof(v->zone));
	v->outcome = weir_attr_num(&attrs, WEIR_VERDICT_A_OUTCOME);
	v->stay = weir_attr_num(&attrs, WEIR_VERDICT_A_STAY);
	v->key_fields = weir_attr_num(&attrs, WEIR_VERDICT_A_KEY_FIELDS);
	v->track_fields = weir_attr_num(&attrs, WEIR_VERDICT_A_TRACK_FIELDS);
	v->eligible = weir_attr_num(&attrs, WEIR_VERDICT_A_ELIGIBLE);
	v->zonal = weir_attr_num(&attrs, WEIR_VERDICT_A_ZONAL);
	v->hash = weir_attr_num(&attrs, WEIR_VERDICT_A_HASH);
	v->slot = weir_attr_num(&attrs, WEIR_VERDICT_A_SLOT);
	v->table_slots = weir_attr_num(&attrs, WEIR_VERDICT_A_TABLE_SLOTS);
	v->n_eligible = weir_attr_num(&attrs, WEIR_VERDICT_A_N_ELIGIBLE);
	return fill_verdict_parts(&attrs, v);
}

int weir_decode_reason(const struct nlmsghdr *nlh, struct weir_reason *reason)
{
	struct weir_attrs top, attrs;

	memset(reason, 0, sizeof(*reason));
	if (weir_attrs_top(nlh, &top) || !top.a[WEIR_A_REASON] ||
	    weir_attrs_nest(top.a[WEIR_A_REASON], reason_policy, &attrs))
		return -1;
	weir_attr_str(&attrs, WEIR_REASON_A_NAME, reason->name,
		      sizeof(reason->name));
	weir_attr_str(&attrs, WEIR_REASON_A_TEXT, reason->text,
		      sizeof(reason->text));
	reason->packets = weir_attr_num(&attrs, WEIR_REASON_A_PACKETS);
	reason->kernel = attrs.a[WEIR_REASON_A_KERNEL];
	return 0;
}

int weir_decode_flushed(const struct nlmsghdr *nlh, uint32_t *n_flows,
			uint32_t *n_sessions)
{
	struct weir_attrs top;

	if (weir_attrs_top(nlh, &top) || !top.a[WEIR_A_N_FLOWS])
		return -1;
	*n_flows = weir_attr_num(&top, WEIR_A_N_FLOWS);
	*n_sessions = weir_attr_num(&top, WEIR_A_N_SESSIONS);
	return 0;
}

void weir_verdict_free(struct weir_verdict *verdict)
{
	weir_rule_free(&verdict->rule);
	weir_opts_free(&verdict->backend.opts);
}
