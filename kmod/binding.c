// SPDX-License-Identifier: GPL-2.0
/*
 * binding - what a conntrack entry of ours carries
 */
#include <linux/in.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/netfilter/nf_conntrack_sctp.h>
#include <linux/netfilter/nf_conntrack_tcp.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "binding.h"
#include "compat/timeout.h"
#include "netns.h"
#include "service.h"

const struct nf_conntrack_l4proto weir_binding_tag;

/* Bindings of namespaces that are gone, to which an entry may still point: one that
 * waits on a queue, or any at all where the kernel counts no references.
 */
static LIST_HEAD(orphans);
static DEFINE_SPINLOCK(orphans_lock);

enum weir_class weir_class(u8 proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return WEIR_CLASS_TCP;
	case IPPROTO_UDP:
		return WEIR_CLASS_UDP;
	case IPPROTO_SCTP:
		return WEIR_CLASS_SCTP;
	default:
		return WEIR_CLASS_OTHER;
	}
}

struct weir_binding *weir_binding_new(struct weir_dest *dest,
				      enum weir_class class)
{
	struct weir_binding *binding;

	BUILD_BUG_ON(offsetof(struct weir_binding, timeout) != 0);
	BUILD_BUG_ON(offsetof(struct weir_binding, data) !=
		     offsetof(struct nf_ct_timeout, data));
	BUILD_BUG_ON(TCP_CONNTRACK_TIMEOUT_MAX > WEIR_BINDING_STATES);
	BUILD_BUG_ON(SCTP_CONNTRACK_MAX > WEIR_BINDING_STATES);

	binding = kzalloc(sizeof(*binding), GFP_KERNEL_ACCOUNT);
	if (!binding)
		return NULL;
	weir_timeout_init(weir_binding_timeout(binding));
	weir_binding_timeout(binding)->l3num = dest->family;
	weir_binding_timeout(binding)->l4proto = &weir_binding_tag;
	binding->class = class;
	RCU_INIT_POINTER(binding->dest, dest);
	list_add_tail(&binding->list, &dest->wn->bindings);
	return binding;
}

/* Half-open entries live as long as the kernel lets its own, or idle-timeout if
 * that is shorter (decision 13). The kernel's are per namespace and tunable.
 */
static void cap_half_open(struct weir_binding *binding, const struct net *net,
			  unsigned int idle)
{
	const unsigned int *kernel;

	if (binding->class == WEIR_CLASS_TCP) {
		kernel = net->ct.nf_ct_proto.tcp.timeouts;
		WRITE_ONCE(binding->data[TCP_CONNTRACK_SYN_SENT],
			   min(idle, READ_ONCE(kernel[TCP_CONNTRACK_SYN_SENT])));
		WRITE_ONCE(binding->data[TCP_CONNTRACK_SYN_SENT2],
			   min(idle, READ_ONCE(kernel[TCP_CONNTRACK_SYN_SENT2])));
		WRITE_ONCE(binding->data[TCP_CONNTRACK_SYN_RECV],
			   min(idle, READ_ONCE(kernel[TCP_CONNTRACK_SYN_RECV])));
	} else if (binding->class == WEIR_CLASS_SCTP) {
		kernel = net->ct.nf_ct_proto.sctp.timeouts;
		WRITE_ONCE(binding->data[SCTP_CONNTRACK_COOKIE_WAIT],
			   min(idle, READ_ONCE(kernel[SCTP_CONNTRACK_COOKIE_WAIT])));
		WRITE_ONCE(binding->data[SCTP_CONNTRACK_COOKIE_ECHOED],
			   min(idle, READ_ONCE(kernel[SCTP_CONNTRACK_COOKIE_ECHOED])));
	}
}

static const u8 protocol_of[] = {
	[WEIR_CLASS_TCP]	= IPPROTO_TCP,
	[WEIR_CLASS_UDP]	= IPPROTO_UDP,
	[WEIR_CLASS_SCTP]	= IPPROTO_SCTP,
	[WEIR_CLASS_OTHER]	= IPPROTO_ICMP,	/* as good as any without ports */
};

static const u8 tcp_closed[] = {
	TCP_CONNTRACK_FIN_WAIT, TCP_CONNTRACK_CLOSE_WAIT, TCP_CONNTRACK_LAST_ACK,
	TCP_CONNTRACK_TIME_WAIT, TCP_CONNTRACK_CLOSE,
};

static const u8 sctp_closed[] = {
	SCTP_CONNTRACK_CLOSED, SCTP_CONNTRACK_SHUTDOWN_SENT,
	SCTP_CONNTRACK_SHUTDOWN_RECD, SCTP_CONNTRACK_SHUTDOWN_ACK_SENT,
};

static void squeeze_closed(struct weir_binding *binding, const struct net *net,
			   unsigned int idle, u32 step, u32 steps)
{
	bool tcp = binding->class == WEIR_CLASS_TCP;
	const unsigned int *kernel = tcp ? net->ct.nf_ct_proto.tcp.timeouts :
					   net->ct.nf_ct_proto.sctp.timeouts;
	const u8 *closed = tcp ? tcp_closed : sctp_closed;
	int i, n = tcp ? ARRAY_SIZE(tcp_closed) : ARRAY_SIZE(sctp_closed);

	if (!tcp && binding->class != WEIR_CLASS_SCTP)
		return;
	/* Where the session carries idle-timeout, closed connections need not
	 * hold an entry as long as that: hours of it would fill conntrack.
	 */
	if (binding->sticky)
		step = steps;
	for (i = 0; i < n; i++) {
		unsigned int least = min(idle, READ_ONCE(kernel[closed[i]]));

		WRITE_ONCE(binding->data[closed[i]],
			   idle - mult_frac(idle - least, step, steps));
	}
}

u32 weir_binding_kernel_times(const struct net *net)
{
	const struct nf_ip_net *of = &net->ct.nf_ct_proto;

	return jhash(of->tcp.timeouts, sizeof(of->tcp.timeouts),
		     jhash(of->sctp.timeouts, sizeof(of->sctp.timeouts), 0));
}

void weir_binding_retime(struct weir_binding *binding, const struct net *net,
			 u32 step, u32 steps)
{
	/* The state before all others has idle-timeout. */
	unsigned int idle = binding->data[0];

	cap_half_open(binding, net, idle);
	squeeze_closed(binding, net, idle, step, steps);
}

bool weir_binding_half_open(enum weir_class class, unsigned int state)
{
	if (class == WEIR_CLASS_TCP)
		return state == TCP_CONNTRACK_SYN_SENT ||
		       state == TCP_CONNTRACK_SYN_SENT2 ||
		       state == TCP_CONNTRACK_SYN_RECV;
	if (class == WEIR_CLASS_SCTP)
		return state == SCTP_CONNTRACK_COOKIE_WAIT ||
		       state == SCTP_CONNTRACK_COOKIE_ECHOED;
	return false;
}

/* May a flow stay with an unhealthy backend (semantics 1.8)? */
static bool persists(const struct weir_binding *binding,
		     const struct weir_options *opt)
{
	/* A session of fewer than five fields would pin new connections too. */
	bool sticky = opt->tracking == WEIR_TRACKING_PER_SESSION &&
		      opt->affinity != WEIR_AFFINITY_NONE &&
		      opt->affinity != WEIR_AFFINITY_CLIENT_IP_PORT_PROTO;

	switch (opt->persistence) {
	case WEIR_PERSISTENCE_ALWAYS_PERSIST:
		return true;
	case WEIR_PERSISTENCE_NEVER_PERSIST:
		return false;
	default:
		return !sticky && (binding->class == WEIR_CLASS_TCP ||
				   binding->class == WEIR_CLASS_SCTP);
	}
}

/* What of the state word is up to the configuration. */
static u32 state_of(const struct weir_binding *binding,
		    const struct weir_service *svc,
		    const struct weir_backend *be)
{
	const struct weir_options *opt = &svc->opt;
	u8 role = be->failover ? WEIR_ROLE_FAILOVER : WEIR_ROLE_PRIMARY;
	u32 state = 0;

	if (be->draining)
		state |= WEIR_BINDING_DRAIN;
	/* A backend that would be chosen again, because nobody is healthy, is no
	 * reason to leave (decision 17); where zones decide, each client has a set
	 * of its own. One that drains keeps nobody when it is unhealthy (4).
	 */
	if (!be->healthy && (!be->eligible || svc->nr_zonals) &&
	    (be->draining || !persists(binding, opt)))
		state |= WEIR_BINDING_LEAVE;
	if (!opt->drain_on_failover && svc->eligible.role != WEIR_ROLE_ALL &&
	    svc->eligible.role != role)
		state |= WEIR_BINDING_ROLE;
	return state;
}

void weir_binding_configure(struct weir_binding *binding,
			    const struct weir_service *svc,
			    const struct weir_backend *be)
{
	const struct weir_options *opt = &svc->opt;
	const struct weir_dest *dest = be->dest;
	unsigned int idle = opt->idle_timeout * HZ;
	u32 state = binding->state & (WEIR_BINDING_ENDED | WEIR_BINDING_CHECK);
	struct weir_tuple tuple = {
		.proto = protocol_of[binding->class],
	};
	unsigned int i, fields;

	fields = weir_track_fields(opt->affinity, opt->tracking, &tuple);
	WRITE_ONCE(binding->session, fields == 5 ? 0 : fields);
	binding->sticky = opt->tracking == WEIR_TRACKING_PER_SESSION &&
			  fields < 5;
	for (i = 0; i < WEIR_BINDING_STATES; i++)
		if (!weir_binding_half_open(binding->class, i))
			WRITE_ONCE(binding->data[i], idle);
	weir_binding_retime(binding, dest->wn->net, 0, 1);
	WRITE_ONCE(binding->hairpin, opt->hairpin);
	/* The deadline is there before the flag that says so, and stays when that
	 * goes: a packet may have read the flag just before.
	 */
	if (be->draining)
		WRITE_ONCE(binding->drain_until, be->drain_until);
	smp_store_release(&binding->state,
			  state | state_of(binding, svc, be));
}

void weir_binding_mark(struct weir_binding *binding, u32 flags)
{
	WRITE_ONCE(binding->state, binding->state | flags);
}

void weir_binding_forget(struct weir_binding *binding)
{
	weir_binding_mark(binding, WEIR_BINDING_ENDED);
	RCU_INIT_POINTER(binding->dest, NULL);
}

static bool swap_timeout(struct nf_conn_timeout *ext,
			 struct nf_ct_timeout *timeout)
{
	struct nf_ct_timeout *old;

	if (!weir_timeout_get(timeout))
		return false;
	old = unrcu_pointer(xchg(&ext->timeout, RCU_INITIALIZER(timeout)));
	if (old)
		weir_timeout_put(old);
	return true;
}

bool weir_binding_attach(struct weir_binding *binding, struct nf_conn *ct)
{
	struct nf_ct_timeout *timeout = weir_binding_timeout(binding);
	struct nf_conn_timeout *ext = nf_ct_timeout_find(ct);

	if (ext)
		return swap_timeout(ext, timeout);
	return nf_ct_timeout_ext_add(ct, timeout, GFP_ATOMIC);
}

bool weir_binding_adopt(struct weir_binding *binding, struct nf_conn *ct)
{
	struct nf_conn_timeout *ext = nf_ct_timeout_find(ct);

	return ext && swap_timeout(ext, weir_binding_timeout(binding));
}

unsigned long weir_binding_first_timeout(const struct weir_binding *binding,
					 const struct nf_conn *ct)
{
	switch (binding->class) {
	case WEIR_CLASS_TCP:
		/* A flow picked up in mid-stream is established at once. */
		return READ_ONCE(binding->data[ct->proto.tcp.state]);
	case WEIR_CLASS_SCTP:
		/* After an INIT conntrack says closed until it is answered. */
		if (ct->proto.sctp.state != SCTP_CONNTRACK_CLOSED)
			return READ_ONCE(binding->data[ct->proto.sctp.state]);
		fallthrough;
	default:
		return min_t(unsigned long, READ_ONCE(ct->timeout),
			     READ_ONCE(binding->data[0]));
	}
}

void weir_binding_refresh(const struct weir_binding *binding, struct nf_conn *ct)
{
	unsigned int idle = READ_ONCE(binding->data[0]);

	if (nf_ct_protonum(ct) != IPPROTO_GRE ||
	    READ_ONCE(ct->proto.gre.stream_timeout) == idle)
		return;
	WRITE_ONCE(ct->proto.gre.timeout, idle);
	WRITE_ONCE(ct->proto.gre.stream_timeout, idle);
	/* Conntrack has seen this packet already, with the old ones. */
	if (nf_ct_is_confirmed(ct))
		WRITE_ONCE(ct->timeout, nfct_time_stamp + idle);
}

void weir_binding_prolong(const struct weir_binding *binding, struct nf_conn *ct)
{
	u8 state = READ_ONCE(ct->proto.tcp.state);

	WRITE_ONCE(ct->timeout,
		   nfct_time_stamp + READ_ONCE(binding->data[state]));
}

void weir_binding_discard(struct weir_binding *binding)
{
	list_del(&binding->list);
	kfree(binding);
}

static void free_binding(struct weir_binding *binding)
{
	list_del(&binding->list);
	weir_timeout_put(weir_binding_timeout(binding));
}

u32 weir_binding_reap(struct weir_net *wn)
{
	struct weir_binding *binding, *next;
	u32 held = 0;

	list_for_each_entry_safe(binding, next, &wn->bindings, list) {
		if (rcu_access_pointer(binding->dest))
			continue;
		if (weir_timeout_unused(weir_binding_timeout(binding)))
			free_binding(binding);
		else
			held++;
		cond_resched();
	}
	wn->nr_held = held;
	return held;
}

void weir_binding_exit_net(struct weir_net *wn)
{
	struct weir_binding *binding, *next;

	list_for_each_entry(binding, &wn->bindings, list)
		weir_binding_forget(binding);
	spin_lock(&orphans_lock);
	list_splice_init(&wn->bindings, &orphans);
	list_for_each_entry_safe(binding, next, &orphans, list)
		if (weir_timeout_unused(weir_binding_timeout(binding)))
			free_binding(binding);
	spin_unlock(&orphans_lock);
}

void weir_binding_exit(void)
{
	struct weir_binding *binding, *next;

	list_for_each_entry_safe(binding, next, &orphans, list) {
		/* A module that is loaded later may get the tag's address. */
		WRITE_ONCE(weir_binding_timeout(binding)->l4proto, NULL);
		free_binding(binding);
		if (!WEIR_TIMEOUT_COUNTED)
			kfree(binding);
	}
}
