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
 *	FAKE_SESSION=decides	a lookup finds a session; or: over
 *	FAKE_CUT=N		bytes missing at the end of each answer of the family
 *	FAKE_ANSWERS=FILE	the bytes of all answers are appended
 *
 * State that the configuration does not have: records with commas between, each of
 * words with blanks between, the enums' values as the tool's words.
 *
 *	FAKE_ELIGIBLE="WORD ROLE P HP F HF N"	of every service that has backends
 *	FAKE_ZONAL="ZONE WORD CONFIGURED HEALTHY ELIGIBLE"...	likewise
 *	FAKE_WEIGHTING=WORD	likewise
 *	FAKE_DRAINING="ADDR MILLISECONDS"...	these were removed
 *	FAKE_REPORTS="ADDR WORD [WEIGHT]"...	what the checker says
 *	FAKE_FLIPS="ADDR N [SECONDS]"...	how often the health changed
 *	FAKE_PROBES="ADDR PASSED RUN AGE TEXT"...	the last probe
 *	FAKE_SLOTS="ADDR N"...	the share of the table
 *	FAKE_ZONE="ZONE [WORD]"	what a lookup says of the client; - is absent, . empty
 *	FAKE_STAY=WORD		what it says of the existing flow
 *
 * Refused: a backend with weight 13 (with a sentence), everything about a
 * service called "secret" (EPERM, no sentence).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "decode.h"
#include "fake.h"
#include "file.h"

static struct weir_config staged;
static bool in_transaction;

long fake_number(const char *name)
{
	const char *value = getenv(name);

	return value ? atol(value) : 0;
}

void fake_die(const char *why)
{
	fprintf(stderr, "fake kernel: %s\n", why);
	abort();
}

bool fake_record(const char *name, unsigned int at, fake_words words)
{
	const char *from = getenv(name), *end;
	unsigned int i, used;

	memset(words, 0, sizeof(fake_words));
	for (i = 0; from && i < at; i++) {
		from = strchr(from, ',');
		from += from ? 1 : 0;
	}
	if (!from || !*from)
		return false;
	end = from + strcspn(from, ",");
	for (i = 0; i < FAKE_WORDS && from < end; i++) {
		from += strspn(from, " ");
		used = strcspn(from, " ,");
		snprintf(words[i], FAKE_WORD, "%.*s", (int)used, from);
		from += used;
	}
	return true;
}

bool fake_find(const char *name, const char *first, fake_words words)
{
	unsigned int i;

	for (i = 0; fake_record(name, i, words); i++)
		if (!strcmp(words[0], first))
			return true;
	return false;
}

void fake_load(struct weir_config *config)
{
	const char *name = getenv("FAKE_STATE");
	static char text[1 << 20];
	struct weir_err err;
	unsigned int line;
	size_t len;
	FILE *f;

	memset(config, 0, sizeof(*config));
	if (!name)
		fake_die("FAKE_STATE is not set");
	f = fopen(name, "r");
	if (!f)
		return;
	len = fread(text, 1, sizeof(text), f);
	fclose(f);
	if (weir_file_parse(text, len, config, &line, &err))
		fake_die(err.text);
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

/* A change: into the transaction, or, alone, only into the log. */
static int stage(const struct nlmsghdr *nlh, char *why, size_t size)
{
	const char *name = fake_string(nlh, WEIR_A_SERVICE_NAME);
	static struct weir_config alone;
	struct weir_config *config = in_transaction ? &staged : &alone;
	struct weir_service *service;

	if (!in_transaction && name)
		weir_config_add_service(config, name);
	if (weir_decode_config(nlh, config))
		fake_die("a request that does not decode");
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
		if (!fake_has(nlh, WEIR_A_REPLACE))
			fake_load(&staged);
		in_transaction = true;
		return 0;
	case WEIR_CMD_TXN_COMMIT:
		fake_commit(nlh, &staged);
		in_transaction = false;
		return 0;
	case WEIR_CMD_LOOKUP:
		fake_lookup(nlh);
		return 0;
	case WEIR_CMD_INFO_GET:
		fake_info(nlh);
		return 0;
	case WEIR_CMD_FLOW_FLUSH:
		reply = fake_answer(nlh, WEIR_CMD_FLOW_FLUSH);
		mnl_attr_put_u32(reply, WEIR_A_N_FLOWS, 3);
		mnl_attr_put_u32(reply, WEIR_A_N_SESSIONS, 1);
		fake_send(reply);
		return 0;
	}
	return stage(nlh, why, size);
}

void fake_take(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = mnl_nlmsg_get_payload(nlh);
	char why[200] = "";
	int err;

	if (nlh->nlmsg_type == GENL_ID_CTRL) {
		fake_family(nlh);
		return;
	}
	if (nlh->nlmsg_type != FAKE_FAMILY)
		fake_die("a message of another family");
	if ((nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		fake_dump(nlh, genl->cmd);
		return;
	}
	log_request(nlh);
	err = obey(nlh, why, sizeof(why));
	if (err || nlh->nlmsg_flags & NLM_F_ACK)
		fake_finish(nlh, NLMSG_ERROR, err, *why ? why : NULL);
}

