// SPDX-License-Identifier: GPL-2.0
/*
 * ctstat - what the kernel's conntrack has counted itself
 */
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <net/net_namespace.h>
#include <net/netfilter/nf_conntrack.h>

#include "ctstat.h"

static const struct {
	const char *name, *text;
	size_t offset;
} counters[] = {
#define COUNTER(_field, _name, _text)					\
	{ .name = _name, .text = _text,					\
	  .offset = offsetof(struct ip_conntrack_stat, _field) }
	COUNTER(insert_failed, "conntrack-insert-failed",
		"dropped: another flow took the tuple first"),
	COUNTER(drop, "conntrack-drop",
		"dropped: the conntrack table is full, or there is no memory"),
	COUNTER(early_drop, "conntrack-early-drop",
		"entries that were removed to make room in a full table"),
	COUNTER(invalid, "conntrack-invalid",
		"packets that conntrack could not track"),
	COUNTER(error, "conntrack-error",
		"packets that failed conntrack's header checks"),
};

bool weir_ctstat_read(const struct net *net, unsigned int i,
		      struct weir_ctstat *stat)
{
	int cpu;

	if (i >= ARRAY_SIZE(counters))
		return false;
	stat->name = counters[i].name;
	stat->text = counters[i].text;
	stat->packets = 0;
	for_each_possible_cpu(cpu) {
		const void *of_cpu = per_cpu_ptr(net->ct.stat, cpu);
		const unsigned int *value = of_cpu + counters[i].offset;

		stat->packets += READ_ONCE(*value);
	}
	return true;
}
