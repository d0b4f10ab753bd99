// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "healthcheck.h"
#include "print.h"
#include "print_state.h"
#include "why.h"

#define PREFIXES_SHOWN	8	/* as text; `save` has all */

static const char *health_why(const struct weir_service *service,
			      const struct weir_backend *backend)
{
	const struct weir_opts *opts = &backend->opts;

	if (opts->num[WEIR_BACKEND_A_HEALTH] != WEIR_HEALTH_AUTO)
		return "operator";
	if (!service->opts.str || !*service->opts.str)
		return "no-health-check";
	if (opts->num[WEIR_BACKEND_A_CHECK] != WEIR_HEALTH_AUTO)
		return "checker";
	return "not-checked-yet";
}

static void out_health(struct weir_out *out, const struct weir_service *service,
		       const struct weir_backend *backend)
{
	const uint32_t *num = backend->opts.num;
	uint32_t flips = num[WEIR_BACKEND_A_N_FLIPS];

	weir_out_bool(out, "healthy", NULL, num[WEIR_BACKEND_A_HEALTHY]);
	weir_out_text(out, ": %s", num[WEIR_BACKEND_A_HEALTHY] ? "healthy" :
								 "unhealthy");
	weir_out_str(out, "health-why", " (%s)", health_why(service, backend));
	weir_out_str(out, "check", NULL,
		     weir_word(&weir_health_words,
			       num[WEIR_BACKEND_A_CHECK]));
	weir_out_probe(out, backend);
	weir_out_num(out, "n-flips", flips ? ", flips %s" : NULL, flips);
	weir_out_num(out, "flipped", weir_opts_has(&backend->opts,
						   WEIR_BACKEND_A_FLIPPED) ?
				     ", last %s s ago" : NULL,
		     num[WEIR_BACKEND_A_FLIPPED]);
}

/* What the checker says of the weight. As text only where it says something, or
 * should, and where a weight still matters. */
static void out_report(struct weir_out *out, const struct weir_service *service,
		       const struct weir_backend *backend)
{
	uint32_t state = backend->opts.num[WEIR_BACKEND_A_WEIGHT_STATE];
	bool has_report = weir_opts_has(&backend->opts,
					WEIR_BACKEND_A_REPORTED);
	bool valid = state == WEIR_WEIGHT_STATE_VALID && has_report;
	bool says = !weir_backend_drains(backend) &&
		    (state != WEIR_WEIGHT_STATE_NONE || has_report ||
		     weir_healthcheck_weights(service->opts.str));

	if (says)
		weir_out_text(out, ", reported weight");
	weir_out_str(out, "weight-state", says && !valid ? " %s" : NULL,
		     weir_word(&weir_weight_state_words, state));
	weir_out_bool(out, "has-report", NULL, has_report);
	weir_out_num(out, "reported",
		     !says || !has_report ? NULL :
		     valid ? " %s" : " (last %s)",
		     backend->opts.num[WEIR_BACKEND_A_REPORTED]);
}

/* Do sessions keep clients' new connections on a backend that drains? */
static bool has_sessions(const struct weir_service *service)
{
	const uint32_t *num = service->opts.num;

	return num[WEIR_SERVICE_A_TRACKING] == WEIR_TRACKING_PER_SESSION &&
	       num[WEIR_SERVICE_A_AFFINITY] != WEIR_AFFINITY_NONE &&
	       num[WEIR_SERVICE_A_AFFINITY] !=
	       WEIR_AFFINITY_CLIENT_IP_PORT_PROTO;
}

/* The time is cut, not rounded: what is shown is left. */
static void out_part(struct weir_out *out, const struct weir_service *service,
		     const struct weir_backend *backend)
{
	uint32_t all = service->opts.num[WEIR_SERVICE_A_TABLE_SLOTS];
	const uint32_t *num = backend->opts.num;
	bool drains = weir_backend_drains(backend);
	uint32_t left = num[WEIR_BACKEND_A_DRAIN_LEFT];

	weir_out_str(out, "state", ", %s",
		     weir_word(&weir_state_words, num[WEIR_BACKEND_A_STATE]));
	weir_out_num(out, "drain-left", NULL, left);
	if (drains)
		weir_out_text(out, ", %u.%u s left", left / 1000,
			      left % 1000 / 100);
	weir_out_bool(out, "eligible", NULL, num[WEIR_BACKEND_A_ELIGIBLE]);
	if (!drains)
		weir_out_text(out, ", %s", num[WEIR_BACKEND_A_ELIGIBLE] ?
					   "eligible" : "not eligible");
	weir_out_num(out, "slots", drains ? NULL : ", slots %s",
		     num[WEIR_BACKEND_A_SLOTS]);
	if (all && !drains)
		weir_out_text(out, " (%.1f%%)",
			      100.0 * num[WEIR_BACKEND_A_SLOTS] / all);
	weir_out_num(out, "n-flows", ", flows %s", num[WEIR_BACKEND_A_N_FLOWS]);
	if (drains && has_sessions(service))
		weir_out_text(out, ", clients with a session still come");
}

static void out_backend(struct weir_out *out,
			const struct weir_service *service,
			const struct weir_backend *backend, bool counters)
{
	weir_out_object(out, NULL);
	weir_out_text(out, "    backend ");
	weir_out_backend(out, backend);
	out_health(out, service, backend);
	out_report(out, service, backend);
	out_part(out, service, backend);
	weir_out_text(out, "\n");
	if (counters) {
		weir_out_counters(out, "        ", &backend->counters);
		weir_out_text(out, "\n");
	}
	weir_out_end(out);
}

static void out_eligible(struct weir_out *out,
			 const struct weir_service *service)
{
	const uint32_t *num = service->opts.num;
	char why[WEIR_WHY_TEXT];

	weir_out_text(out, "    eligible");
	weir_out_num(out, "n-eligible", " %s",
		     num[WEIR_SERVICE_A_N_ELIGIBLE]);
	weir_out_num(out, "n-backends", " of %s backends",
		     num[WEIR_SERVICE_A_N_BACKENDS]);
	weir_out_num(out, "n-healthy", ", %s healthy",
		     num[WEIR_SERVICE_A_N_HEALTHY]);
	weir_out_str(out, "eligible", " [%s]",
		     weir_word(&weir_eligible_words,
			       num[WEIR_SERVICE_A_ELIGIBLE]));
	weir_out_text(out, ": %s\n", weir_eligible_why(service, why));
}

/* As text where there are failover members. */
static void out_roles(struct weir_out *out, const struct weir_service *service)
{
	const uint32_t *num = service->opts.num;
	bool says = num[WEIR_SERVICE_A_N_FAILOVER];

	weir_out_num(out, "n-primary-healthy", says ? "    %s" : NULL,
		     num[WEIR_SERVICE_A_N_PRIMARY_HEALTHY]);
	weir_out_num(out, "n-primary", says ? " of %s primaries" : NULL,
		     num[WEIR_SERVICE_A_N_PRIMARY]);
	weir_out_num(out, "n-failover-healthy", says ? " and %s" : NULL,
		     num[WEIR_SERVICE_A_N_FAILOVER_HEALTHY]);
	weir_out_num(out, "n-failover", says ?
		     " of %s failover members healthy" : NULL,
		     num[WEIR_SERVICE_A_N_FAILOVER]);
	weir_out_str(out, "role", says ? ", role in use: %s\n" : NULL,
		     weir_word(&weir_role_words, num[WEIR_SERVICE_A_ROLE]));
}

static void out_weighting(struct weir_out *out,
			  const struct weir_service *service)
{
	const uint32_t *num = service->opts.num;
	uint32_t locality = num[WEIR_SERVICE_A_LOCALITY];
	char why[WEIR_WHY_TEXT];

	weir_out_str(out, "weighting", NULL,
		     weir_word(&weir_weighting_words,
			       num[WEIR_SERVICE_A_WEIGHTING]));
	if (locality == WEIR_LOCALITY_WEIGHTED_MAGLEV ||
	    locality == WEIR_LOCALITY_WEIGHTED_RENDEZVOUS)
		weir_out_text(out, "    shares: %s\n",
			      weir_weighting_why(service, why));
}

static void out_digest(struct weir_out *out, uint64_t value)
{
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, value);
	weir_out_str(out, "digest", ", digest %s\n", digest);
}

static void out_zonal(struct weir_out *out, const struct weir_service *service)
{
	char why[WEIR_WHY_TEXT];
	unsigned int i;

	weir_out_array(out, "zones");
	for (i = 0; i < service->n_zonal; i++) {
		const struct weir_zonal *zonal = &service->zonal[i];

		weir_out_object(out, NULL);
		weir_out_str(out, "zone", "    clients in zone %s: eligible",
			     zonal->zone);
		weir_out_num(out, "n-eligible", " %s", zonal->n_eligible);
		weir_out_str(out, "zonal", " [%s]",
			     weir_word(&weir_zonal_words, zonal->reason));
		weir_out_text(out, ": %s",
			      weir_zonal_why(service, zonal, why));
		weir_out_num(out, "n-configured", NULL, zonal->n_configured);
		weir_out_num(out, "n-healthy", NULL, zonal->n_healthy);
		out_digest(out, zonal->digest);
		weir_out_end(out);
	}
	weir_out_end(out);
}

static void out_members(struct weir_out *out,
			const struct weir_service *service, bool counters)
{
	unsigned int i;

	weir_out_array(out, "rules");
	for (i = 0; i < service->n_rules; i++) {
		weir_out_object(out, NULL);
		weir_out_text(out, "    rule ");
		weir_out_rule(out, &service->rules[i]);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_array(out, "groups");
	for (i = 0; i < service->n_groups; i++) {
		weir_out_object(out, NULL);
		weir_out_text(out, "    group ");
		weir_out_group(out, &service->groups[i]);
		weir_out_text(out, "\n");
		weir_out_end(out);
	}
	weir_out_end(out);
	weir_out_array(out, "backends");
	for (i = 0; i < service->n_backends; i++)
		out_backend(out, service, &service->backends[i], counters);
	weir_out_end(out);
}

void weir_out_service_state(struct weir_out *out,
			    const struct weir_service *service, bool counters)
{
	weir_out_object(out, NULL);
	weir_out_str(out, "kind", "%s ", "service");
	weir_out_str(out, "name", "%s\n", service->name);
	/* one line each, as they stand in the config file */
	weir_out_options(out, &weir_service_options, &service->opts, "    ",
			 "\n");
	out_eligible(out, service);
	out_roles(out, service);
	out_weighting(out, service);
	weir_out_num(out, "table-slots", "    table of %s slots",
		     service->opts.num[WEIR_SERVICE_A_TABLE_SLOTS]);
	out_digest(out, service->digest);
	out_zonal(out, service);
	if (counters) {
		weir_out_counters(out, "    ", &service->counters);
		weir_out_text(out, "\n");
	}
	out_members(out, service, counters);
	weir_out_end(out);
}

void weir_out_zone_state(struct weir_out *out, const struct weir_zone *zone)
{
	weir_out_object(out, NULL);
	weir_out_str(out, "kind", "%s ", "zone");
	weir_out_zone(out, zone, PREFIXES_SHOWN);
	if (zone->n_prefixes > PREFIXES_SHOWN)
		weir_out_text(out, " and %u more: weir save",
			      zone->n_prefixes - PREFIXES_SHOWN);
	weir_out_text(out, "\n");
	weir_out_end(out);
}
