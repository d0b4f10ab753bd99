/* SPDX-License-Identifier: GPL-2.0 */
/* `via vip`: the module is asked to send a connection to the VIP to one backend. */
#ifndef WEIR_PIN_H
#define WEIR_PIN_H

#include "nl.h"
#include "probe.h"

/* A weir_probe_pin; ARG is a struct weir_nl, with which what it asked for goes. The
 * error has no words about which service it is. */
int weir_pin(void *arg, const struct weir_probe_job *job, uint16_t port,
	     struct weir_err *err);

#endif
