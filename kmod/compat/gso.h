/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat/gso - skb_gso_validate_network_len() has moved from linux/skbuff.h to a
 * header of its own
 */
#ifndef WEIR_COMPAT_GSO_H
#define WEIR_COMPAT_GSO_H

#ifdef WEIR_HAVE_GSO_H
#include <net/gso.h>
#else
#include <linux/skbuff.h>
#endif

#endif /* WEIR_COMPAT_GSO_H */
