/* SPDX-License-Identifier: GPL-2.0 */
/* Words -> objects: one grammar for argv and for the config file. Pure.
 *
 * All return 0, or -1 with the error set: WEIR_ERR_GRAMMAR when words are
 * missing, unknown or too many, WEIR_ERR_VALUE when a value is wrong. */
#ifndef WEIR_GRAMMAR_H
#define WEIR_GRAMMAR_H

#include "err.h"
#include "model.h"
#include "words.h"

struct weir_args {
	int n;
	char **word;
};

/* OBJECT is how a message calls it: "service web". */
int weir_parse_options(const struct weir_options *options, const char *object,
		       struct weir_args args, struct weir_opts *opts,
		       struct weir_err *err);
int weir_parse_name(const char *what, const char *word,
		    char name[WEIR_NAME_SIZE], struct weir_err *err);
/* VIP[/PLEN] PROTO PORTS */
int weir_parse_rule(struct weir_args args, struct weir_rule *rule,
		    struct weir_err *err);
/* NAME [zone Z] [failover [on|off]] */
int weir_parse_group(struct weir_args args, struct weir_group *group,
		     struct weir_err *err);
/* ADDR [OPTION VALUE]... */
int weir_parse_backend(struct weir_args args, struct weir_backend *backend,
		       struct weir_err *err);
/* NAME [PREFIX]...; a statement that makes a zone needs one at least */
int weir_parse_zone(struct weir_args args, struct weir_zone *zone,
		    struct weir_err *err);
/* ADDR as the name of a backend */
int weir_parse_backend_addr(const char *word, struct weir_addr *addr,
			    struct weir_err *err);

#endif
