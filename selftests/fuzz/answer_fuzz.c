// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's answers: the first byte says what was asked, the rest is what
 * comes, a row of netlink messages. What can be decoded is printed, as text and
 * as JSON, which must be valid.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "file.h"
#include "out.h"
#include "print.h"
#include "print_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All of a config in one array, through every function that prints objects. */
static void print_config(struct weir_out *out, const struct weir_config *config)
{
	unsigned int i;

	for (i = 0; i < config->n_services; i++)
		weir_out_service_state(out, &config->services[i], true);
	for (i = 0; i < config->n_zones; i++)
		weir_out_zone_state(out, &config->zones[i]);
}

/* What one input leads to. */
struct outcome {
	struct weir_config config;
	struct weir_changes changes;
	struct weir_flow flow;
	struct weir_verdict verdict;
	struct weir_session session;
	bool has_flow, has_session, has_verdict;
};

static void print_outcome(struct weir_out *out, const struct outcome *o)
{
	unsigned int i;

	weir_out_array(out, NULL);
	print_config(out, &o->config);
	for (i = 0; i < o->changes.n; i++) {
		weir_out_object(out, NULL);
		weir_out_change(out, &o->changes.change[i]);
		weir_out_end(out);
	}
	weir_out_object(out, NULL);
	if (o->has_flow)
		weir_out_flow(out, &o->flow);
	if (o->has_verdict)
		weir_out_rule(out, &o->verdict.rule);
	weir_out_end(out);
	weir_out_object(out, NULL);
	if (o->has_session)
		weir_out_session(out, &o->session);
	if (o->has_verdict)
		weir_out_session(out, &o->verdict.session);
	weir_out_end(out);
	weir_out_end(out);
}

static void print(const struct outcome *o, bool json)
{
	struct weir_out out = { .json = json };
	json_t *root;
	size_t size;
	char *text;

	out.f = open_memstream(&text, &size);
	if (!out.f)
		abort();
	print_outcome(&out, o);
	fclose(out.f);
	if (json) {
		root = json_loadb(text, size, 0, NULL);
		if (!root)
			abort();
		json_decref(root);
	}
	free(text);
}

static void decode(uint8_t what, const struct nlmsghdr *nlh, struct outcome *o)
{
	struct weir_reason reason;
	struct weir_info info;
	char sentence[512];
	uint16_t family;
	uint32_t n, m;
	int num;

	switch (what % 10) {
	case 0:
		weir_decode_config(nlh, &o->config);
		break;
	case 1:
		weir_changes_free(&o->changes);
		weir_decode_changes(nlh, &o->changes);
		break;
	case 2:
		weir_decode_info(nlh, &info);
		break;
	case 3:
		o->has_flow = !weir_decode_flow(nlh, &o->flow);
		break;
	case 4:
		weir_verdict_free(&o->verdict);
		o->has_verdict = !weir_decode_verdict(nlh, &o->verdict);
		break;
	case 5:
		weir_decode_reason(nlh, &reason);
		break;
	case 6:
		weir_decode_flushed(nlh, &n, &m);
		break;
	case 7:
		weir_decode_error(nlh, &num, sentence, sizeof(sentence));
		break;
	case 8:
		weir_decode_family(nlh, &family, WEIR_MCGRP_EVENTS, &n);
		break;
	case 9:
		o->has_session = !weir_decode_session(nlh, &o->session);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome o = { .has_flow = false };
	const struct nlmsghdr *nlh;
	char *buf;
	int len;

	if (!size)
		return 0;
	/* A copy of exactly that size, so that one byte too far is seen. */
	len = size - 1;
	buf = malloc(len ? len : 1);
	memcpy(buf, data + 1, len);
	for (nlh = (void *)buf; weir_message_ok(nlh, len);
	     nlh = mnl_nlmsg_next(nlh, &len))
		decode(data[0], nlh, &o);
	weir_config_sort(&o.config);
	print(&o, false);
	print(&o, true);
	weir_config_free(&o.config);
	weir_changes_free(&o.changes);
	weir_verdict_free(&o.verdict);
	free(buf);
	return 0;
}
