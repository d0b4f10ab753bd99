/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * weir - passthrough network load balancer: the generic-netlink contract
 *
 * Family "weir", version 1, multicast group "events". uapi/weir.yaml says the
 * same for machines; selftests/uapi.sh proves that the two and the policies in
 * the module agree.
 *
 * Objects are carried as one nested attribute each, beside the name of the
 * service that they belong to:
 *
 *	WEIR_A_SERVICE_NAME "web"  WEIR_A_BACKEND { ADDR 10.2.0.11 GROUP "east" }
 *
 * A change is a transaction of its own unless the same socket opened one with
 * WEIR_CMD_TXN_BEGIN: then it is staged, and WEIR_CMD_TXN_COMMIT validates the
 * result as a whole and publishes it with one pointer, or refuses it whole.
 * Closing the socket drops what it staged.
 *
 * Integers are in host byte order, addresses are 4 (IPv4) or 16 (IPv6) bytes
 * in network order. Ratios are millionths: 750000 is 0.75. Attributes that a
 * message does not carry keep their value (SET) or take the default (ADD).
 * Unknown attributes and attributes of the wrong length are refused. Each
 * refusal carries an NLMSGERR_ATTR_MSG that says which object and value;
 * trailing blanks in it mean nothing.
 */
#ifndef _UAPI_LINUX_WEIR_H
#define _UAPI_LINUX_WEIR_H

#define WEIR_GENL_NAME		"weir"
#define WEIR_GENL_VERSION	1
#define WEIR_MCGRP_EVENTS	"events"

#define WEIR_NAME_MAX		31	/* bytes of a name, NUL not counted */
#define WEIR_HEALTH_CHECK_MAX	1024	/* bytes of a health-check line */
#define WEIR_PROBE_TEXT_MAX	63	/* bytes of what a probe found */
#define WEIR_HASH_KEY_LEN	16
#define WEIR_RATIO_ONE		1000000	/* 1.0 */
#define WEIR_WEIGHT_MAX		1000
#define WEIR_PORTS_MAX		1024	/* ports in one rule */
#define WEIR_TABLE_SIZE_MAX	655373

/**
 * enum weir_cmd - commands
 * @WEIR_CMD_UNSPEC: never used
 * @WEIR_CMD_INFO_GET: VERSION, GENERATION, N_SERVICES, N_HELD, N_SESSIONS,
 *	MAX_SESSIONS, N_ENTRIES, MAX_FLOWS; HASH_KEY only for a reader
 *	with CAP_NET_ADMIN in the user namespace of the network namespace
 * @WEIR_CMD_CONFIG_GET: dump of every object, sorted: for each ZONE as many
 *	messages as its prefixes need, then for each service one message with
 *	SERVICE, then one for each RULE, GROUP, BACKEND and ZONAL of it. Optional
 *	SERVICE_NAME (just this service, no zones), WITH_FLOWS (count flows).
 *	Interrupted dumps carry NLM_F_DUMP_INTR: start again.
 * @WEIR_CMD_SERVICE_ADD: SERVICE_NAME, SERVICE (options)
 * @WEIR_CMD_SERVICE_SET: SERVICE_NAME, SERVICE (options)
 * @WEIR_CMD_SERVICE_DEL: SERVICE_NAME
 * @WEIR_CMD_RULE_ADD: SERVICE_NAME, RULE
 * @WEIR_CMD_RULE_DEL: SERVICE_NAME, RULE (all fields name the rule)
 * @WEIR_CMD_GROUP_ADD: SERVICE_NAME, GROUP
 * @WEIR_CMD_GROUP_SET: SERVICE_NAME, GROUP
 * @WEIR_CMD_GROUP_DEL: SERVICE_NAME, GROUP (NAME); its backends go with it, and
 *	drain as with BACKEND_DEL
 * @WEIR_CMD_BACKEND_ADD: SERVICE_NAME, BACKEND
 * @WEIR_CMD_BACKEND_SET: SERVICE_NAME, BACKEND with ADDR, or without ADDR and
 *	with GROUP: every backend of that group
 * @WEIR_CMD_BACKEND_DEL: SERVICE_NAME, BACKEND (ADDR, or GROUP for all of a
 *	group, which itself stays), optional NOW. Drains for DRAIN_TIMEOUT of the
 *	service, but not with NOW, which also ends a draining that goes on
 * @WEIR_CMD_ZONE_ADD: ZONE (NAME, PREFIXES); adds to a zone that is there
 * @WEIR_CMD_ZONE_DEL: ZONE (NAME, PREFIXES); without PREFIXES all of the zone
 * @WEIR_CMD_TXN_BEGIN: optional REPLACE: start from nothing, not from what is
 *	live. Optional GENERATION: refused if anybody changed something since;
 *	what a health checker found and what has drained is no change here
 * @WEIR_CMD_TXN_COMMIT: optional DRY_RUN, HASH_KEY (set with the same swap).
 *	Answered by one message: GENERATION, N_ADDED, N_CHANGED, N_REMOVED
 *	(services), N_CHANGES (zones too), and as many CHANGE as fit
 * @WEIR_CMD_TXN_ABORT: drops what this socket staged
 * @WEIR_CMD_LOOKUP: PACKET; answered by VERDICT
 * @WEIR_CMD_FLOW_GET: dump of FLOW, then of SESSION; optional SERVICE_NAME,
 *	BACKEND (ADDR)
 * @WEIR_CMD_FLOW_FLUSH: removes flows and sessions; optional SERVICE_NAME, BACKEND (ADDR).
 *	Answered by N_FLOWS and N_SESSIONS
 * @WEIR_CMD_COUNTER_GET: dump of REASON: every drop reason with its text
 * @WEIR_CMD_EVENT: notification only: GENERATION, CHANGE; without CHANGE when
 *	nothing but the hash key differs
 * @WEIR_CMD_REPORT: what a health checker found: REPORT, any number of them, which
 *	take effect together. It belongs to no transaction, and one that is open
 *	stays valid. What a report is about may have been removed meanwhile, or
 *	have lost its health-check: such a report is passed over
 * @WEIR_CMD_PIN: SERVICE_NAME, BACKEND (ADDR), PIN: the next TCP connection that this
 *	router itself makes from that port to that VIP and port goes to the backend,
 *	whatever its health, weight and state, and is no flow of the service. It is for
 *	health checkers. Ends with LIFE, when another connection begins with these ports
 *	or another PIN takes its place, or when the socket that asked for it is closed.
 *	Refused: a service without FORWARD_DIRECT, a VIP that no rule of the service has
 *	just so, one that is an address of this router, and, where rules of FORWARD_NAT
 *	have the VIP too, a port that no rule of FORWARD_DIRECT has
 */
enum weir_cmd {
	WEIR_CMD_UNSPEC,
	WEIR_CMD_INFO_GET,
	WEIR_CMD_CONFIG_GET,
	WEIR_CMD_SERVICE_ADD,
	WEIR_CMD_SERVICE_SET,
	WEIR_CMD_SERVICE_DEL,
	WEIR_CMD_RULE_ADD,
	WEIR_CMD_RULE_DEL,
	WEIR_CMD_GROUP_ADD,
	WEIR_CMD_GROUP_SET,
	WEIR_CMD_GROUP_DEL,
	WEIR_CMD_BACKEND_ADD,
	WEIR_CMD_BACKEND_SET,
	WEIR_CMD_BACKEND_DEL,
	WEIR_CMD_ZONE_ADD,
	WEIR_CMD_ZONE_DEL,
	WEIR_CMD_TXN_BEGIN,
	WEIR_CMD_TXN_COMMIT,
	WEIR_CMD_TXN_ABORT,
	WEIR_CMD_LOOKUP,
	WEIR_CMD_FLOW_GET,
	WEIR_CMD_FLOW_FLUSH,
	WEIR_CMD_COUNTER_GET,
	WEIR_CMD_EVENT,
	WEIR_CMD_REPORT,
	WEIR_CMD_PIN,

	__WEIR_CMD_MAX
};

#define WEIR_CMD_MAX	(__WEIR_CMD_MAX - 1)

/**
 * enum weir_attr - top-level attributes
 * @WEIR_A_UNSPEC: never used
 * @WEIR_A_PAD: alignment
 * @WEIR_A_SERVICE_NAME: string, 1..31 of [A-Za-z0-9._-]
 * @WEIR_A_SERVICE: nest of enum weir_service_attr
 * @WEIR_A_RULE: nest of enum weir_rule_attr
 * @WEIR_A_GROUP: nest of enum weir_group_attr
 * @WEIR_A_BACKEND: nest of enum weir_backend_attr
 * @WEIR_A_ZONE: nest of enum weir_zone_attr
 * @WEIR_A_GENERATION: u32, counts published configurations; in every answer
 *	and event
 * @WEIR_A_REPLACE: flag
 * @WEIR_A_DRY_RUN: flag: validate and compare, publish nothing
 * @WEIR_A_NOW: flag: do not drain
 * @WEIR_A_WITH_FLOWS: flag: count tracked flows into N_FLOWS of each backend
 * @WEIR_A_HASH_KEY: 16 bytes
 * @WEIR_A_VERSION: string, version of the module
 * @WEIR_A_N_ADDED: u32, services that the commit adds
 * @WEIR_A_N_CHANGED: u32, services that the commit changes
 * @WEIR_A_N_REMOVED: u32, services that the commit removes
 * @WEIR_A_N_FLOWS: u32
 * @WEIR_A_CHANGE: nest of enum weir_change_attr; may be repeated in an answer
 * @WEIR_A_PACKET: nest of enum weir_packet_attr
 * @WEIR_A_VERDICT: nest of enum weir_verdict_attr
 * @WEIR_A_FLOW: nest of enum weir_flow_attr
 * @WEIR_A_REASON: nest of enum weir_reason_attr
 * @WEIR_A_N_SERVICES: u32
 * @WEIR_A_N_HELD: u32, bindings kept for entries of removed backends
 * @WEIR_A_SESSION: nest of enum weir_session_attr
 * @WEIR_A_N_SESSIONS: u32, sessions in use
 * @WEIR_A_MAX_SESSIONS: u32, net.weir.max_sessions
 * @WEIR_A_N_ENTRIES: u32, conntrack entries in this namespace, ours and others'
 * @WEIR_A_MAX_FLOWS: u32, net.weir.max_flows in force, 0 for no limit
 * @WEIR_A_N_CHANGES: u32, changes of a commit, of which as many are told as fit
 * @WEIR_A_ZONAL: nest of enum weir_zonal_attr: the eligible set of one zone's
 *	clients
 * @WEIR_A_REPORT: nest of enum weir_report_attr; may be repeated in a REPORT
 * @WEIR_A_PIN: nest of enum weir_pin_attr
 */
enum weir_attr {
	WEIR_A_UNSPEC,
	WEIR_A_PAD,
	WEIR_A_SERVICE_NAME,
	WEIR_A_SERVICE,
	WEIR_A_RULE,
	WEIR_A_GROUP,
	WEIR_A_BACKEND,
	WEIR_A_ZONE,
	WEIR_A_GENERATION,
	WEIR_A_REPLACE,
	WEIR_A_DRY_RUN,
	WEIR_A_NOW,
	WEIR_A_WITH_FLOWS,
	WEIR_A_HASH_KEY,
	WEIR_A_VERSION,
	WEIR_A_N_ADDED,
	WEIR_A_N_CHANGED,
	WEIR_A_N_REMOVED,
	WEIR_A_N_FLOWS,
	WEIR_A_CHANGE,
	WEIR_A_PACKET,
	WEIR_A_VERDICT,
	WEIR_A_FLOW,
	WEIR_A_REASON,
	WEIR_A_N_SERVICES,
	WEIR_A_N_HELD,
	WEIR_A_SESSION,
	WEIR_A_N_SESSIONS,
	WEIR_A_MAX_SESSIONS,
	WEIR_A_N_ENTRIES,
	WEIR_A_MAX_FLOWS,
	WEIR_A_N_CHANGES,
	WEIR_A_ZONAL,
	WEIR_A_REPORT,
	WEIR_A_PIN,

	__WEIR_A_MAX
};

#define WEIR_A_MAX	(__WEIR_A_MAX - 1)

/* Values of the options, default first (WEIGHTED and rendezvous kinds come
 * last in their enum as they come in the documentation).
 */

enum weir_affinity {
	WEIR_AFFINITY_NONE,
	WEIR_AFFINITY_CLIENT_IP_PORT_PROTO,
	WEIR_AFFINITY_CLIENT_IP_PROTO,
	WEIR_AFFINITY_CLIENT_IP,
	WEIR_AFFINITY_CLIENT_IP_NO_DESTINATION,

	__WEIR_AFFINITY_MAX
};

enum weir_tracking {
	WEIR_TRACKING_PER_CONNECTION,
	WEIR_TRACKING_PER_SESSION,

	__WEIR_TRACKING_MAX
};

enum weir_persistence {
	WEIR_PERSISTENCE_DEFAULT_FOR_PROTOCOL,
	WEIR_PERSISTENCE_NEVER_PERSIST,
	WEIR_PERSISTENCE_ALWAYS_PERSIST,

	__WEIR_PERSISTENCE_MAX
};

enum weir_zonal_affinity {
	WEIR_ZONAL_AFFINITY_DISABLED,
	WEIR_ZONAL_AFFINITY_STAY_WITHIN_ZONE,
	WEIR_ZONAL_AFFINITY_SPILL_CROSS_ZONE,

	__WEIR_ZONAL_AFFINITY_MAX
};

enum weir_locality {
	WEIR_LOCALITY_MAGLEV,
	WEIR_LOCALITY_WEIGHTED_MAGLEV,
	WEIR_LOCALITY_RENDEZVOUS,
	WEIR_LOCALITY_WEIGHTED_RENDEZVOUS,

	__WEIR_LOCALITY_MAX
};

enum weir_forward {
	WEIR_FORWARD_NAT,
	WEIR_FORWARD_DIRECT,

	__WEIR_FORWARD_MAX
};

enum weir_when_empty {
	WEIR_WHEN_EMPTY_DROP,
	WEIR_WHEN_EMPTY_REJECT,

	__WEIR_WHEN_EMPTY_MAX
};

/* Protocol words of a rule. ICMP is ICMPv6 in a rule with an IPv6 VIP. */
enum weir_proto {
	WEIR_PROTO_ANY,
	WEIR_PROTO_TCP,
	WEIR_PROTO_UDP,
	WEIR_PROTO_SCTP,
	WEIR_PROTO_ICMP,
	WEIR_PROTO_ESP,
	WEIR_PROTO_AH,
	WEIR_PROTO_GRE,

	__WEIR_PROTO_MAX
};

enum weir_health {
	WEIR_HEALTH_AUTO,
	WEIR_HEALTH_UP,
	WEIR_HEALTH_DOWN,

	__WEIR_HEALTH_MAX
};

enum weir_state {
	WEIR_STATE_ACTIVE,
	WEIR_STATE_DRAINING,

	__WEIR_STATE_MAX
};

/* What the checker says of a backend's weight (semantics 4). */
enum weir_weight_state {
	WEIR_WEIGHT_STATE_NONE,		/* nothing yet */
	WEIR_WEIGHT_STATE_VALID,	/* as reported */
	WEIR_WEIGHT_STATE_MISSING,	/* a reply without one */
	WEIR_WEIGHT_STATE_INVALID,	/* not a weight */
	WEIR_WEIGHT_STATE_UNAVAILABLE,	/* no reply: the last valid one rules */

	__WEIR_WEIGHT_STATE_MAX
};

/* How the eligible backends share new flows. */
enum weir_weighting {
	WEIR_WEIGHTING_OFF,		/* equal: the locality knows no weights */
	WEIR_WEIGHTING_ON,		/* by weight */
	WEIR_WEIGHTING_REPORTS,		/* equal: a report is missing or invalid */
	WEIR_WEIGHTING_ZERO,		/* equal: all eligible ones weigh 0 */

	__WEIR_WEIGHTING_MAX
};

/* Which members are in use. */
enum weir_role {
	WEIR_ROLE_ALL,			/* failover is off: a role lacks members */
	WEIR_ROLE_PRIMARY,
	WEIR_ROLE_FAILOVER,

	__WEIR_ROLE_MAX
};

/* What zonal affinity makes of the eligible set (semantics 3.2 to 3.5). */
enum weir_zonal_reason {
	WEIR_ZONAL_NO_MATCH,	/* no configured member there: the whole set */
	WEIR_ZONAL_WITHIN,	/* only those in the zone */
	WEIR_ZONAL_UNHEALTHY,	/* stay: none eligible there, so unhealthy ones */
	WEIR_ZONAL_SPILL,	/* too few healthy there: the whole set */
	WEIR_ZONAL_NOBODY,	/* spill, nobody healthy anywhere: the whole set */

	__WEIR_ZONAL_MAX
};

/* Why the eligible set is what it is (semantics 2.2, 2.3). */
enum weir_eligible {
	WEIR_ELIGIBLE_NO_BACKENDS,	/* nothing configured: empty */
	WEIR_ELIGIBLE_HEALTHY,		/* failover off: all healthy ones */
	WEIR_ELIGIBLE_LAST_RESORT,	/* failover off, nobody healthy: all */
	WEIR_ELIGIBLE_PRIMARY,		/* healthy primaries */
	WEIR_ELIGIBLE_FAILOVER,		/* healthy failovers */
	WEIR_ELIGIBLE_LAST_PRIMARIES,	/* nobody healthy: all primaries */
	WEIR_ELIGIBLE_DROP,		/* nobody healthy, drop-if-unhealthy */

	__WEIR_ELIGIBLE_MAX
};

/**
 * enum weir_service_attr - options and state of a service
 * @WEIR_SERVICE_A_UNSPEC: never used
 * @WEIR_SERVICE_A_PAD: alignment
 * @WEIR_SERVICE_A_AFFINITY: u8, enum weir_affinity
 * @WEIR_SERVICE_A_TRACKING: u8, enum weir_tracking
 * @WEIR_SERVICE_A_PERSISTENCE: u8, enum weir_persistence
 * @WEIR_SERVICE_A_IDLE_TIMEOUT: u32, seconds
 * @WEIR_SERVICE_A_DRAIN_TIMEOUT: u32, seconds
 * @WEIR_SERVICE_A_FAILOVER_RATIO: u32, millionths
 * @WEIR_SERVICE_A_DROP_IF_UNHEALTHY: u8, 0 or 1
 * @WEIR_SERVICE_A_DRAIN_ON_FAILOVER: u8, 0 or 1
 * @WEIR_SERVICE_A_ZONAL_AFFINITY: u8, enum weir_zonal_affinity
 * @WEIR_SERVICE_A_SPILL_RATIO: u32, millionths
 * @WEIR_SERVICE_A_LOCALITY: u8, enum weir_locality
 * @WEIR_SERVICE_A_FORWARD: u8, enum weir_forward
 * @WEIR_SERVICE_A_WHEN_EMPTY: u8, enum weir_when_empty
 * @WEIR_SERVICE_A_HAIRPIN: u8, 0 or 1
 * @WEIR_SERVICE_A_TABLE_SIZE: u32, 0 is auto, else a prime
 * @WEIR_SERVICE_A_HEALTH_CHECK: string; an empty one removes it
 * @WEIR_SERVICE_A_TABLE_SLOTS: u32, read only: the size in force
 * @WEIR_SERVICE_A_DIGEST: u64, read only: of the table's content, comparable
 *	between routers with one hash key
 * @WEIR_SERVICE_A_ELIGIBLE: u8, read only, enum weir_eligible
 * @WEIR_SERVICE_A_N_BACKENDS: u32, read only: configured, draining ones apart
 * @WEIR_SERVICE_A_N_HEALTHY: u32, read only
 * @WEIR_SERVICE_A_N_ELIGIBLE: u32, read only
 * @WEIR_SERVICE_A_COUNTERS: nest of enum weir_counter_attr, read only
 * @WEIR_SERVICE_A_ROLE: u8, read only, enum weir_role
 * @WEIR_SERVICE_A_N_PRIMARY: u32, read only: primaries, draining ones apart
 * @WEIR_SERVICE_A_N_PRIMARY_HEALTHY: u32, read only
 * @WEIR_SERVICE_A_N_FAILOVER: u32, read only: failover members
 * @WEIR_SERVICE_A_N_FAILOVER_HEALTHY: u32, read only
 * @WEIR_SERVICE_A_WEIGHTING: u8, read only, enum weir_weighting
 */
enum weir_service_attr {
	WEIR_SERVICE_A_UNSPEC,
	WEIR_SERVICE_A_PAD,
	WEIR_SERVICE_A_AFFINITY,
	WEIR_SERVICE_A_TRACKING,
	WEIR_SERVICE_A_PERSISTENCE,
	WEIR_SERVICE_A_IDLE_TIMEOUT,
	WEIR_SERVICE_A_DRAIN_TIMEOUT,
	WEIR_SERVICE_A_FAILOVER_RATIO,
	WEIR_SERVICE_A_DROP_IF_UNHEALTHY,
	WEIR_SERVICE_A_DRAIN_ON_FAILOVER,
	WEIR_SERVICE_A_ZONAL_AFFINITY,
	WEIR_SERVICE_A_SPILL_RATIO,
	WEIR_SERVICE_A_LOCALITY,
	WEIR_SERVICE_A_FORWARD,
	WEIR_SERVICE_A_WHEN_EMPTY,
	WEIR_SERVICE_A_HAIRPIN,
	WEIR_SERVICE_A_TABLE_SIZE,
	WEIR_SERVICE_A_HEALTH_CHECK,
	WEIR_SERVICE_A_TABLE_SLOTS,
	WEIR_SERVICE_A_DIGEST,
	WEIR_SERVICE_A_ELIGIBLE,
	WEIR_SERVICE_A_N_BACKENDS,
	WEIR_SERVICE_A_N_HEALTHY,
	WEIR_SERVICE_A_N_ELIGIBLE,
	WEIR_SERVICE_A_COUNTERS,
	WEIR_SERVICE_A_ROLE,
	WEIR_SERVICE_A_N_PRIMARY,
	WEIR_SERVICE_A_N_PRIMARY_HEALTHY,
	WEIR_SERVICE_A_N_FAILOVER,
	WEIR_SERVICE_A_N_FAILOVER_HEALTHY,
	WEIR_SERVICE_A_WEIGHTING,

	__WEIR_SERVICE_A_MAX
};

#define WEIR_SERVICE_A_MAX	(__WEIR_SERVICE_A_MAX - 1)

/**
 * enum weir_rule_attr - VIP, protocol and ports that lead to a service
 * @WEIR_RULE_A_UNSPEC: never used
 * @WEIR_RULE_A_VIP: 4 or 16 bytes
 * @WEIR_RULE_A_PLEN: u8; without it the VIP is one address
 * @WEIR_RULE_A_PROTO: u8, enum weir_proto
 * @WEIR_RULE_A_PORTS: array of u16, host order, 1..1024 of them, ascending in
 *	answers; without it all ports, and packets without ports
 */
enum weir_rule_attr {
	WEIR_RULE_A_UNSPEC,
	WEIR_RULE_A_VIP,
	WEIR_RULE_A_PLEN,
	WEIR_RULE_A_PROTO,
	WEIR_RULE_A_PORTS,

	__WEIR_RULE_A_MAX
};

#define WEIR_RULE_A_MAX	(__WEIR_RULE_A_MAX - 1)

/**
 * enum weir_group_attr - backends that share a role and a zone
 * @WEIR_GROUP_A_UNSPEC: never used
 * @WEIR_GROUP_A_NAME: string, a name
 * @WEIR_GROUP_A_ZONE: string, a name; an empty one removes it
 * @WEIR_GROUP_A_FAILOVER: u8, 0 or 1
 */
enum weir_group_attr {
	WEIR_GROUP_A_UNSPEC,
	WEIR_GROUP_A_NAME,
	WEIR_GROUP_A_ZONE,
	WEIR_GROUP_A_FAILOVER,

	__WEIR_GROUP_A_MAX
};

#define WEIR_GROUP_A_MAX	(__WEIR_GROUP_A_MAX - 1)

/**
 * enum weir_backend_attr - one address in a group
 * @WEIR_BACKEND_A_UNSPEC: never used
 * @WEIR_BACKEND_A_PAD: alignment
 * @WEIR_BACKEND_A_ADDR: 4 or 16 bytes
 * @WEIR_BACKEND_A_GROUP: string; "default" when absent from an ADD
 * @WEIR_BACKEND_A_PORT: u16, 0 keeps the packet's port
 * @WEIR_BACKEND_A_WEIGHT: u32, 0..1000
 * @WEIR_BACKEND_A_HEALTH: u8, enum weir_health: the operator's word
 * @WEIR_BACKEND_A_CHECK: u8, enum weir_health: the checker's last result,
 *	AUTO while there is none
 * @WEIR_BACKEND_A_STATE: u8, enum weir_state, read only
 * @WEIR_BACKEND_A_HEALTHY: u8, read only: what counts, 0 or 1
 * @WEIR_BACKEND_A_ELIGIBLE: u8, read only, 0 or 1
 * @WEIR_BACKEND_A_SLOTS: u32, read only: its share of TABLE_SLOTS
 * @WEIR_BACKEND_A_N_FLOWS: u32, read only, only with WITH_FLOWS
 * @WEIR_BACKEND_A_COUNTERS: nest of enum weir_counter_attr, read only
 * @WEIR_BACKEND_A_WEIGHT_STATE: u8, enum weir_weight_state: of the checker's report
 * @WEIR_BACKEND_A_REPORTED: u32, 0..1000: the weight that the checker reported
 *	last. It rules while the health-check line of the service says "weights"
 * @WEIR_BACKEND_A_DRAIN_LEFT: u32, read only: milliseconds, only while DRAINING
 * @WEIR_BACKEND_A_N_FLIPS: u32, read only: how often HEALTHY changed
 * @WEIR_BACKEND_A_FLIPPED: u32, read only: seconds since the last change; absent
 *	if there was none
 * @WEIR_BACKEND_A_PROBE_PASSED: u8, 0 or 1: what the last probe came to. This and
 *	the next three are absent if none was reported
 * @WEIR_BACKEND_A_PROBE_RUN: u32, how many probes in a row came to the same
 * @WEIR_BACKEND_A_PROBE_TEXT: string, printable ASCII, WEIR_PROBE_TEXT_MAX bytes at
 *	most: what the last probe found
 * @WEIR_BACKEND_A_PROBE_AGE: u32, read only: seconds since it was reported
 */
enum weir_backend_attr {
	WEIR_BACKEND_A_UNSPEC,
	WEIR_BACKEND_A_PAD,
	WEIR_BACKEND_A_ADDR,
	WEIR_BACKEND_A_GROUP,
	WEIR_BACKEND_A_PORT,
	WEIR_BACKEND_A_WEIGHT,
	WEIR_BACKEND_A_HEALTH,
	WEIR_BACKEND_A_CHECK,
	WEIR_BACKEND_A_STATE,
	WEIR_BACKEND_A_HEALTHY,
	WEIR_BACKEND_A_ELIGIBLE,
	WEIR_BACKEND_A_SLOTS,
	WEIR_BACKEND_A_N_FLOWS,
	WEIR_BACKEND_A_COUNTERS,
	WEIR_BACKEND_A_WEIGHT_STATE,
	WEIR_BACKEND_A_REPORTED,
	WEIR_BACKEND_A_DRAIN_LEFT,
	WEIR_BACKEND_A_N_FLIPS,
	WEIR_BACKEND_A_FLIPPED,
	WEIR_BACKEND_A_PROBE_PASSED,
	WEIR_BACKEND_A_PROBE_RUN,
	WEIR_BACKEND_A_PROBE_TEXT,
	WEIR_BACKEND_A_PROBE_AGE,

	__WEIR_BACKEND_A_MAX
};

#define WEIR_BACKEND_A_MAX	(__WEIR_BACKEND_A_MAX - 1)

/**
 * enum weir_report_attr - what a health checker found at one backend
 * @WEIR_REPORT_A_UNSPEC: never used
 * @WEIR_REPORT_A_SERVICE_NAME: string
 * @WEIR_REPORT_A_BACKEND: nest of enum weir_backend_attr: ADDR, and any of CHECK,
 *	WEIGHT_STATE, REPORTED, and PROBE_PASSED with PROBE_RUN and PROBE_TEXT
 */
enum weir_report_attr {
	WEIR_REPORT_A_UNSPEC,
	WEIR_REPORT_A_SERVICE_NAME,
	WEIR_REPORT_A_BACKEND,

	__WEIR_REPORT_A_MAX
};

#define WEIR_REPORT_A_MAX	(__WEIR_REPORT_A_MAX - 1)

/**
 * enum weir_pin_attr - a TCP connection of this router to a VIP
 * @WEIR_PIN_A_UNSPEC: never used
 * @WEIR_PIN_A_VIP: 4 or 16 bytes
 * @WEIR_PIN_A_SPORT: u16, the port that it comes from, not 0
 * @WEIR_PIN_A_DPORT: u16, the port of the VIP, not 0
 * @WEIR_PIN_A_LIFE: u32, seconds, 1..600
 */
enum weir_pin_attr {
	WEIR_PIN_A_UNSPEC,
	WEIR_PIN_A_VIP,
	WEIR_PIN_A_SPORT,
	WEIR_PIN_A_DPORT,
	WEIR_PIN_A_LIFE,

	__WEIR_PIN_A_MAX
};

#define WEIR_PIN_A_MAX	(__WEIR_PIN_A_MAX - 1)

/**
 * enum weir_zone_attr - a name for client prefixes
 * @WEIR_ZONE_A_UNSPEC: never used
 * @WEIR_ZONE_A_NAME: string, a name
 * @WEIR_ZONE_A_PREFIXES: array of 17-byte records: prefix length, then 16
 *	bytes of address, IPv4 as ::ffff:a.b.c.d with its length plus 96
 */
enum weir_zone_attr {
	WEIR_ZONE_A_UNSPEC,
	WEIR_ZONE_A_NAME,
	WEIR_ZONE_A_PREFIXES,

	__WEIR_ZONE_A_MAX
};

#define WEIR_ZONE_A_MAX	(__WEIR_ZONE_A_MAX - 1)

/**
 * enum weir_zonal_attr - what clients of a zone get from a service
 * @WEIR_ZONAL_A_UNSPEC: never used
 * @WEIR_ZONAL_A_PAD: alignment
 * @WEIR_ZONAL_A_ZONE: string, the zone
 * @WEIR_ZONAL_A_REASON: u8, enum weir_zonal_reason
 * @WEIR_ZONAL_A_N_CONFIGURED: u32, members of the role in use in the zone
 * @WEIR_ZONAL_A_N_HEALTHY: u32, of these, healthy and eligible
 * @WEIR_ZONAL_A_N_ELIGIBLE: u32, backends in the set of these clients
 * @WEIR_ZONAL_A_DIGEST: u64, of the table's content; zones with one set share one
 */
enum weir_zonal_attr {
	WEIR_ZONAL_A_UNSPEC,
	WEIR_ZONAL_A_PAD,
	WEIR_ZONAL_A_ZONE,
	WEIR_ZONAL_A_REASON,
	WEIR_ZONAL_A_N_CONFIGURED,
	WEIR_ZONAL_A_N_HEALTHY,
	WEIR_ZONAL_A_N_ELIGIBLE,
	WEIR_ZONAL_A_DIGEST,

	__WEIR_ZONAL_A_MAX
};

#define WEIR_ZONAL_A_MAX	(__WEIR_ZONAL_A_MAX - 1)

/**
 * enum weir_counter_attr - u64 counters of a backend or a service
 * @WEIR_COUNTER_A_UNSPEC: never used
 * @WEIR_COUNTER_A_PAD: alignment
 * @WEIR_COUNTER_A_SELECTIONS: flows that were given to it
 * @WEIR_COUNTER_A_LAST_RESORT: of these, chosen though nobody was healthy
 * @WEIR_COUNTER_A_PACKETS_IN: client to backend
 * @WEIR_COUNTER_A_BYTES_IN: from the network header on
 * @WEIR_COUNTER_A_PACKETS_OUT: backend to client
 * @WEIR_COUNTER_A_BYTES_OUT: from the network header on
 * @WEIR_COUNTER_A_RESELECTED_GONE: of the selections, flows that came from a
 *	backend which was removed
 * @WEIR_COUNTER_A_RESELECTED_UNHEALTHY: from one that is unhealthy
 * @WEIR_COUNTER_A_RESELECTED_ADOPTED: that existed before their rule
 * @WEIR_COUNTER_A_RESELECTED_SYN: whose SYN chose another backend than before
 * @WEIR_COUNTER_A_RESELECTED_SESSION: whose session had moved or expired
 * @WEIR_COUNTER_A_RESELECTED_FAILOVER: whose backend's role is not in use any
 *	more, with drain-on-failover off
 */
enum weir_counter_attr {
	WEIR_COUNTER_A_UNSPEC,
	WEIR_COUNTER_A_PAD,
	WEIR_COUNTER_A_SELECTIONS,
	WEIR_COUNTER_A_LAST_RESORT,
	WEIR_COUNTER_A_PACKETS_IN,
	WEIR_COUNTER_A_BYTES_IN,
	WEIR_COUNTER_A_PACKETS_OUT,
	WEIR_COUNTER_A_BYTES_OUT,
	WEIR_COUNTER_A_RESELECTED_GONE,
	WEIR_COUNTER_A_RESELECTED_UNHEALTHY,
	WEIR_COUNTER_A_RESELECTED_ADOPTED,
	WEIR_COUNTER_A_RESELECTED_SYN,
	WEIR_COUNTER_A_RESELECTED_SESSION,
	WEIR_COUNTER_A_RESELECTED_FAILOVER,

	__WEIR_COUNTER_A_MAX
};

#define WEIR_COUNTER_A_MAX	(__WEIR_COUNTER_A_MAX - 1)

/* What happened to an object. */
enum weir_change {
	WEIR_CHANGE_ADDED,
	WEIR_CHANGE_CHANGED,
	WEIR_CHANGE_REMOVED,

	__WEIR_CHANGE_MAX
};

/**
 * enum weir_change_attr - one difference between two configurations
 * @WEIR_CHANGE_A_UNSPEC: never used
 * @WEIR_CHANGE_A_KIND: u8, enum weir_change
 * @WEIR_CHANGE_A_SERVICE_NAME: string
 * @WEIR_CHANGE_A_RULE: nest of enum weir_rule_attr, if a rule changed
 * @WEIR_CHANGE_A_GROUP: nest of enum weir_group_attr, if a group changed
 * @WEIR_CHANGE_A_BACKEND: nest of enum weir_backend_attr (configured values, STATE
 *	and PROBE_*), if a backend changed. None of the three: the service's own
 *	options
 * @WEIR_CHANGE_A_ZONE: nest of enum weir_zone_attr (NAME), if a zone changed;
 *	there is no SERVICE_NAME then
 */
enum weir_change_attr {
	WEIR_CHANGE_A_UNSPEC,
	WEIR_CHANGE_A_KIND,
	WEIR_CHANGE_A_SERVICE_NAME,
	WEIR_CHANGE_A_RULE,
	WEIR_CHANGE_A_GROUP,
	WEIR_CHANGE_A_BACKEND,
	WEIR_CHANGE_A_ZONE,

	__WEIR_CHANGE_A_MAX
};

#define WEIR_CHANGE_A_MAX	(__WEIR_CHANGE_A_MAX - 1)

/**
 * enum weir_packet_attr - the packet that a lookup asks about
 * @WEIR_PACKET_A_UNSPEC: never used
 * @WEIR_PACKET_A_SRC: 4 or 16 bytes
 * @WEIR_PACKET_A_DST: as many
 * @WEIR_PACKET_A_PROTO: u8, IPPROTO_*
 * @WEIR_PACKET_A_SPORT: u16
 * @WEIR_PACKET_A_DPORT: u16
 * @WEIR_PACKET_A_SYN: flag: a TCP segment that opens a connection
 */
enum weir_packet_attr {
	WEIR_PACKET_A_UNSPEC,
	WEIR_PACKET_A_SRC,
	WEIR_PACKET_A_DST,
	WEIR_PACKET_A_PROTO,
	WEIR_PACKET_A_SPORT,
	WEIR_PACKET_A_DPORT,
	WEIR_PACKET_A_SYN,

	__WEIR_PACKET_A_MAX
};

#define WEIR_PACKET_A_MAX	(__WEIR_PACKET_A_MAX - 1)

/* What would happen to the packet of a lookup. */
enum weir_outcome {
	WEIR_OUTCOME_NOT_OURS,		/* no VIP: passes as if weir were absent */
	WEIR_OUTCOME_NO_RULE,		/* a VIP, but no rule: dropped */
	WEIR_OUTCOME_LOCAL,		/* a VIP that is a local address, no rule */
	WEIR_OUTCOME_EMPTY,		/* no backend may be chosen */
	WEIR_OUTCOME_KEPT,		/* an existing flow keeps its backend */
	WEIR_OUTCOME_SELECTED,		/* chosen anew */
	WEIR_OUTCOME_AH,		/* translation would break it: dropped */

	__WEIR_OUTCOME_MAX
};

/* Why an existing flow may not stay. */
enum weir_stay {
	WEIR_STAY_NO_FLOW,		/* there is none */
	WEIR_STAY_YES,
	WEIR_STAY_GONE,			/* its backend was removed */
	WEIR_STAY_UNHEALTHY,		/* its backend is unhealthy, no persistence */
	WEIR_STAY_UNBOUND,		/* made before the rule, or by others */
	WEIR_STAY_SYN,			/* a SYN, and it chose another backend */
	WEIR_STAY_SESSION,		/* its session is with another backend */
	WEIR_STAY_EXPIRED,		/* its session has expired */
	WEIR_STAY_FAILOVER,		/* its backend's role is not in use any more */

	__WEIR_STAY_MAX
};

/**
 * enum weir_verdict_attr - which backend, and each step of why
 * @WEIR_VERDICT_A_UNSPEC: never used
 * @WEIR_VERDICT_A_PAD: alignment
 * @WEIR_VERDICT_A_OUTCOME: u8, enum weir_outcome
 * @WEIR_VERDICT_A_SERVICE_NAME: string
 * @WEIR_VERDICT_A_RULE: nest of enum weir_rule_attr: the rule that matched
 * @WEIR_VERDICT_A_STAY: u8, enum weir_stay: of the existing flow
 * @WEIR_VERDICT_A_FLOW: nest of enum weir_flow_attr: the existing flow
 * @WEIR_VERDICT_A_KEY_FIELDS: u8, how many fields the key has: 1, 2, 3 or 5
 * @WEIR_VERDICT_A_HASH: u64
 * @WEIR_VERDICT_A_SLOT: u32
 * @WEIR_VERDICT_A_TABLE_SLOTS: u32
 * @WEIR_VERDICT_A_ELIGIBLE: u8, enum weir_eligible
 * @WEIR_VERDICT_A_N_ELIGIBLE: u32
 * @WEIR_VERDICT_A_BACKEND: nest of enum weir_backend_attr: the choice
 * @WEIR_VERDICT_A_TRACK_FIELDS: u8, fields of the tracking key: 1, 2, 3 or 5
 * @WEIR_VERDICT_A_SESSION: nest of enum weir_session_attr: the live session of
 *	this packet; only where the tracking key has less than five fields
 * @WEIR_VERDICT_A_BY_SESSION: flag: the session, not the table, decides
 * @WEIR_VERDICT_A_ZONE: string, the client's zone, empty for none, where zonal
 *	affinity is on
 * @WEIR_VERDICT_A_ZONAL: u8, enum weir_zonal_reason: what it makes of the eligible set;
 *	N_ELIGIBLE and TABLE_SLOTS are of that
 */
enum weir_verdict_attr {
	WEIR_VERDICT_A_UNSPEC,
	WEIR_VERDICT_A_PAD,
	WEIR_VERDICT_A_OUTCOME,
	WEIR_VERDICT_A_SERVICE_NAME,
	WEIR_VERDICT_A_RULE,
	WEIR_VERDICT_A_STAY,
	WEIR_VERDICT_A_FLOW,
	WEIR_VERDICT_A_KEY_FIELDS,
	WEIR_VERDICT_A_HASH,
	WEIR_VERDICT_A_SLOT,
	WEIR_VERDICT_A_TABLE_SLOTS,
	WEIR_VERDICT_A_ELIGIBLE,
	WEIR_VERDICT_A_N_ELIGIBLE,
	WEIR_VERDICT_A_BACKEND,
	WEIR_VERDICT_A_TRACK_FIELDS,
	WEIR_VERDICT_A_SESSION,
	WEIR_VERDICT_A_BY_SESSION,
	WEIR_VERDICT_A_ZONE,
	WEIR_VERDICT_A_ZONAL,

	__WEIR_VERDICT_A_MAX
};

#define WEIR_VERDICT_A_MAX	(__WEIR_VERDICT_A_MAX - 1)

/**
 * enum weir_flow_attr - one tracked flow
 * @WEIR_FLOW_A_UNSPEC: never used
 * @WEIR_FLOW_A_SERVICE_NAME: string
 * @WEIR_FLOW_A_PROTO: u8, IPPROTO_*
 * @WEIR_FLOW_A_SRC: 4 or 16 bytes, the client
 * @WEIR_FLOW_A_SPORT: u16, only where the protocol has ports
 * @WEIR_FLOW_A_DST: the VIP
 * @WEIR_FLOW_A_DPORT: u16
 * @WEIR_FLOW_A_BACKEND: address of the backend
 * @WEIR_FLOW_A_BACKEND_PORT: u16
 * @WEIR_FLOW_A_EXPIRES: u32, seconds left
 * @WEIR_FLOW_A_TCP_STATE: u8, enum tcp_conntrack, TCP only
 * @WEIR_FLOW_A_REPLIED: u8, 0 or 1: the backend has answered
 * @WEIR_FLOW_A_STAY: u8, enum weir_stay: what its next packet would meet
 */
enum weir_flow_attr {
	WEIR_FLOW_A_UNSPEC,
	WEIR_FLOW_A_SERVICE_NAME,
	WEIR_FLOW_A_PROTO,
	WEIR_FLOW_A_SRC,
	WEIR_FLOW_A_SPORT,
	WEIR_FLOW_A_DST,
	WEIR_FLOW_A_DPORT,
	WEIR_FLOW_A_BACKEND,
	WEIR_FLOW_A_BACKEND_PORT,
	WEIR_FLOW_A_EXPIRES,
	WEIR_FLOW_A_TCP_STATE,
	WEIR_FLOW_A_REPLIED,
	WEIR_FLOW_A_STAY,

	__WEIR_FLOW_A_MAX
};

#define WEIR_FLOW_A_MAX	(__WEIR_FLOW_A_MAX - 1)

/**
 * enum weir_session_attr - one tracking entry that is coarser than a flow
 * @WEIR_SESSION_A_UNSPEC: never used
 * @WEIR_SESSION_A_SERVICE_NAME: string
 * @WEIR_SESSION_A_FIELDS: u8, of its key: 1, 2, 3, or 5 with forward direct
 * @WEIR_SESSION_A_SRC: 4 or 16 bytes, the client
 * @WEIR_SESSION_A_DST: the VIP, with 2 fields or more
 * @WEIR_SESSION_A_PROTO: u8, IPPROTO_*, with 3 fields or 5
 * @WEIR_SESSION_A_BACKEND: address
 * @WEIR_SESSION_A_EXPIRES: u32, seconds left
 * @WEIR_SESSION_A_CONFIRMED: u8, 0 or 1: more than one packet came
 * @WEIR_SESSION_A_SPORT: u16, with 5 fields
 * @WEIR_SESSION_A_DPORT: u16, with 5 fields
 */
enum weir_session_attr {
	WEIR_SESSION_A_UNSPEC,
	WEIR_SESSION_A_SERVICE_NAME,
	WEIR_SESSION_A_FIELDS,
	WEIR_SESSION_A_SRC,
	WEIR_SESSION_A_DST,
	WEIR_SESSION_A_PROTO,
	WEIR_SESSION_A_BACKEND,
	WEIR_SESSION_A_EXPIRES,
	WEIR_SESSION_A_CONFIRMED,
	WEIR_SESSION_A_SPORT,
	WEIR_SESSION_A_DPORT,

	__WEIR_SESSION_A_MAX
};

#define WEIR_SESSION_A_MAX	(__WEIR_SESSION_A_MAX - 1)

/**
 * enum weir_reason_attr - one way in which a packet is not forwarded
 * @WEIR_REASON_A_UNSPEC: never used
 * @WEIR_REASON_A_PAD: alignment
 * @WEIR_REASON_A_NAME: string, one word
 * @WEIR_REASON_A_TEXT: string, one line
 * @WEIR_REASON_A_PACKETS: u64
 * @WEIR_REASON_A_KERNEL: flag: counted by the kernel's conntrack, not by weir
 */
enum weir_reason_attr {
	WEIR_REASON_A_UNSPEC,
	WEIR_REASON_A_PAD,
	WEIR_REASON_A_NAME,
	WEIR_REASON_A_TEXT,
	WEIR_REASON_A_PACKETS,
	WEIR_REASON_A_KERNEL,

	__WEIR_REASON_A_MAX
};

#define WEIR_REASON_A_MAX	(__WEIR_REASON_A_MAX - 1)

#endif /* _UAPI_LINUX_WEIR_H */
