// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "healthcheck.h"
#include "why.h"

#define TOO_OLD	"a reason that this tool is too old to know"

const char *weir_eligible_sentence(uint32_t eligible)
{
	switch (eligible) {
	case WEIR_ELIGIBLE_NO_BACKENDS:
		return "nobody: no backend is configured, or all are draining";
	case WEIR_ELIGIBLE_HEALTHY:
		return "all healthy backends (failover is off)";
	case WEIR_ELIGIBLE_LAST_RESORT:
		return "all backends, for none is healthy (last resort)";
	case WEIR_ELIGIBLE_PRIMARY:
		return "the healthy primaries";
	case WEIR_ELIGIBLE_FAILOVER:
		return "the healthy failovers";
	case WEIR_ELIGIBLE_LAST_PRIMARIES:
		return "all primaries, for nobody is healthy";
	case WEIR_ELIGIBLE_DROP:
		return "nobody: none is healthy, and drop-if-unhealthy is on";
	}
	return TOO_OLD;
}

/* Primaries are in use: the first test of semantics 2.3 that says so. */
static void primary_why(const uint32_t *num, char *buf)
{
	char ratio[WEIR_RATIO_TEXT];
	uint32_t all = num[WEIR_SERVICE_A_N_PRIMARY];
	uint32_t healthy = num[WEIR_SERVICE_A_N_PRIMARY_HEALTHY];

	weir_ratio_text(num[WEIR_SERVICE_A_FAILOVER_RATIO], ratio);
	if (!num[WEIR_SERVICE_A_N_FAILOVER_HEALTHY])
		snprintf(buf, WEIR_WHY_TEXT,
			 "the healthy primaries: no failover member is healthy");
	else if (!num[WEIR_SERVICE_A_FAILOVER_RATIO])
		snprintf(buf, WEIR_WHY_TEXT,
			 "the healthy primaries: %u of %u primaries healthy, and failover-ratio %s asks for one",
			 healthy, all, ratio);
	else
		snprintf(buf, WEIR_WHY_TEXT,
			 "the healthy primaries: %u of %u primaries healthy, not less than failover-ratio %s",
			 healthy, all, ratio);
}

static void failover_why(const uint32_t *num, char *buf)
{
	char ratio[WEIR_RATIO_TEXT];

	if (num[WEIR_SERVICE_A_N_PRIMARY_HEALTHY])
		snprintf(buf, WEIR_WHY_TEXT,
			 "the healthy failovers: %u of %u primaries healthy, less than failover-ratio %s",
			 num[WEIR_SERVICE_A_N_PRIMARY_HEALTHY],
			 num[WEIR_SERVICE_A_N_PRIMARY],
			 weir_ratio_text(num[WEIR_SERVICE_A_FAILOVER_RATIO],
					 ratio));
	else
		snprintf(buf, WEIR_WHY_TEXT,
			 "the healthy failovers: none of %u primaries is healthy",
			 num[WEIR_SERVICE_A_N_PRIMARY]);
}

const char *weir_eligible_why(const struct weir_service *service,
			      char buf[WEIR_WHY_TEXT])
{
	const uint32_t *num = service->opts.num;
	uint32_t eligible = num[WEIR_SERVICE_A_ELIGIBLE];

	/* An older module tells no numbers of the roles. */
	if (eligible == WEIR_ELIGIBLE_PRIMARY && num[WEIR_SERVICE_A_N_PRIMARY])
		primary_why(num, buf);
	else if (eligible == WEIR_ELIGIBLE_FAILOVER &&
		 num[WEIR_SERVICE_A_N_PRIMARY])
		failover_why(num, buf);
	else
		snprintf(buf, WEIR_WHY_TEXT, "%s",
			 weir_eligible_sentence(eligible));
	return buf;
}

const char *weir_zonal_sentence(uint32_t zonal)
{
	switch (zonal) {
	case WEIR_ZONAL_NO_MATCH:
		return "no member of the role in use is in the zone: the whole set";
	case WEIR_ZONAL_WITHIN:
		return "only those in the zone";
	case WEIR_ZONAL_UNHEALTHY:
		return "none in the zone is healthy: the unhealthy ones there, for clients stay within their zone";
	case WEIR_ZONAL_SPILL:
		return "too few in the zone are healthy: the whole set";
	case WEIR_ZONAL_NOBODY:
		return "nobody is healthy anywhere: the whole set";
	}
	return TOO_OLD;
}

/* Clients may leave the zone, and stay, or leave: with the share of healthy
 * ones there and the ratio that it was held against. */
static void spill_why(const struct weir_service *service,
		      const struct weir_zonal *zonal, char *buf)
{
	uint32_t millionths = service->opts.num[WEIR_SERVICE_A_SPILL_RATIO];
	bool within = zonal->reason == WEIR_ZONAL_WITHIN;
	char ratio[WEIR_RATIO_TEXT];

	weir_ratio_text(millionths, ratio);
	if (millionths)
		snprintf(buf, WEIR_WHY_TEXT,
			 "%u of %u healthy in the zone, %s spill-ratio %s: %s",
			 zonal->n_healthy, zonal->n_configured,
			 within ? "not less than" : "less than", ratio,
			 within ? "only those" : "the whole set");
	else
		snprintf(buf, WEIR_WHY_TEXT,
			 "%u of %u healthy in the zone, and spill-ratio %s asks for one: %s",
			 zonal->n_healthy, zonal->n_configured, ratio,
			 within ? "only those" : "the whole set");
}

const char *weir_zonal_why(const struct weir_service *service,
			   const struct weir_zonal *zonal,
			   char buf[WEIR_WHY_TEXT])
{
	uint32_t n = zonal->n_configured;

	if (zonal->reason == WEIR_ZONAL_SPILL ||
	    (zonal->reason == WEIR_ZONAL_WITHIN &&
	     service->opts.num[WEIR_SERVICE_A_ZONAL_AFFINITY] ==
	     WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE))
		spill_why(service, zonal, buf);
	else if (zonal->reason == WEIR_ZONAL_WITHIN)
		snprintf(buf, WEIR_WHY_TEXT,
			 "only those in the zone, %u of %u healthy",
			 zonal->n_healthy, n);
	else if (zonal->reason == WEIR_ZONAL_UNHEALTHY)
		snprintf(buf, WEIR_WHY_TEXT,
			 "none of %u in the zone is healthy: the unhealthy ones there, for clients stay within their zone",
			 n);
	else if (zonal->reason == WEIR_ZONAL_NO_MATCH && n)
		snprintf(buf, WEIR_WHY_TEXT, "nobody is eligible anywhere");
	else
		snprintf(buf, WEIR_WHY_TEXT, "%s",
			 weir_zonal_sentence(zonal->reason));
	return buf;
}

/* Backends whose report makes all weights void. */
static unsigned int spoilt_reports(const struct weir_service *service)
{
	unsigned int i, n = 0;

	for (i = 0; i < service->n_backends; i++) {
		const struct weir_backend *backend = &service->backends[i];
		uint32_t state = backend->opts.num[WEIR_BACKEND_A_WEIGHT_STATE];

		if (!weir_backend_drains(backend) &&
		    (state == WEIR_WEIGHT_STATE_MISSING ||
		     state == WEIR_WEIGHT_STATE_INVALID))
			n++;
	}
	return n;
}

const char *weir_weighting_why(const struct weir_service *service,
			       char buf[WEIR_WHY_TEXT])
{
	unsigned int n = spoilt_reports(service);

	switch (service->opts.num[WEIR_SERVICE_A_WEIGHTING]) {
	case WEIR_WEIGHTING_OFF:
		snprintf(buf, WEIR_WHY_TEXT,
			 "equal: the locality knows no weights");
		break;
	case WEIR_WEIGHTING_ON:
		snprintf(buf, WEIR_WHY_TEXT, "by weight, as %s",
			 weir_healthcheck_weights(service->opts.str) ?
			 "the checker reports, or as configured before its first report" :
			 "configured");
		break;
	case WEIR_WEIGHTING_REPORTS:
		snprintf(buf, WEIR_WHY_TEXT,
			 "equal: %u backend%s report%s no weight, or an invalid one",
			 n, n == 1 ? "" : "s", n == 1 ? "s" : "");
		break;
	case WEIR_WEIGHTING_ZERO:
		snprintf(buf, WEIR_WHY_TEXT,
			 "equal: all eligible backends weigh 0");
		break;
	default:
		snprintf(buf, WEIR_WHY_TEXT, "%s", TOO_OLD);
	}
	return buf;
}

const char *weir_stay_sentence(uint32_t stay)
{
	switch (stay) {
	case WEIR_STAY_NO_FLOW:
		return "there is none";
	case WEIR_STAY_YES:
		return "it may stay";
	case WEIR_STAY_GONE:
		return "it may not stay: its backend was removed";
	case WEIR_STAY_UNHEALTHY:
		return "it may not stay: its backend is unhealthy and the service's persistence does not keep it there";
	case WEIR_STAY_UNBOUND:
		return "it may not stay: it was made before the rule, or by others";
	case WEIR_STAY_SYN:
		return "it may not stay: a SYN begins anew, and another backend is chosen";
	case WEIR_STAY_SESSION:
		return "it may not stay: its session is with another backend";
	case WEIR_STAY_EXPIRED:
		return "it may not stay: its session has expired";
	case WEIR_STAY_FAILOVER:
		return "it may not stay: the role of its backend is not in use any more, and drain-on-failover is off";
	}
	return TOO_OLD;
}
