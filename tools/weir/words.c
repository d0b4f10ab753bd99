// SPDX-License-Identifier: GPL-2.0
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <linux/weir.h>

#include "value.h"
#include "words.h"

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))
#define WORDS(name, ...)						\
	static const char *const name##_word[] = { __VA_ARGS__ };	\
	static const struct weir_words name = {				\
		name##_word, COUNT(name##_word)				\
	}
#define SHARED_WORDS(name, ...)						\
	static const char *const name##_word[] = { __VA_ARGS__ };	\
	const struct weir_words name = { name##_word, COUNT(name##_word) }

WORDS(affinity,
      [WEIR_AFFINITY_NONE] = "none",
      [WEIR_AFFINITY_CLIENT_IP_PORT_PROTO] = "client-ip-port-proto",
      [WEIR_AFFINITY_CLIENT_IP_PROTO] = "client-ip-proto",
      [WEIR_AFFINITY_CLIENT_IP] = "client-ip",
      [WEIR_AFFINITY_CLIENT_IP_NO_DESTINATION] = "client-ip-no-destination");
WORDS(tracking,
      [WEIR_TRACKING_PER_CONNECTION] = "per-connection",
      [WEIR_TRACKING_PER_SESSION] = "per-session");
WORDS(persistence,
      [WEIR_PERSISTENCE_DEFAULT_FOR_PROTOCOL] = "default-for-protocol",
      [WEIR_PERSISTENCE_NEVER_PERSIST] = "never-persist",
      [WEIR_PERSISTENCE_ALWAYS_PERSIST] = "always-persist");
WORDS(zonal_affinity,
      [WEIR_ZONAL_AFFINITY_DISABLED] = "disabled",
      [WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE] = "stay-within-zone",
      [WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE] = "spill-cross-zone");
WORDS(locality,
      [WEIR_LOCALITY_MAGLEV] = "maglev",
      [WEIR_LOCALITY_WEIGHTED_MAGLEV] = "weighted-maglev",
      [WEIR_LOCALITY_RENDEZVOUS] = "rendezvous",
      [WEIR_LOCALITY_WEIGHTED_RENDEZVOUS] = "weighted-rendezvous");
WORDS(forward,
      [WEIR_FORWARD_NAT] = "nat",
      [WEIR_FORWARD_DIRECT] = "direct");
WORDS(when_empty,
      [WEIR_WHEN_EMPTY_DROP] = "drop",
      [WEIR_WHEN_EMPTY_REJECT] = "reject");

SHARED_WORDS(weir_switch_words, "off", "on");
SHARED_WORDS(weir_proto_words,
	     [WEIR_PROTO_ANY] = "any",
	     [WEIR_PROTO_TCP] = "tcp",
	     [WEIR_PROTO_UDP] = "udp",
	     [WEIR_PROTO_SCTP] = "sctp",
	     [WEIR_PROTO_ICMP] = "icmp",
	     [WEIR_PROTO_ESP] = "esp",
	     [WEIR_PROTO_AH] = "ah",
	     [WEIR_PROTO_GRE] = "gre");
SHARED_WORDS(weir_health_words,
	     [WEIR_HEALTH_AUTO] = "auto",
	     [WEIR_HEALTH_UP] = "up",
	     [WEIR_HEALTH_DOWN] = "down");
SHARED_WORDS(weir_state_words,
	     [WEIR_STATE_ACTIVE] = "active",
	     [WEIR_STATE_DRAINING] = "draining");
SHARED_WORDS(weir_eligible_words,
	     [WEIR_ELIGIBLE_NO_BACKENDS] = "no-backends",
	     [WEIR_ELIGIBLE_HEALTHY] = "healthy",
	     [WEIR_ELIGIBLE_LAST_RESORT] = "last-resort",
	     [WEIR_ELIGIBLE_PRIMARY] = "primary",
	     [WEIR_ELIGIBLE_FAILOVER] = "failover",
	     [WEIR_ELIGIBLE_LAST_PRIMARIES] = "last-primaries",
	     [WEIR_ELIGIBLE_DROP] = "drop");
SHARED_WORDS(weir_role_words,
	     [WEIR_ROLE_ALL] = "all",
	     [WEIR_ROLE_PRIMARY] = "primary",
	     [WEIR_ROLE_FAILOVER] = "failover");
SHARED_WORDS(weir_zonal_words,
	     [WEIR_ZONAL_NO_MATCH] = "no-match",
	     [WEIR_ZONAL_WITHIN] = "within",
	     [WEIR_ZONAL_UNHEALTHY] = "unhealthy",
	     [WEIR_ZONAL_SPILL] = "spill",
	     [WEIR_ZONAL_NOBODY] = "nobody");
SHARED_WORDS(weir_weighting_words,
	     [WEIR_WEIGHTING_OFF] = "off",
	     [WEIR_WEIGHTING_ON] = "on",
	     [WEIR_WEIGHTING_REPORTS] = "reports",
	     [WEIR_WEIGHTING_ZERO] = "zero");
SHARED_WORDS(weir_weight_state_words,
	     [WEIR_WEIGHT_STATE_NONE] = "none",
	     [WEIR_WEIGHT_STATE_VALID] = "valid",
	     [WEIR_WEIGHT_STATE_MISSING] = "missing",
	     [WEIR_WEIGHT_STATE_INVALID] = "invalid",
	     [WEIR_WEIGHT_STATE_UNAVAILABLE] = "unavailable");
SHARED_WORDS(weir_outcome_words,
	     [WEIR_OUTCOME_NOT_OURS] = "not-ours",
	     [WEIR_OUTCOME_NO_RULE] = "no-rule",
	     [WEIR_OUTCOME_LOCAL] = "local",
	     [WEIR_OUTCOME_EMPTY] = "empty",
	     [WEIR_OUTCOME_AH] = "ah",
	     [WEIR_OUTCOME_KEPT] = "kept",
	     [WEIR_OUTCOME_SELECTED] = "selected");
SHARED_WORDS(weir_stay_words,
	     [WEIR_STAY_NO_FLOW] = "no-flow",
	     [WEIR_STAY_YES] = "yes",
	     [WEIR_STAY_GONE] = "gone",
	     [WEIR_STAY_UNHEALTHY] = "unhealthy",
	     [WEIR_STAY_UNBOUND] = "unbound",
	     [WEIR_STAY_SYN] = "syn",
	     [WEIR_STAY_SESSION] = "session",
	     [WEIR_STAY_EXPIRED] = "expired",
	     [WEIR_STAY_FAILOVER] = "failover");
SHARED_WORDS(weir_change_words,
	     [WEIR_CHANGE_ADDED] = "added",
	     [WEIR_CHANGE_CHANGED] = "changed",
	     [WEIR_CHANGE_REMOVED] = "removed");
/* enum tcp_conntrack */
SHARED_WORDS(weir_tcp_words, "none", "syn-sent", "syn-recv", "established",
	     "fin-wait", "close-wait", "last-ack", "time-wait", "close",
	     "syn-sent2");

const char *const weir_counter_word[__WEIR_COUNTER_A_MAX] = {
	[WEIR_COUNTER_A_SELECTIONS] = "selections",
	[WEIR_COUNTER_A_LAST_RESORT] = "last-resort",
	[WEIR_COUNTER_A_PACKETS_IN] = "packets-in",
	[WEIR_COUNTER_A_BYTES_IN] = "bytes-in",
	[WEIR_COUNTER_A_PACKETS_OUT] = "packets-out",
	[WEIR_COUNTER_A_BYTES_OUT] = "bytes-out",
	[WEIR_COUNTER_A_RESELECTED_GONE] = "reselected-gone",
	[WEIR_COUNTER_A_RESELECTED_UNHEALTHY] = "reselected-unhealthy",
	[WEIR_COUNTER_A_RESELECTED_ADOPTED] = "reselected-adopted",
	[WEIR_COUNTER_A_RESELECTED_SYN] = "reselected-syn",
	[WEIR_COUNTER_A_RESELECTED_SESSION] = "reselected-session",
	[WEIR_COUNTER_A_RESELECTED_FAILOVER] = "reselected-failover",
};

#define WORD_OPTION(_word, _attr, _words)				\
	{ .word = _word, .attr = _attr, .kind = WEIR_KIND_WORD,		\
	  .bytes = 1, .words = &_words }
#define SWITCH_OPTION(_word, _attr, _dflt)				\
	{ .word = _word, .attr = _attr, .kind = WEIR_KIND_SWITCH,	\
	  .bytes = 1, .dflt = _dflt, .words = &weir_switch_words }
#define NUMBER_OPTION(_word, _attr, _bytes, _min, _max, _dflt)		\
	{ .word = _word, .attr = _attr, .kind = WEIR_KIND_NUMBER,	\
	  .bytes = _bytes, .min = _min, .max = _max, .dflt = _dflt }
#define RATIO_OPTION(_word, _attr)					\
	{ .word = _word, .attr = _attr, .kind = WEIR_KIND_RATIO, .bytes = 4 }
#define NAME_OPTION(_word, _attr)					\
	{ .word = _word, .attr = _attr, .kind = WEIR_KIND_NAME }

static const struct weir_option service_option[] = {
	WORD_OPTION("affinity", WEIR_SERVICE_A_AFFINITY, affinity),
	WORD_OPTION("tracking", WEIR_SERVICE_A_TRACKING, tracking),
	WORD_OPTION("persistence", WEIR_SERVICE_A_PERSISTENCE, persistence),
	NUMBER_OPTION("idle-timeout", WEIR_SERVICE_A_IDLE_TIMEOUT, 4,
		      60, 57600, 600),
	NUMBER_OPTION("drain-timeout", WEIR_SERVICE_A_DRAIN_TIMEOUT, 4,
		      0, 3600, 0),
	RATIO_OPTION("failover-ratio", WEIR_SERVICE_A_FAILOVER_RATIO),
	SWITCH_OPTION("drop-if-unhealthy", WEIR_SERVICE_A_DROP_IF_UNHEALTHY, 0),
	SWITCH_OPTION("drain-on-failover", WEIR_SERVICE_A_DRAIN_ON_FAILOVER, 1),
	WORD_OPTION("zonal-affinity", WEIR_SERVICE_A_ZONAL_AFFINITY,
		    zonal_affinity),
	RATIO_OPTION("spill-ratio", WEIR_SERVICE_A_SPILL_RATIO),
	WORD_OPTION("locality", WEIR_SERVICE_A_LOCALITY, locality),
	WORD_OPTION("forward", WEIR_SERVICE_A_FORWARD, forward),
	WORD_OPTION("when-empty", WEIR_SERVICE_A_WHEN_EMPTY, when_empty),
	SWITCH_OPTION("hairpin", WEIR_SERVICE_A_HAIRPIN, 1),
	{ .word = "table-size", .attr = WEIR_SERVICE_A_TABLE_SIZE,
	  .kind = WEIR_KIND_TABLE, .bytes = 4, .max = WEIR_TABLE_SIZE_MAX },
	{ .word = "health-check", .attr = WEIR_SERVICE_A_HEALTH_CHECK,
	  .kind = WEIR_KIND_LINE },
};

static const struct weir_option group_option[] = {
	NAME_OPTION("zone", WEIR_GROUP_A_ZONE),
	SWITCH_OPTION("failover", WEIR_GROUP_A_FAILOVER, 0),
};

static const struct weir_option backend_option[] = {
	NAME_OPTION("group", WEIR_BACKEND_A_GROUP),
	NUMBER_OPTION("port", WEIR_BACKEND_A_PORT, 2, 0, 65535, 0),
	NUMBER_OPTION("weight", WEIR_BACKEND_A_WEIGHT, 4, 0, WEIR_WEIGHT_MAX, 1),
	WORD_OPTION("health", WEIR_BACKEND_A_HEALTH, weir_health_words),
};

const struct weir_options weir_service_options = {
	"service", service_option, COUNT(service_option)
};
const struct weir_options weir_group_options = {
	"group", group_option, COUNT(group_option)
};
const struct weir_options weir_backend_options = {
	"backend", backend_option, COUNT(backend_option)
};

const struct weir_option *weir_option_find(const struct weir_options *options,
					   const char *word)
{
	unsigned int i;

	for (i = 0; i < options->count; i++)
		if (!strcmp(options->option[i].word, word))
			return &options->option[i];
	return NULL;
}

const struct weir_option *weir_option_by_attr(const struct weir_options *options,
					      uint16_t attr)
{
	unsigned int i;

	for (i = 0; i < options->count; i++)
		if (options->option[i].attr == attr)
			return &options->option[i];
	return NULL;
}

int weir_word_find(const struct weir_words *words, const char *word)
{
	unsigned int i;

	for (i = 0; i < words->count; i++)
		if (!strcmp(words->word[i], word))
			return i;
	return -1;
}

const char *weir_word(const struct weir_words *words, uint32_t value)
{
	static char unknown[4][24];
	static unsigned int turn;
	char *buf;

	if (value < words->count)
		return words->word[value];
	buf = unknown[turn++ % 4];
	snprintf(buf, sizeof(unknown[0]), "unknown-%u", value);
	return buf;
}

static size_t append(char *buf, size_t size, size_t n, const char *separator,
		     const char *word)
{
	int more;

	if (n >= size)
		return n;
	more = snprintf(buf + n, size - n, "%s%s", n ? separator : "", word);
	return more < 0 ? n : n + more;
}

const char *weir_word_list(const struct weir_words *words, char *buf,
			   size_t size)
{
	size_t n = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < words->count; i++)
		n = append(buf, size, n, ", ", words->word[i]);
	return buf;
}

const char *weir_option_list(const struct weir_options *options, char *buf,
			     size_t size)
{
	size_t n = 0;
	unsigned int i;

	buf[0] = '\0';
	for (i = 0; i < options->count; i++)
		n = append(buf, size, n, ", ", options->option[i].word);
	return buf;
}

const char *weir_option_values(const struct weir_option *option, char *buf,
			       size_t size)
{
	size_t n = 0;
	unsigned int i;

	switch (option->kind) {
	case WEIR_KIND_WORD:
	case WEIR_KIND_SWITCH:
		buf[0] = '\0';
		for (i = 0; i < option->words->count; i++)
			n = append(buf, size, n, " | ", option->words->word[i]);
		break;
	case WEIR_KIND_NUMBER:
		snprintf(buf, size, "%u..%u", option->min, option->max);
		break;
	case WEIR_KIND_RATIO:
		snprintf(buf, size, "0.0..1.0");
		break;
	case WEIR_KIND_TABLE:
		snprintf(buf, size, "auto | a prime up to %u", option->max);
		break;
	case WEIR_KIND_NAME:
		snprintf(buf, size, "NAME");
		break;
	case WEIR_KIND_LINE:
		snprintf(buf, size, "none | PROTOCOL [OPTION VALUE]...");
		break;
	}
	return buf;
}

static const struct {
	const char *word;
	uint8_t proto;
} ipprotos[] = {
	{ "icmp", IPPROTO_ICMP }, { "tcp", IPPROTO_TCP },
	{ "udp", IPPROTO_UDP }, { "gre", IPPROTO_GRE }, { "esp", IPPROTO_ESP },
	{ "ah", IPPROTO_AH }, { "icmp", IPPROTO_ICMPV6 },
	{ "sctp", IPPROTO_SCTP },
};

const char *weir_ipproto_text(uint8_t proto, char buf[8])
{
	size_t i;

	for (i = 0; i < COUNT(ipprotos); i++)
		if (ipprotos[i].proto == proto)
			return ipprotos[i].word;
	snprintf(buf, 8, "%u", proto);
	return buf;
}

/* A word or a number; "icmp" is ICMPv4 here, the caller knows the family. */
int weir_ipproto_find(const char *word)
{
	uint32_t n;
	size_t i;

	for (i = 0; i < COUNT(ipprotos); i++)
		if (!strcmp(ipprotos[i].word, word))
			return ipprotos[i].proto;
	return weir_parse_number(word, 0, 255, &n) ? -1 : (int)n;
}
