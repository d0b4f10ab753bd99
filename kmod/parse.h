/* SPDX-License-Identifier: GPL-2.0 */
/*
 * parse - attributes of a request as structures, each value checked
 *
 * The attributes have passed the policies, so types and lengths hold. Each
 * function returns 0, or a negative errno with an extended-ack message that
 * names object, attribute and value, pointing at the attribute; what it writes
 * counts only when it returns 0. -EINVAL: malformed or missing, -ERANGE: a
 * number out of range, -EOPNOTSUPP: in the contract, but not in this version.
 */
#ifndef WEIR_PARSE_H
#define WEIR_PARSE_H

#include <linux/types.h>
#include <linux/weir.h>

#include "service.h"

struct netlink_ext_ack;
struct nlattr;
struct weir_flow_filter;
struct weir_tuple;
struct weir_zone_prefix;

/* What SERVICE says of a service. */
struct weir_settings {
	struct weir_options opt;
	const char *health_check;	/* in the message; NULL: not mentioned */
};

/* Which backends BACKEND speaks of. */
struct weir_backend_which {
	bool has_addr;
	bool has_group;
	u8 family;
	struct weir_addr addr;
	char group[WEIR_NAME_MAX + 1];
};

/**
 * weir_parse_service_name() - the name of the service that is spoken of
 * @attr: NULL is refused
 */
int weir_parse_service_name(const struct nlattr *attr,
			    char name[WEIR_NAME_MAX + 1],
			    struct netlink_ext_ack *extack);

/**
 * weir_parse_addr() - an address of either family
 * @label: "pin: VIP", for instance
 */
int weir_parse_addr(const struct nlattr *attr, const char *label, u8 *family,
		    struct weir_addr *addr, struct netlink_ext_ack *extack);

/**
 * weir_parse_service() - options over those that stand in @set
 * @nest: NULL changes nothing
 */
int weir_parse_service(const struct nlattr *nest, const char *service,
		       struct weir_settings *set,
		       struct netlink_ext_ack *extack);

/**
 * weir_parse_rule() - a rule
 * @rule: on success the caller frees rule->ports with kfree()
 */
int weir_parse_rule(const struct nlattr *nest, const char *service,
		    struct weir_rule *rule, struct netlink_ext_ack *extack);

/**
 * weir_parse_group_name() - just which group
 */
int weir_parse_group_name(const struct nlattr *nest, const char *service,
			  char name[WEIR_NAME_MAX + 1],
			  struct netlink_ext_ack *extack);

/**
 * weir_parse_group() - zone and role over those that stand in @group
 * @group: its name is set
 */
int weir_parse_group(const struct nlattr *nest, const char *service,
		     struct weir_group *group, struct netlink_ext_ack *extack);

/**
 * weir_parse_backend_which() - the address, the group, both, or neither
 */
int weir_parse_backend_which(const struct nlattr *nest, const char *service,
			     struct weir_backend_which *which,
			     struct netlink_ext_ack *extack);

/**
 * weir_parse_backend() - the other values over those that stand in @be
 */
int weir_parse_backend(const struct nlattr *nest, const char *service,
		       const struct weir_backend_which *which,
		       struct weir_backend *be, struct netlink_ext_ack *extack);

/**
 * weir_parse_zone_name() - which zone
 */
int weir_parse_zone_name(const struct nlattr *nest,
			 char name[WEIR_NAME_MAX + 1],
			 struct netlink_ext_ack *extack);

/**
 * weir_parse_zone() - the prefixes of a zone
 * @zone: its name
 * @prefixes: on success the caller frees them with kvfree(); NULL if there are none
 * @n: how many
 */
int weir_parse_zone(const struct nlattr *nest, const char *zone,
		    struct weir_zone_prefix **prefixes, u32 *n,
		    struct netlink_ext_ack *extack);

/**
 * weir_parse_packet() - the packet of a lookup
 * @syn: a TCP segment that opens a connection
 */
int weir_parse_packet(const struct nlattr *nest, struct weir_tuple *tuple,
		      bool *syn, struct netlink_ext_ack *extack);

/**
 * weir_parse_flow_filter() - SERVICE_NAME and BACKEND, both optional
 * @name: room for the name that @filter points to
 */
int weir_parse_flow_filter(struct nlattr **attrs,
			   struct weir_flow_filter *filter,
			   char name[WEIR_NAME_MAX + 1],
			   struct netlink_ext_ack *extack);

/**
 * weir_parse_missing() - refuse a request that lacks something
 * @nest: where it is missing, NULL for the top level
 * @type: attribute
 * @what: "service web: rule: the VIP", for instance
 *
 * Return: -EINVAL.
 */
int weir_parse_missing(struct netlink_ext_ack *extack,
		       const struct nlattr *nest, int type, const char *what);

#endif /* WEIR_PARSE_H */
