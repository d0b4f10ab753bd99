// SPDX-License-Identifier: GPL-2.0
/* What the fake kernel answers; see fake_kernel.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "encode.h"
#include "fake.h"
#include "words.h"

static char out[WEIR_MESSAGE_MAX * 2];

struct nlmsghdr *fake_answer(const struct nlmsghdr *to, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(out);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = FAKE_FAMILY;
	nlh->nlmsg_seq = to->nlmsg_seq;
	nlh->nlmsg_pid = FAKE_PORTID;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	mnl_attr_put_u32(nlh, WEIR_A_GENERATION, 7);
	return nlh;
}

void fake_send(struct nlmsghdr *nlh)
{
	long cut = fake_number("FAKE_CUT");

	if (cut && nlh->nlmsg_len > MNL_NLMSG_HDRLEN + GENL_HDRLEN + cut)
		nlh->nlmsg_len -= cut;
	fake_push(nlh, nlh->nlmsg_len);
}

/* NLMSG_ERROR or NLMSG_DONE; the real module fills a fixed buffer, so blanks
 * stand behind its sentence. */
void fake_finish(const struct nlmsghdr *to, uint16_t type, int err,
		 const char *sentence)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(out);
	char padded[200];

	nlh->nlmsg_type = type;
	nlh->nlmsg_seq = to->nlmsg_seq;
	nlh->nlmsg_pid = FAKE_PORTID;
	if (type == NLMSG_DONE) {
		*(int *)mnl_nlmsg_put_extra_header(nlh, sizeof(int)) = -err;
	} else {
		struct nlmsgerr *e = mnl_nlmsg_put_extra_header(nlh,
								sizeof(*e));

		e->error = -err;
		e->msg = *to;
		nlh->nlmsg_flags |= NLM_F_CAPPED;
	}
	if (sentence) {
		nlh->nlmsg_flags |= NLM_F_ACK_TLVS;
		snprintf(padded, sizeof(padded), "%.150s    ", sentence);
		mnl_attr_put_strz(nlh, NLMSGERR_ATTR_MSG, padded);
	}
	fake_push(nlh, nlh->nlmsg_len);
}

/* The nest that was put last, to put more into it. */
static struct nlattr *reopen(struct nlmsghdr *nlh)
{
	struct nlattr *last = NULL;
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		last = (struct nlattr *)attr;
	return last;
}

static void put_counters(struct nlmsghdr *nlh, uint16_t type, uint64_t base)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, type);
	unsigned int i;

	for (i = WEIR_COUNTER_A_SELECTIONS; i <= WEIR_COUNTER_A_MAX; i++)
		mnl_attr_put_u64(nlh, i, base + i);
	mnl_attr_nest_end(nlh, nest);
}

/* The kernel tells every option; the file has only those that differ. */
static void fill_defaults(const struct weir_options *options,
			  struct weir_opts *opts)
{
	unsigned int i;

	for (i = 0; i < options->count; i++) {
		const struct weir_option *option = &options->option[i];

		if (!weir_opts_has(opts, option->attr) && option->bytes)
			weir_opts_num(opts, option->attr, option->dflt);
	}
}

/* A value of an enum, by the tool's word for it. */
static uint8_t value(const struct weir_words *words, const char *word)
{
	int n = weir_word_find(words, word);

	if (n < 0)
		fake_die(word);
	return n;
}

static bool is_draining(const struct weir_backend *backend, fake_words words)
{
	char text[WEIR_ADDR_TEXT];

	return fake_find("FAKE_DRAINING", weir_addr_text(&backend->addr, text),
			 words);
}

/* Who is eligible, as FAKE_ELIGIBLE or else FAKE_HEALTH says. */
static void put_eligible(struct nlmsghdr *nlh, unsigned int n)
{
	bool down = getenv("FAKE_HEALTH");
	uint32_t healthy = down ? 0 : n, count = n;
	fake_words w;

	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_BACKENDS, n);
	if (n && fake_record("FAKE_ELIGIBLE", 0, w)) {
		mnl_attr_put_u8(nlh, WEIR_SERVICE_A_ELIGIBLE,
				value(&weir_eligible_words, w[0]));
		mnl_attr_put_u8(nlh, WEIR_SERVICE_A_ROLE,
				value(&weir_role_words, w[1]));
		mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_PRIMARY, atoi(w[2]));
		mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_PRIMARY_HEALTHY,
				 atoi(w[3]));
		mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_FAILOVER, atoi(w[4]));
		mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_FAILOVER_HEALTHY,
				 atoi(w[5]));
		healthy = atoi(w[3]) + atoi(w[5]);
		count = atoi(w[6]);
	} else {
		mnl_attr_put_u8(nlh, WEIR_SERVICE_A_ELIGIBLE,
				!n ? WEIR_ELIGIBLE_NO_BACKENDS :
				down ? WEIR_ELIGIBLE_LAST_RESORT :
				       WEIR_ELIGIBLE_HEALTHY);
		mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_PRIMARY, n);
		mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_PRIMARY_HEALTHY,
				 healthy);
	}
	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_HEALTHY, healthy);
	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_ELIGIBLE, count);
}

static void dump_service(const struct nlmsghdr *to, struct weir_service *service)
{
	struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_CONFIG_GET);
	unsigned int i, n = 0;
	struct nlattr *nest;
	fake_words words;

	for (i = 0; i < service->n_backends; i++)
		n += !is_draining(&service->backends[i], words);
	fill_defaults(&weir_service_options, &service->opts);
	weir_put_service(nlh, service);
	nest = reopen(nlh);
	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_TABLE_SLOTS, 1021);
	mnl_attr_put_u64(nlh, WEIR_SERVICE_A_DIGEST, 0x0123456789abcdefULL);
	put_eligible(nlh, n);
	if (fake_record("FAKE_WEIGHTING", 0, words))
		mnl_attr_put_u8(nlh, WEIR_SERVICE_A_WEIGHTING,
				value(&weir_weighting_words, words[0]));
	put_counters(nlh, WEIR_SERVICE_A_COUNTERS, 9007199254740992ULL);
	mnl_attr_nest_end(nlh, nest);
	fake_send(nlh);
}

/* What the checker said, and how often the health changed. */
static void put_checked(struct nlmsghdr *nlh, const struct weir_backend *backend)
{
	char text[WEIR_ADDR_TEXT];
	fake_words words;

	weir_addr_text(&backend->addr, text);
	if (fake_find("FAKE_REPORTS", text, words)) {
		mnl_attr_put_u8(nlh, WEIR_BACKEND_A_WEIGHT_STATE,
				value(&weir_weight_state_words, words[1]));
		if (*words[2])
			mnl_attr_put_u32(nlh, WEIR_BACKEND_A_REPORTED,
					 atoi(words[2]));
	}
	if (fake_find("FAKE_PROBES", text, words)) {
		mnl_attr_put_u8(nlh, WEIR_BACKEND_A_PROBE_PASSED, atoi(words[1]));
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_PROBE_RUN, atoi(words[2]));
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_PROBE_AGE, atoi(words[3]));
		mnl_attr_put_strz(nlh, WEIR_BACKEND_A_PROBE_TEXT, words[4]);
	}
	if (fake_find("FAKE_FLIPS", text, words)) {
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_N_FLIPS, atoi(words[1]));
		if (*words[2])
			mnl_attr_put_u32(nlh, WEIR_BACKEND_A_FLIPPED,
					 atoi(words[2]));
	}
}

static void put_backend_state(struct nlmsghdr *nlh,
			      const struct weir_backend *backend)
{
	char text[WEIR_ADDR_TEXT];
	fake_words words;
	bool drains = is_draining(backend, words);

	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_CHECK, WEIR_HEALTH_UP);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_HEALTHY, !getenv("FAKE_HEALTH"));
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_STATE,
			drains ? WEIR_STATE_DRAINING : WEIR_STATE_ACTIVE);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_ELIGIBLE, !drains);
	if (drains)
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_DRAIN_LEFT,
				 atoi(words[1]));
	if (fake_find("FAKE_SLOTS", weir_addr_text(&backend->addr, text),
		      words))
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_SLOTS, atoi(words[1]));
	else
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_SLOTS, drains ? 0 : 341);
	put_checked(nlh, backend);
}

static void dump_backend(const struct nlmsghdr *to,
			 const struct weir_service *service,
			 struct weir_backend *backend, bool flows)
{
	struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_CONFIG_GET);
	struct nlattr *nest;

	fill_defaults(&weir_backend_options, &backend->opts);
	if (!backend->opts.str)
		weir_opts_str(&backend->opts, WEIR_BACKEND_A_GROUP, "default");
	weir_put_backend(nlh, service->name, backend);
	nest = reopen(nlh);
	put_backend_state(nlh, backend);
	if (flows)
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_N_FLOWS, 12);
	put_counters(nlh, WEIR_BACKEND_A_COUNTERS, 100);
	mnl_attr_nest_end(nlh, nest);
	fake_send(nlh);
}

static void dump_zonal(const struct nlmsghdr *to,
		       const struct weir_service *service)
{
	struct nlmsghdr *nlh;
	struct nlattr *nest;
	unsigned int i;
	fake_words w;

	for (i = 0; fake_record("FAKE_ZONAL", i, w); i++) {
		nlh = fake_answer(to, WEIR_CMD_CONFIG_GET);
		mnl_attr_put_strz(nlh, WEIR_A_SERVICE_NAME, service->name);
		nest = mnl_attr_nest_start(nlh, WEIR_A_ZONAL);
		mnl_attr_put_strz(nlh, WEIR_ZONAL_A_ZONE, w[0]);
		mnl_attr_put_u8(nlh, WEIR_ZONAL_A_REASON,
				value(&weir_zonal_words, w[1]));
		mnl_attr_put_u32(nlh, WEIR_ZONAL_A_N_CONFIGURED, atoi(w[2]));
		mnl_attr_put_u32(nlh, WEIR_ZONAL_A_N_HEALTHY, atoi(w[3]));
		mnl_attr_put_u32(nlh, WEIR_ZONAL_A_N_ELIGIBLE, atoi(w[4]));
		mnl_attr_put_u64(nlh, WEIR_ZONAL_A_DIGEST,
				 0xfedcba9876543210ULL + i);
		mnl_attr_nest_end(nlh, nest);
		fake_send(nlh);
	}
}

/* As many messages as there are prefixes: the tool has to put them together. */
static void dump_zone(const struct nlmsghdr *to, const struct weir_zone *zone)
{
	unsigned int i;

	for (i = 0; i < zone->n_prefixes; i++) {
		struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_CONFIG_GET);
		struct weir_zone one = *zone;

		one.prefixes = &zone->prefixes[i];
		one.n_prefixes = 1;
		weir_put_zone(nlh, &one, 0);
		fake_send(nlh);
	}
}

static void dump_members(const struct nlmsghdr *to,
			 struct weir_service *service, bool flows)
{
	struct nlmsghdr *nlh;
	unsigned int i;

	for (i = 0; i < service->n_rules; i++) {
		nlh = fake_answer(to, WEIR_CMD_CONFIG_GET);
		weir_put_rule(nlh, service->name, &service->rules[i]);
		fake_send(nlh);
	}
	for (i = 0; i < service->n_groups; i++) {
		nlh = fake_answer(to, WEIR_CMD_CONFIG_GET);
		fill_defaults(&weir_group_options, &service->groups[i].opts);
		weir_put_group(nlh, service->name, &service->groups[i]);
		fake_send(nlh);
	}
	for (i = 0; i < service->n_backends; i++)
		dump_backend(to, service, &service->backends[i], flows);
	if (service->n_backends)
		dump_zonal(to, service);
}

const char *fake_string(const struct nlmsghdr *nlh, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == type)
			return mnl_attr_get_str(attr);
	return NULL;
}

bool fake_has(const struct nlmsghdr *nlh, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == type)
			return true;
	return false;
}

static void dump_config(const struct nlmsghdr *to)
{
	const char *name = fake_string(to, WEIR_A_SERVICE_NAME);
	bool flows = fake_has(to, WEIR_A_WITH_FLOWS);
	struct weir_config config;
	unsigned int i;

	fake_load(&config);
	for (i = 0; !name && i < config.n_zones; i++)
		dump_zone(to, &config.zones[i]);
	for (i = 0; i < config.n_services; i++) {
		if (name && strcmp(name, config.services[i].name))
			continue;
		dump_service(to, &config.services[i]);
		dump_members(to, &config.services[i], flows);
	}
	weir_config_free(&config);
}

static void put_addr_text(struct nlmsghdr *nlh, uint16_t type, const char *text)
{
	struct weir_addr addr;

	weir_parse_addr(text, &addr);
	weir_put_addr(nlh, type, &addr);
}

static void put_flow(struct nlmsghdr *nlh, uint16_t type, uint8_t proto,
		     const char *src, const char *dst, const char *backend,
		     uint8_t stay)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, type);

	mnl_attr_put_strz(nlh, WEIR_FLOW_A_SERVICE_NAME, "web");
	mnl_attr_put_u8(nlh, WEIR_FLOW_A_PROTO, proto);
	put_addr_text(nlh, WEIR_FLOW_A_SRC, src);
	put_addr_text(nlh, WEIR_FLOW_A_DST, dst);
	put_addr_text(nlh, WEIR_FLOW_A_BACKEND, backend);
	if (proto == 6 || proto == 17) {
		mnl_attr_put_u16(nlh, WEIR_FLOW_A_SPORT, 40000);
		mnl_attr_put_u16(nlh, WEIR_FLOW_A_DPORT, 80);
		mnl_attr_put_u16(nlh, WEIR_FLOW_A_BACKEND_PORT, 8080);
	}
	if (proto == 6)
		mnl_attr_put_u8(nlh, WEIR_FLOW_A_TCP_STATE, 3);
	mnl_attr_put_u32(nlh, WEIR_FLOW_A_EXPIRES, 599);
	mnl_attr_put_u8(nlh, WEIR_FLOW_A_REPLIED, proto == 6);
	mnl_attr_put_u8(nlh, WEIR_FLOW_A_STAY, stay);
	mnl_attr_nest_end(nlh, nest);
}

/* FIELDS of the key, of which those after SRC may be absent. */
static void put_session(struct nlmsghdr *nlh, uint16_t type, uint8_t fields,
			const char *src, const char *dst, const char *backend)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, type);

	mnl_attr_put_strz(nlh, WEIR_SESSION_A_SERVICE_NAME, "web");
	mnl_attr_put_u8(nlh, WEIR_SESSION_A_FIELDS, fields);
	put_addr_text(nlh, WEIR_SESSION_A_SRC, src);
	if (fields > 1)
		put_addr_text(nlh, WEIR_SESSION_A_DST, dst);
	if (fields > 2)
		mnl_attr_put_u8(nlh, WEIR_SESSION_A_PROTO, 17);
	put_addr_text(nlh, WEIR_SESSION_A_BACKEND, backend);
	mnl_attr_put_u32(nlh, WEIR_SESSION_A_EXPIRES, 3000 + fields);
	mnl_attr_put_u8(nlh, WEIR_SESSION_A_CONFIRMED, fields < 3);
	mnl_attr_nest_end(nlh, nest);
}

static void dump_flows(const struct nlmsghdr *to)
{
	struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_FLOW_GET);

	put_flow(nlh, WEIR_A_FLOW, 6, "198.51.100.7", "203.0.113.10",
		 "10.2.0.11", WEIR_STAY_YES);
	fake_send(nlh);
	nlh = fake_answer(to, WEIR_CMD_FLOW_GET);
	put_flow(nlh, WEIR_A_FLOW, 17, "2001:db8::7", "2001:db8::80",
		 "2001:db8:2::11", WEIR_STAY_UNHEALTHY);
	fake_send(nlh);
	nlh = fake_answer(to, WEIR_CMD_FLOW_GET);
	put_flow(nlh, WEIR_A_FLOW, 50, "198.51.100.8", "203.0.113.10",
		 "10.2.0.11", 99);
	fake_send(nlh);
	nlh = fake_answer(to, WEIR_CMD_FLOW_GET);
	put_session(nlh, WEIR_A_SESSION, 1, "198.51.100.7", "203.0.113.10",
		    "10.2.0.11");
	fake_send(nlh);
	nlh = fake_answer(to, WEIR_CMD_FLOW_GET);
	put_session(nlh, WEIR_A_SESSION, 2, "2001:db8::7", "2001:db8::80",
		    "2001:db8:2::11");
	fake_send(nlh);
	nlh = fake_answer(to, WEIR_CMD_FLOW_GET);
	put_session(nlh, WEIR_A_SESSION, 3, "198.51.100.8", "203.0.113.10",
		    "10.2.0.11");
	fake_send(nlh);
}

static void dump_reason(const struct nlmsghdr *to, const char *name,
			const char *text, uint64_t packets, bool kernel)
{
	struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_COUNTER_GET);
	struct nlattr *nest = mnl_attr_nest_start(nlh, WEIR_A_REASON);

	mnl_attr_put_strz(nlh, WEIR_REASON_A_NAME, name);
	mnl_attr_put_strz(nlh, WEIR_REASON_A_TEXT, text);
	mnl_attr_put_u64(nlh, WEIR_REASON_A_PACKETS, packets);
	if (kernel)
		mnl_attr_put(nlh, WEIR_REASON_A_KERNEL, 0, NULL);
	mnl_attr_nest_end(nlh, nest);
	fake_send(nlh);
}

void fake_dump(const struct nlmsghdr *to, uint8_t cmd)
{
	static long interrupted;
	struct nlmsghdr *done;

	switch (cmd) {
	case WEIR_CMD_CONFIG_GET:
		dump_config(to);
		break;
	case WEIR_CMD_FLOW_GET:
		dump_flows(to);
		break;
	case WEIR_CMD_COUNTER_GET:
		dump_reason(to, "no-eligible-backend",
			    "no backend may be chosen", 3, false);
		dump_reason(to, "no-rule", "a VIP, but no rule takes it", 0,
			    false);
		dump_reason(to, "insert-failed", "conntrack \x1b[31mred", 1,
			    true);
		break;
	default:
		fake_die("a dump that the module does not have");
	}
	fake_finish(to, NLMSG_DONE, 0, NULL);
	if (interrupted++ < fake_number("FAKE_INTR")) {
		done = fake_last();
		done->nlmsg_flags |= NLM_F_DUMP_INTR;
	}
}

void fake_lookup(const struct nlmsghdr *to)
{
	struct weir_backend backend = { .line = 0 };
	struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_LOOKUP);
	struct nlattr *nest = mnl_attr_nest_start(nlh, WEIR_A_VERDICT), *inner;
	uint8_t stay = WEIR_STAY_GONE;
	fake_words words;

	mnl_attr_put_u8(nlh, WEIR_VERDICT_A_OUTCOME, WEIR_OUTCOME_SELECTED);
	mnl_attr_put_strz(nlh, WEIR_VERDICT_A_SERVICE_NAME, "web");
	inner = mnl_attr_nest_start(nlh, WEIR_VERDICT_A_RULE);
	weir_parse_addr("203.0.113.10", &backend.addr);
	weir_put_addr(nlh, WEIR_RULE_A_VIP, &backend.addr);
	mnl_attr_put_u8(nlh, WEIR_RULE_A_PROTO, WEIR_PROTO_TCP);
	mnl_attr_put(nlh, WEIR_RULE_A_PORTS, 4, "\x50\x00\xbb\x01");
	mnl_attr_nest_end(nlh, inner);
	if (fake_record("FAKE_STAY", 0, words))
		stay = value(&weir_stay_words, words[0]);
	mnl_attr_put_u8(nlh, WEIR_VERDICT_A_STAY, stay);
	put_flow(nlh, WEIR_VERDICT_A_FLOW, 6, "198.51.100.7", "203.0.113.10",
		 "10.2.0.99", stay);
	mnl_attr_put_u8(nlh, WEIR_VERDICT_A_KEY_FIELDS, 5);
	mnl_attr_put_u8(nlh, WEIR_VERDICT_A_TRACK_FIELDS,
			getenv("FAKE_SESSION") ? 2 : 5);
	if (getenv("FAKE_SESSION")) {
		put_session(nlh, WEIR_VERDICT_A_SESSION, 2, "198.51.100.7",
			    "203.0.113.10", "10.2.0.11");
		if (!strcmp(getenv("FAKE_SESSION"), "decides"))
			mnl_attr_put(nlh, WEIR_VERDICT_A_BY_SESSION, 0, NULL);
	}
	mnl_attr_put_u64(nlh, WEIR_VERDICT_A_HASH, 0xfedcba9876543210ULL);
	mnl_attr_put_u32(nlh, WEIR_VERDICT_A_SLOT, 77);
	mnl_attr_put_u32(nlh, WEIR_VERDICT_A_TABLE_SLOTS, 1021);
	mnl_attr_put_u8(nlh, WEIR_VERDICT_A_ELIGIBLE, WEIR_ELIGIBLE_HEALTHY);
	mnl_attr_put_u32(nlh, WEIR_VERDICT_A_N_ELIGIBLE, 3);
	if (fake_record("FAKE_ZONE", 0, words)) {
		if (strcmp(words[0], "-"))
			mnl_attr_put_strz(nlh, WEIR_VERDICT_A_ZONE,
					  strcmp(words[0], ".") ? words[0] : "");
		if (*words[1])
			mnl_attr_put_u8(nlh, WEIR_VERDICT_A_ZONAL,
					value(&weir_zonal_words, words[1]));
	}
	inner = mnl_attr_nest_start(nlh, WEIR_VERDICT_A_BACKEND);
	weir_parse_addr("10.2.0.11", &backend.addr);
	weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &backend.addr);
	mnl_attr_put_strz(nlh, WEIR_BACKEND_A_GROUP, "east");
	if (is_draining(&backend, words))
		mnl_attr_put_u8(nlh, WEIR_BACKEND_A_STATE,
				WEIR_STATE_DRAINING);
	mnl_attr_nest_end(nlh, inner);
	mnl_attr_nest_end(nlh, nest);
	fake_send(nlh);
}

void fake_info(const struct nlmsghdr *to)
{
	struct nlmsghdr *nlh = fake_answer(to, WEIR_CMD_INFO_GET);
	const char *version = getenv("FAKE_VERSION");
	static const uint8_t key[16] = { 0x00, 0x11, [15] = 0xff };

	mnl_attr_put_strz(nlh, WEIR_A_VERSION, version ? version : "0.1.0");
	mnl_attr_put_u32(nlh, WEIR_A_N_HELD, getenv("FAKE_UNLIMITED") ? 8 : 0);
	mnl_attr_put_u32(nlh, WEIR_A_N_SESSIONS, 1234);
	mnl_attr_put_u32(nlh, WEIR_A_MAX_SESSIONS, 65536);
	mnl_attr_put_u32(nlh, WEIR_A_N_ENTRIES, 56789);
	mnl_attr_put_u32(nlh, WEIR_A_MAX_FLOWS,
			 getenv("FAKE_UNLIMITED") ? 0 : 235929);
	if (getenv("FAKE_KEY"))
		mnl_attr_put(nlh, WEIR_A_HASH_KEY, sizeof(key), key);
	fake_send(nlh);
}

void fake_family(const struct nlmsghdr *to)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(out);
	struct nlattr *groups, *one;

	if (getenv("FAKE_ABSENT")) {
		fake_finish(to, NLMSG_ERROR, ENOENT, NULL);
		return;
	}
	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_seq = to->nlmsg_seq;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAKE_FAMILY);
	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	one = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, WEIR_MCGRP_EVENTS);
	mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, FAKE_GROUP);
	mnl_attr_nest_end(nlh, one);
	mnl_attr_nest_end(nlh, groups);
	fake_push(nlh, nlh->nlmsg_len);
	fake_finish(to, NLMSG_ERROR, 0, NULL);
}

