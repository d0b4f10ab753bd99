/* SPDX-License-Identifier: GPL-2.0 */
/*
 * answer - what a command without a dump says
 *
 * Each function adds attributes to a message and returns 0 or -EMSGSIZE.
 */
#ifndef WEIR_ANSWER_H
#define WEIR_ANSWER_H

#include <linux/types.h>

struct sk_buff;
struct weir_flow_filter;
struct weir_net;
struct weir_tuple;

/**
 * weir_answer_info() - version, generation, how much of everything there is
 * @with_key: the reader may know the hash key
 *
 * weir_net.lock held, may sleep.
 */
int weir_answer_info(struct sk_buff *reply, struct weir_net *wn, bool with_key);

/**
 * weir_answer_lookup() - what would happen to a packet
 */
int weir_answer_lookup(struct sk_buff *reply, struct weir_net *wn,
		       const struct weir_tuple *tuple, bool syn);

/**
 * weir_answer_flush() - remove flows and sessions, and say how many; may sleep
 */
int weir_answer_flush(struct sk_buff *reply, struct weir_net *wn,
		      const struct weir_flow_filter *filter);

#endif /* WEIR_ANSWER_H */
