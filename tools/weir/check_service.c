// SPDX-License-Identifier: GPL-2.0
/* What is wrong with a service by itself. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "healthcheck.h"
#include "why.h"

#define SLOTS_PER_BACKEND	100	/* below, shares differ by a percent */
#define INTERVALS_SILENT	3	/* of probes, and nobody probes */
#define PACKETS_UNANSWERED	3	/* so many, and silence is no accident */

static void check_eligible(struct weir_check_state *state,
			   const struct weir_service *service)
{
	uint32_t why = service->opts.num[WEIR_SERVICE_A_ELIGIBLE];
	char what[WEIR_TEXT], command[WEIR_TEXT], text[WEIR_WHY_TEXT];

	weir_text(what, "service %s: eligible: %s", service->name,
		  weir_eligible_why(service, text));
	if (why == WEIR_ELIGIBLE_NO_BACKENDS)
		weir_find(state, WEIR_ERROR, what,
			  "new flows are dropped or rejected, as when-empty says",
			  weir_text(command, "weir backend add %s ADDR",
				    service->name));
	else if (why == WEIR_ELIGIBLE_DROP)
		weir_find(state, WEIR_ERROR, what, "new flows are dropped",
			  weir_text(command, "weir show %s", service->name));
	else if (why == WEIR_ELIGIBLE_LAST_RESORT ||
		 why == WEIR_ELIGIBLE_LAST_PRIMARIES)
		weir_find(state, WEIR_WARNING, what,
			  "flows go to backends that are said to be unhealthy",
			  weir_text(command, "weir show %s", service->name));
}

/* The commonest fault: a backend whose way to the client is not through here. */
static void check_answers(struct weir_check_state *state,
			  const struct weir_service *service)
{
	char what[WEIR_TEXT], text[WEIR_ADDR_TEXT];
	unsigned int i;

	/* In direct mode answers go past us. */
	if (weir_is_direct(service))
		return;
	for (i = 0; i < service->n_backends; i++) {
		const struct weir_backend *backend = &service->backends[i];
		const uint64_t *counter = backend->counters.value;

		if (counter[WEIR_COUNTER_A_PACKETS_IN] < PACKETS_UNANSWERED ||
		    counter[WEIR_COUNTER_A_PACKETS_OUT] ||
		    weir_backend_drains(backend))
			continue;
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s: backend %s has never answered",
				    service->name,
				    weir_addr_text(&backend->addr, text)),
			  "unless its clients expect no answer: it is dead, or its answers do not pass this router",
			  "ip route replace default via ROUTER  # on the backend");
	}
}

/* Is there somebody who checks? */
static void check_checker(struct weir_check_state *state,
			  const struct weir_service *service)
{
	struct weir_healthcheck line;
	uint32_t youngest = UINT32_MAX;
	char what[WEIR_TEXT];
	struct weir_err err;
	unsigned int i;

	for (i = 0; i < service->n_backends; i++) {
		const struct weir_opts *opts = &service->backends[i].opts;

		if (weir_opts_has(opts, WEIR_BACKEND_A_PROBE_PASSED) &&
		    opts->num[WEIR_BACKEND_A_PROBE_AGE] < youngest)
			youngest = opts->num[WEIR_BACKEND_A_PROBE_AGE];
	}
	if (!service->n_backends || !service->opts.str || !*service->opts.str ||
	    weir_healthcheck_read(&line, service->opts.str, &err))
		return;
	if (youngest == UINT32_MAX)
		weir_text(what, "service %s: it has a health-check, and no result was reported",
			  service->name);
	else
		weir_text(what, "service %s: its last result of a probe was reported %u s ago",
			  service->name, youngest);
	if (youngest > INTERVALS_SILENT * line.interval)
		weir_find(state, WEIR_WARNING, what,
			  "nobody seems to check: results stay as they are, and new backends stay down",
			  "systemctl start weir-healthd");
	weir_healthcheck_free(&line);
}

static void check_rules(struct weir_check_state *state,
			const struct weir_service *service)
{
	char what[WEIR_TEXT], command[WEIR_TEXT];

	if (!service->n_rules)
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s has no rule",
				    service->name),
			  "no packet is for it",
			  weir_text(command, "weir rule add %s VIP PROTO PORTS",
				    service->name));
}

static void check_equal(struct weir_check_state *state,
			const struct weir_service *service)
{
	uint32_t slots = service->opts.num[WEIR_SERVICE_A_TABLE_SLOTS];
	char what[WEIR_TEXT], command[WEIR_TEXT];
	unsigned int i, n = 0;

	for (i = 0; i < service->n_backends; i++)
		n += !weir_backend_drains(&service->backends[i]);
	if (slots && n && slots / n < SLOTS_PER_BACKEND)
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s: table-size %u for %u backends",
				    service->name, slots, n),
			  "below 100 slots per backend the shares of the backends differ visibly",
			  weir_text(command, "weir service set %s table-size auto",
				    service->name));
}

/* What rules: the kernel's choice between configured and reported. */
static uint32_t weight_of(const struct weir_backend *backend, bool reports)
{
	if (reports && weir_opts_has(&backend->opts, WEIR_BACKEND_A_REPORTED))
		return backend->opts.num[WEIR_BACKEND_A_REPORTED];
	return backend->opts.num[WEIR_BACKEND_A_WEIGHT];
}

/* Who has the smallest share of all that have one. */
static const struct weir_backend *lightest(const struct weir_service *service,
					   bool reports, uint64_t *sum)
{
	const struct weir_backend *least = NULL;
	unsigned int i;

	*sum = 0;
	for (i = 0; i < service->n_backends; i++) {
		const struct weir_backend *backend = &service->backends[i];
		uint32_t weight = weight_of(backend, reports);

		if (!weight || !backend->opts.num[WEIR_BACKEND_A_ELIGIBLE])
			continue;
		*sum += weight;
		if (!least || weight < weight_of(least, reports))
			least = backend;
	}
	return least;
}

/* The prime that gives WEIGHT of SUM its slots, 0 if there is none. Rendezvous
 * shares stray by some percent, so a third more. */
static uint32_t enough_slots(const struct weir_service *service, uint64_t sum,
			     uint32_t weight)
{
	const uint32_t *num = service->opts.num;
	uint64_t need = (sum * SLOTS_PER_BACKEND + weight - 1) / weight;

	if (num[WEIR_SERVICE_A_LOCALITY] == WEIR_LOCALITY_WEIGHTED_RENDEZVOUS)
		need += need / 3;
	if (need <= num[WEIR_SERVICE_A_TABLE_SLOTS])
		need = num[WEIR_SERVICE_A_TABLE_SLOTS] + 1ull;
	while (need <= WEIR_TABLE_SIZE_MAX && !weir_is_prime(need))
		need++;
	return need <= WEIR_TABLE_SIZE_MAX ? need : 0;
}

static void check_weights(struct weir_check_state *state,
			  const struct weir_service *service)
{
	bool reports = weir_healthcheck_weights(service->opts.str);
	uint32_t all = service->opts.num[WEIR_SERVICE_A_TABLE_SLOTS];
	char what[WEIR_TEXT], command[WEIR_TEXT], text[WEIR_ADDR_TEXT];
	uint64_t sum;
	const struct weir_backend *least = lightest(service, reports, &sum);
	uint32_t slots, more;

	if (!least || !all)
		return;
	slots = least->opts.num[WEIR_BACKEND_A_SLOTS];
	if (slots >= SLOTS_PER_BACKEND)
		return;
	more = enough_slots(service, sum, weight_of(least, reports));
	weir_text(what, "service %s: weight %u of backend %s, of %llu in all, gives it %u of %u slots",
		  service->name, weight_of(least, reports),
		  weir_addr_text(&least->addr, text), (unsigned long long)sum,
		  slots, all);
	if (more)
		weir_find(state, WEIR_WARNING, what,
			  "below 100 slots a share is coarse: it differs visibly from what the weights say",
			  weir_text(command, "weir service set %s table-size %u",
				    service->name, more));
	else
		weir_find(state, WEIR_WARNING, what,
			  "below 100 slots a share is coarse, and no table is big enough: let the weights differ less",
			  weir_text(command, "weir backend set %s %s weight W",
				    service->name, text));
}

/* Did an earlier group bring this zone up? */
static bool seen_before(const struct weir_service *service, unsigned int at)
{
	unsigned int i;

	for (i = 0; i < at; i++)
		if (service->groups[i].opts.str &&
		    !strcmp(service->groups[i].opts.str,
			    service->groups[at].opts.str))
			return true;
	return false;
}

/* Returns how many groups are in a zone. */
static unsigned int check_groups(struct weir_check_state *state,
				 const struct weir_service *service)
{
	char what[WEIR_TEXT], command[WEIR_TEXT];
	unsigned int i, n = 0;

	for (i = 0; i < service->n_groups; i++) {
		const char *zone = service->groups[i].opts.str;

		if (!zone || !*zone)
			continue;
		n++;
		if (weir_config_find_zone(&state->config, zone) ||
		    seen_before(service, i))
			continue;
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s: group %s is in zone %s, which has no prefixes",
				    service->name, service->groups[i].name,
				    zone),
			  "no client is ever in that zone",
			  weir_text(command, "weir zone add %s PREFIX", zone));
	}
	return n;
}

static void check_zones(struct weir_check_state *state,
			const struct weir_service *service)
{
	bool zonal = service->opts.num[WEIR_SERVICE_A_ZONAL_AFFINITY] !=
		     WEIR_ZONAL_AFFINITY_DISABLED;
	char what[WEIR_TEXT], command[WEIR_TEXT];

	if (zonal && !state->config.n_zones)
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s: zonal-affinity is on, and there are no zones",
				    service->name),
			  "no client is in any zone, so it changes nothing",
			  "weir zone add NAME PREFIX");
	else if (!check_groups(state, service) && zonal)
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "service %s: zonal-affinity is on, and none of its groups is in a zone",
				    service->name),
			  "no backend is near to any client, so it changes nothing",
			  weir_text(command, "weir group set %s GROUP zone ZONE",
				    service->name));
}

void weir_check_services(struct weir_check_state *state)
{
	unsigned int i;

	for (i = 0; i < state->config.n_services; i++) {
		const struct weir_service *service = &state->config.services[i];

		check_eligible(state, service);
		check_answers(state, service);
		check_checker(state, service);
		check_rules(state, service);
		if (service->opts.num[WEIR_SERVICE_A_WEIGHTING] ==
		    WEIR_WEIGHTING_ON)
			check_weights(state, service);
		else
			check_equal(state, service);
		check_zones(state, service);
	}
}
