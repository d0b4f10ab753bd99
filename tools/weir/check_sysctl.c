// SPDX-License-Identifier: GPL-2.0
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

#define ROOT		"/proc/sys/net/"
#define FULL_WARNING	75	/* percent of the conntrack table */
#define FULL_ERROR	95

/* Value of a sysctl under net, or -1 if there is none. */
static long read_sysctl(const char *name)
{
	char path[PATH_MAX];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), ROOT "%s", name);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%ld", &value) != 1)
		value = -1;
	fclose(f);
	return value;
}

static void check_forwarding(struct weir_check_state *state)
{
	if (state->v4 && !read_sysctl("ipv4/ip_forward"))
		weir_find(state, WEIR_ERROR, "net.ipv4.ip_forward is 0",
			  "this host forwards no IPv4 packet, so none reaches a backend",
			  "sysctl -w net.ipv4.ip_forward=1");
	if (state->v6 && !read_sysctl("ipv6/conf/all/forwarding"))
		weir_find(state, WEIR_ERROR,
			  "net.ipv6.conf.all.forwarding is 0",
			  "this host forwards no IPv6 packet, so none reaches a backend",
			  "sysctl -w net.ipv6.conf.all.forwarding=1");
}

/* Calls FN for each interface that has IPv4 settings, but for lo. */
static void each_interface(void (*fn)(const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(ROOT "ipv4/conf");
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (name[0] != '.' && strcmp(name, "all") &&
		    strcmp(name, "default") && strcmp(name, "lo"))
			fn(name, arg);
	}
	closedir(dir);
}

struct names {
	const char *sysctl;
	long all;		/* value of conf/all */
	long wanted;
	char text[WEIR_TEXT / 2];
};

/* The kernel takes the greater of conf/all and conf/NAME. */
static void note_interface(const char *name, void *arg)
{
	struct names *names = arg;
	char path[PATH_MAX];
	size_t n = strlen(names->text);
	long value;

	snprintf(path, sizeof(path), "ipv4/conf/%s/%s", name, names->sysctl);
	value = read_sysctl(path);
	if (names->all > value)
		value = names->all;
	if (value == names->wanted)
		snprintf(names->text + n, sizeof(names->text) - n, "%s%s",
			 n ? ", " : "", name);
}

static void check_rp_filter(struct weir_check_state *state)
{
	struct names names = { .sysctl = "rp_filter", .wanted = 1 };
	char what[WEIR_TEXT];

	names.all = read_sysctl("ipv4/conf/all/rp_filter");
	if (!state->v4)
		return;
	each_interface(note_interface, &names);
	if (*names.text)
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "rp_filter is strict (1) on %s",
				    names.text),
			  "packets whose way back leads through another interface are dropped before weir sees them",
			  "sysctl -w net.ipv4.conf.all.rp_filter=2");
}

/* conf/NAME/forwarding has no master: each interface must allow it. */
static void note_no_forwarding(const char *name, void *arg)
{
	struct names *names = arg;

	names->all = LONG_MIN;
	note_interface(name, arg);
}

static void check_interfaces(struct weir_check_state *state)
{
	struct names names = { .sysctl = "forwarding", .wanted = 0 };
	char what[WEIR_TEXT];

	if (!state->v4 || read_sysctl("ipv4/ip_forward") != 1)
		return;
	each_interface(note_no_forwarding, &names);
	if (*names.text)
		weir_find(state, WEIR_WARNING,
			  weir_text(what, "IPv4 forwarding is off on %s",
				    names.text),
			  "what comes in there is not forwarded",
			  "sysctl -w net.ipv4.conf.INTERFACE.forwarding=1");
}

static void check_conntrack(struct weir_check_state *state)
{
	long count = read_sysctl("netfilter/nf_conntrack_count");
	long max = read_sysctl("netfilter/nf_conntrack_max");
	char what[WEIR_TEXT], command[WEIR_TEXT];
	long percent;

	if ((state->nat.v4 || state->nat.v6) &&
	    !read_sysctl("netfilter/nf_conntrack_tcp_loose"))
		weir_find(state, WEIR_WARNING,
			  "net.netfilter.nf_conntrack_tcp_loose is 0",
			  "TCP streams that run already when a rule is made, or whose entry is lost, are reset and not picked up",
			  "sysctl -w net.netfilter.nf_conntrack_tcp_loose=1");
	if (count < 0 || max <= 0)
		return;
	percent = count * 100 / max;
	if (percent < FULL_WARNING)
		return;
	weir_find(state, percent < FULL_ERROR ? WEIR_WARNING : WEIR_ERROR,
		  weir_text(what, "the conntrack table holds %ld of %ld entries (%ld%%)",
			    count, max, percent),
		  "when it is full, new flows are dropped",
		  weir_text(command, "sysctl -w net.netfilter.nf_conntrack_max=%ld",
			    max * 2));
}

/* Of direct mode check_bridge.c knows more. */
static void check_bridge(struct weir_check_state *state)
{
	if (state->nat.v4 && read_sysctl("bridge/bridge-nf-call-iptables") == 1)
		weir_find(state, WEIR_WARNING,
			  "net.bridge.bridge-nf-call-iptables is 1",
			  "frames that only cross a bridge are tracked and balanced as if they were routed",
			  "sysctl -w net.bridge.bridge-nf-call-iptables=0");
	if (state->nat.v6 && read_sysctl("bridge/bridge-nf-call-ip6tables") == 1)
		weir_find(state, WEIR_WARNING,
			  "net.bridge.bridge-nf-call-ip6tables is 1",
			  "frames that only cross a bridge are tracked and balanced as if they were routed",
			  "sysctl -w net.bridge.bridge-nf-call-ip6tables=0");
}

void weir_check_sysctls(struct weir_check_state *state)
{
	check_forwarding(state);
	check_interfaces(state);
	check_rp_filter(state);
	check_conntrack(state);
	check_bridge(state);
}
