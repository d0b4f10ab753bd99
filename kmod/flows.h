/* SPDX-License-Identifier: GPL-2.0 */
/*
 * flows - walks over the conntrack entries that are ours
 */
#ifndef WEIR_FLOWS_H
#define WEIR_FLOWS_H

#include <linux/types.h>
#include <linux/weir.h>

#include "tuple.h"

struct nf_conn;
struct weir_net;

/* Which flows a walk is about. */
struct weir_flow_filter {
	const char *service;		/* NULL for all */
	bool has_backend;
	u8 family;
	struct weir_addr backend;
};

/* A flow as a reader sees it. */
struct weir_flow {
	char service[WEIR_NAME_MAX + 1];
	u8 family;
	u8 proto;			/* IPPROTO_* */
	bool has_ports;
	struct weir_addr src, dst, backend;
	u16 sport, dport, backend_port;	/* host order */
	u32 expires;			/* seconds */
	bool is_tcp;
	u8 tcp_state;			/* enum tcp_conntrack */
	bool replied;
	u8 stay;			/* enum weir_stay */
};

/* Where a dump stands: start with zeroes. */
struct weir_flow_cursor {
	u32 bucket;
	u32 skip;			/* entries of the bucket already seen */
};

/**
 * weir_flow_dump() - call @fn for each flow from @cursor on
 * @fn: returns 0 to go on; anything else stops the walk with the cursor at
 *	that flow. Called under RCU, must not sleep
 *
 * Process context, may sleep between buckets. Flows that come or go meanwhile
 * may or may not be seen. Return: 0 at the end, or what @fn returned.
 */
int weir_flow_dump(struct weir_net *wn, const struct weir_flow_filter *filter,
		   struct weir_flow_cursor *cursor,
		   int (*fn)(const struct weir_flow *flow, void *arg),
		   void *arg);

/**
 * weir_flow_count() - count flows into weir_dest.nr_flows of every dest of the
 *	live configuration
 * weir_net.lock held, may sleep.
 */
void weir_flow_count(struct weir_net *wn);

/**
 * weir_flow_flush() - remove flows
 *
 * The next packet of each is selected anew; late answers are dropped. May
 * sleep. Return: how many there were.
 */
u32 weir_flow_flush(struct weir_net *wn, const struct weir_flow_filter *filter);

/**
 * weir_flow_describe() - fill @flow from a conntrack entry of ours
 * RCU read lock. Return: false if the entry is not ours.
 */
bool weir_flow_describe(struct weir_net *wn, struct nf_conn *ct,
			struct weir_flow *flow);

#endif /* WEIR_FLOWS_H */
