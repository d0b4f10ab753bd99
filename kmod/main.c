// SPDX-License-Identifier: GPL-2.0
/*
 * weir - a passthrough network load balancer
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>
#include <net/netfilter/nf_conntrack.h>

#include "binding.h"
#include "config.h"
#include "dest.h"
#include "direct.h"
#include "drain.h"
#include "draft.h"
#include "fault.h"
#include "hook.h"
#include "limit.h"
#include "line.h"
#include "netlink.h"
#include "netns.h"
#include "others.h"
#include "pin.h"
#include "session.h"
#include "shortcut.h"
#include "site.h"
#include "stats.h"
#include "sweep.h"
#include "sysctl.h"
#include "transmit.h"
#include "track.h"

/* What backends have on its way when their flows are removed has been dropped by
 * the guard after this.
 */
#define LINGER_MS	200

/* As many answers per namespace as the kernel's own ICMP limit lets out. */
#define REJECTS_PER_SECOND	1000

unsigned int weir_net_id;
struct workqueue_struct *weir_wq;
bool weir_unloading;

static int alloc_reasons(struct weir_net *wn)
{
	int cpu;

	wn->reasons = alloc_percpu(struct weir_reasons);
	if (!wn->reasons)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		u64_stats_init(&per_cpu_ptr(wn->reasons, cpu)->sync);
	return 0;
}

static int __net_init net_init(struct net *net)
{
	struct weir_net *wn = weir_net(net);
	int err;

	wn->net = net;
	mutex_init(&wn->lock);
	INIT_LIST_HEAD(&wn->bindings);
	spin_lock_init(&wn->route_lock);
	INIT_LIST_HEAD(&wn->routed);
	ratelimit_state_init(&wn->rejects, HZ, REJECTS_PER_SECOND);
	/* A limit that is reached is no news for the kernel log. */
	ratelimit_set_flags(&wn->rejects, RATELIMIT_MSG_ON_RELEASE);
	wn->max_sessions = WEIR_SESSIONS_DEFAULT;
	wn->fast_path = true;
	wn->flows_counted = jiffies - HZ;
	wn->sessions_counted = jiffies - HZ;
	weir_sweep_init(wn);
	weir_drain_init(wn);
	weir_limit_init(wn);
	err = weir_fault() ?: alloc_reasons(wn);
	if (err)
		return err;
	err = weir_fault() ?: weir_site_init(wn);
	if (err)
		goto err_reasons;
	err = weir_fault() ?: weir_config_init(wn);
	if (err)
		goto err_sites;
	err = weir_fault() ?: weir_sysctl_init(wn);
	if (err)
		goto err_config;
	return 0;

err_config:
	weir_config_exit(wn);
err_sites:
	weir_site_exit(wn);
err_reasons:
	free_percpu(wn->reasons);
	return err;
}

/* While NAT and the guard are still there, so that nothing passes untranslated. */
static void net_close(struct weir_net *wn)
{
	/* A writer that is at it finishes; the next one is refused. */
	mutex_lock(&wn->lock);
	if (wn->closing) {
		mutex_unlock(&wn->lock);
		return;
	}
	WRITE_ONCE(wn->closing, true);
	mutex_unlock(&wn->lock);
	/* Without hooks nobody selects, and there are no flows: most namespaces of
	 * a host that has many are gone without waiting here.
	 */
	if (wn->hooked[0] || wn->hooked[1] || wn->direct[0] || wn->direct[1])
		synchronize_net();
	weir_drain_exit(wn);
	weir_limit_exit(wn);
	weir_sweep_exit(wn);
	weir_sweep_all(wn);
}

static void __net_exit net_pre_exit(struct net *net)
{
	struct weir_net *wn = weir_net(net);

	net_close(wn);
	weir_others_disable(wn);
	weir_direct_disable(wn);
	weir_hook_disable(wn);
}

/* Hooks are off and a grace period is over. Conntrack's own exit comes later and
 * may still meet entries that nobody walked over, on a queue for instance; what
 * they point to is counted, or kept until the module goes.
 */
static void __net_exit net_exit(struct net *net)
{
	struct weir_net *wn = weir_net(net);

	weir_sysctl_exit(wn);
	weir_shortcut_exit(wn);
	weir_lines_exit(wn);
	weir_sweep_all(wn);
	weir_pin_exit(wn);
	mutex_lock(&wn->lock);
	weir_draft_free(wn->draft);
	wn->draft = NULL;
	mutex_unlock(&wn->lock);
	weir_config_exit(wn);
	if (wn->last_dest_id)
		weir_dest_flush();
	weir_site_exit(wn);
	weir_binding_exit_net(wn);
	weir_tombs_exit(&wn->tombs);
	weir_session_exit(wn);
	free_percpu(wn->reasons);
}

static struct pernet_operations net_ops = {
	.init		= net_init,
	.pre_exit	= net_pre_exit,
	.exit		= net_exit,
	.id		= &weir_net_id,
	.size		= sizeof(struct weir_net),
};

static int is_ours(struct nf_conn *ct, void *data)
{
	int ours;

	rcu_read_lock();
	ours = !!weir_binding_of(ct);
	rcu_read_unlock();
	return ours;
}

static int __init alloc_queue(void)
{
	weir_wq = alloc_workqueue("weir", WQ_UNBOUND, 0);
	return weir_wq ? 0 : -ENOMEM;
}

static int __init weir_init(void)
{
	int err;

	err = weir_fault() ?: alloc_queue();
	if (err)
		goto err_queue;
	err = weir_fault() ?: register_pernet_subsys(&net_ops);
	if (err)
		goto err_pernet;
	err = weir_fault() ?: weir_transmit_init();
	if (err)
		goto err_transmit;
	err = weir_fault() ?: weir_netlink_init();
	if (err)
		goto err_netlink;
	return 0;

err_netlink:
	weir_transmit_exit();
err_transmit:
	unregister_pernet_subsys(&net_ops);
err_pernet:
	destroy_workqueue(weir_wq);
err_queue:
	pr_err("not loaded: error %d\n", err);
	return err;
}

static void close_all(void)
{
	struct net *net;

	down_read(&net_rwsem);
	for_each_net(net)
		net_close(weir_net(net));
	up_read(&net_rwsem);
	msleep(LINGER_MS);
}

/* A commit tells listeners of the family, which goes next. */
static void refuse_changes(void)
{
	struct net *net;

	WRITE_ONCE(weir_unloading, true);
	down_read(&net_rwsem);
	for_each_net(net) {
		mutex_lock(&weir_net(net)->lock);
		mutex_unlock(&weir_net(net)->lock);
	}
	up_read(&net_rwsem);
}

/* Entries of namespaces that are being torn down can outlive our part of it, and
 * nf_ct_iterate_destroy() waits for such a teardown: it must not run inside one.
 */
static void __exit weir_exit(void)
{
	refuse_changes();
	weir_netlink_exit();
	close_all();
	/* It is told of every device once more, in namespaces that have to be there. */
	weir_transmit_exit();
	unregister_pernet_subsys(&net_ops);
	nf_ct_iterate_destroy(is_ours, NULL);
	weir_dest_flush();
	destroy_workqueue(weir_wq);
	rcu_barrier();
	weir_binding_exit();
}

module_init(weir_init);
module_exit(weir_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Passthrough network load balancer");
MODULE_VERSION("0.1.0");
