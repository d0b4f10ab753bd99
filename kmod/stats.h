/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stats - named per-cpu counters: of backends, and of each way not to forward
 */
#ifndef WEIR_STATS_H
#define WEIR_STATS_H

#include <linux/types.h>
#include <linux/u64_stats_sync.h>

struct sk_buff;
struct nf_hook_state;
struct weir_net;

/* In the order of enum weir_counter_attr, from SELECTIONS on. */
enum weir_counter {
	WEIR_C_SELECTIONS,
	WEIR_C_LAST_RESORT,
	WEIR_C_PACKETS_IN,
	WEIR_C_BYTES_IN,
	WEIR_C_PACKETS_OUT,
	WEIR_C_BYTES_OUT,
	WEIR_C_RESELECTED_GONE,
	WEIR_C_RESELECTED_UNHEALTHY,
	WEIR_C_RESELECTED_ADOPTED,
	WEIR_C_RESELECTED_SYN,
	WEIR_C_RESELECTED_SESSION,
	WEIR_C_RESELECTED_FAILOVER,

	WEIR_NR_COUNTERS
};

struct weir_counters {
	u64_stats_t value[WEIR_NR_COUNTERS];
	struct u64_stats_sync sync;
};

/* Every exit of the packet path that does not forward, and what else an operator
 * wants to hear of. The names and texts stand in stats.c.
 */
enum weir_reason {
	WEIR_R_NO_ELIGIBLE,
	WEIR_R_NO_RULE,
	WEIR_R_INVALID,
	WEIR_R_UNTRACKED,
	WEIR_R_LATE_ANSWER,
	WEIR_R_ENDED,
	WEIR_R_ICMP_UNKNOWN,
	WEIR_R_TUPLE_CLASH,
	WEIR_R_NO_BINDING,
	WEIR_R_RESELECT_RACE,
	WEIR_R_CONNTRACK,
	WEIR_R_HAIRPIN_ADDRESS,
	WEIR_R_ROUTING_HEADER,
	WEIR_R_AH,
	WEIR_R_NO_LOOSE,
	WEIR_R_CLOSING,
	WEIR_R_LOOP,
	WEIR_R_TTL,
	WEIR_R_TOO_BIG,
	WEIR_R_NO_ROUTE,
	WEIR_R_NO_PORTS,
	WEIR_R_NOT_FORWARDING,
	WEIR_R_POLICY,
	WEIR_R_NO_MEMORY,

	WEIR_NR_DROPS,
	/* Events that lose no packet. */
	WEIR_R_SESSION_EVICTED = WEIR_NR_DROPS,
	WEIR_R_FLOW_EVICTED,

	WEIR_NR_REASONS
};

struct weir_reasons {
	u64_stats_t packets[WEIR_NR_REASONS];
	struct u64_stats_sync sync;
};

/**
 * weir_counters_add() - add to one counter of this CPU
 * Bottom halves are off: softirq, or a hook of locally made packets that
 * disabled them.
 */
void weir_counters_add(struct weir_counters __percpu *counters,
		       enum weir_counter which, u64 n);

/**
 * weir_counters_packet() - count a packet and its bytes in one direction
 * @reply: backend to client
 * @len: bytes from the network header on
 */
void weir_counters_packet(struct weir_counters __percpu *counters, bool reply,
			  unsigned int len);

/**
 * weir_counters_sum() - add all CPUs' values to @sum
 */
void weir_counters_sum(struct weir_counters __percpu *counters,
		       u64 sum[WEIR_NR_COUNTERS]);

/**
 * weir_count() - count an event
 * Bottom halves are off.
 */
void weir_count(struct weir_net *wn, enum weir_reason reason);

/**
 * weir_drop() - count a packet that is not forwarded
 * @skb: the packet
 * @state: of the hook
 *
 * Bottom halves are off. Logs it, rate-limited, when net.weir.log_drops is on.
 * Return: NF_DROP.
 */
unsigned int weir_drop(struct weir_net *wn, enum weir_reason reason,
		       const struct sk_buff *skb,
		       const struct nf_hook_state *state);

/**
 * weir_reason_sum() - packets of one reason, over all CPUs
 */
u64 weir_reason_sum(struct weir_net *wn, enum weir_reason reason);

/**
 * weir_reason_name() - one word
 */
const char *weir_reason_name(enum weir_reason reason);

/**
 * weir_reason_text() - one line
 */
const char *weir_reason_text(enum weir_reason reason);

#endif /* WEIR_STATS_H */
