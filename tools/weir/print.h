/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of the objects, for every command that prints them. */
#ifndef WEIR_PRINT_H
#define WEIR_PRINT_H

#include "decode.h"
#include "model.h"
#include "out.h"
#include "words.h"

/* The options: as text only those that differ from the default, each between
 * BEFORE and BEHIND; as JSON all. */
void weir_out_options(struct weir_out *out, const struct weir_options *options,
		      const struct weir_opts *opts, const char *before,
		      const char *behind);
/* As text what stands in a config file behind the word of the object. */
void weir_out_rule(struct weir_out *out, const struct weir_rule *rule);
void weir_out_group(struct weir_out *out, const struct weir_group *group);
void weir_out_backend(struct weir_out *out, const struct weir_backend *backend);
/* The last probe; as text only if there was one. */
void weir_out_probe(struct weir_out *out, const struct weir_backend *backend);
/* Only "draining" as text, behind BEFORE. */
void weir_out_backend_state(struct weir_out *out,
			    const struct weir_backend *backend,
			    const char *before);
void weir_out_counters(struct weir_out *out, const char *before,
		       const struct weir_counters *counters);
void weir_out_change(struct weir_out *out,
		     const struct weir_change_record *change);
void weir_out_flow(struct weir_out *out, const struct weir_flow *flow);
void weir_out_session(struct weir_out *out, const struct weir_session *session);
/* As text its name and prefixes, MAX of them at most. */
void weir_out_zone(struct weir_out *out, const struct weir_zone *zone,
		   unsigned int max);
#endif
