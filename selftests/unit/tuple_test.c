// SPDX-License-Identifier: GPL-2.0
/*
 * Selection key and tracking key: the tables, and that each byte of a field
 * counts exactly where the field does.
 */
#include <math.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "unit.h"
#include "../../kmod/tuple.h"

#define ROUNDS	20

static const unsigned int field_counts[] = { 1, 2, 3, 5 };

/* One row for each kind of packet. Columns are the affinities: none,
 * client-ip-port-proto, client-ip-proto, client-ip, client-ip-no-destination. */
static const struct row {
	const char	*packet;
	u8		proto;
	bool		fragmented;
	u8		select[5];
	u8		per_connection[5];
	u8		per_session[5];
} rows[] = {
	{ "TCP", 6, false,
	  { 5, 5, 3, 2, 1 }, { 5, 5, 5, 5, 5 }, { 5, 5, 3, 2, 1 } },
	{ "TCP that came in fragments", 6, true,
	  { 5, 5, 3, 2, 1 }, { 5, 5, 5, 5, 5 }, { 5, 5, 3, 2, 1 } },
	{ "UDP", 17, false,
	  { 5, 5, 3, 2, 1 }, { 5, 5, 5, 5, 5 }, { 5, 5, 3, 2, 1 } },
	{ "UDP, fragmented", 17, true,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "SCTP", 132, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "ICMP", 1, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "ICMPv6", 58, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "ESP", 50, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "AH", 51, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "GRE", 47, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "UDP-Lite", 136, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
	{ "reserved", 255, false,
	  { 3, 3, 3, 2, 1 }, { 3, 3, 3, 3, 3 }, { 3, 3, 3, 2, 1 } },
};

static void check_row(const struct row *r, const struct weir_tuple *t)
{
	u8 affinity;

	for (affinity = 0; affinity < __WEIR_AFFINITY_MAX; affinity++) {
		unsigned int select, connection, session;

		select = weir_select_fields(affinity, t);
		connection = weir_track_fields(affinity,
				WEIR_TRACKING_PER_CONNECTION, t);
		session = weir_track_fields(affinity,
				WEIR_TRACKING_PER_SESSION, t);
		if (select != r->select[affinity] ||
		    connection != r->per_connection[affinity] ||
		    session != r->per_session[affinity])
			fail_msg("%s (%u), affinity %u: select %u, track %u and %u",
				 r->packet, t->proto, affinity, select,
				 connection, session);
	}
}

static void fields_are_those_of_the_tables(void **state)
{
	unsigned int i;

	(void)state;
	assert_int_equal(__WEIR_AFFINITY_MAX, 5);
	assert_int_equal(__WEIR_TRACKING_MAX, 2);
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct weir_tuple t = {
			.proto = rows[i].proto,
			.fragmented = rows[i].fragmented,
		};

		t.family = AF_INET;
		check_row(&rows[i], &t);
		t.family = AF_INET6;
		check_row(&rows[i], &t);
	}
}

static void fields_of_every_other_protocol_are_those_of_gre(void **state)
{
	const struct row *gre = &rows[9];
	unsigned int proto, fragmented;

	(void)state;
	assert_string_equal(gre->packet, "GRE");
	for (proto = 0; proto < 256; proto++)
		for (fragmented = 0; fragmented < 2; fragmented++) {
			struct weir_tuple t = {
				.proto = proto, .fragmented = fragmented,
			};

			if (proto != IPPROTO_TCP && proto != IPPROTO_UDP)
				check_row(gre, &t);
		}
}

static void fields_of_unknown_words_are_those_of_the_defaults(void **state)
{
	struct weir_tuple t = { .proto = IPPROTO_TCP };
	unsigned int word;

	(void)state;
	for (word = __WEIR_AFFINITY_MAX; word < 256; word++)
		assert_int_equal(weir_select_fields(word, &t), 5);
	for (word = __WEIR_TRACKING_MAX; word < 256; word++)
		assert_int_equal(weir_track_fields(WEIR_AFFINITY_CLIENT_IP,
						   word, &t), 5);
}

static struct weir_tuple random_tuple(u8 family)
{
	struct weir_tuple t = {};
	size_t len = family == AF_INET ? 4 : 16;

	unit_fill(t.src.raw, len);
	unit_fill(t.dst.raw, len);
	unit_fill(&t.sport, 2);
	unit_fill(&t.dport, 2);
	unit_fill(&t.proto, 1);
	t.family = family;

	return t;
}

/* Flip each bit of @len bytes at @at in @t: the hash changes if and only if the
 * field is @used. */
static void flip_bits(struct weir_tuple *t, void *at, size_t len,
		      unsigned int fields, const siphash_key_t *key, bool used)
{
	u64 before = weir_tuple_hash(t, fields, key);
	u8 *byte = at;
	size_t bit;

	for (bit = 0; bit < 8 * len; bit++) {
		byte[bit / 8] ^= 1U << bit % 8;
		if ((weir_tuple_hash(t, fields, key) != before) != used)
			fail_msg("%u fields, family %u, offset %zu, bit %zu",
				 fields, t->family,
				 (size_t)(byte - (u8 *)t), bit);
		byte[bit / 8] ^= 1U << bit % 8;
	}
	assert_true(weir_tuple_hash(t, fields, key) == before);
}

static void flip_all(u8 family)
{
	size_t len = family == AF_INET ? 4 : 16;
	unsigned int i, round;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < ARRAY_SIZE(field_counts); i++) {
			struct weir_tuple t = random_tuple(family);
			siphash_key_t key = unit_key();
			unsigned int n = field_counts[i];

			flip_bits(&t, &t.src, len, n, &key, true);
			flip_bits(&t, &t.dst, len, n, &key, n >= 2);
			flip_bits(&t, &t.proto, 1, n, &key, n >= 3);
			flip_bits(&t, &t.sport, 2, n, &key, n >= 5);
			flip_bits(&t, &t.dport, 2, n, &key, n >= 5);
		}
}

static void hash_takes_every_bit_of_its_fields_ipv4(void **state)
{
	(void)state;
	flip_all(AF_INET);
}

static void hash_takes_every_bit_of_its_fields_ipv6(void **state)
{
	(void)state;
	flip_all(AF_INET6);
}

static void hash_takes_every_bit_of_the_key(void **state)
{
	struct weir_tuple t = random_tuple(AF_INET);
	siphash_key_t key = unit_key();
	u64 before = weir_tuple_hash(&t, 5, &key);
	unsigned int bit;

	(void)state;
	for (bit = 0; bit < 128; bit++) {
		key.key[bit / 64] ^= 1ULL << bit % 64;
		assert_true(weir_tuple_hash(&t, 5, &key) != before);
		key.key[bit / 64] ^= 1ULL << bit % 64;
	}
}

static void hash_ignores_what_is_no_field(void **state)
{
	siphash_key_t key = unit_key();
	unsigned int i, round, f;

	(void)state;
	for (round = 0; round < ROUNDS; round++)
		for (f = 0; f < 2; f++) {
			struct weir_tuple t = random_tuple(f ? AF_INET6 : AF_INET);
			struct weir_tuple u;

			/* Padding, what is behind an IPv4 address, and how the
			 * packet came. */
			unit_fill(&u, sizeof(u));
			u.src = t.src;
			u.dst = t.dst;
			if (!f) {
				unit_fill(&u.src.raw[4], 12);
				unit_fill(&u.dst.raw[4], 12);
			}
			u.sport = t.sport;
			u.dport = t.dport;
			u.proto = t.proto;
			u.family = t.family;
			u.fragmented = true;
			for (i = 0; i < ARRAY_SIZE(field_counts); i++)
				assert_true(weir_tuple_hash(&t, field_counts[i], &key) ==
					    weir_tuple_hash(&u, field_counts[i], &key));
		}
}

static void hash_depends_on_the_number_of_fields(void **state)
{
	siphash_key_t key = unit_key();
	unsigned int i, j, f;

	(void)state;
	for (f = 0; f < 2; f++) {
		/* With all else zero only the number itself can differ. */
		struct weir_tuple t = { .family = f ? AF_INET6 : AF_INET };

		unit_fill(t.src.raw, 4);
		for (i = 0; i < ARRAY_SIZE(field_counts); i++)
			for (j = 0; j < i; j++)
				assert_true(weir_tuple_hash(&t, field_counts[i], &key) !=
					    weir_tuple_hash(&t, field_counts[j], &key));
	}
}

static void hash_depends_on_the_family(void **state)
{
	siphash_key_t key = unit_key();
	struct weir_tuple t = random_tuple(AF_INET);
	struct weir_tuple u = t;
	unsigned int i;

	(void)state;
	u.family = AF_INET6;
	for (i = 0; i < ARRAY_SIZE(field_counts); i++)
		assert_true(weir_tuple_hash(&t, field_counts[i], &key) !=
			    weir_tuple_hash(&u, field_counts[i], &key));
}

/* A hash that adds or XORs words before it mixes them passes every test of
 * single bits; it fails here. */
static void hash_depends_on_the_place_of_each_word(void **state)
{
	siphash_key_t key = unit_key();
	unsigned int round, i, j;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct weir_tuple t = random_tuple(AF_INET6), u = t;
		u64 before = weir_tuple_hash(&t, 5, &key);

		memcpy(u.src.raw, &t.src.raw[8], 8);
		memcpy(&u.src.raw[8], t.src.raw, 8);
		for (i = 0; i < ARRAY_SIZE(field_counts); i++)
			assert_true(weir_tuple_hash(&t, field_counts[i], &key) !=
				    weir_tuple_hash(&u, field_counts[i], &key));

		for (i = 0; i < 4; i++)
			for (j = 0; j < i; j++) {
				u = t;
				u.src.ip6[i] = t.src.ip6[j];
				u.src.ip6[j] = t.src.ip6[i];
				assert_true(weir_tuple_hash(&u, 5, &key) != before);
			}

		u = t;
		u.src = t.dst;
		u.dst = t.src;
		assert_true(weir_tuple_hash(&u, 5, &key) != before);
		assert_true(weir_tuple_hash(&u, 2, &key) !=
			    weir_tuple_hash(&t, 2, &key));
		u.sport = t.dport;
		u.dport = t.sport;
		assert_true(weir_tuple_hash(&u, 5, &key) != before);
	}
}

/* Routers of different versions and byte orders stand beside each other: what
 * is hashed is fixed, byte by byte. */
static void hash_is_of_these_bytes(void **state)
{
	static const u8 five[] = {
		10, 1, 2, 3, 203, 0, 113, 10, 0x9c, 0x40, 0x01, 0xbb,
		6, AF_INET, 5, 0,
	};
	static const u8 three[] = {
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7,
		0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,
		0, 0, 0, 0, 50, AF_INET6, 3, 0,
	};
	siphash_key_t key = unit_fixed_key();
	struct weir_tuple t = {
		.family = AF_INET, .proto = IPPROTO_TCP,
		.sport = cpu_to_be16(40000), .dport = cpu_to_be16(443),
	};
	struct weir_tuple u = {
		.family = AF_INET6, .proto = IPPROTO_ESP,
		.sport = cpu_to_be16(1), .dport = cpu_to_be16(2),
	};

	(void)state;
	memcpy(t.src.raw, five, 4);
	memcpy(t.dst.raw, five + 4, 4);
	assert_true(weir_tuple_hash(&t, 5, &key) ==
		    siphash(five, sizeof(five), &key));

	memcpy(u.src.raw, three, 16);
	memcpy(u.dst.raw, three + 16, 16);
	assert_true(weir_tuple_hash(&u, 3, &key) ==
		    siphash(three, sizeof(three), &key));
}

#define BUCKETS	1021
#define TUPLES	100000

/* Chi-square of hashes of tuples that differ as little as those of real clients
 * do: successive ports of successive addresses. @shift chooses the bits. */
static double chi_square(u8 family, unsigned int shift)
{
	static u32 count[BUCKETS];
	struct weir_tuple t = random_tuple(family);
	siphash_key_t key = unit_key();
	u32 base = be32_to_cpu(t.src.ip);
	double sum = 0;
	u32 i;

	memset(count, 0, sizeof(count));
	for (i = 0; i < TUPLES; i++) {
		t.src.ip = cpu_to_be32(base + i / 100);
		t.sport = cpu_to_be16(32768 + i % 100);
		count[(weir_tuple_hash(&t, 5, &key) >> shift & 0xffffffff) %
		      BUCKETS]++;
	}
	for (i = 0; i < BUCKETS; i++) {
		double off = count[i] - (double)TUPLES / BUCKETS;

		sum += off * off / ((double)TUPLES / BUCKETS);
	}

	return sum;
}

/* Little-endian, as the reference implementation of siphash reads it. */
static void key_has_the_order_of_siphash(void **state)
{
	u8 bytes[WEIR_HASH_KEY_LEN], back[WEIR_HASH_KEY_LEN];
	siphash_key_t key;
	int i;

	(void)state;
	for (i = 0; i < WEIR_HASH_KEY_LEN; i++)
		bytes[i] = 0xf0 + i;
	weir_key_read(&key, bytes);
	assert_true(key.key[0] == 0xf7f6f5f4f3f2f1f0ULL);
	assert_true(key.key[1] == 0xfffefdfcfbfaf9f8ULL);
	weir_key_write(back, &key);
	assert_memory_equal(back, bytes, sizeof(back));
}

static void hash_spreads_sequential_tuples(void **state)
{
	/* With d degrees of freedom: mean d, variance 2d; six of its standard
	 * deviations, either way, are beyond chance. */
	double d = BUCKETS - 1, slack = 6 * sqrt(2 * d);
	unsigned int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		double x = chi_square(i & 1 ? AF_INET6 : AF_INET,
				      i & 2 ? 32 : 0);

		printf("# chi-square %.0f, expected %.0f within %.0f\n",
		       x, d, slack);
		assert_true(fabs(x - d) < slack);
	}
}

static void addresses_sort_by_their_bytes(void **state)
{
	static const struct weir_addr order[] = {
		{ .raw = { 0 } },
		{ .raw = { 0, 0, 0, 1 } },
		{ .raw = { 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 } },
		{ .raw = { 0, 0, 1, 0 } },
		{ .raw = { 10, 2, 0, 9 } },
		{ .raw = { 10, 2, 0, 11 } },
		{ .raw = { 127, 255, 255, 255 } },
		{ .raw = { 128, 0, 0, 0 } },
		{ .raw = { 255, 0, 0, 0 } },
	};
	int i, j;

	(void)state;
	for (i = 0; i < (int)ARRAY_SIZE(order); i++)
		for (j = 0; j < (int)ARRAY_SIZE(order); j++) {
			int cmp = weir_addr_cmp(&order[i], &order[j]);

			assert_int_equal((cmp > 0) - (cmp < 0),
					 (i > j) - (i < j));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_are_those_of_the_tables),
		cmocka_unit_test(fields_of_every_other_protocol_are_those_of_gre),
		cmocka_unit_test(fields_of_unknown_words_are_those_of_the_defaults),
		cmocka_unit_test(hash_takes_every_bit_of_its_fields_ipv4),
		cmocka_unit_test(hash_takes_every_bit_of_its_fields_ipv6),
		cmocka_unit_test(hash_takes_every_bit_of_the_key),
		cmocka_unit_test(hash_ignores_what_is_no_field),
		cmocka_unit_test(hash_depends_on_the_number_of_fields),
		cmocka_unit_test(hash_depends_on_the_family),
		cmocka_unit_test(hash_depends_on_the_place_of_each_word),
		cmocka_unit_test(hash_is_of_these_bytes),
		cmocka_unit_test(key_has_the_order_of_siphash),
		cmocka_unit_test(hash_spreads_sequential_tuples),
		cmocka_unit_test(addresses_sort_by_their_bytes),
	};

	return cmocka_run_group_tests_name("tuple", tests, unit_seed, NULL);
}
