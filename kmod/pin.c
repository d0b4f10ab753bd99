// SPDX-License-Identifier: GPL-2.0
/*
 * pin - a TCP connection of this router that goes to a backend which somebody has named
 *
 * Writers hold weir_net.lock, readers are under RCU. No reference on the backend is held:
 * a reader looks in the configuration that it has for the one with the number that the
 * pin was made with, so a backend that is gone takes its pins with it, and one that comes
 * in its place has other ones.
 */
#include <linux/atomic.h>
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <net/netlink.h>

#include "config.h"
#include "dest.h"
#include "guard.h"
#include "packet.h"
#include "parse.h"
#include "pin.h"
#include "policy.h"
#include "refuse.h"

#define BUCKETS		4096U
#define PINS_MAX	65536U
#define LIFE_MAX	600

/* Of first: a SYN was seen. */
#define SEEN		BIT_ULL(32)

struct pin {
	struct hlist_node node;
	struct rcu_head rcu;
	struct weir_addr vip;
	struct weir_addr addr;		/* of the backend, */
	u32 owner, dest;		/* and its numbers */
	u32 portid;
	unsigned long expires;		/* jiffies */
	atomic64_t first;		/* SEEN and sequence number of its SYN, or 0 */
	bool over;			/* set without a lock, never taken back */
	u8 family;
	__be16 sport, dport;
};

/* What a message asks for. */
struct request {
	char service[WEIR_NAME_MAX + 1];
	struct weir_backend_which which;
	struct weir_addr vip;
	u8 family;
	u16 sport, dport;
	u32 life;			/* seconds */
};

/*
 * Reading the request
 */

static int parse_port(const struct nlattr *nest, const struct nlattr *attr, int type,
		      const char *name, u16 *port, struct netlink_ext_ack *extack)
{
	if (!attr)
		return weir_parse_missing(extack, nest, type, name);
	*port = nla_get_u16(attr);
	if (*port)
		return 0;
	return weir_refuse_attr(extack, attr, -ERANGE, "%s 0: a port is 1 to 65535",
				name);
}

static int parse_life(const struct nlattr *nest, const struct nlattr *attr, u32 *life,
		      struct netlink_ext_ack *extack)
{
	if (!attr)
		return weir_parse_missing(extack, nest, WEIR_PIN_A_LIFE, "pin: LIFE");
	*life = nla_get_u32(attr);
	if (*life && *life <= LIFE_MAX)
		return 0;
	return weir_refuse_attr(extack, attr, -ERANGE,
				"pin: LIFE %u: it goes from 1 to %u seconds", *life,
				LIFE_MAX);
}

static int parse_pin(const struct nlattr *nest, struct request *req,
		     struct netlink_ext_ack *extack)
{
	struct nlattr *tb[WEIR_PIN_A_MAX + 1];
	int err;

	err = nla_parse_nested(tb, WEIR_PIN_A_MAX, nest, weir_nest_pin, extack);
	if (err)
		return err;
	if (!tb[WEIR_PIN_A_VIP])
		return weir_parse_missing(extack, nest, WEIR_PIN_A_VIP, "pin: VIP");
	return weir_parse_addr(tb[WEIR_PIN_A_VIP], "pin: VIP", &req->family, &req->vip,
			       extack) ?:
	       parse_port(nest, tb[WEIR_PIN_A_SPORT], WEIR_PIN_A_SPORT, "pin: SPORT",
			  &req->sport, extack) ?:
	       parse_port(nest, tb[WEIR_PIN_A_DPORT], WEIR_PIN_A_DPORT, "pin: DPORT",
			  &req->dport, extack) ?:
	       parse_life(nest, tb[WEIR_PIN_A_LIFE], &req->life, extack);
}

static int parse(struct nlattr **attrs, struct request *req,
		 struct netlink_ext_ack *extack)
{
	int err = weir_parse_service_name(attrs[WEIR_A_SERVICE_NAME], req->service,
					  extack);

	if (err)
		return err;
	if (!attrs[WEIR_A_BACKEND])
		return weir_parse_missing(extack, NULL, WEIR_A_BACKEND,
					  "BACKEND, where the connection goes,");
	err = weir_parse_backend_which(attrs[WEIR_A_BACKEND], req->service, &req->which,
				       extack);
	if (err)
		return err;
	if (!req->which.has_addr)
		return weir_parse_missing(extack, attrs[WEIR_A_BACKEND],
					  WEIR_BACKEND_A_ADDR,
					  "ADDR, the backend's address,");
	if (!attrs[WEIR_A_PIN])
		return weir_parse_missing(extack, NULL, WEIR_A_PIN,
					  "PIN, the connection,");
	return parse_pin(attrs[WEIR_A_PIN], req, extack);
}

/*
 * Judging it: what could not work is refused, so that nobody takes it for a backend that
 * does not answer.
 */

static bool has_vip(const struct weir_service *svc, const struct request *req)
{
	u32 i;

	for (i = 0; i < svc->nr_rules; i++)
		if (!weir_rule_is_prefix(&svc->rules[i]) &&
		    svc->rules[i].family == req->family &&
		    !weir_addr_cmp(&svc->rules[i].vip, &req->vip))
			return true;
	return false;
}

/* Where the two modes share an address nat mode comes first: it takes, or drops, what is
 * to a port that no rule of direct mode has.
 */
static bool is_nat_port(const struct weir_config *cfg, const struct request *req)
{
	struct weir_match match;

	if (!(weir_index_forwards(&cfg->index, req->family, &req->vip) &
	      BIT(WEIR_FORWARD_NAT)))
		return false;
	return !weir_index_rule(&cfg->index, req->family, &req->vip, IPPROTO_TCP,
				req->dport, &match) ||
	       match.service->opt.forward != WEIR_FORWARD_DIRECT;
}

static int judge_vip(struct weir_net *wn, const struct weir_config *cfg,
		     const struct weir_service *svc, const struct request *req,
		     struct nlattr *attr, struct netlink_ext_ack *extack)
{
	char vip[WEIR_ADDR_TEXT];

	weir_addr_text(vip, req->family, &req->vip);
	if (!has_vip(svc, req))
		return weir_refuse_attr(extack, attr, -ENOENT,
					"service %s: pin: VIP %s: no rule of the service has just this address",
					svc->name, vip);
	/* The answers come from the VIP: the kernel takes none from an address that
	 * it has itself.
	 */
	if (weir_guard_is_local(wn, req->family, &req->vip))
		return weir_refuse_attr(extack, attr, -EADDRINUSE,
					"service %s: pin: VIP %s: this router has the address itself; answers from it would be dropped: ip addr del",
					svc->name, vip);
	if (is_nat_port(cfg, req))
		return weir_refuse_attr(extack, attr, -EINVAL,
					"service %s: pin: DPORT %u: nat mode has VIP %s too; only ports of rules with forward direct can be reached",
					svc->name, req->dport, vip);
	return 0;
}

/* Return: the backend, or an ERR_PTR. weir_net.lock held. */
static struct weir_backend *judge(struct weir_net *wn, const struct weir_config *cfg,
				  const struct request *req, struct nlattr **attrs,
				  struct netlink_ext_ack *extack)
{
	struct weir_service *svc = weir_config_find(cfg, req->service);
	char addr[WEIR_ADDR_TEXT];
	struct weir_backend *be;
	int err;

	if (!svc)
		return ERR_PTR(weir_refuse_attr(extack, attrs[WEIR_A_SERVICE_NAME],
						-ENOENT,
						"service %s: there is none; weir show lists them",
						req->service));
	if (svc->opt.forward != WEIR_FORWARD_DIRECT)
		return ERR_PTR(weir_refuse_attr(extack, attrs[WEIR_A_SERVICE_NAME],
						-EINVAL,
						"service %s: pin: it has forward nat: only with forward direct backends have the VIP",
						svc->name));
	be = weir_backend_find(svc, &req->which.addr, req->which.family);
	if (!be)
		return ERR_PTR(weir_refuse_attr(extack, attrs[WEIR_A_BACKEND], -ENOENT,
						"service %s: backend %s: there is none",
						svc->name,
						weir_addr_text(addr, req->which.family,
							       &req->which.addr)));
	err = judge_vip(wn, cfg, svc, req, attrs[WEIR_A_PIN], extack);
	return err ? ERR_PTR(err) : be;
}

/*
 * The table. Ports are what pins differ in.
 */

static struct hlist_head *table_of(struct weir_net *wn)
{
	return rcu_dereference_protected(wn->pins, lockdep_is_held(&wn->lock));
}

static struct hlist_head *bucket_of(struct hlist_head *table, __be16 sport)
{
	return &table[ntohs(sport) % BUCKETS];
}

static bool is_over(const struct pin *pin)
{
	return READ_ONCE(pin->over) || time_after_eq(jiffies, pin->expires);
}

static void drop(struct weir_net *wn, struct pin *pin)
{
	hlist_del_rcu(&pin->node);
	WRITE_ONCE(wn->nr_pins, wn->nr_pins - 1);
	kfree_rcu(pin, rcu);
}

/* weir_net.lock held. */
static void drop_old(struct weir_net *wn, struct hlist_head *bucket)
{
	struct hlist_node *next;
	struct pin *pin;

	hlist_for_each_entry_safe(pin, next, bucket, node)
		if (is_over(pin))
			drop(wn, pin);
}

static struct pin *make(const struct request *req, const struct weir_backend *be,
			u32 portid)
{
	struct pin *pin = kzalloc(sizeof(*pin), GFP_KERNEL_ACCOUNT);

	if (!pin)
		return NULL;
	pin->vip = req->vip;
	pin->addr = be->addr;
	pin->owner = be->dest->owner->id;
	pin->dest = be->dest->id;
	pin->portid = portid;
	pin->expires = jiffies + req->life * HZ;
	pin->family = req->family;
	pin->sport = htons(req->sport);
	pin->dport = htons(req->dport);
	return pin;
}

/* weir_net.lock held. A reader sees the old one or the new one. */
static int insert(struct weir_net *wn, struct pin *pin, struct netlink_ext_ack *extack)
{
	struct hlist_head *table = table_of(wn), *bucket = bucket_of(table, pin->sport);
	struct pin *old;
	u32 i;

	drop_old(wn, bucket);
	hlist_for_each_entry(old, bucket, node) {
		if (old->family != pin->family || old->sport != pin->sport ||
		    old->dport != pin->dport || weir_addr_cmp(&old->vip, &pin->vip))
			continue;
		hlist_replace_rcu(&old->node, &pin->node);
		kfree_rcu(old, rcu);
		return 0;
	}
	for (i = 0; wn->nr_pins >= PINS_MAX && i < BUCKETS; i++)
		drop_old(wn, &table[i]);
	if (wn->nr_pins >= PINS_MAX)
		return weir_refuse(extack, -ENOSPC,
				   "pin: there are %u already, which is the most; close sockets that made some",
				   PINS_MAX);
	hlist_add_head_rcu(&pin->node, bucket);
	WRITE_ONCE(wn->nr_pins, wn->nr_pins + 1);
	return 0;
}

/* Most namespaces never have one. weir_net.lock held. */
static int make_table(struct weir_net *wn)
{
	struct hlist_head *table;

	if (table_of(wn))
		return 0;
	table = kvcalloc(BUCKETS, sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	rcu_assign_pointer(wn->pins, table);
	return 0;
}

static int add(struct weir_net *wn, const struct request *req, struct nlattr **attrs,
	       u32 portid, struct netlink_ext_ack *extack)
{
	const struct weir_config *cfg = rcu_dereference_protected(wn->config,
						lockdep_is_held(&wn->lock));
	struct weir_backend *be = judge(wn, cfg, req, attrs, extack);
	struct pin *pin;
	int err;

	if (IS_ERR(be))
		return PTR_ERR(be);
	err = make_table(wn);
	if (err)
		return err;
	pin = make(req, be, portid);
	if (!pin)
		return -ENOMEM;
	err = insert(wn, pin, extack);
	if (err)
		kfree(pin);
	return err;
}

int weir_pin_add(struct weir_net *wn, struct nlattr **attrs, u32 portid,
		 struct netlink_ext_ack *extack)
{
	struct request req;
	int err = parse(attrs, &req, extack);

	if (err)
		return err;
	mutex_lock(&wn->lock);
	err = add(wn, &req, attrs, portid, extack);
	mutex_unlock(&wn->lock);
	return err;
}

/* Nearly every socket that is closed has none; one of this socket is seen without the
 * lock, as the socket's own request made it.
 */
static bool has_any(struct weir_net *wn, u32 portid)
{
	struct hlist_head *table;
	bool found = false;
	struct pin *pin;
	u32 i;

	rcu_read_lock();
	table = rcu_dereference(wn->pins);
	for (i = 0; !found && i < BUCKETS; i++)
		hlist_for_each_entry_rcu(pin, &table[i], node)
			found |= pin->portid == portid;
	rcu_read_unlock();
	return found;
}

void weir_pin_release(struct weir_net *wn, u32 portid)
{
	struct hlist_node *next;
	struct pin *pin;
	u32 i;

	if (!weir_pin_any(wn) || !has_any(wn, portid))
		return;
	mutex_lock(&wn->lock);
	for (i = 0; i < BUCKETS; i++)
		hlist_for_each_entry_safe(pin, next, &table_of(wn)[i], node)
			if (pin->portid == portid)
				drop(wn, pin);
	mutex_unlock(&wn->lock);
}

void weir_pin_exit(struct weir_net *wn)
{
	struct hlist_head *table = rcu_dereference_protected(wn->pins, true);
	struct hlist_node *next;
	struct pin *pin;
	u32 i;

	for (i = 0; table && i < BUCKETS; i++)
		hlist_for_each_entry_safe(pin, next, &table[i], node)
			drop(wn, pin);
	RCU_INIT_POINTER(wn->pins, NULL);
	kvfree(table);
}

/*
 * Packets
 */

/* A port is used again, maybe by somebody else, long before the last packet of its
 * connection can have come. What begins with another sequence number is another
 * connection, and then the pin is over.
 */
static bool is_same_connection(struct pin *pin, const struct sk_buff *skb,
			       const struct weir_packet *packet)
{
	s64 first = atomic64_read(&pin->first), syn;
	__be32 seq;

	if (!packet->opens)
		return first;
	if (!weir_packet_seq(skb, packet->tuple.family, &seq))
		return false;
	syn = SEEN | ntohl(seq);
	if (!first)
		first = atomic64_cmpxchg(&pin->first, 0, syn);
	if (!first || first == syn)
		return true;
	WRITE_ONCE(pin->over, true);
	return false;
}

static struct weir_dest *dest_of(const struct weir_config *cfg, const struct pin *pin)
{
	struct weir_service *svc = weir_index_owner(&cfg->index, pin->owner);
	struct weir_backend *be;

	be = svc ? weir_backend_find(svc, &pin->addr, pin->family) : NULL;
	return be && be->dest->id == pin->dest ? be->dest : NULL;
}

struct weir_dest *weir_pin_find(const struct weir_net *wn,
				const struct weir_config *cfg,
				const struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	struct hlist_head *table = rcu_dereference(wn->pins);
	const struct weir_tuple *tuple;
	struct weir_packet packet;
	struct pin *pin;

	if (!table || !weir_packet_parse(skb, state, &packet) ||
	    packet.tuple.proto != IPPROTO_TCP)
		return NULL;
	tuple = &packet.tuple;
	hlist_for_each_entry_rcu(pin, bucket_of(table, tuple->sport), node)
		if (pin->sport == tuple->sport && pin->dport == tuple->dport &&
		    pin->family == tuple->family &&
		    !weir_addr_cmp(&pin->vip, &tuple->dst) && !is_over(pin))
			return is_same_connection(pin, skb, &packet) ?
			       dest_of(cfg, pin) : NULL;
	return NULL;
}
