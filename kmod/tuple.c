// SPDX-License-Identifier: GPL-2.0
/*
 * weir - selection key and tracking key of a packet
 *
 * Pure: compiled in the module and, by selftests/unit, in userspace.
 */
#include <linux/in.h>
#include <linux/siphash.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/types.h>

#include "tuple.h"

/*
 * What is hashed: no byte outside the fields, so that nothing undefined gets
 * into a key; sizes are multiples of eight, for which siphash has no tail to
 * fetch. One layout for each family, because 16 bytes cost an IPv4 packet a
 * good hundred instructions less than 40 do.
 */
struct key4 {
	__be32	src;
	__be32	dst;
	__be16	sport;
	__be16	dport;
	u8	proto;
	u8	family;
	u8	fields;
	u8	zero;
} __aligned(8);

struct key6 {
	__be32	src[4];
	__be32	dst[4];
	__be16	sport;
	__be16	dport;
	u8	proto;
	u8	family;
	u8	fields;
	u8	zero;
} __aligned(8);

int weir_addr_cmp(const struct weir_addr *a, const struct weir_addr *b)
{
	return memcmp(a->raw, b->raw, sizeof(a->raw));
}

/*
 * Ports count for TCP, whose fragments were put together before, and for UDP
 * that came whole: a later fragment has no ports, and all of a datagram must go
 * one way. SCTP has ports too but counts as "every other protocol".
 */
static bool ports_count(const struct weir_tuple *t)
{
	return t->proto == IPPROTO_TCP ||
	       (t->proto == IPPROTO_UDP && !t->fragmented);
}

unsigned int weir_select_fields(u8 affinity, const struct weir_tuple *t)
{
	switch (affinity) {
	case WEIR_AFFINITY_CLIENT_IP_PROTO:
		return 3;
	case WEIR_AFFINITY_CLIENT_IP:
		return 2;
	case WEIR_AFFINITY_CLIENT_IP_NO_DESTINATION:
		return 1;
	default:
		return ports_count(t) ? 5 : 3;
	}
}

unsigned int weir_track_fields(u8 affinity, u8 tracking,
			       const struct weir_tuple *t)
{
	if (tracking == WEIR_TRACKING_PER_SESSION)
		return weir_select_fields(affinity, t);

	return ports_count(t) ? 5 : 3;
}

static u64 hash4(const struct weir_tuple *t, unsigned int fields,
		 const siphash_key_t *key)
{
	struct key4 k = {
		.src = t->src.ip,
		.family = AF_INET,
		.fields = fields,
	};

	if (fields >= 2)
		k.dst = t->dst.ip;
	if (fields >= 3)
		k.proto = t->proto;
	if (fields >= 5) {
		k.sport = t->sport;
		k.dport = t->dport;
	}

	return siphash(&k, sizeof(k), key);
}

static u64 hash6(const struct weir_tuple *t, unsigned int fields,
		 const siphash_key_t *key)
{
	struct key6 k = {
		.family = AF_INET6,
		.fields = fields,
	};

	memcpy(k.src, t->src.ip6, sizeof(k.src));
	if (fields >= 2)
		memcpy(k.dst, t->dst.ip6, sizeof(k.dst));
	if (fields >= 3)
		k.proto = t->proto;
	if (fields >= 5) {
		k.sport = t->sport;
		k.dport = t->dport;
	}

	return siphash(&k, sizeof(k), key);
}

u64 weir_tuple_hash(const struct weir_tuple *t, unsigned int fields,
		    const siphash_key_t *key)
{
	if (t->family == AF_INET)
		return hash4(t, fields, key);

	return hash6(t, fields, key);
}

void weir_key_read(siphash_key_t *key, const u8 *bytes)
{
	int i;

	memset(key, 0, sizeof(*key));
	for (i = 0; i < WEIR_HASH_KEY_LEN; i++)
		key->key[i / 8] |= (u64)bytes[i] << 8 * (i % 8);
}

void weir_key_write(u8 *bytes, const siphash_key_t *key)
{
	int i;

	for (i = 0; i < WEIR_HASH_KEY_LEN; i++)
		bytes[i] = key->key[i / 8] >> 8 * (i % 8);
}
