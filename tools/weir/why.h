/* SPDX-License-Identifier: GPL-2.0 */
/* Why things are as they are, as sentences. Shares are told as counts, "2 of 3",
 * for a quotient would have to be rounded, and then might look equal to a ratio
 * that it falls short of. Pure. */
#ifndef WEIR_WHY_H
#define WEIR_WHY_H

#include "model.h"

#define WEIR_WHY_TEXT	256

/* Why the eligible set is what it is: without numbers, and with those of a
 * service. */
const char *weir_eligible_sentence(uint32_t eligible);
const char *weir_eligible_why(const struct weir_service *service,
			      char buf[WEIR_WHY_TEXT]);
/* What zonal affinity makes of it, likewise. */
const char *weir_zonal_sentence(uint32_t zonal);
const char *weir_zonal_why(const struct weir_service *service,
			   const struct weir_zonal *zonal,
			   char buf[WEIR_WHY_TEXT]);
/* How the eligible backends share: "by weight, as configured" */
const char *weir_weighting_why(const struct weir_service *service,
			       char buf[WEIR_WHY_TEXT]);
/* Why an existing flow may stay or not: "its backend was removed" */
const char *weir_stay_sentence(uint32_t stay);

#endif
