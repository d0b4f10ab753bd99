// SPDX-License-Identifier: GPL-2.0
/*
 * limit - keeps flows below net.weir.max_flows, and closed ones short-lived when the
 * conntrack table fills
 */
#include <linux/bottom_half.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/netfilter/nf_conntrack.h>

#include "binding.h"
#include "compat/conntrack.h"
#include "guard.h"
#include "limit.h"
#include "netns.h"
#include "stats.h"

#define TICK		(HZ / 4)

/* Removing a little more than has to go makes walks rare under a flood. */
#define SLACK(limit)	((limit) - (limit) / 16)

/* How full the table is, in steps of which closed states take notice. */
#define STEPS		32

enum worth {
	UNANSWERED,
	CLOSED,
	OTHER,

	NR_WORTHS
};

/* Four steps for each doubling of the age in seconds. */
#define AGES	96

struct histogram {
	u32 nr[NR_WORTHS][AGES];
	u32 total;
};

struct eviction {
	struct weir_net *wn;
	struct histogram found;
	enum worth worth;	/* all below go, and of this one */
	u32 age;		/* all above go, and of this one */
	u32 left;		/* so many */
};

u32 weir_limit_effective(const struct weir_net *wn)
{
	u64 max = weir_conntrack_max(wn->net);

	if (READ_ONCE(wn->max_flows_written))
		return READ_ONCE(wn->max_flows);
	return div_u64(max * 9, 10);
}

static bool is_closed(const struct nf_conn *ct)
{
	u8 state;

	switch (nf_ct_protonum(ct)) {
	case IPPROTO_TCP:
		state = READ_ONCE(ct->proto.tcp.state);
		return state >= TCP_CONNTRACK_FIN_WAIT &&
		       state <= TCP_CONNTRACK_CLOSE;
	case IPPROTO_SCTP:
		state = READ_ONCE(ct->proto.sctp.state);
		return state == SCTP_CONNTRACK_CLOSED ||
		       (state >= SCTP_CONNTRACK_SHUTDOWN_SENT &&
			state <= SCTP_CONNTRACK_SHUTDOWN_ACK_SENT);
	default:
		return false;
	}
}

/* A backend answers each SYN of a flood; only the handshake's end tells the flood from
 * a client (decision 12).
 */
static bool is_half_open(const struct nf_conn *ct)
{
	u8 proto = nf_ct_protonum(ct);

	if (proto == IPPROTO_TCP)
		return weir_binding_half_open(WEIR_CLASS_TCP,
					      READ_ONCE(ct->proto.tcp.state));
	return proto == IPPROTO_SCTP &&
	       weir_binding_half_open(WEIR_CLASS_SCTP,
				      READ_ONCE(ct->proto.sctp.state));
}

static enum worth worth_of(const struct nf_conn *ct)
{
	if (!test_bit(IPS_SEEN_REPLY_BIT, &ct->status) || is_half_open(ct))
		return UNANSWERED;
	return is_closed(ct) ? CLOSED : OTHER;
}

/* Jiffies that its last packet gave the entry. */
static unsigned long lifetime(const struct nf_conn *ct,
			      const struct weir_binding *binding,
			      unsigned long left)
{
	const unsigned int *udp = nf_ct_net(ct)->ct.nf_ct_proto.udp.timeouts;
	unsigned long full;

	switch (binding->class) {
	case WEIR_CLASS_TCP:
		return READ_ONCE(binding->data[ct->proto.tcp.state]);
	case WEIR_CLASS_SCTP:
		return READ_ONCE(binding->data[ct->proto.sctp.state]);
	default:
		full = READ_ONCE(binding->data[0]);
		/* A first packet's entry has the kernel's own. */
		if (worth_of(ct) == UNANSWERED &&
		    left <= READ_ONCE(udp[UDP_CT_UNREPLIED]))
			full = min_t(unsigned long, full,
				     READ_ONCE(udp[UDP_CT_UNREPLIED]));
		return full;
	}
}

static u32 age_of(const struct nf_conn *ct, const struct weir_binding *binding)
{
	unsigned long left = nf_ct_expires(ct);
	unsigned long full = lifetime(ct, binding, left);
	u32 seconds = full > left ? (full - left) / HZ : 0;
	u32 log;

	if (seconds < 4)
		return seconds;
	log = ilog2(seconds);
	return min_t(u32, 4 * (log - 1) + ((seconds >> (log - 2)) & 3),
		     AGES - 1);
}

static int survey(struct nf_conn *ct, void *data)
{
	struct eviction *eviction = data;
	const struct weir_binding *binding;

	rcu_read_lock();
	binding = weir_binding_of(ct);
	if (binding) {
		eviction->found.nr[worth_of(ct)][age_of(ct, binding)]++;
		eviction->found.total++;
	}
	rcu_read_unlock();
	return 0;
}

static bool is_over(struct eviction *eviction, const struct nf_conn *ct,
		    const struct weir_binding *binding)
{
	enum worth worth = worth_of(ct);
	u32 age = age_of(ct, binding);

	if (worth != eviction->worth)
		return worth < eviction->worth;
	if (age != eviction->age)
		return age > eviction->age;
	if (!eviction->left)
		return false;
	eviction->left--;
	return true;
}

static int evict(struct nf_conn *ct, void *data)
{
	struct eviction *eviction = data;
	const struct weir_binding *binding;
	int over = 0;

	rcu_read_lock();
	binding = weir_binding_of(ct);
	if (binding)
		over = is_over(eviction, ct, binding);
	if (over) {
		weir_tombs_add(&eviction->wn->tombs, ct);
		weir_count(eviction->wn, WEIR_R_FLOW_EVICTED);
	}
	rcu_read_unlock();
	return over;
}

/* Where the line is that has as many as need to go below it or on it. */
static void draw_line(struct eviction *eviction, u32 need)
{
	int worth, age;

	for (worth = 0; worth < NR_WORTHS; worth++) {
		for (age = AGES - 1; age >= 0; age--) {
			u32 here = eviction->found.nr[worth][age];

			eviction->worth = worth;
			eviction->age = age;
			eviction->left = need;
			if (here >= need)
				return;
			need -= here;
		}
	}
}

static void shrink(struct weir_net *wn, u32 limit)
{
	struct eviction *eviction = kzalloc(sizeof(*eviction), GFP_KERNEL);
	struct nf_ct_iter_data iter = {
		.net = wn->net,
		.data = eviction,
	};

	if (!eviction)
		return;
	eviction->wn = wn;
	nf_ct_iterate_cleanup_net(survey, &iter);
	if (eviction->found.total > limit) {
		draw_line(eviction, eviction->found.total - SLACK(limit));
		nf_ct_iterate_cleanup_net(evict, &iter);
	}
	kfree(eviction);
}

/* Up to half of the table closed connections keep their idle-timeout; from there to
 * 90 % it goes down in a straight line to what the kernel gives them.
 */
static u32 fullness(const struct weir_net *wn)
{
	u64 max = weir_conntrack_max(wn->net);
	u64 count = nf_conntrack_count(wn->net);
	u64 half = max / 2, full = div_u64(max * 9, 10);

	if (count <= half || full <= half)
		return 0;
	if (count >= full)
		return STEPS;
	return div64_u64((count - half) * STEPS, full - half);
}

/* The kernel's timeouts can be written at any time, and nobody says so. */
static void retime(struct weir_net *wn)
{
	u32 times = weir_binding_kernel_times(wn->net);
	u32 step = fullness(wn);
	struct weir_binding *binding;

	if (step == wn->fullness && times == wn->kernel_times &&
	    wn->fullness_generation == wn->sweep_generation)
		return;
	mutex_lock(&wn->lock);
	list_for_each_entry(binding, &wn->bindings, list) {
		weir_binding_retime(binding, wn->net, step, STEPS);
		cond_resched();
	}
	wn->fullness = step;
	wn->kernel_times = times;
	wn->fullness_generation = wn->sweep_generation;
	mutex_unlock(&wn->lock);
}

static void limit_work(struct work_struct *work)
{
	struct weir_net *wn = container_of(to_delayed_work(work),
					   struct weir_net, limit);
	u32 limit = weir_limit_effective(wn);

	retime(wn);
	weir_tombs_clean(&wn->tombs);
	/* Ours are among all: nothing to do while all are few. */
	if (limit && nf_conntrack_count(wn->net) > limit)
		shrink(wn, limit);
	if (!READ_ONCE(wn->closing))
		queue_delayed_work(weir_wq, &wn->limit, TICK);
}

void weir_limit_init(struct weir_net *wn)
{
	INIT_DELAYED_WORK(&wn->limit, limit_work);
}

void weir_limit_start(struct weir_net *wn)
{
	queue_delayed_work(weir_wq, &wn->limit, TICK);
}

void weir_limit_exit(struct weir_net *wn)
{
	cancel_delayed_work_sync(&wn->limit);
}
