// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel for the tool's tests: it takes the place of the netlink socket (the
 * linker wraps libmnl's calls), keeps a configuration in a file, and answers as
 * uapi/linux/weir.h says. So the tool's own code runs whole, from argv to the
 * bytes that it sends and from the answers to what it prints.
 *
 *	FAKE_STATE=FILE		the configuration, in the format of the config file
 *	FAKE_LOG=FILE		changes are appended in readable form
 *	FAKE_ABSENT=1		no module: the family is unknown
 *	FAKE_INTR=N		so many dumps are interrupted
 *	FAKE_ROOM=N		the socket holds so many answers, more are lost
 *	FAKE_VERSION=V		of the module
 *	FAKE_KEY=1		the reader may see the hash key
 *	FAKE_HEALTH=down	nobody is healthy
 *	FAKE_CUT=N		bytes missing at the end of each answer of the family
 *	FAKE_ANSWERS=FILE	the bytes of all answers are appended
 *
 * Refused: a backend with weight 13 (with a sentence), everything about a
 * service called "secret" (EPERM, no sentence).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "decode.h"
#include "encode.h"
#include "file.h"
#include "words.h"

#define FAMILY		0x1d
#define GROUP		7
#define PORTID		4711
#define QUEUE_MAX	100000
#define CHANGES_ROOM	16000

/* What waits in the socket. */
static struct { char *bytes; size_t len; } queue[QUEUE_MAX];
static unsigned int head, tail;
static bool lost;
static bool joined;
static int event_fd = -1;

static struct weir_config staged;
static bool in_transaction;

static struct mnl_socket { int dummy; } the_socket;

static long env_number(const char *name)
{
	const char *value = getenv(name);

	return value ? atol(value) : 0;
}

static void die(const char *why)
{
	fprintf(stderr, "fake kernel: %s\n", why);
	abort();
}

static void keep_answer(const void *bytes, size_t len)
{
	const char *name = getenv("FAKE_ANSWERS");
	FILE *f = name ? fopen(name, "a") : NULL;

	if (!f)
		return;
	fwrite(bytes, 1, len, f);
	fclose(f);
}

static void push(const void *bytes, size_t len)
{
	long room = env_number("FAKE_ROOM");

	keep_answer(bytes, len);

	if (room && tail - head >= (unsigned int)room) {
		lost = true;
		return;
	}
	if (tail == QUEUE_MAX)
		die("the queue is full");
	queue[tail].bytes = malloc(len);
	memcpy(queue[tail].bytes, bytes, len);
	queue[tail++].len = len;
}

static char out[WEIR_MESSAGE_MAX * 2];

static struct nlmsghdr *answer(const struct nlmsghdr *to, uint8_t cmd)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(out);
	struct genlmsghdr *genl;

	nlh->nlmsg_type = FAMILY;
	nlh->nlmsg_seq = to->nlmsg_seq;
	nlh->nlmsg_pid = PORTID;
	genl = mnl_nlmsg_put_extra_header(nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = 1;
	mnl_attr_put_u32(nlh, WEIR_A_GENERATION, 7);
	return nlh;
}

static void send_answer(struct nlmsghdr *nlh)
{
	long cut = env_number("FAKE_CUT");

	if (cut && nlh->nlmsg_len > MNL_NLMSG_HDRLEN + GENL_HDRLEN + cut)
		nlh->nlmsg_len -= cut;
	push(nlh, nlh->nlmsg_len);
}

/* NLMSG_ERROR or NLMSG_DONE; the real module fills a fixed buffer, so blanks
 * stand behind its sentence. */
static void finish(const struct nlmsghdr *to, uint16_t type, int err,
		   const char *sentence)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(out);
	char padded[200];

	nlh->nlmsg_type = type;
	nlh->nlmsg_seq = to->nlmsg_seq;
	nlh->nlmsg_pid = PORTID;
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
	push(nlh, nlh->nlmsg_len);
}

static void load_state(struct weir_config *config)
{
	const char *name = getenv("FAKE_STATE");
	static char text[1 << 20];
	struct weir_err err;
	unsigned int line;
	size_t len;
	FILE *f;

	memset(config, 0, sizeof(*config));
	if (!name)
		die("FAKE_STATE is not set");
	f = fopen(name, "r");
	if (!f)
		return;
	len = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (weir_file_parse(text, len, config, &line, &err))
		die(err.text);
}

static void store_state(const struct weir_config *config)
{
	FILE *f = fopen(getenv("FAKE_STATE"), "w");
	struct weir_err err;

	if (!f || weir_file_print(f, config, &err) || fclose(f))
		die("cannot write FAKE_STATE");
}

/* 2="web" 3{2=03} for the log: numbers of attributes and bytes */
static void log_attrs(FILE *f, const void *from, size_t len)
{
	const struct nlattr *attr;
	size_t i;

	mnl_attr_for_each_payload(from, len) {
		const unsigned char *bytes = mnl_attr_get_payload(attr);
		size_t n = mnl_attr_get_payload_len(attr);

		fprintf(f, " %u", mnl_attr_get_type(attr));
		if (attr->nla_type & NLA_F_NESTED) {
			fputs("{", f);
			log_attrs(f, bytes, n);
			fputs(" }", f);
			continue;
		}
		fputc('=', f);
		for (i = 0; i < n; i++)
			fprintf(f, "%02x", bytes[i]);
	}
}

static void log_request(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	const char *name = getenv("FAKE_LOG");
	FILE *f = name ? fopen(name, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "cmd %u:", genl->cmd);
	log_attrs(f, (const char *)(genl + 1),
		  mnl_nlmsg_get_payload_len(nlh) - sizeof(*genl));
	fputc('\n', f);
	fclose(f);
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

static void dump_service(const struct nlmsghdr *to, struct weir_service *service)
{
	bool down = getenv("FAKE_HEALTH");
	unsigned int n = service->n_backends;
	struct nlmsghdr *nlh = answer(to, WEIR_CMD_CONFIG_GET);
	struct nlattr *nest;

	fill_defaults(&weir_service_options, &service->opts);
	weir_put_service(nlh, service);
	nest = reopen(nlh);
	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_TABLE_SLOTS, 1021);
	mnl_attr_put_u64(nlh, WEIR_SERVICE_A_DIGEST, 0x0123456789abcdefULL);
	mnl_attr_put_u8(nlh, WEIR_SERVICE_A_ELIGIBLE,
			!n ? WEIR_ELIGIBLE_NO_BACKENDS :
			down ? WEIR_ELIGIBLE_LAST_RESORT :
			       WEIR_ELIGIBLE_HEALTHY);
	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_BACKENDS, n);
	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_HEALTHY, down ? 0 : n);
	mnl_attr_put_u32(nlh, WEIR_SERVICE_A_N_ELIGIBLE, n);
	put_counters(nlh, WEIR_SERVICE_A_COUNTERS, 9007199254740992ULL);
	mnl_attr_nest_end(nlh, nest);
	send_answer(nlh);
}

static void dump_backend(const struct nlmsghdr *to,
			 const struct weir_service *service,
			 struct weir_backend *backend, bool flows)
{
	struct nlmsghdr *nlh = answer(to, WEIR_CMD_CONFIG_GET);
	struct nlattr *nest;

	fill_defaults(&weir_backend_options, &backend->opts);
	if (!backend->opts.str)
		weir_opts_str(&backend->opts, WEIR_BACKEND_A_GROUP, "default");
	weir_put_backend(nlh, service->name, backend);
	nest = reopen(nlh);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_CHECK, WEIR_HEALTH_UP);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_STATE, WEIR_STATE_ACTIVE);
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_HEALTHY, !getenv("FAKE_HEALTH"));
	mnl_attr_put_u8(nlh, WEIR_BACKEND_A_ELIGIBLE, 1);
	mnl_attr_put_u32(nlh, WEIR_BACKEND_A_SLOTS, 341);
	if (flows)
		mnl_attr_put_u32(nlh, WEIR_BACKEND_A_N_FLOWS, 12);
	put_counters(nlh, WEIR_BACKEND_A_COUNTERS, 100);
	mnl_attr_nest_end(nlh, nest);
	send_answer(nlh);
}

static void dump_members(const struct nlmsghdr *to,
			 struct weir_service *service, bool flows)
{
	struct nlmsghdr *nlh;
	unsigned int i;

	for (i = 0; i < service->n_rules; i++) {
		nlh = answer(to, WEIR_CMD_CONFIG_GET);
		weir_put_rule(nlh, service->name, &service->rules[i]);
		send_answer(nlh);
	}
	for (i = 0; i < service->n_groups; i++) {
		nlh = answer(to, WEIR_CMD_CONFIG_GET);
		fill_defaults(&weir_group_options, &service->groups[i].opts);
		weir_put_group(nlh, service->name, &service->groups[i]);
		send_answer(nlh);
	}
	for (i = 0; i < service->n_backends; i++)
		dump_backend(to, service, &service->backends[i], flows);
}

static const char *string_of(const struct nlmsghdr *nlh, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == type)
			return mnl_attr_get_str(attr);
	return NULL;
}

static bool has_attr(const struct nlmsghdr *nlh, uint16_t type)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr))
		if (mnl_attr_get_type(attr) == type)
			return true;
	return false;
}

static void dump_config(const struct nlmsghdr *to)
{
	const char *name = string_of(to, WEIR_A_SERVICE_NAME);
	bool flows = has_attr(to, WEIR_A_WITH_FLOWS);
	struct weir_config config;
	struct nlmsghdr *nlh;
	unsigned int i;

	load_state(&config);
	for (i = 0; !name && i < config.n_zones; i++) {
		nlh = answer(to, WEIR_CMD_CONFIG_GET);
		weir_put_zone(nlh, &config.zones[i], 0);
		send_answer(nlh);
	}
	for (i = 0; i < config.n_services; i++) {
		if (name && strcmp(name, config.services[i].name))
			continue;
		dump_service(to, &config.services[i]);
		dump_members(to, &config.services[i], flows);
	}
	weir_config_free(&config);
}

static void put_flow(struct nlmsghdr *nlh, uint16_t type, uint8_t proto,
		     const char *src, const char *dst, const char *backend,
		     uint8_t stay)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, type);
	struct weir_addr addr;

	mnl_attr_put_strz(nlh, WEIR_FLOW_A_SERVICE_NAME, "web");
	mnl_attr_put_u8(nlh, WEIR_FLOW_A_PROTO, proto);
	weir_parse_addr(src, &addr);
	weir_put_addr(nlh, WEIR_FLOW_A_SRC, &addr);
	weir_parse_addr(dst, &addr);
	weir_put_addr(nlh, WEIR_FLOW_A_DST, &addr);
	weir_parse_addr(backend, &addr);
	weir_put_addr(nlh, WEIR_FLOW_A_BACKEND, &addr);
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
	struct weir_addr addr;

	mnl_attr_put_strz(nlh, WEIR_SESSION_A_SERVICE_NAME, "web");
	mnl_attr_put_u8(nlh, WEIR_SESSION_A_FIELDS, fields);
	weir_parse_addr(src, &addr);
	weir_put_addr(nlh, WEIR_SESSION_A_SRC, &addr);
	weir_parse_addr(dst, &addr);
	if (fields > 1)
		weir_put_addr(nlh, WEIR_SESSION_A_DST, &addr);
	if (fields > 2)
		mnl_attr_put_u8(nlh, WEIR_SESSION_A_PROTO, 17);
	weir_parse_addr(backend, &addr);
	weir_put_addr(nlh, WEIR_SESSION_A_BACKEND, &addr);
	mnl_attr_put_u32(nlh, WEIR_SESSION_A_EXPIRES, 3000 + fields);
	mnl_attr_put_u8(nlh, WEIR_SESSION_A_CONFIRMED, fields < 3);
	mnl_attr_nest_end(nlh, nest);
}

static void dump_flows(const struct nlmsghdr *to)
{
	struct nlmsghdr *nlh = answer(to, WEIR_CMD_FLOW_GET);

	put_flow(nlh, WEIR_A_FLOW, 6, "198.51.100.7", "203.0.113.10",
		 "10.2.0.11", WEIR_STAY_YES);
	send_answer(nlh);
	nlh = answer(to, WEIR_CMD_FLOW_GET);
	put_flow(nlh, WEIR_A_FLOW, 17, "2001:db8::7", "2001:db8::80",
		 "2001:db8:2::11", WEIR_STAY_UNHEALTHY);
	send_answer(nlh);
	nlh = answer(to, WEIR_CMD_FLOW_GET);
	put_flow(nlh, WEIR_A_FLOW, 50, "198.51.100.8", "203.0.113.10",
		 "10.2.0.11", 99);
	send_answer(nlh);
	nlh = answer(to, WEIR_CMD_FLOW_GET);
	put_session(nlh, WEIR_A_SESSION, 1, "198.51.100.7", "203.0.113.10",
		    "10.2.0.11");
	send_answer(nlh);
	nlh = answer(to, WEIR_CMD_FLOW_GET);
	put_session(nlh, WEIR_A_SESSION, 2, "2001:db8::7", "2001:db8::80",
		    "2001:db8:2::11");
	send_answer(nlh);
	nlh = answer(to, WEIR_CMD_FLOW_GET);
	put_session(nlh, WEIR_A_SESSION, 3, "198.51.100.8", "203.0.113.10",
		    "10.2.0.11");
	send_answer(nlh);
}

static void dump_reason(const struct nlmsghdr *to, const char *name,
			const char *text, uint64_t packets, bool kernel)
{
	struct nlmsghdr *nlh = answer(to, WEIR_CMD_COUNTER_GET);
	struct nlattr *nest = mnl_attr_nest_start(nlh, WEIR_A_REASON);

	mnl_attr_put_strz(nlh, WEIR_REASON_A_NAME, name);
	mnl_attr_put_strz(nlh, WEIR_REASON_A_TEXT, text);
	mnl_attr_put_u64(nlh, WEIR_REASON_A_PACKETS, packets);
	if (kernel)
		mnl_attr_put(nlh, WEIR_REASON_A_KERNEL, 0, NULL);
	mnl_attr_nest_end(nlh, nest);
	send_answer(nlh);
}

static void dump(const struct nlmsghdr *to, uint8_t cmd)
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
		die("a dump that the module does not have");
	}
	finish(to, NLMSG_DONE, 0, NULL);
	if (interrupted++ < env_number("FAKE_INTR")) {
		done = (struct nlmsghdr *)queue[tail - 1].bytes;
		done->nlmsg_flags |= NLM_F_DUMP_INTR;
	}
}

/* As many as fit. */
static unsigned int n_changes;	/* of this commit */

static void put_change(struct nlmsghdr *nlh, uint8_t kind,
		       const struct weir_service *service)
{
	struct nlattr *nest;
	unsigned int i;

	n_changes += 1 + service->n_backends;
	if (nlh->nlmsg_len > CHANGES_ROOM)
		return;

	nest = mnl_attr_nest_start(nlh, WEIR_A_CHANGE);
	mnl_attr_put_u8(nlh, WEIR_CHANGE_A_KIND, kind);
	mnl_attr_put_strz(nlh, WEIR_CHANGE_A_SERVICE_NAME, service->name);
	mnl_attr_nest_end(nlh, nest);
	for (i = 0; i < service->n_backends &&
		    nlh->nlmsg_len < CHANGES_ROOM; i++) {
		const struct weir_backend *backend = &service->backends[i];
		struct nlattr *inner;

		nest = mnl_attr_nest_start(nlh, WEIR_A_CHANGE);
		mnl_attr_put_u8(nlh, WEIR_CHANGE_A_KIND, kind);
		mnl_attr_put_strz(nlh, WEIR_CHANGE_A_SERVICE_NAME,
				  service->name);
		inner = mnl_attr_nest_start(nlh, WEIR_CHANGE_A_BACKEND);
		weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &backend->addr);
		if (backend->opts.str)
			mnl_attr_put_strz(nlh, WEIR_BACKEND_A_GROUP,
					  backend->opts.str);
		mnl_attr_nest_end(nlh, inner);
		mnl_attr_nest_end(nlh, nest);
	}
}

/* A service as text, to see whether it changed. */
static char *text_of(const struct weir_service *service)
{
	struct weir_config one = { .services = (struct weir_service *)service,
				   .n_services = 1 };
	struct weir_err err;
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (weir_file_print(f, &one, &err) || fclose(f))
		die(err.text);
	return text;
}

static bool same(const struct weir_service *a, const struct weir_service *b)
{
	char *ta = text_of(a), *tb = text_of(b);
	bool equal = !strcmp(ta, tb);

	free(ta);
	free(tb);
	return equal;
}

static void commit(const struct nlmsghdr *to)
{
	struct nlmsghdr *nlh = answer(to, WEIR_CMD_TXN_COMMIT);
	uint32_t added = 0, changed = 0, removed = 0;
	struct weir_config old;
	unsigned int i;

	load_state(&old);
	weir_config_sort(&staged);
	for (i = 0; i < staged.n_services; i++) {
		const struct weir_service *new = &staged.services[i];
		const struct weir_service *was = weir_config_find(&old,
								  new->name);

		if (!was) {
			added++;
			put_change(nlh, WEIR_CHANGE_ADDED, new);
		} else if (!same(was, new)) {
			changed++;
			put_change(nlh, WEIR_CHANGE_CHANGED, new);
		}
	}
	for (i = 0; i < old.n_services; i++) {
		if (weir_config_find(&staged, old.services[i].name))
			continue;
		removed++;
		put_change(nlh, WEIR_CHANGE_REMOVED, &old.services[i]);
	}
	mnl_attr_put_u32(nlh, WEIR_A_N_CHANGES, n_changes);
	mnl_attr_put_u32(nlh, WEIR_A_N_ADDED, added);
	mnl_attr_put_u32(nlh, WEIR_A_N_CHANGED, changed);
	mnl_attr_put_u32(nlh, WEIR_A_N_REMOVED, removed);
	send_answer(nlh);
	if (!has_attr(to, WEIR_A_DRY_RUN))
		store_state(&staged);
	weir_config_free(&old);
	weir_config_free(&staged);
	in_transaction = false;
}

static void lookup(const struct nlmsghdr *to)
{
	struct weir_backend backend = { .line = 0 };
	struct nlmsghdr *nlh = answer(to, WEIR_CMD_LOOKUP);
	struct nlattr *nest = mnl_attr_nest_start(nlh, WEIR_A_VERDICT), *inner;

	mnl_attr_put_u8(nlh, WEIR_VERDICT_A_OUTCOME, WEIR_OUTCOME_SELECTED);
	mnl_attr_put_strz(nlh, WEIR_VERDICT_A_SERVICE_NAME, "web");
	inner = mnl_attr_nest_start(nlh, WEIR_VERDICT_A_RULE);
	weir_parse_addr("203.0.113.10", &backend.addr);
	weir_put_addr(nlh, WEIR_RULE_A_VIP, &backend.addr);
	mnl_attr_put_u8(nlh, WEIR_RULE_A_PROTO, WEIR_PROTO_TCP);
	mnl_attr_put(nlh, WEIR_RULE_A_PORTS, 4, "\x50\x00\xbb\x01");
	mnl_attr_nest_end(nlh, inner);
	mnl_attr_put_u8(nlh, WEIR_VERDICT_A_STAY, WEIR_STAY_GONE);
	put_flow(nlh, WEIR_VERDICT_A_FLOW, 6, "198.51.100.7", "203.0.113.10",
		 "10.2.0.99", WEIR_STAY_GONE);
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
	inner = mnl_attr_nest_start(nlh, WEIR_VERDICT_A_BACKEND);
	weir_parse_addr("10.2.0.11", &backend.addr);
	weir_put_addr(nlh, WEIR_BACKEND_A_ADDR, &backend.addr);
	mnl_attr_put_strz(nlh, WEIR_BACKEND_A_GROUP, "east");
	mnl_attr_nest_end(nlh, inner);
	mnl_attr_nest_end(nlh, nest);
	send_answer(nlh);
}

static void info(const struct nlmsghdr *to)
{
	struct nlmsghdr *nlh = answer(to, WEIR_CMD_INFO_GET);
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
	send_answer(nlh);
}

/* A change: into the transaction, or, alone, only into the log. */
static int stage(const struct nlmsghdr *nlh, char *why, size_t size)
{
	const char *name = string_of(nlh, WEIR_A_SERVICE_NAME);
	static struct weir_config alone;
	struct weir_config *config = in_transaction ? &staged : &alone;
	struct weir_service *service;

	if (!in_transaction && name)
		weir_config_add_service(config, name);
	if (weir_decode_config(nlh, config))
		die("a request that does not decode");
	if (name && !strcmp(name, "secret"))
		return EPERM;
	service = config->n_services ?
		  &config->services[config->n_services - 1] : NULL;
	if (service && service->n_backends &&
	    service->backends[service->n_backends - 1]
	    .opts.num[WEIR_BACKEND_A_WEIGHT] == 13) {
		snprintf(why, size, "service %s: weight 13 brings bad luck",
			 name);
		service->n_backends--;
		return EINVAL;
	}
	return 0;
}

/* Returns an errno; the sentence in WHY. */
static int obey(const struct nlmsghdr *nlh, char *why, size_t size)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	struct nlmsghdr *reply;

	switch (genl->cmd) {
	case WEIR_CMD_TXN_BEGIN:
		if (!has_attr(nlh, WEIR_A_REPLACE))
			die("a transaction without REPLACE");
		in_transaction = true;
		return 0;
	case WEIR_CMD_TXN_COMMIT:
		commit(nlh);
		return 0;
	case WEIR_CMD_LOOKUP:
		lookup(nlh);
		return 0;
	case WEIR_CMD_INFO_GET:
		info(nlh);
		return 0;
	case WEIR_CMD_FLOW_FLUSH:
		reply = answer(nlh, WEIR_CMD_FLOW_FLUSH);
		mnl_attr_put_u32(reply, WEIR_A_N_FLOWS, 3);
		mnl_attr_put_u32(reply, WEIR_A_N_SESSIONS, 1);
		send_answer(reply);
		return 0;
	}
	return stage(nlh, why, size);
}

static void give_family(const struct nlmsghdr *to)
{
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(out);
	struct nlattr *groups, *one;

	if (getenv("FAKE_ABSENT")) {
		finish(to, NLMSG_ERROR, ENOENT, NULL);
		return;
	}
	nlh->nlmsg_type = GENL_ID_CTRL;
	nlh->nlmsg_seq = to->nlmsg_seq;
	mnl_nlmsg_put_extra_header(nlh, sizeof(struct genlmsghdr));
	mnl_attr_put_u16(nlh, CTRL_ATTR_FAMILY_ID, FAMILY);
	groups = mnl_attr_nest_start(nlh, CTRL_ATTR_MCAST_GROUPS);
	one = mnl_attr_nest_start(nlh, 1);
	mnl_attr_put_strz(nlh, CTRL_ATTR_MCAST_GRP_NAME, WEIR_MCGRP_EVENTS);
	mnl_attr_put_u32(nlh, CTRL_ATTR_MCAST_GRP_ID, GROUP);
	mnl_attr_nest_end(nlh, one);
	mnl_attr_nest_end(nlh, groups);
	push(nlh, nlh->nlmsg_len);
	finish(to, NLMSG_ERROR, 0, NULL);
}

static void take(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	char why[200] = "";
	int err;

	if (nlh->nlmsg_type == GENL_ID_CTRL) {
		give_family(nlh);
		return;
	}
	if (nlh->nlmsg_type != FAMILY)
		die("a message of another family");
	if ((nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		dump(nlh, genl->cmd);
		return;
	}
	log_request(nlh);
	err = obey(nlh, why, sizeof(why));
	if (err || nlh->nlmsg_flags & NLM_F_ACK)
		finish(nlh, NLMSG_ERROR, err, *why ? why : NULL);
}

/*
 * What the linker puts in the place of libmnl's and libc's functions
 */

struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags);
int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups,
			   pid_t pid);
unsigned int __wrap_mnl_socket_get_portid(const struct mnl_socket *nl);
int __wrap_mnl_socket_get_fd(const struct mnl_socket *nl);
int __wrap_mnl_socket_setsockopt(const struct mnl_socket *nl, int type,
				 void *buf, socklen_t len);
ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t size);
int __wrap_mnl_socket_close(struct mnl_socket *nl);
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags);
struct mnl_socket *__real_mnl_socket_open2(int bus, int flags);
int __real_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups,
			   pid_t pid);
unsigned int __real_mnl_socket_get_portid(const struct mnl_socket *nl);
ssize_t __real_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t size);
int __real_mnl_socket_close(struct mnl_socket *nl);

/* `check` asks the real kernel about routes. */
struct mnl_socket *__wrap_mnl_socket_open2(int bus, int flags)
{
	if (bus != NETLINK_GENERIC)
		return __real_mnl_socket_open2(bus, flags);
	event_fd = eventfd(0, EFD_CLOEXEC);
	return &the_socket;
}

int __wrap_mnl_socket_bind(struct mnl_socket *nl, unsigned int groups,
			   pid_t pid)
{
	return nl == &the_socket ? 0 : __real_mnl_socket_bind(nl, groups, pid);
}

unsigned int __wrap_mnl_socket_get_portid(const struct mnl_socket *nl)
{
	return nl == &the_socket ? PORTID : __real_mnl_socket_get_portid(nl);
}

int __wrap_mnl_socket_get_fd(const struct mnl_socket *nl)
{
	if (nl != &the_socket)
		die("the descriptor of another socket");
	return event_fd;
}

static void push_event(uint8_t kind, const char *backend)
{
	struct weir_service service = { .name = "web" };
	struct weir_backend one = { .line = 0 };
	struct nlmsghdr none = { .nlmsg_seq = 0 };
	struct nlmsghdr *nlh = answer(&none, WEIR_CMD_EVENT);

	if (backend) {
		weir_parse_addr(backend, &one.addr);
		service.backends = &one;
		service.n_backends = 1;
	}
	put_change(nlh, kind, &service);
	push(nlh, nlh->nlmsg_len);
}

int __wrap_mnl_socket_setsockopt(const struct mnl_socket *nl, int type,
				 void *buf, socklen_t len)
{
	uint64_t one = 1;

	(void)nl;
	if (type != NETLINK_ADD_MEMBERSHIP)
		return 0;
	if (len != sizeof(uint32_t) || *(uint32_t *)buf != GROUP)
		die("another group");
	joined = true;
	push_event(WEIR_CHANGE_ADDED, "10.2.0.12");
	push_event(WEIR_CHANGE_REMOVED, NULL);
	lost = true;
	if (write(event_fd, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
	return 0;
}

ssize_t __wrap_mnl_socket_sendto(const struct mnl_socket *nl, const void *req,
				 size_t size)
{
	const struct nlmsghdr *nlh = req;
	int len = size;

	if (nl != &the_socket)
		return __real_mnl_socket_sendto(nl, req, size);
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len))
		take(nlh);
	if (len)
		die("a packet that is not made of whole messages");
	return size;
}

int __wrap_mnl_socket_close(struct mnl_socket *nl)
{
	return nl == &the_socket ? 0 : __real_mnl_socket_close(nl);
}

/* The queue, then what was lost, then nothing: a monitor is told to end. */
ssize_t __wrap_recvmsg(int fd, struct msghdr *msg, int flags)
{
	struct sockaddr_nl *from = msg->msg_name;
	size_t len;

	if (fd != event_fd)
		die("another descriptor");
	if (head == tail && lost) {
		lost = false;
		errno = ENOBUFS;
		return -1;
	}
	if (head == tail) {
		if (!(flags & MSG_DONTWAIT))
			die("the tool waits for an answer that never comes");
		if (joined)
			raise(SIGTERM);
		errno = EAGAIN;
		return -1;
	}
	len = queue[head].len;
	if (len > msg->msg_iov[0].iov_len)
		die("a buffer that is too small");
	memcpy(msg->msg_iov[0].iov_base, queue[head].bytes, len);
	free(queue[head++].bytes);
	memset(from, 0, sizeof(*from));
	from->nl_family = AF_NETLINK;
	msg->msg_namelen = sizeof(*from);
	msg->msg_flags = 0;
	return len;
}
