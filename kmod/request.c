// SPDX-License-Identifier: GPL-2.0
/*
 * request - one change, as a message asks for it, on a draft
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/weir.h>
#include <net/netlink.h>

#include "draft.h"
#include "parse.h"
#include "refuse.h"
#include "request.h"
#include "service.h"
#include "zones.h"

static const char default_group[] = "default";

/* A verb that changes what a service has. @nest is the object of the request,
 * and there; @now is for what may drain.
 */
typedef int (*member_fn)(struct weir_service *svc, const struct nlattr *nest,
			 bool now, struct netlink_ext_ack *extack);

struct member_verb {
	int attr;
	const char *object;
	member_fn fn;
};

/* Takes effect as a whole: the only step that can fail comes first. */
static int apply_settings(struct weir_service *svc,
			  const struct weir_settings *set)
{
	const char *line = set->health_check;
	char *copy = NULL;

	if (line) {
		if (*line) {
			copy = kstrdup(line, GFP_KERNEL_ACCOUNT);
			if (!copy)
				return -ENOMEM;
		}
		kfree(svc->health_check);
		svc->health_check = copy;
	}
	svc->opt = set->opt;
	return 0;
}

static int service_add(struct nlattr **attrs, struct weir_draft *draft,
		       struct netlink_ext_ack *extack)
{
	struct weir_settings set = {};
	char name[WEIR_NAME_MAX + 1];
	struct weir_service *svc;
	int err;

	err = weir_parse_service_name(attrs[WEIR_A_SERVICE_NAME], name, extack);
	if (err)
		return err;
	weir_options_default(&set.opt);
	err = weir_parse_service(attrs[WEIR_A_SERVICE], name, &set, extack);
	if (err)
		return err;
	svc = weir_draft_add(draft, name, extack);
	if (IS_ERR(svc))
		return PTR_ERR(svc);
	err = apply_settings(svc, &set);
	if (err)
		weir_draft_del(draft, name, NULL);
	return err;
}

static int service_set(struct nlattr **attrs, struct weir_draft *draft,
		       struct netlink_ext_ack *extack)
{
	struct weir_settings set = {};
	char name[WEIR_NAME_MAX + 1];
	struct weir_service *svc;
	int err;

	err = weir_parse_service_name(attrs[WEIR_A_SERVICE_NAME], name, extack);
	if (err)
		return err;
	if (!attrs[WEIR_A_SERVICE])
		return weir_parse_missing(extack, NULL, WEIR_A_SERVICE,
					  "SERVICE, the options to set,");
	svc = weir_draft_edit(draft, name, extack);
	if (IS_ERR(svc))
		return PTR_ERR(svc);
	set.opt = svc->opt;
	err = weir_parse_service(attrs[WEIR_A_SERVICE], name, &set, extack);
	return err ?: apply_settings(svc, &set);
}

static int service_del(struct nlattr **attrs, struct weir_draft *draft,
		       struct netlink_ext_ack *extack)
{
	char name[WEIR_NAME_MAX + 1];
	int err;

	err = weir_parse_service_name(attrs[WEIR_A_SERVICE_NAME], name, extack);
	return err ?: weir_draft_del(draft, name, extack);
}

static int rule_add(struct weir_service *svc, const struct nlattr *nest,
		    bool now, struct netlink_ext_ack *extack)
{
	struct weir_rule rule;
	int err;

	err = weir_parse_rule(nest, svc->name, &rule, extack);
	if (err)
		return err;
	err = weir_rule_add(svc, &rule, extack);
	kfree(rule.ports);
	return err;
}

static int rule_del(struct weir_service *svc, const struct nlattr *nest,
		    bool now, struct netlink_ext_ack *extack)
{
	struct weir_rule rule;
	int err;

	err = weir_parse_rule(nest, svc->name, &rule, extack);
	if (err)
		return err;
	err = weir_rule_del(svc, &rule, extack);
	kfree(rule.ports);
	return err;
}

static int group_add(struct weir_service *svc, const struct nlattr *nest,
		     bool now, struct netlink_ext_ack *extack)
{
	struct weir_group group = {};
	int err;

	err = weir_parse_group_name(nest, svc->name, group.name, extack);
	if (!err)
		err = weir_parse_group(nest, svc->name, &group, extack);
	return err ?: weir_group_add(svc, &group, extack);
}

static int group_set(struct weir_service *svc, const struct nlattr *nest,
		     bool now, struct netlink_ext_ack *extack)
{
	struct weir_group group = {};
	const struct weir_group *found;
	int err;

	err = weir_parse_group_name(nest, svc->name, group.name, extack);
	if (err)
		return err;
	found = weir_group_find(svc, group.name);
	if (found)
		group = *found;
	err = weir_parse_group(nest, svc->name, &group, extack);
	return err ?: weir_group_set(svc, &group, extack);
}

static int group_del(struct weir_service *svc, const struct nlattr *nest,
		     bool now, struct netlink_ext_ack *extack)
{
	char name[WEIR_NAME_MAX + 1];
	int err;

	err = weir_parse_group_name(nest, svc->name, name, extack);
	return err ?: weir_group_del(svc, name, extack);
}

static int backend_add(struct weir_service *svc, const struct nlattr *nest,
		       bool now, struct netlink_ext_ack *extack)
{
	struct weir_backend_which which;
	struct weir_backend be = { .weight.configured = 1 };
	int err;

	err = weir_parse_backend_which(nest, svc->name, &which, extack);
	if (err)
		return err;
	if (!which.has_addr)
		return weir_parse_missing(extack, nest, WEIR_BACKEND_A_ADDR,
					  "ADDR, the backend's address,");
	err = weir_parse_backend(nest, svc->name, &which, &be, extack);
	if (err)
		return err;
	be.addr = which.addr;
	be.family = which.family;
	strscpy(be.group, which.has_group ? which.group : default_group,
		sizeof(be.group));
	return weir_backend_add(svc, &be, extack);
}

static int need_group(const struct weir_service *svc, const char *name,
		      struct netlink_ext_ack *extack)
{
	if (!strcmp(name, default_group) || weir_group_find(svc, name))
		return 0;
	return weir_refuse(extack, -ENOENT,
			   "service %s: group %s: there is none; weir group add %s %s makes it",
			   svc->name, name, svc->name, name);
}

static int set_one(struct weir_service *svc, const struct nlattr *nest,
		   const struct weir_backend_which *which,
		   struct netlink_ext_ack *extack)
{
	struct weir_backend *be, copy;
	char text[WEIR_ADDR_TEXT];
	int err;

	be = weir_backend_find(svc, &which->addr, which->family);
	if (!be)
		return weir_refuse(extack, -ENOENT,
				   "service %s: backend %s: there is none; weir show %s lists them",
				   svc->name,
				   weir_addr_text(text, which->family,
						  &which->addr), svc->name);
	copy = *be;
	err = weir_parse_backend(nest, svc->name, which, &copy, extack);
	if (err)
		return err;
	if (which->has_group)
		strscpy(copy.group, which->group, sizeof(copy.group));
	/* It is not configured any more; how it is still counts (decision 4). */
	if (be->draining && (copy.port != be->port ||
			     copy.weight.configured != be->weight.configured ||
			     strcmp(copy.group, be->group)))
		return weir_refuse(extack, -EINVAL,
				   "service %s: backend %s: it is draining: just its health can be set; weir backend add brings it back",
				   svc->name,
				   weir_addr_text(text, which->family,
						  &which->addr));
	*be = copy;
	return 0;
}

static int set_members(struct weir_service *svc, const struct nlattr *nest,
		       const struct weir_backend_which *which,
		       struct netlink_ext_ack *extack)
{
	struct weir_backend probe = {};
	u32 i;
	int err;

	/* What is refused for one is refused for all: ask before the first. */
	err = weir_parse_backend(nest, svc->name, which, &probe, extack);
	for (i = 0; i < svc->nr_backends && !err; i++)
		if (!svc->backends[i].draining &&
		    !strcmp(svc->backends[i].group, which->group))
			err = weir_parse_backend(nest, svc->name, which,
						 &svc->backends[i], extack);
	return err;
}

static int backend_set(struct weir_service *svc, const struct nlattr *nest,
		       bool now, struct netlink_ext_ack *extack)
{
	struct weir_backend_which which;
	int err;

	err = weir_parse_backend_which(nest, svc->name, &which, extack);
	if (!err && which.has_group)
		err = need_group(svc, which.group, extack);
	if (err)
		return err;
	if (which.has_addr)
		return set_one(svc, nest, &which, extack);
	if (which.has_group)
		return set_members(svc, nest, &which, extack);
	return weir_parse_missing(extack, nest, WEIR_BACKEND_A_ADDR,
				  "ADDR or GROUP, which backends to set,");
}

static int backend_del(struct weir_service *svc, const struct nlattr *nest,
		       bool now, struct netlink_ext_ack *extack)
{
	struct weir_backend_which which;
	int err;

	err = weir_parse_backend_which(nest, svc->name, &which, extack);
	if (err)
		return err;
	if (which.has_addr && which.has_group)
		return weir_refuse_attr(extack, nest, -EINVAL,
					"service %s: backend del: ADDR and GROUP %s: say one of them",
					svc->name, which.group);
	if (which.has_addr)
		return weir_backend_del(svc, &which.addr, which.family, now,
					extack);
	if (which.has_group)
		return weir_backend_del_group(svc, which.group, now, extack);
	return weir_parse_missing(extack, nest, WEIR_BACKEND_A_ADDR,
				  "ADDR or GROUP, which backends to remove,");
}

static const struct member_verb member_verbs[] = {
	[WEIR_CMD_RULE_ADD]	= { WEIR_A_RULE, "RULE", rule_add },
	[WEIR_CMD_RULE_DEL]	= { WEIR_A_RULE, "RULE", rule_del },
	[WEIR_CMD_GROUP_ADD]	= { WEIR_A_GROUP, "GROUP", group_add },
	[WEIR_CMD_GROUP_SET]	= { WEIR_A_GROUP, "GROUP", group_set },
	[WEIR_CMD_GROUP_DEL]	= { WEIR_A_GROUP, "GROUP", group_del },
	[WEIR_CMD_BACKEND_ADD]	= { WEIR_A_BACKEND, "BACKEND", backend_add },
	[WEIR_CMD_BACKEND_SET]	= { WEIR_A_BACKEND, "BACKEND", backend_set },
	[WEIR_CMD_BACKEND_DEL]	= { WEIR_A_BACKEND, "BACKEND", backend_del },
};

static int change_member(const struct member_verb *verb, struct nlattr **attrs,
			 struct weir_draft *draft,
			 struct netlink_ext_ack *extack)
{
	char name[WEIR_NAME_MAX + 1], what[64];
	struct weir_service *svc;
	int err;

	err = weir_parse_service_name(attrs[WEIR_A_SERVICE_NAME], name, extack);
	if (err)
		return err;
	if (!attrs[verb->attr]) {
		snprintf(what, sizeof(what), "service %s: %s", name,
			 verb->object);
		return weir_parse_missing(extack, NULL, verb->attr, what);
	}
	svc = weir_draft_edit(draft, name, extack);
	if (IS_ERR(svc))
		return PTR_ERR(svc);
	return verb->fn(svc, attrs[verb->attr], nla_get_flag(attrs[WEIR_A_NOW]),
			extack);
}

static int change_zone(u8 cmd, struct nlattr **attrs, struct weir_draft *draft,
		       struct netlink_ext_ack *extack)
{
	struct weir_zone_prefix *prefixes;
	char name[WEIR_NAME_MAX + 1];
	struct weir_zones *zones;
	int err;
	u32 n;

	if (!attrs[WEIR_A_ZONE])
		return weir_parse_missing(extack, NULL, WEIR_A_ZONE, "ZONE");
	err = weir_parse_zone_name(attrs[WEIR_A_ZONE], name, extack);
	if (!err)
		err = weir_parse_zone(attrs[WEIR_A_ZONE], name, &prefixes, &n,
				      extack);
	if (err)
		return err;
	zones = weir_draft_zones(draft);
	if (IS_ERR(zones))
		err = PTR_ERR(zones);
	else if (cmd == WEIR_CMD_ZONE_DEL)
		err = weir_zones_del(zones, name, prefixes, n, extack);
	else if (n)
		err = weir_zones_add(zones, name, prefixes, n, extack);
	else
		err = weir_parse_missing(extack, attrs[WEIR_A_ZONE],
					 WEIR_ZONE_A_PREFIXES,
					 "PREFIXES, the clients of the zone,");
	kvfree(prefixes);
	return err;
}

int weir_request_apply(u8 cmd, struct nlattr **attrs, struct weir_draft *draft,
		       struct netlink_ext_ack *extack)
{
	switch (cmd) {
	case WEIR_CMD_SERVICE_ADD:
		return service_add(attrs, draft, extack);
	case WEIR_CMD_SERVICE_SET:
		return service_set(attrs, draft, extack);
	case WEIR_CMD_SERVICE_DEL:
		return service_del(attrs, draft, extack);
	case WEIR_CMD_ZONE_ADD:
	case WEIR_CMD_ZONE_DEL:
		return change_zone(cmd, attrs, draft, extack);
	}
	if (cmd < ARRAY_SIZE(member_verbs) && member_verbs[cmd].fn)
		return change_member(&member_verbs[cmd], attrs, draft, extack);
	return -EOPNOTSUPP;
}
