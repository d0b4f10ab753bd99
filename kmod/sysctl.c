// SPDX-License-Identifier: GPL-2.0
/*
 * sysctl - net.weir.*, per network namespace
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/hex.h"
#include "compat/sysctl.h"
#include "commit.h"
#include "config.h"
#include "fast.h"
#include "limit.h"
#include "netns.h"
#include "others.h"
#include "session.h"
#include "sysctl.h"
#include "track.h"

#define KEY_DIGITS	(2 * WEIR_HASH_KEY_LEN)

static int write_key(struct weir_net *wn, const char *text)
{
	u8 key[WEIR_HASH_KEY_LEN];
	int err = -EINVAL;

	if (strlen(text) == KEY_DIGITS &&
	    !hex2bin(key, text, WEIR_HASH_KEY_LEN))
		err = weir_commit_key(wn, key);
	memzero_explicit(key, sizeof(key));
	return err;
}

static void read_key(struct weir_net *wn, char *text)
{
	u8 key[WEIR_HASH_KEY_LEN];

	rcu_read_lock();
	weir_key_write(key, &rcu_dereference(wn->config)->key);
	rcu_read_unlock();
	bin2hex(text, key, WEIR_HASH_KEY_LEN);
	text[KEY_DIGITS] = '\0';
	memzero_explicit(key, sizeof(key));
}

/* 32 hex digits. A new key rebuilds the tables; tracked flows stay. */
static int do_hash_key(weir_handler_table *table, int write, void *buffer,
		       size_t *lenp, loff_t *ppos)
{
	/* One more byte than a key has, so that a longer one is refused. */
	char text[KEY_DIGITS + 2] = "";
	struct ctl_table mine = {
		.data	= text,
		.maxlen	= sizeof(text),
	};
	int err;

	if (!write)
		read_key(table->extra1, text);
	err = proc_dostring(&mine, write, buffer, lenp, ppos);
	if (!err && write)
		err = write_key(table->extra1, text);
	memzero_explicit(text, sizeof(text));
	return err;
}

/* What does not fit is refused, and nothing is changed. */
static int do_number(weir_handler_table *table, int write, void *buffer,
		     size_t *lenp, loff_t *ppos, unsigned int *value,
		     unsigned int least, unsigned int most)
{
	struct ctl_table mine = {
		.data	= value,
		.maxlen	= sizeof(*value),
		.extra1	= &least,
		.extra2	= &most,
	};

	return proc_douintvec_minmax(&mine, write, buffer, lenp, ppos);
}

static int do_max_sessions(weir_handler_table *table, int write, void *buffer,
			   size_t *lenp, loff_t *ppos)
{
	struct weir_net *wn = table->extra1;
	unsigned int value = READ_ONCE(wn->max_sessions);
	int err;

	err = do_number(table, write, buffer, lenp, ppos, &value,
			WEIR_SESSIONS_MIN, WEIR_SESSIONS_MAX);
	if (!err && write)
		err = weir_session_resize(wn, value);
	return err;
}

static int do_max_flows(weir_handler_table *table, int write, void *buffer,
			size_t *lenp, loff_t *ppos)
{
	struct weir_net *wn = table->extra1;
	unsigned int value = weir_limit_effective(wn);
	int err;

	err = do_number(table, write, buffer, lenp, ppos, &value, 0, INT_MAX);
	if (!err && write) {
		WRITE_ONCE(wn->max_flows, value);
		WRITE_ONCE(wn->max_flows_written, true);
	}
	return err;
}

static int do_fast_path(weir_handler_table *table, int write, void *buffer,
			size_t *lenp, loff_t *ppos)
{
	struct weir_net *wn = table->extra1;
	unsigned int value = READ_ONCE(wn->fast_path);
	int err;

	err = do_number(table, write, buffer, lenp, ppos, &value, 0, 1);
	if (!err && write)
		err = weir_fast_switch(wn, value);
	return err;
}

static int do_track_others(weir_handler_table *table, int write, void *buffer,
			   size_t *lenp, loff_t *ppos)
{
	struct weir_net *wn = table->extra1;
	unsigned int value = !READ_ONCE(wn->untracks);
	int err;

	err = do_number(table, write, buffer, lenp, ppos, &value, 0, 1);
	if (!err && write)
		err = weir_others_switch(wn, value);
	return err;
}

static const struct ctl_table template[] = {
	{
		.procname	= "fast_path",
		.mode		= 0644,
		.maxlen		= sizeof(int),
		.proc_handler	= do_fast_path,
	}, {
		.procname	= "hash_key",
		.mode		= 0600,
		.maxlen		= KEY_DIGITS + 1,
		.proc_handler	= do_hash_key,
	}, {
		.procname	= "log_drops",
		.mode		= 0644,
		.maxlen		= sizeof(int),
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	}, {
		.procname	= "max_flows",
		.mode		= 0644,
		.maxlen		= sizeof(int),
		.proc_handler	= do_max_flows,
	}, {
		.procname	= "max_sessions",
		.mode		= 0644,
		.maxlen		= sizeof(int),
		.proc_handler	= do_max_sessions,
	}, {
		.procname	= "track_others",
		.mode		= 0644,
		.maxlen		= sizeof(int),
		.proc_handler	= do_track_others,
	},
};

enum {
	FAST_PATH,
	HASH_KEY,
	LOG_DROPS,
	MAX_FLOWS,
	MAX_SESSIONS,
	TRACK_OTHERS,
};

int weir_sysctl_init(struct weir_net *wn)
{
	struct ctl_table *table;

	table = kcalloc(ARRAY_SIZE(template) + WEIR_SYSCTL_SENTINELS,
			sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	memcpy(table, template, sizeof(template));
	table[FAST_PATH].extra1 = wn;
	table[HASH_KEY].extra1 = wn;
	table[MAX_FLOWS].extra1 = wn;
	table[MAX_SESSIONS].extra1 = wn;
	table[TRACK_OTHERS].extra1 = wn;
	table[LOG_DROPS].data = &wn->log_drops;
	wn->sysctl_header = weir_register_net_sysctl(wn->net, "net/weir", table,
						     ARRAY_SIZE(template));
	if (!wn->sysctl_header) {
		kfree(table);
		return -ENOMEM;
	}
	wn->sysctl_table = table;
	return 0;
}

void weir_sysctl_exit(struct weir_net *wn)
{
	unregister_net_sysctl_table(wn->sysctl_header);
	kfree(wn->sysctl_table);
}
