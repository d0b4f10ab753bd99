// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "decode.h"
#include "encode.h"
#include "print.h"
#include "why.h"

struct packet {
	uint8_t proto;
	struct weir_addr src, dst;
	bool has_sport, has_dport, syn;
	uint16_t sport, dport;
};

static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP ||
	       proto == IPPROTO_SCTP;
}

static int parse_end(const char *what, const char *word,
		     struct weir_addr *addr, uint16_t *port, bool *has_port,
		     struct weir_err *err)
{
	if (weir_parse_endpoint(word, addr, port, has_port))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "lookup: %s %s: give ADDR or ADDR:PORT, like 198.51.100.7:40000 or [2001:db8::7]:40000",
				    what, weir_quote(word));
	return 0;
}

/* What fits together. */
static int check_packet(const struct packet *p, const char *proto,
			struct weir_err *err)
{
	if (p->src.len != p->dst.len)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "lookup: source and destination are of two families: give both IPv4 or both IPv6");
	if ((p->has_sport || p->has_dport) && !has_ports(p->proto))
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "lookup: %s has no ports: give the addresses alone",
				    proto);
	if (p->syn && p->proto != IPPROTO_TCP)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "lookup: tcp-syn goes with tcp, not with %s",
				    proto);
	return 0;
}

static int parse_packet(struct weir_args args, struct packet *p,
			struct weir_err *err)
{
	int proto = weir_ipproto_find(args.word[0]);

	memset(p, 0, sizeof(*p));
	if (args.n == 4 && strcmp(args.word[3], "tcp-syn"))
		return weir_err_set(err, WEIR_ERR_GRAMMAR,
				    "%s: only tcp-syn may stand here",
				    weir_quote(args.word[3]));
	p->syn = args.n == 4;
	if (proto < 0)
		return weir_err_set(err, WEIR_ERR_VALUE,
				    "lookup: protocol %s: give tcp, udp, sctp, icmp, esp, ah, gre or a number 0..255",
				    weir_quote(args.word[0]));
	if (parse_end("source", args.word[1], &p->src, &p->sport,
		      &p->has_sport, err) ||
	    parse_end("destination", args.word[2], &p->dst, &p->dport,
		      &p->has_dport, err))
		return -1;
	if (proto == IPPROTO_ICMP && p->dst.len == 16)
		proto = IPPROTO_ICMPV6;
	p->proto = proto;
	return check_packet(p, args.word[0], err);
}

static void put_packet(struct nlmsghdr *nlh, const struct packet *p)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, WEIR_A_PACKET);

	weir_put_addr(nlh, WEIR_PACKET_A_SRC, &p->src);
	weir_put_addr(nlh, WEIR_PACKET_A_DST, &p->dst);
	mnl_attr_put_u8(nlh, WEIR_PACKET_A_PROTO, p->proto);
	if (p->has_sport)
		mnl_attr_put_u16(nlh, WEIR_PACKET_A_SPORT, p->sport);
	if (p->has_dport)
		mnl_attr_put_u16(nlh, WEIR_PACKET_A_DPORT, p->dport);
	if (p->syn)
		mnl_attr_put(nlh, WEIR_PACKET_A_SYN, 0, NULL);
	mnl_attr_nest_end(nlh, nest);
}

static int take_verdict(const struct nlmsghdr *nlh, void *arg)
{
	weir_verdict_free(arg);
	return weir_decode_verdict(nlh, arg);
}

static void print_packet(struct weir_out *out, const struct packet *p)
{
	char text[WEIR_ADDR_TEXT + 8], proto[8];

	weir_out_object(out, "packet");
	weir_out_str(out, "proto", "packet: %s",
		     weir_ipproto_text(p->proto, proto));
	weir_out_str(out, "src", NULL, weir_addr_text(&p->src, text));
	weir_out_num(out, "sport", NULL, p->sport);
	weir_out_text(out, " from %s", weir_endpoint_text(&p->src, p->has_sport,
							  p->sport, text));
	weir_out_str(out, "dst", NULL, weir_addr_text(&p->dst, text));
	weir_out_num(out, "dport", NULL, p->dport);
	weir_out_text(out, " to %s", weir_endpoint_text(&p->dst, p->has_dport,
							p->dport, text));
	weir_out_bool(out, "tcp-syn", NULL, p->syn);
	weir_out_text(out, "%s\n", p->syn ? ", opens a connection (SYN)" : "");
	weir_out_end(out);
}

static const char *outcome_sentence(const struct weir_verdict *v)
{
	switch (v->outcome) {
	case WEIR_OUTCOME_NOT_OURS:
		return "passes as if weir were absent: the destination is no VIP";
	case WEIR_OUTCOME_NO_RULE:
		return "dropped (no-rule): the destination is a VIP, but no rule of it takes this protocol and port";
	case WEIR_OUTCOME_LOCAL:
		return "goes to this host: the VIP is a local address and no rule takes this protocol and port";
	case WEIR_OUTCOME_EMPTY:
		return "no backend may be chosen: the service's when-empty decides between drop and reject";
	case WEIR_OUTCOME_AH:
		return "dropped (ah): translation would break it";
	case WEIR_OUTCOME_KEPT:
		return "the existing flow keeps its backend";
	case WEIR_OUTCOME_SELECTED:
		if (weir_has(v->set, WEIR_VERDICT_A_BY_SESSION))
			return "a new flow goes where its session goes";
		return "the backend is chosen anew";
	}
	return "an outcome that this tool is too old to know";
}

static const char *key_sentence(uint32_t fields)
{
	switch (fields) {
	case 1:
		return "source address";
	case 2:
		return "source and destination address";
	case 3:
		return "source and destination address, protocol";
	case 5:
		return "source and destination address, protocol, source and destination port";
	}
	return "fields that this tool does not know";
}

static void print_rule(struct weir_out *out, const struct weir_verdict *v)
{
	weir_out_object(out, "rule");
	if (weir_has(v->set, WEIR_VERDICT_A_RULE)) {
		weir_out_text(out, "rule: ");
		weir_out_rule(out, &v->rule);
	}
	weir_out_end(out);
	if (weir_has(v->set, WEIR_VERDICT_A_RULE))
		weir_out_text(out, " matches");
	else
		weir_out_text(out, "rule: none matches");
	weir_out_str(out, "service", *v->service ? ", service %s\n" : "\n",
		     v->service);
}

/* Only where the tracking key is not conntrack's own, of five fields. */
static void print_session(struct weir_out *out, const struct weir_verdict *v)
{
	bool has_session = weir_has(v->set, WEIR_VERDICT_A_SESSION);
	bool coarse = weir_has(v->set, WEIR_VERDICT_A_TRACK_FIELDS) &&
		      v->track_fields < 5;

	weir_out_num(out, "track-fields", NULL, v->track_fields);
	if (coarse)
		weir_out_text(out, "session key: %s\n",
			      key_sentence(v->track_fields));
	weir_out_object(out, "session");
	if (has_session) {
		weir_out_text(out, "session: ");
		weir_out_session(out, &v->session);
		weir_out_text(out, "\n");
	} else if (coarse) {
		weir_out_text(out, "session: there is none\n");
	}
	weir_out_end(out);
	weir_out_bool(out, "by-session", NULL,
		      weir_has(v->set, WEIR_VERDICT_A_BY_SESSION));
	if (weir_has(v->set, WEIR_VERDICT_A_BY_SESSION))
		weir_out_text(out, "session: it decides, not the table\n");
	else if (has_session)
		weir_out_text(out, "session: it may not stay, the table decides\n");
}

static void print_existing(struct weir_out *out, const struct weir_verdict *v)
{
	bool said = weir_has(v->set, WEIR_VERDICT_A_STAY);

	weir_out_object(out, "flow");
	if (weir_has(v->set, WEIR_VERDICT_A_FLOW)) {
		weir_out_text(out, "existing flow: ");
		weir_out_flow(out, &v->flow);
		weir_out_text(out, "\n");
	}
	weir_out_end(out);
	weir_out_str(out, "stay", NULL, weir_word(&weir_stay_words, v->stay));
	if (said)
		weir_out_text(out, "existing flow: %s\n",
			      weir_stay_sentence(v->stay));
	print_session(out, v);
}

/* Their number is that of the packet's table: where zonal affinity has a say, of
 * those that it leaves, so it stands there. */
static void print_eligible(struct weir_out *out, const struct weir_verdict *v)
{
	bool eligible = weir_has(v->set, WEIR_VERDICT_A_ELIGIBLE);
	bool zonal = weir_has(v->set, WEIR_VERDICT_A_ZONAL);

	if (eligible)
		weir_out_text(out, "eligible:");
	weir_out_num(out, "n-eligible", eligible && !zonal ? " %s" : NULL,
		     v->n_eligible);
	weir_out_str(out, "eligible", eligible ? " [%s]" : NULL,
		     weir_word(&weir_eligible_words, v->eligible));
	if (eligible)
		weir_out_text(out, ": %s\n",
			      weir_eligible_sentence(v->eligible));
}

static void print_zone(struct weir_out *out, const struct weir_verdict *v)
{
	bool zonal = weir_has(v->set, WEIR_VERDICT_A_ZONAL);
	bool zone = zonal || weir_has(v->set, WEIR_VERDICT_A_ZONE);
	bool nobody = v->zonal == WEIR_ZONAL_NO_MATCH && !v->n_eligible;

	weir_out_str(out, "zone", *v->zone ? "zone: %s" : NULL, v->zone);
	if (zone && !*v->zone)
		weir_out_text(out, "zone: the client is in none");
	weir_out_str(out, "zonal", zonal ? " [%s]" : NULL, zonal ?
		     weir_word(&weir_zonal_words, v->zonal) : "");
	if (zonal)
		weir_out_text(out, ", %u eligible: %s", v->n_eligible,
			      nobody ? "nobody is eligible anywhere" :
				       weir_zonal_sentence(v->zonal));
	if (zone)
		weir_out_text(out, "\n");
}

static void print_choice(struct weir_out *out, const struct weir_verdict *v)
{
	bool hashed = weir_has(v->set, WEIR_VERDICT_A_HASH);
	char hash[17] = "";

	print_eligible(out, v);
	print_zone(out, v);
	if (weir_has(v->set, WEIR_VERDICT_A_KEY_FIELDS))
		weir_out_text(out, "key: %s\n", key_sentence(v->key_fields));
	weir_out_num(out, "key-fields", NULL, v->key_fields);
	if (hashed)
		snprintf(hash, sizeof(hash), "%016" PRIx64, v->hash);
	weir_out_str(out, "hash", hashed ? "hash: %s" : NULL, hash);
	hashed = hashed && weir_has(v->set, WEIR_VERDICT_A_SLOT);
	weir_out_num(out, "slot", hashed ? ", slot %s" : NULL, v->slot);
	weir_out_num(out, "table-slots", hashed ? " of %s" : NULL,
		     v->table_slots);
	if (*hash)
		weir_out_text(out, "\n");
	weir_out_object(out, "backend");
	if (weir_has(v->set, WEIR_VERDICT_A_BACKEND)) {
		weir_out_text(out, "backend: ");
		weir_out_backend(out, &v->backend);
		weir_out_backend_state(out, &v->backend, ", ");
		weir_out_text(out, "\n");
	}
	weir_out_end(out);
}

int weir_lookup(struct weir_ctx *ctx, struct weir_args args)
{
	struct weir_verdict v = { .set = 0 };
	struct weir_out *out = &ctx->out;
	struct nlmsghdr *nlh;
	struct weir_err err;
	struct packet packet;

	if (parse_packet(args, &packet, &err))
		return weir_refuse(&err);
	if (weir_connect(ctx))
		return WEIR_REFUSED;
	nlh = weir_nl_begin(&ctx->nl, WEIR_CMD_LOOKUP);
	put_packet(nlh, &packet);
	if (weir_nl_call(&ctx->nl, nlh, take_verdict, &v, &err)) {
		weir_verdict_free(&v);
		return weir_refuse(&err);
	}
	weir_out_object(out, NULL);
	print_packet(out, &packet);
	print_rule(out, &v);
	print_existing(out, &v);
	print_choice(out, &v);
	weir_out_str(out, "outcome", "outcome: %s: ",
		     weir_word(&weir_outcome_words, v.outcome));
	weir_out_text(out, "%s\n", outcome_sentence(&v));
	weir_out_end(out);
	weir_verdict_free(&v);
	return WEIR_DONE;
}
