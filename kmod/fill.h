/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fill - objects as attributes
 *
 * Each function adds one nest of the given type and returns 0, or -EMSGSIZE
 * when the message has no room for it. Then a part of the nest may stand in the
 * message, and the caller cancels the whole message; only weir_fill_change()
 * leaves the message as it was.
 */
#ifndef WEIR_FILL_H
#define WEIR_FILL_H

#include <linux/bits.h>
#include <linux/types.h>

struct sk_buff;
struct weir_backend;
struct weir_change_item;
struct weir_flow;
struct weir_group;
struct weir_rule;
struct weir_service;
struct weir_session_view;
struct weir_verdict;
struct weir_zonal;
struct weir_zone;

/* What to say of a backend besides what is configured. All need a backend of a
 * published service.
 */
#define WEIR_FILL_STATE		BIT(0)
#define WEIR_FILL_COUNTERS	BIT(1)
#define WEIR_FILL_FLOWS		BIT(2)	/* after weir_flow_count() */
#define WEIR_FILL_PROBE		BIT(3)	/* weir_net.lock held */

/**
 * weir_fill_service() - options, state and counters of a published service
 *
 * weir_net.lock held, so that what its backends and its owner have counted
 * belongs together.
 */
int weir_fill_service(struct sk_buff *skb, int type,
		      const struct weir_service *svc);

int weir_fill_rule(struct sk_buff *skb, int type, const struct weir_rule *rule);
int weir_fill_group(struct sk_buff *skb, int type,
		    const struct weir_group *group);

/**
 * weir_fill_backend() - configured values, and what @flags ask for
 */
int weir_fill_backend(struct sk_buff *skb, int type,
		      const struct weir_backend *be, unsigned int flags);

int weir_fill_change(struct sk_buff *skb, int type,
		     const struct weir_change_item *item);
int weir_fill_flow(struct sk_buff *skb, int type, const struct weir_flow *flow);

int weir_fill_session(struct sk_buff *skb, int type,
		      const struct weir_session_view *session);

/**
 * weir_fill_verdict() - the answer to a lookup; RCU read lock
 */
int weir_fill_verdict(struct sk_buff *skb, int type,
		      const struct weir_verdict *verdict);

/**
 * weir_fill_zone() - a zone, with some of its prefixes
 * @from: the first one
 * @n: how many of them
 */
int weir_fill_zone(struct sk_buff *skb, int type, const struct weir_zone *zone,
		   u32 from, u32 n);

int weir_fill_zonal(struct sk_buff *skb, int type,
		    const struct weir_zonal *zonal);

/* What a service is made of, in the order of a dump. */
enum weir_object {
	WEIR_OBJECT_SERVICE,
	WEIR_OBJECT_RULE,
	WEIR_OBJECT_GROUP,
	WEIR_OBJECT_BACKEND,
	WEIR_OBJECT_ZONAL,

	WEIR_NR_OBJECTS
};

/**
 * weir_count_objects() - how many of that kind it has
 */
u32 weir_count_objects(const struct weir_service *svc, enum weir_object object);

/**
 * weir_fill_object() - the @i-th one, with its state and counters
 * @flows: and flows, after weir_flow_count()
 */
int weir_fill_object(struct sk_buff *skb, const struct weir_service *svc,
		     enum weir_object object, u32 i, bool flows);

/**
 * weir_fill_reason() - a counter of packets that were not forwarded
 * @kernel: counted by the kernel's conntrack
 */
int weir_fill_reason(struct sk_buff *skb, int type, const char *name,
		     const char *text, u64 packets, bool kernel);

#endif /* WEIR_FILL_H */
