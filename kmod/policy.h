/* SPDX-License-Identifier: GPL-2.0 */
/*
 * policy - which attributes each command takes, with type and length
 *
 * One table per kind of command, so that a command refuses what it would not
 * use. Values are checked in parse.c: what the kernel says about a value out of
 * a policy's range names neither object nor value. All tables have the length
 * of their enum, so that any attribute of it may be looked up after parsing.
 */
#ifndef WEIR_POLICY_H
#define WEIR_POLICY_H

#include <linux/weir.h>
#include <net/netlink.h>

/* Top level, by command. */
extern const struct nla_policy weir_policy_config_get[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_service[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_service_del[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_rule[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_group[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_group_del[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_backend[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_backend_del[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_zone[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_txn_begin[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_txn_commit[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_lookup[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_flow[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_report[WEIR_A_MAX + 1];
extern const struct nla_policy weir_policy_pin[WEIR_A_MAX + 1];

/* Nests, for parse.c, report.c and pin.c. */
extern const struct nla_policy weir_nest_service[WEIR_SERVICE_A_MAX + 1];
extern const struct nla_policy weir_nest_rule[WEIR_RULE_A_MAX + 1];
extern const struct nla_policy weir_nest_group[WEIR_GROUP_A_MAX + 1];
extern const struct nla_policy weir_nest_backend[WEIR_BACKEND_A_MAX + 1];
extern const struct nla_policy weir_nest_report[WEIR_REPORT_A_MAX + 1];
extern const struct nla_policy weir_nest_zone[WEIR_ZONE_A_MAX + 1];
extern const struct nla_policy weir_nest_packet[WEIR_PACKET_A_MAX + 1];
extern const struct nla_policy weir_nest_pin[WEIR_PIN_A_MAX + 1];

#endif /* WEIR_POLICY_H */
