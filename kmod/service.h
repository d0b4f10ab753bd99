/* SPDX-License-Identifier: GPL-2.0 */
/*
 * service - what an operator configures: options, rules, groups and backends
 *
 * A published service is immutable and shared by configurations through its
 * reference count; a draft holds private copies that it may write to.
 */
#ifndef WEIR_SERVICE_H
#define WEIR_SERVICE_H

#include <linux/refcount.h>
#include <linux/rcupdate.h>
#include <linux/siphash.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/weir.h>

#include "eligible.h"
#include "tuple.h"

struct netlink_ext_ack;
struct weir_dest;
struct weir_owner;

/* Slots hold a backend's index, so a service has fewer than 2^16 of them. */
#define WEIR_BACKENDS_MAX	65535

/* Groups are found by going through them, once for each backend. */
#define WEIR_GROUPS_MAX		1024

/* Slots in the tables of all zones of a service: 128 MiB. */
#define WEIR_ZONE_SLOTS_MAX	(1 << 26)

/* Fewer slots than this per backend share traffic too unevenly to be of use. */
#define WEIR_SLOTS_PER_BACKEND	10

#define WEIR_IDLE_MIN		60
#define WEIR_IDLE_MAX		600
#define WEIR_IDLE_SESSION_MAX	57600

struct weir_options {
	u8 affinity;
	u8 tracking;
	u8 persistence;
	u8 zonal_affinity;
	u8 locality;
	u8 forward;
	u8 when_empty;
	u8 hairpin;
	u8 drop_if_unhealthy;
	u8 drain_on_failover;
	u32 idle_timeout;	/* seconds */
	u32 drain_timeout;	/* seconds */
	u32 failover_ratio;	/* millionths */
	u32 spill_ratio;	/* millionths */
	u32 table_size;		/* slots, 0 is auto */
};

struct weir_rule {
	struct weir_addr vip;
	u8 family;		/* AF_INET, AF_INET6 */
	u8 plen;
	u8 proto;		/* enum weir_proto */
	u16 nr_ports;		/* 0: all ports, and packets without ports */
	u16 *ports;		/* host order, ascending, unique; owned */
};

/* Is its VIP more than one address? Only next hops have such. */
static inline bool weir_rule_is_prefix(const struct weir_rule *rule)
{
	return rule->plen < (rule->family == AF_INET ? 32 : 128);
}

struct weir_group {
	char name[WEIR_NAME_MAX + 1];
	char zone[WEIR_NAME_MAX + 1];	/* "" for none */
	bool failover;
};

struct weir_backend {
	struct weir_addr addr;
	u8 family;
	u8 health;		/* enum weir_health, the operator's word */
	u8 check;		/* enum weir_health, the checker's last result */
	u16 port;		/* host order, 0 keeps the packet's */
	struct weir_weight weight;
	/* Said in the draft that this is in, and not inherited. */
	bool check_said;
	bool weight_said;
	char group[WEIR_NAME_MAX + 1];
	/* Removed, but what is tracked may go on until then; not configured any
	 * more, and in no set.
	 */
	bool draining;
	unsigned long drain_until;	/* jiffies */

	/* Derived when the draft is finished. */
	bool healthy;
	bool failover;		/* its group's role */
	bool eligible;		/* where no zone says otherwise */
	u32 slots;		/* of the service's own table */
	struct weir_dest *dest;	/* run-time half; a reference is held */
};

/* Slot -> index into the backends of a service. Shared between versions of a
 * service, and between its zones, where the backends, their weights and the key are
 * the same.
 */
struct weir_table {
	refcount_t ref;
	bool rendezvous;	/* how it was filled */
	u32 size;
	u64 digest;
	u16 slots[];
};

/* Who may be chosen, and how they share new flows; both arrays are by index into the
 * backends of the service.
 */
struct weir_set {
	struct weir_table *table;	/* NULL when nobody is in the set */
	unsigned long *bits;
	u16 *shares;			/* weights in force, 0 outside the set */
	u8 weighting;			/* enum weir_weighting */
};

/* What clients of a zone get, where zonal affinity is on. */
struct weir_zonal {
	char zone[WEIR_NAME_MAX + 1];
	struct weir_zone_set eligible;
	struct weir_set set;
};

struct weir_service {
	refcount_t ref;
	struct rcu_head rcu;
	char name[WEIR_NAME_MAX + 1];
	u8 family;		/* AF_UNSPEC until a rule or backend says */
	struct weir_options opt;
	char *health_check;	/* NUL-terminated, NULL for none; owned */

	/* All three are kept in the order in which they are listed. */
	struct weir_rule *rules;	/* ascending by VIP, protocol, ports */
	struct weir_group *groups;	/* by name; "default" only if declared */
	struct weir_backend *backends;	/* by address */
	u32 nr_rules, nr_groups, nr_backends;
	u32 max_rules, max_groups, max_backends;

	/* Backends of the live version that shall not drain. */
	struct weir_addr *ended;
	u32 nr_ended, max_ended;

	/* Derived when the draft is finished. */
	bool published;			/* never written again */
	struct weir_owner *owner;	/* run-time half, a reference is held */
	struct weir_role_set eligible;
	struct weir_set set;		/* of clients that no zone is there for */
	struct weir_zonal *zonals;	/* of the groups' zones, by name */
	u32 nr_zonals;			/* 0 where zonal affinity is off */
	u32 nr_draining, nr_healthy;
	/* Protocol (enum weir_proto) << 16 | port of its rules, ascending, each once: where
	 * backends answer from. Nat mode only; owned.
	 */
	u32 *sources;
	u32 nr_sources;
};

/**
 * weir_options_default() - the defaults of a new service
 * @opt: written whole
 */
void weir_options_default(struct weir_options *opt);

/**
 * weir_service_alloc() - an empty private service with the default options
 * @name: a valid name
 *
 * May sleep. Return: the service with one reference, or NULL.
 */
struct weir_service *weir_service_alloc(const char *name);

/**
 * weir_service_clone() - a private copy to change
 * @old: a service that cannot go away meanwhile
 *
 * The copy shares the run-time halves (with references of its own) and has no
 * table. May sleep. Return: the copy with one reference, or NULL.
 */
struct weir_service *weir_service_clone(const struct weir_service *old);

/**
 * weir_service_put() - drop a reference
 * @svc: may be NULL
 *
 * The last one frees everything that the service owns, at once: a published
 * service must have been unreachable for a grace period. May sleep.
 */
void weir_service_put(struct weir_service *svc);

/**
 * weir_service_equal() - do two services say the same?
 * @a: finished or not
 * @b: finished or not
 *
 * Compares what is configured (options, health-check, rules, groups, backends
 * with the checker's results), not what is derived from it.
 */
bool weir_service_equal(const struct weir_service *a,
			const struct weir_service *b);

/*
 * Verbs on a private service. All may sleep, set an extended-ack message on
 * each refusal and return 0 or a negative errno: -EEXIST, -ENOENT, -EINVAL,
 * -EOPNOTSUPP, -ENOSPC or -ENOMEM. What the object copies, it copies whole:
 * the caller keeps what it passed in.
 */
int weir_rule_add(struct weir_service *svc, const struct weir_rule *rule,
		  struct netlink_ext_ack *extack);
int weir_rule_del(struct weir_service *svc, const struct weir_rule *rule,
		  struct netlink_ext_ack *extack);
int weir_group_add(struct weir_service *svc, const struct weir_group *group,
		   struct netlink_ext_ack *extack);
int weir_group_set(struct weir_service *svc, const struct weir_group *group,
		   struct netlink_ext_ack *extack);
int weir_group_del(struct weir_service *svc, const char *name,
		   struct netlink_ext_ack *extack);
int weir_backend_add(struct weir_service *svc, const struct weir_backend *be,
		     struct netlink_ext_ack *extack);
/* What is removed drains, if it was live and the service says so when the draft is
 * finished; but not with @now.
 */
int weir_backend_del(struct weir_service *svc, const struct weir_addr *addr,
		     u8 family, bool now, struct netlink_ext_ack *extack);
int weir_backend_del_group(struct weir_service *svc, const char *group,
			   bool now, struct netlink_ext_ack *extack);

/**
 * weir_backend_append() - put a backend at the end, unchecked
 * @be: copied whole; a reference on its dest passes
 *
 * Nothing finds backends until weir_backends_sort(). May sleep. Return: 0 or -ENOMEM.
 */
int weir_backend_append(struct weir_service *svc, const struct weir_backend *be);

/**
 * weir_backends_sort() - put what was appended into its place
 */
void weir_backends_sort(struct weir_service *svc);

/**
 * weir_group_find() - a declared group by name
 * Return: the group inside @svc, or NULL.
 */
struct weir_group *weir_group_find(const struct weir_service *svc,
				   const char *name);

/**
 * weir_backend_find() - a backend by address
 * Return: the backend inside @svc, or NULL. Pointers into a private service
 * are valid until the next verb on it.
 */
struct weir_backend *weir_backend_find(const struct weir_service *svc,
				       const struct weir_addr *addr, u8 family);

/**
 * weir_addr_text() - an address in canonical form, for messages
 * @buf: where to write
 * Return: @buf.
 */
#define WEIR_ADDR_TEXT	48
const char *weir_addr_text(char buf[WEIR_ADDR_TEXT], u8 family,
			   const struct weir_addr *addr);

/**
 * weir_grow() - room for one more element in an array that is owned
 * @array: kvmalloc'ed or NULL; may move
 * @nr: elements in use
 * @max: elements that fit; updated
 * @size: of one element
 *
 * May sleep. Return: the array, or NULL with the old one untouched.
 */
void *weir_grow(void *array, u32 nr, u32 *max, size_t size);

/**
 * weir_service_set_family() - derive the family from what is left, draining apart
 */
void weir_service_set_family(struct weir_service *svc);

/**
 * weir_rule_find() - the rule of a service with this VIP, protocol and ports
 * Return: NULL if there is none.
 */
struct weir_rule *weir_rule_find(const struct weir_service *svc,
				 const struct weir_rule *rule);

/**
 * weir_rule_equal() - same VIP, protocol and ports?
 */
bool weir_rule_equal(const struct weir_rule *a, const struct weir_rule *b);

/**
 * weir_backend_equal() - same address and configured values?
 */
bool weir_backend_equal(const struct weir_backend *a,
			const struct weir_backend *b);

/**
 * weir_name_ok() - 1..31 of [A-Za-z0-9._-]
 */
bool weir_name_ok(const char *name);

#endif /* WEIR_SERVICE_H */
