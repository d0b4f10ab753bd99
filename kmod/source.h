/* SPDX-License-Identifier: GPL-2.0 */
/*
 * source - the protocols and ports that backends of a service answer from
 */
#ifndef WEIR_SOURCE_H
#define WEIR_SOURCE_H

#include "service.h"

static inline u8 weir_source_proto(u32 source)
{
	return source >> 16;
}

static inline u16 weir_source_port(u32 source)
{
	return source;
}

/**
 * weir_sources_fill() - collect them from the rules of a service
 * @svc: not published
 *
 * A service may have a thousand VIPs with the same port: what is done for each source and
 * each backend must not be done for each of those. May sleep. Return: 0 or -ENOMEM.
 */
int weir_sources_fill(struct weir_service *svc);

#endif /* WEIR_SOURCE_H */
