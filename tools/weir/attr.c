// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/weir.h>

#include "attr.h"

static weir_policy top_policy = {
	[WEIR_A_SERVICE_NAME] = STRING,
	[WEIR_A_SERVICE] = NEST,
	[WEIR_A_RULE] = NEST,
	[WEIR_A_GROUP] = NEST,
	[WEIR_A_BACKEND] = NEST,
	[WEIR_A_ZONE] = NEST,
	[WEIR_A_GENERATION] = U32,
	[WEIR_A_HASH_KEY] = WEIR_HASH_KEY_LEN,
	[WEIR_A_VERSION] = STRING,
	[WEIR_A_N_ADDED] = U32,
	[WEIR_A_N_CHANGED] = U32,
	[WEIR_A_N_REMOVED] = U32,
	[WEIR_A_N_FLOWS] = U32,
	[WEIR_A_CHANGE] = NEST,
	[WEIR_A_VERDICT] = NEST,
	[WEIR_A_FLOW] = NEST,
	[WEIR_A_SESSION] = NEST,
	[WEIR_A_REASON] = NEST,
	[WEIR_A_N_SERVICES] = U32,
	[WEIR_A_N_HELD] = U32,
	[WEIR_A_N_SESSIONS] = U32,
	[WEIR_A_MAX_SESSIONS] = U32,
	[WEIR_A_N_ENTRIES] = U32,
	[WEIR_A_MAX_FLOWS] = U32,
	[WEIR_A_N_CHANGES] = U32,
	[WEIR_A_ZONAL] = NEST,
};

static int check_attr(const struct nlattr *a, uint8_t kind)
{
	size_t len = mnl_attr_get_payload_len(a);

	switch (kind) {
	case STRING:
		return mnl_attr_validate(a, MNL_TYPE_NUL_STRING) < 0 ? -1 : 0;
	case ADDR:
		return len == 4 || len == 16 ? 0 : -1;
	case NEST:
		return mnl_attr_validate(a, MNL_TYPE_NESTED) < 0 ? -1 : 0;
	case BYTES:
	case FLAG:
		return 0;
	default:
		return len == kind ? 0 : -1;
	}
}

static int parse_attrs(const void *from, size_t len, weir_policy policy,
		       struct weir_attrs *attrs)
{
	const struct nlattr *attr;

	memset(attrs, 0, sizeof(*attrs));
	mnl_attr_for_each_payload(from, len) {
		uint16_t type = mnl_attr_get_type(attr);

		if (type >= WEIR_ATTRS_MAX || policy[type] == NONE)
			continue;
		if (check_attr(attr, policy[type]))
			return -1;
		attrs->a[type] = attr;
		attrs->set |= 1ull << type;
	}
	return 0;
}

int weir_attrs_nest(const struct nlattr *a, weir_policy policy,
		    struct weir_attrs *attrs)
{
	return parse_attrs(mnl_attr_get_payload(a),
			   mnl_attr_get_payload_len(a), policy, attrs);
}

int weir_attrs_top(const struct nlmsghdr *nlh, struct weir_attrs *attrs)
{
	const size_t header = sizeof(struct genlmsghdr);
	size_t len = mnl_nlmsg_get_payload_len(nlh);

	if (len < header)
		return -1;
	return parse_attrs(mnl_nlmsg_get_payload_offset(nlh, header),
			   len - header, top_policy, attrs);
}

/* Numbers are read bytewise: attributes are aligned to 4 bytes only. */
uint64_t weir_attr_num(const struct weir_attrs *attrs, unsigned int type)
{
	const struct nlattr *a = attrs->a[type];
	const void *from;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;

	if (!a)
		return 0;
	from = mnl_attr_get_payload(a);
	switch (mnl_attr_get_payload_len(a)) {
	case 1:
		return *(const uint8_t *)from;
	case 2:
		memcpy(&u16, from, 2);
		return u16;
	case 4:
		memcpy(&u32, from, 4);
		return u32;
	case 8:
		memcpy(&u64, from, 8);
		return u64;
	default:
		return 0;
	}
}

void weir_attr_str(const struct weir_attrs *attrs, unsigned int type, char *to,
		   size_t size)
{
	const struct nlattr *a = attrs->a[type];

	snprintf(to, size, "%s", a ? mnl_attr_get_str(a) : "");
}

void weir_attr_addr(const struct weir_attrs *attrs, unsigned int type,
		    struct weir_addr *addr)
{
	const struct nlattr *a = attrs->a[type];

	memset(addr, 0, sizeof(*addr));
	if (!a)
		return;
	addr->len = mnl_attr_get_payload_len(a);
	memcpy(addr->b, mnl_attr_get_payload(a), addr->len);
}
