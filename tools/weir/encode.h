/* SPDX-License-Identifier: GPL-2.0 */
/* Model -> attributes of a message. Exactly what the user gave is sent, and
 * nothing else: the kernel knows the defaults. Pure. */
#ifndef WEIR_ENCODE_H
#define WEIR_ENCODE_H

#include <libmnl/libmnl.h>

#include "model.h"

/* The biggest message: a rule or a part of a zone, and some room. */
#define WEIR_MESSAGE_MAX	65536
#define WEIR_ZONE_PART		1024	/* prefixes in one message */

void weir_put_service(struct nlmsghdr *nlh, const struct weir_service *service);
void weir_put_rule(struct nlmsghdr *nlh, const char *service,
		   const struct weir_rule *rule);
void weir_put_group(struct nlmsghdr *nlh, const char *service,
		    const struct weir_group *group);
/* addr.len 0: a whole group is meant */
void weir_put_backend(struct nlmsghdr *nlh, const char *service,
		      const struct weir_backend *backend);
/* Prefixes from FIRST on, WEIR_ZONE_PART at most; a zone may have none. */
void weir_put_zone(struct nlmsghdr *nlh, const struct weir_zone *zone,
		   unsigned int first);
void weir_put_addr(struct nlmsghdr *nlh, uint16_t attr,
		   const struct weir_addr *addr);

#endif
