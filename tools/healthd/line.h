/* SPDX-License-Identifier: GPL-2.0 */
/* How a service is checked, as the kernel or a file has it. */
#ifndef WEIR_LINE_H
#define WEIR_LINE_H

#include "healthcheck.h"
#include "model.h"

/* Takes the service's line apart. 0; 1 if there is none; -1, logged, if it cannot be
 * obeyed: others wrote it, or a newer tool. */
int weir_line_read(const struct weir_service *service,
		   struct weir_healthcheck *line);
/* Can the service be checked so? What else it is may have changed. False is logged. */
bool weir_line_fits(const struct weir_service *service,
		    const struct weir_healthcheck *line);
/* The first VIP that is one address, which HTTP names by default; len 0: none. */
void weir_line_vip(const struct weir_service *service, struct weir_addr *vip);

#endif
