// SPDX-License-Identifier: GPL-2.0
/*
 * answer - what a command without a dump says
 */
#include <linux/module.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/netlink.h>

#include "answer.h"
#include "binding.h"
#include "config.h"
#include "fill.h"
#include "flows.h"
#include "limit.h"
#include "lookup.h"
#include "netns.h"
#include "session.h"

int weir_answer_info(struct sk_buff *reply, struct weir_net *wn, bool with_key)
{
	const struct weir_config *cfg = rcu_dereference_protected(wn->config,
					lockdep_is_held(&wn->lock));
	/* Anybody may ask, as often as he likes. */
	u32 held = with_key ? weir_binding_reap(wn) : wn->nr_held;
	u8 key[WEIR_HASH_KEY_LEN];

	if (nla_put_string(reply, WEIR_A_VERSION, THIS_MODULE->version) ||
	    nla_put_u32(reply, WEIR_A_GENERATION, cfg->generation) ||
	    nla_put_u32(reply, WEIR_A_N_SERVICES, cfg->nr_services) ||
	    nla_put_u32(reply, WEIR_A_N_HELD, held) ||
	    nla_put_u32(reply, WEIR_A_N_SESSIONS,
			weir_session_count(wn, with_key)) ||
	    nla_put_u32(reply, WEIR_A_MAX_SESSIONS, wn->max_sessions) ||
	    nla_put_u32(reply, WEIR_A_N_ENTRIES, nf_conntrack_count(wn->net)) ||
	    nla_put_u32(reply, WEIR_A_MAX_FLOWS, weir_limit_effective(wn)))
		return -EMSGSIZE;
	weir_key_write(key, &cfg->key);
	if (with_key && nla_put(reply, WEIR_A_HASH_KEY, sizeof(key), key))
		return -EMSGSIZE;
	return 0;
}

int weir_answer_lookup(struct sk_buff *reply, struct weir_net *wn,
		       const struct weir_tuple *tuple, bool syn)
{
	const struct weir_config *cfg;
	struct weir_verdict verdict = {};
	int err;

	rcu_read_lock();
	cfg = rcu_dereference(wn->config);
	weir_lookup(wn, cfg, tuple, syn, &verdict);
	err = nla_put_u32(reply, WEIR_A_GENERATION, cfg->generation) ?:
	      weir_fill_verdict(reply, WEIR_A_VERDICT, &verdict);
	rcu_read_unlock();
	return err;
}

int weir_answer_flush(struct sk_buff *reply, struct weir_net *wn,
		      const struct weir_flow_filter *filter)
{
	u32 sessions, flows, generation;

	/* A flow whose packets come meanwhile would write its session again. */
	flows = weir_flow_flush(wn, filter);
	sessions = weir_session_flush(wn, filter);
	rcu_read_lock();
	generation = rcu_dereference(wn->config)->generation;
	rcu_read_unlock();
	return nla_put_u32(reply, WEIR_A_GENERATION, generation) ?:
	       nla_put_u32(reply, WEIR_A_N_FLOWS, flows) ?:
	       nla_put_u32(reply, WEIR_A_N_SESSIONS, sessions);
}
