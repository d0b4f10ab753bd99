// SPDX-License-Identifier: GPL-2.0
/*
 * site - an address that backends have, in whatever services and states
 */
#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/stddef.h>

#include "netns.h"
#include "site.h"

struct site_key {
	struct weir_addr addr;
	u32 family;
};

struct weir_site {
	struct rhash_head node;
	struct site_key key;
	u32 nr_backends;	/* weir_net.lock */
	struct rcu_head rcu;
};

static const struct rhashtable_params by_key = {
	.key_len		= sizeof(struct site_key),
	.key_offset		= offsetof(struct weir_site, key),
	.head_offset		= offsetof(struct weir_site, node),
	.automatic_shrinking	= true,
};

int weir_site_init(struct weir_net *wn)
{
	return rhashtable_init(&wn->sites, &by_key);
}

void weir_site_exit(struct weir_net *wn)
{
	rhashtable_destroy(&wn->sites);
}

static struct weir_site *find(struct weir_net *wn, u8 family, const struct weir_addr *addr)
{
	struct site_key key = {
		.addr = *addr,
		.family = family,
	};

	return rhashtable_lookup(&wn->sites, &key, by_key);
}

struct weir_site *weir_site_get(struct weir_net *wn, u8 family, const struct weir_addr *addr)
{
	struct weir_site *site;

	rcu_read_lock();
	site = find(wn, family, addr);
	rcu_read_unlock();
	/* Only holders of the lock take one away. */
	if (site) {
		site->nr_backends++;
		return site;
	}
	site = kzalloc(sizeof(*site), GFP_KERNEL_ACCOUNT);
	if (!site)
		return NULL;
	site->key.addr = *addr;
	site->key.family = family;
	site->nr_backends = 1;
	if (rhashtable_insert_fast(&wn->sites, &site->node, by_key)) {
		kfree(site);
		return NULL;
	}
	return site;
}

void weir_site_put(struct weir_net *wn, struct weir_site *site)
{
	if (--site->nr_backends)
		return;
	/* Whoever does not find it any more shall find this. */
	WRITE_ONCE(wn->site_left, jiffies);
	WRITE_ONCE(wn->any_site_left, true);
	smp_wmb();
	rhashtable_remove_fast(&wn->sites, &site->node, by_key);
	kfree_rcu(site, rcu);
}

bool weir_site_left(const struct weir_net *wn, unsigned long within)
{
	/* Pairs with the barrier in weir_site_put(). */
	smp_rmb();
	return READ_ONCE(wn->any_site_left) &&
	       time_before(jiffies, READ_ONCE(wn->site_left) + within);
}

bool weir_site_is(struct weir_net *wn, u8 family, const struct weir_addr *addr)
{
	return find(wn, family, addr);
}
