/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's answers -> model. Pure functions over one message, which must
 * be complete (mnl_nlmsg_ok). Each attribute is checked for type and length,
 * in nests too, before it is used; one that we do not know is skipped, for the
 * kernel may be newer. All return -1 if the message is malformed. */
#ifndef WEIR_DECODE_H
#define WEIR_DECODE_H

#include <libmnl/libmnl.h>

#include "model.h"

enum weir_object {
	WEIR_OBJECT_SERVICE,
	WEIR_OBJECT_RULE,
	WEIR_OBJECT_GROUP,
	WEIR_OBJECT_BACKEND,
	WEIR_OBJECT_ZONE,
};

struct weir_change_record {
	uint8_t kind;			/* enum weir_change */
	enum weir_object object;
	char service[WEIR_NAME_SIZE];	/* "" for a zone */
	char zone[WEIR_NAME_SIZE];
	struct weir_rule rule;
	struct weir_group group;
	struct weir_backend backend;
};

/* Answer of a commit; also an event, which has no sums. */
struct weir_changes {
	bool has_generation;
	uint32_t generation;
	uint32_t n_added, n_changed, n_removed;
	uint32_t n_all;			/* of which those that fit are here */
	struct weir_change_record *change;
	unsigned int n;
};

struct weir_info {
	char version[64];
	bool has_generation;
	uint32_t generation;
	uint32_t n_services, n_held;
	bool has_limits;		/* those of the next line */
	uint32_t n_sessions, max_sessions, n_entries, max_flows;
	bool has_key;
	uint8_t key[WEIR_HASH_KEY_LEN];
};

struct weir_flow {
	char service[WEIR_NAME_SIZE];
	struct weir_addr src, dst, backend;
	uint64_t set;			/* a bit for each attribute present */
	uint16_t sport, dport, backend_port;
	uint32_t expires;
	uint8_t proto, tcp_state, replied, stay;
};

struct weir_session {
	char service[WEIR_NAME_SIZE];
	struct weir_addr src, dst, backend;
	uint64_t set;			/* a bit for each attribute present */
	uint32_t expires;
	uint16_t sport, dport;
	uint8_t fields, proto, confirmed;
};

struct weir_verdict {
	uint64_t set;			/* a bit for each attribute present */
	char service[WEIR_NAME_SIZE];
	char zone[WEIR_NAME_SIZE];
	uint8_t outcome, stay, key_fields, track_fields, eligible, zonal;
	uint64_t hash;
	uint32_t slot, table_slots, n_eligible;
	struct weir_rule rule;
	struct weir_flow flow;
	struct weir_session session;
	struct weir_backend backend;
};

struct weir_reason {
	char name[64];
	char text[256];
	uint64_t packets;
	bool kernel;
};

/* Is there a whole message at NLH, LEN bytes before the end of what came?
 * libmnl's own test lets lengths pass that are negative as an int. */
static inline bool weir_message_ok(const struct nlmsghdr *nlh, int len)
{
	return mnl_nlmsg_ok(nlh, len) && nlh->nlmsg_len <= (uint32_t)len;
}

/* One message of a CONFIG_GET dump, added to what came before. */
int weir_decode_config(const struct nlmsghdr *nlh, struct weir_config *config);
int weir_decode_changes(const struct nlmsghdr *nlh,
			struct weir_changes *changes);
int weir_decode_info(const struct nlmsghdr *nlh, struct weir_info *info);
/* A dump of flows has sessions too: which of the two is this? */
bool weir_decode_is_session(const struct nlmsghdr *nlh);
int weir_decode_flow(const struct nlmsghdr *nlh, struct weir_flow *flow);
int weir_decode_session(const struct nlmsghdr *nlh,
			struct weir_session *session);
int weir_decode_verdict(const struct nlmsghdr *nlh, struct weir_verdict *v);
int weir_decode_reason(const struct nlmsghdr *nlh, struct weir_reason *reason);
int weir_decode_flushed(const struct nlmsghdr *nlh, uint32_t *n_flows,
			uint32_t *n_sessions);

/* Objects that are part of an answer too; what was there is not freed. */
int weir_decode_rule(const struct nlattr *a, struct weir_rule *rule);
int weir_decode_backend(const struct nlattr *a, struct weir_backend *backend);

/* NLMSG_ERROR and NLMSG_DONE: the errno (positive; 0 is an acknowledgement)
 * and the kernel's sentence, "" if there is none. */
int weir_decode_error(const struct nlmsghdr *nlh, int *num, char *text,
		      size_t size);
/* CTRL_CMD_NEWFAMILY; *group is 0 if there is no group of that name. */
int weir_decode_family(const struct nlmsghdr *nlh, uint16_t *family,
		       const char *group_name, uint32_t *group);

void weir_changes_free(struct weir_changes *changes);
void weir_verdict_free(struct weir_verdict *verdict);

static inline bool weir_has(uint64_t set, unsigned int attr)
{
	return set & 1ull << attr;
}

#endif
