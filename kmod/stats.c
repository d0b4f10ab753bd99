// SPDX-License-Identifier: GPL-2.0
/*
 * stats - named per-cpu counters: of backends, and of each way not to forward
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/skbuff.h>

#include "netns.h"
#include "stats.h"

static const struct {
	const char *name;
	const char *text;
} reasons[WEIR_NR_REASONS] = {
	[WEIR_R_NO_ELIGIBLE] = { "no-eligible-backend",
		"a new flow, and no backend of the service may be chosen" },
	[WEIR_R_NO_RULE] = { "no-rule",
		"to a VIP, but no rule has this protocol and port" },
	[WEIR_R_INVALID] = { "invalid",
		"to a VIP, but conntrack calls it invalid" },
	[WEIR_R_UNTRACKED] = { "untracked",
		"to a VIP, but a notrack rule keeps it out of conntrack" },
	[WEIR_R_LATE_ANSWER] = { "late-answer",
		"from a backend, belongs to no flow and cannot open one" },
	[WEIR_R_ENDED] = { "ended",
		"from a backend, for a flow whose backend or rule was removed" },
	[WEIR_R_ICMP_UNKNOWN] = { "icmp-unknown",
		"an ICMP error to a VIP about a flow that does not exist" },
	[WEIR_R_TUPLE_CLASH] = { "tuple-clash",
		"a new flow that cannot be told apart after translation" },
	[WEIR_R_NO_BINDING] = { "no-binding",
		"a new flow whose conntrack entry has no room for its backend" },
	[WEIR_R_RESELECT_RACE] = { "reselect-race",
		"a flow was selected anew by two packets at once" },
	[WEIR_R_CONNTRACK] = { "conntrack",
		"conntrack refused the packet of a flow that is selected anew" },
	[WEIR_R_HAIRPIN_ADDRESS] = { "hairpin-address",
		"a hairpin flow, and the outgoing interface has no address" },
	[WEIR_R_ROUTING_HEADER] = { "routing-header",
		"to a VIP, with an IPv6 type 0 routing header" },
	[WEIR_R_AH] = { "ah",
		"an AH packet to a VIP: translation would break it" },
	[WEIR_R_NO_LOOSE] = { "not-picked-up",
		"mid-stream TCP without a flow, with nf_conntrack_tcp_loose=0" },
	[WEIR_R_CLOSING] = { "closing",
		"a new flow while the module is being unloaded" },
	[WEIR_R_LOOP] = { "loop",
		"direct: a backend sent the packet back: it lacks the VIP" },
	[WEIR_R_TTL] = { "ttl",
		"direct: the packet's time to live is over" },
	[WEIR_R_TOO_BIG] = { "too-big",
		"direct: longer than the MTU towards the backend; its sender is told" },
	[WEIR_R_NO_ROUTE] = { "no-route",
		"direct: no route to the backend, or it is this router" },
	[WEIR_R_NO_PORTS] = { "no-ports",
		"direct: a fragment without ports, and no rule for all ports" },
	[WEIR_R_NOT_FORWARDING] = { "not-forwarding",
		"direct: forwarding is off where the packet came in" },
	[WEIR_R_POLICY] = { "policy",
		"direct: an IPsec policy refuses the packet" },
	[WEIR_R_NO_MEMORY] = { "no-memory",
		"direct: no memory for the headers of the packet" },
	[WEIR_R_SESSION_EVICTED] = { "session-evicted",
		"no packet lost: a session in use gave way in a full table" },
	[WEIR_R_FLOW_EVICTED] = { "flow-evicted",
		"no packet lost: a flow gave way to keep below max_flows" },
};

void weir_counters_add(struct weir_counters __percpu *counters,
		       enum weir_counter which, u64 n)
{
	struct weir_counters *mine = this_cpu_ptr(counters);

	u64_stats_update_begin(&mine->sync);
	u64_stats_add(&mine->value[which], n);
	u64_stats_update_end(&mine->sync);
}

void weir_counters_packet(struct weir_counters __percpu *counters, bool reply,
			  unsigned int len)
{
	struct weir_counters *mine = this_cpu_ptr(counters);
	enum weir_counter packets = reply ? WEIR_C_PACKETS_OUT
					  : WEIR_C_PACKETS_IN;

	u64_stats_update_begin(&mine->sync);
	u64_stats_inc(&mine->value[packets]);
	u64_stats_add(&mine->value[packets + 1], len);
	u64_stats_update_end(&mine->sync);
}

void weir_counters_sum(struct weir_counters __percpu *counters,
		       u64 sum[WEIR_NR_COUNTERS])
{
	u64 value[WEIR_NR_COUNTERS];
	unsigned int start;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		const struct weir_counters *one = per_cpu_ptr(counters, cpu);

		do {
			start = u64_stats_fetch_begin(&one->sync);
			for (i = 0; i < WEIR_NR_COUNTERS; i++)
				value[i] = u64_stats_read(&one->value[i]);
		} while (u64_stats_fetch_retry(&one->sync, start));
		for (i = 0; i < WEIR_NR_COUNTERS; i++)
			sum[i] += value[i];
	}
}

static void log_drop(enum weir_reason reason, const struct sk_buff *skb,
		     const struct nf_hook_state *state)
{
	const char *in = state->in ? state->in->name : "local";

	if (!net_ratelimit())
		return;
	if (state->pf == NFPROTO_IPV4)
		pr_info("drop %s: in %s src %pI4 dst %pI4 proto %u len %u\n",
			reasons[reason].name, in, &ip_hdr(skb)->saddr,
			&ip_hdr(skb)->daddr, ip_hdr(skb)->protocol, skb->len);
	else
		pr_info("drop %s: in %s src %pI6c dst %pI6c next %u len %u\n",
			reasons[reason].name, in, &ipv6_hdr(skb)->saddr,
			&ipv6_hdr(skb)->daddr, ipv6_hdr(skb)->nexthdr,
			skb->len);
}

void weir_count(struct weir_net *wn, enum weir_reason reason)
{
	struct weir_reasons *mine = this_cpu_ptr(wn->reasons);

	u64_stats_update_begin(&mine->sync);
	u64_stats_inc(&mine->packets[reason]);
	u64_stats_update_end(&mine->sync);
}

unsigned int weir_drop(struct weir_net *wn, enum weir_reason reason,
		       const struct sk_buff *skb,
		       const struct nf_hook_state *state)
{
	weir_count(wn, reason);
	if (READ_ONCE(wn->log_drops))
		log_drop(reason, skb, state);
	return NF_DROP;
}

u64 weir_reason_sum(struct weir_net *wn, enum weir_reason reason)
{
	unsigned int start;
	u64 value, sum = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct weir_reasons *one = per_cpu_ptr(wn->reasons, cpu);

		do {
			start = u64_stats_fetch_begin(&one->sync);
			value = u64_stats_read(&one->packets[reason]);
		} while (u64_stats_fetch_retry(&one->sync, start));
		sum += value;
	}
	return sum;
}

const char *weir_reason_name(enum weir_reason reason)
{
	return reasons[reason].name;
}

const char *weir_reason_text(enum weir_reason reason)
{
	return reasons[reason].text;
}
