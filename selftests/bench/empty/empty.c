// SPDX-License-Identifier: GPL-2.0
/*
 * empty - a hook where direct mode has its own that lets everything pass
 *
 * For measuring only: what a hook costs by being there.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <net/net_namespace.h>

#define PRIORITY	-450

static unsigned int pass(void *priv, struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	return NF_ACCEPT;
}

static const struct nf_hook_ops ops[] = {
	{
		.hook		= pass,
		.pf		= NFPROTO_IPV4,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= PRIORITY,
	}, {
		.hook		= pass,
		.pf		= NFPROTO_IPV6,
		.hooknum	= NF_INET_PRE_ROUTING,
		.priority	= PRIORITY,
	},
};

static int __init empty_init(void)
{
	return nf_register_net_hooks(&init_net, ops, ARRAY_SIZE(ops));
}

static void __exit empty_exit(void)
{
	nf_unregister_net_hooks(&init_net, ops, ARRAY_SIZE(ops));
}

module_init(empty_init);
module_exit(empty_exit);
MODULE_DESCRIPTION("A hook that does nothing");
MODULE_LICENSE("GPL");
