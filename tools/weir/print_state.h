/* SPDX-License-Identifier: GPL-2.0 */
/* The state of services and zones, as `show` has it. */
#ifndef WEIR_PRINT_STATE_H
#define WEIR_PRINT_STATE_H

#include "model.h"
#include "out.h"

void weir_out_service_state(struct weir_out *out,
			    const struct weir_service *service, bool counters);
void weir_out_zone_state(struct weir_out *out, const struct weir_zone *zone);

#endif
