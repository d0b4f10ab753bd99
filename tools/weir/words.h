/* SPDX-License-Identifier: GPL-2.0 */
/* The one table of words: what argv, the config file, save, show, JSON and
 * completion call an option and its values, and what the kernel calls them. */
#ifndef WEIR_WORDS_H
#define WEIR_WORDS_H

#include <stddef.h>
#include <stdint.h>

enum weir_kind {
	WEIR_KIND_WORD,		/* one of WORDS */
	WEIR_KIND_SWITCH,	/* off, on */
	WEIR_KIND_NUMBER,	/* min..max */
	WEIR_KIND_RATIO,	/* 0.0..1.0, in millionths */
	WEIR_KIND_TABLE,	/* "auto" (0) or a prime */
	WEIR_KIND_NAME,		/* name of a group or zone */
	WEIR_KIND_LINE,		/* all words that follow */
};

/* Words of an enum, in the order of its values. */
struct weir_words {
	const char *const *word;
	unsigned int count;
};

struct weir_option {
	const char *word;
	uint16_t attr;
	enum weir_kind kind;
	uint8_t bytes;		/* on the wire; 0 is a string */
	uint32_t min, max;
	uint32_t dflt;
	const struct weir_words *words;
};

struct weir_options {
	const char *what;	/* "service" */
	const struct weir_option *option;
	unsigned int count;
};

extern const struct weir_options weir_service_options;
extern const struct weir_options weir_group_options;
extern const struct weir_options weir_backend_options;

extern const struct weir_words weir_proto_words;
extern const struct weir_words weir_health_words;
extern const struct weir_words weir_state_words;
extern const struct weir_words weir_eligible_words;
extern const struct weir_words weir_role_words;
extern const struct weir_words weir_zonal_words;
extern const struct weir_words weir_weighting_words;
extern const struct weir_words weir_weight_state_words;
extern const struct weir_words weir_outcome_words;
extern const struct weir_words weir_stay_words;
extern const struct weir_words weir_change_words;
extern const struct weir_words weir_tcp_words;
extern const struct weir_words weir_switch_words;

/* Names of the counters by attribute; NULL where there is none. */
extern const char *const weir_counter_word[];

const struct weir_option *weir_option_find(const struct weir_options *options,
					   const char *word);
const struct weir_option *weir_option_by_attr(const struct weir_options *options,
					      uint16_t attr);
/* Index of WORD or -1. */
int weir_word_find(const struct weir_words *words, const char *word);
/* Word of VALUE, or "unknown-VALUE" from a kernel newer than we are. */
const char *weir_word(const struct weir_words *words, uint32_t value);
/* "none, client-ip, ..." for messages; cut if it does not fit. */
const char *weir_word_list(const struct weir_words *words, char *buf,
			   size_t size);
const char *weir_option_list(const struct weir_options *options, char *buf,
			     size_t size);
/* What an option takes: "60..57600", "{ off | on }" */
const char *weir_option_values(const struct weir_option *option, char *buf,
			       size_t size);

/* IP protocols of flows and lookups: tcp, icmp, 47 */
const char *weir_ipproto_text(uint8_t proto, char buf[8]);
int weir_ipproto_find(const char *word);

#endif
