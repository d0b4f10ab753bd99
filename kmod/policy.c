// SPDX-License-Identifier: GPL-2.0
/*
 * policy - which attributes each command takes, with type and length
 */
#include <linux/limits.h>

#include "policy.h"

/* A string of any length: parse.c says which name is too long. */
#define TEXT	{ .type = NLA_NUL_STRING }
#define ADDR	NLA_POLICY_RANGE(NLA_BINARY, 4, 16)
/* A policy dump shows a least length only with a greatest one, which is s16. */
#define ARRAY(size)	NLA_POLICY_RANGE(NLA_BINARY, size, S16_MAX)

const struct nla_policy weir_nest_service[WEIR_SERVICE_A_MAX + 1] = {
	[WEIR_SERVICE_A_AFFINITY]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_TRACKING]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_PERSISTENCE]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_IDLE_TIMEOUT]		= { .type = NLA_U32 },
	[WEIR_SERVICE_A_DRAIN_TIMEOUT]		= { .type = NLA_U32 },
	[WEIR_SERVICE_A_FAILOVER_RATIO]		= { .type = NLA_U32 },
	[WEIR_SERVICE_A_DROP_IF_UNHEALTHY]	= { .type = NLA_U8 },
	[WEIR_SERVICE_A_DRAIN_ON_FAILOVER]	= { .type = NLA_U8 },
	[WEIR_SERVICE_A_ZONAL_AFFINITY]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_SPILL_RATIO]		= { .type = NLA_U32 },
	[WEIR_SERVICE_A_LOCALITY]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_FORWARD]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_WHEN_EMPTY]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_HAIRPIN]		= { .type = NLA_U8 },
	[WEIR_SERVICE_A_TABLE_SIZE]		= { .type = NLA_U32 },
	[WEIR_SERVICE_A_HEALTH_CHECK]		= TEXT,
};

const struct nla_policy weir_nest_rule[WEIR_RULE_A_MAX + 1] = {
	[WEIR_RULE_A_VIP]	= ADDR,
	[WEIR_RULE_A_PLEN]	= { .type = NLA_U8 },
	[WEIR_RULE_A_PROTO]	= { .type = NLA_U8 },
	[WEIR_RULE_A_PORTS]	= ARRAY(sizeof(u16)),
};

const struct nla_policy weir_nest_group[WEIR_GROUP_A_MAX + 1] = {
	[WEIR_GROUP_A_NAME]	= TEXT,
	[WEIR_GROUP_A_ZONE]	= TEXT,
	[WEIR_GROUP_A_FAILOVER]	= { .type = NLA_U8 },
};

static const struct nla_policy nest_group_name[WEIR_GROUP_A_MAX + 1] = {
	[WEIR_GROUP_A_NAME]	= TEXT,
};

/* All that any command takes. */
const struct nla_policy weir_nest_backend[WEIR_BACKEND_A_MAX + 1] = {
	[WEIR_BACKEND_A_ADDR]	= ADDR,
	[WEIR_BACKEND_A_GROUP]	= TEXT,
	[WEIR_BACKEND_A_PORT]	= { .type = NLA_U16 },
	[WEIR_BACKEND_A_WEIGHT]	= { .type = NLA_U32 },
	[WEIR_BACKEND_A_HEALTH]	= { .type = NLA_U8 },
	[WEIR_BACKEND_A_CHECK]	= { .type = NLA_U8 },
	[WEIR_BACKEND_A_WEIGHT_STATE] = { .type = NLA_U8 },
	[WEIR_BACKEND_A_REPORTED] = { .type = NLA_U32 },
	[WEIR_BACKEND_A_PROBE_PASSED] = { .type = NLA_U8 },
	[WEIR_BACKEND_A_PROBE_RUN] = { .type = NLA_U32 },
	[WEIR_BACKEND_A_PROBE_TEXT] = TEXT,
};

static const struct nla_policy nest_backend_values[WEIR_BACKEND_A_MAX + 1] = {
	[WEIR_BACKEND_A_ADDR]	= ADDR,
	[WEIR_BACKEND_A_GROUP]	= TEXT,
	[WEIR_BACKEND_A_PORT]	= { .type = NLA_U16 },
	[WEIR_BACKEND_A_WEIGHT]	= { .type = NLA_U32 },
	[WEIR_BACKEND_A_HEALTH]	= { .type = NLA_U8 },
	[WEIR_BACKEND_A_CHECK]	= { .type = NLA_U8 },
	[WEIR_BACKEND_A_WEIGHT_STATE] = { .type = NLA_U8 },
	[WEIR_BACKEND_A_REPORTED] = { .type = NLA_U32 },
};

static const struct nla_policy nest_backend_report[WEIR_BACKEND_A_MAX + 1] = {
	[WEIR_BACKEND_A_ADDR]	= ADDR,
	[WEIR_BACKEND_A_CHECK]	= { .type = NLA_U8 },
	[WEIR_BACKEND_A_WEIGHT_STATE] = { .type = NLA_U8 },
	[WEIR_BACKEND_A_REPORTED] = { .type = NLA_U32 },
	[WEIR_BACKEND_A_PROBE_PASSED] = { .type = NLA_U8 },
	[WEIR_BACKEND_A_PROBE_RUN] = { .type = NLA_U32 },
	[WEIR_BACKEND_A_PROBE_TEXT] = TEXT,
};

const struct nla_policy weir_nest_report[WEIR_REPORT_A_MAX + 1] = {
	[WEIR_REPORT_A_SERVICE_NAME] = TEXT,
	[WEIR_REPORT_A_BACKEND]	= NLA_POLICY_NESTED(nest_backend_report),
};

/* One backend, or all of a group. */
static const struct nla_policy nest_backend_which[WEIR_BACKEND_A_MAX + 1] = {
	[WEIR_BACKEND_A_ADDR]	= ADDR,
	[WEIR_BACKEND_A_GROUP]	= TEXT,
};

static const struct nla_policy nest_backend_addr[WEIR_BACKEND_A_MAX + 1] = {
	[WEIR_BACKEND_A_ADDR]	= ADDR,
};

const struct nla_policy weir_nest_zone[WEIR_ZONE_A_MAX + 1] = {
	[WEIR_ZONE_A_NAME]	= TEXT,
	[WEIR_ZONE_A_PREFIXES]	= ARRAY(17),
};

const struct nla_policy weir_nest_packet[WEIR_PACKET_A_MAX + 1] = {
	[WEIR_PACKET_A_SRC]	= ADDR,
	[WEIR_PACKET_A_DST]	= ADDR,
	[WEIR_PACKET_A_PROTO]	= { .type = NLA_U8 },
	[WEIR_PACKET_A_SPORT]	= { .type = NLA_U16 },
	[WEIR_PACKET_A_DPORT]	= { .type = NLA_U16 },
	[WEIR_PACKET_A_SYN]	= { .type = NLA_FLAG },
};

const struct nla_policy weir_nest_pin[WEIR_PIN_A_MAX + 1] = {
	[WEIR_PIN_A_VIP]	= ADDR,
	[WEIR_PIN_A_SPORT]	= { .type = NLA_U16 },
	[WEIR_PIN_A_DPORT]	= { .type = NLA_U16 },
	[WEIR_PIN_A_LIFE]	= { .type = NLA_U32 },
};

const struct nla_policy weir_policy_config_get[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_WITH_FLOWS]	= { .type = NLA_FLAG },
};

const struct nla_policy weir_policy_service[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_SERVICE]	= NLA_POLICY_NESTED(weir_nest_service),
};

const struct nla_policy weir_policy_service_del[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
};

const struct nla_policy weir_policy_rule[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_RULE]		= NLA_POLICY_NESTED(weir_nest_rule),
};

const struct nla_policy weir_policy_group[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_GROUP]		= NLA_POLICY_NESTED(weir_nest_group),
};

const struct nla_policy weir_policy_group_del[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_GROUP]		= NLA_POLICY_NESTED(nest_group_name),
};

const struct nla_policy weir_policy_backend[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_BACKEND]	= NLA_POLICY_NESTED(nest_backend_values),
};

const struct nla_policy weir_policy_backend_del[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_BACKEND]	= NLA_POLICY_NESTED(nest_backend_which),
	[WEIR_A_NOW]		= { .type = NLA_FLAG },
};

const struct nla_policy weir_policy_zone[WEIR_A_MAX + 1] = {
	[WEIR_A_ZONE]		= NLA_POLICY_NESTED(weir_nest_zone),
};

const struct nla_policy weir_policy_txn_begin[WEIR_A_MAX + 1] = {
	[WEIR_A_GENERATION]	= { .type = NLA_U32 },
	[WEIR_A_REPLACE]	= { .type = NLA_FLAG },
};

const struct nla_policy weir_policy_txn_commit[WEIR_A_MAX + 1] = {
	[WEIR_A_DRY_RUN]	= { .type = NLA_FLAG },
	[WEIR_A_HASH_KEY]	= NLA_POLICY_EXACT_LEN(WEIR_HASH_KEY_LEN),
};

const struct nla_policy weir_policy_lookup[WEIR_A_MAX + 1] = {
	[WEIR_A_PACKET]		= NLA_POLICY_NESTED(weir_nest_packet),
};

const struct nla_policy weir_policy_flow[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_BACKEND]	= NLA_POLICY_NESTED(nest_backend_addr),
};

const struct nla_policy weir_policy_report[WEIR_A_MAX + 1] = {
	[WEIR_A_REPORT]		= NLA_POLICY_NESTED(weir_nest_report),
};

const struct nla_policy weir_policy_pin[WEIR_A_MAX + 1] = {
	[WEIR_A_SERVICE_NAME]	= TEXT,
	[WEIR_A_BACKEND]	= NLA_POLICY_NESTED(nest_backend_addr),
	[WEIR_A_PIN]		= NLA_POLICY_NESTED(weir_nest_pin),
};
