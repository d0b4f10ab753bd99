// SPDX-License-Identifier: GPL-2.0
/*
 * Zones of clients: ranges that were worked out by hand, and random sets of
 * prefixes against a search through all of them.
 */
#include <arpa/inet.h>
#include <sys/socket.h>

#include <linux/sched.h>

#include "unit.h"
#include "../../kmod/zone.h"

#define TEXT_MAX	4096

/* A set of prefixes and what it became. */
struct set {
	struct weir_zone_prefix	*prefixes;
	u32			n;
	u32			room;
	struct weir_zone_range	*ranges;
	u32			n_ranges;
};

static struct set new_set(u32 room)
{
	struct set s = { .room = room };

	s.prefixes = calloc(room + 1, sizeof(*s.prefixes));
	assert_non_null(s.prefixes);

	return s;
}

static void free_set(struct set *s)
{
	free(s->prefixes);
	free(s->ranges);
}

static void add_prefix(struct set *s, struct weir_zone_addr addr, u8 plen,
		       u32 zone)
{
	struct weir_zone_prefix p = { addr, plen, zone };

	assert_true(s->n < s->room);
	assert_true(weir_zone_prefix_ok(&p));
	s->prefixes[s->n++] = p;
}

static int compare(const void *a, const void *b)
{
	return weir_zone_cmp(a, b);
}

static void sort_and_drop_twins(struct set *s)
{
	u32 i, n = 0;

	qsort(s->prefixes, s->n, sizeof(*s->prefixes), compare);
	for (i = 0; i < s->n; i++)
		if (!n || weir_zone_cmp(&s->prefixes[n - 1], &s->prefixes[i]))
			s->prefixes[n++] = s->prefixes[i];
	s->n = n;
}

/* In exactly the memory that the interface asks for, so that the sanitizer sees
 * one byte more, with contents that must not matter. */
static void make_ranges(struct set *s)
{
	size_t len;

	sort_and_drop_twins(s);
	free(s->ranges);
	len = (2 * s->n + 1) * sizeof(*s->ranges);
	s->ranges = malloc(len);
	assert_non_null(s->ranges);
	unit_fill(s->ranges, len);
	s->n_ranges = weir_zone_ranges(s->prefixes, s->n, s->ranges);
	assert_true(s->n_ranges <= 2 * s->n + 1);
}

/* An address from text, IPv4 or IPv6, the way that one of a packet goes. */
static struct weir_zone_addr parse_addr(const char *text, bool *ip4)
{
	struct weir_addr addr = {};

	*ip4 = !strchr(text, ':');
	assert_int_equal(inet_pton(*ip4 ? AF_INET : AF_INET6, text, addr.raw), 1);

	return weir_zone_addr(*ip4 ? AF_INET : AF_INET6, &addr);
}

static struct weir_zone_addr addr_of(const char *text)
{
	bool ip4;

	return parse_addr(text, &ip4);
}

/* "10.0.0.0/8=1 fd00::/8=2" */
static struct set parse_set(const char *text)
{
	struct set s = new_set(256);
	char addr[64];
	unsigned int plen, zone;
	int used;
	bool ip4;

	while (sscanf(text, " %63[^/]/%u=%u%n", addr, &plen, &zone, &used) == 3) {
		struct weir_zone_addr a = parse_addr(addr, &ip4);

		add_prefix(&s, a, ip4 ? plen + 96 : plen, zone);
		text += used;
	}
	assert_string_equal(text, "");
	make_ranges(&s);

	return s;
}

static void bytes_of(const struct weir_zone_addr *a, u8 *bytes)
{
	int i;

	for (i = 0; i < 8; i++) {
		bytes[i] = a->high >> (56 - 8 * i);
		bytes[8 + i] = a->low >> (56 - 8 * i);
	}
}

static const char *name_of(const struct weir_zone_addr *a)
{
	static char text[INET6_ADDRSTRLEN];
	u8 bytes[16];

	bytes_of(a, bytes);
	assert_non_null(inet_ntop(AF_INET6, bytes, text, sizeof(text)));

	return text;
}

/* ":: 0, ::ffff:10.0.0.0 1, ::ffff:11.0.0.0 0" */
static const char *text_of(const struct set *s)
{
	static char text[TEXT_MAX];
	size_t len = 0;
	u32 i;

	text[0] = '\0';
	for (i = 0; i < s->n_ranges && len < sizeof(text); i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s %u",
				i ? ", " : "", name_of(&s->ranges[i].first),
				s->ranges[i].zone);

	return text;
}

static const struct vector {
	const char	*rule;
	const char	*prefixes;
	const char	*ranges;
} vectors[] = {
	{ "no prefix", "", "" },
	{ "one prefix", "10.0.0.0/8=1",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:11.0.0.0 0" },
	{ "one inside", "10.0.0.0/8=1 10.1.0.0/16=2",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.1.0.0 2, ::ffff:10.2.0.0 1, ::ffff:11.0.0.0 0" },
	{ "one inside that begins with it", "10.0.0.0/8=1 10.0.0.0/16=2",
	  ":: 0, ::ffff:10.0.0.0 2, ::ffff:10.1.0.0 1, ::ffff:11.0.0.0 0" },
	{ "one inside that ends with it", "10.0.0.0/8=1 10.255.0.0/16=2",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.255.0.0 2, ::ffff:11.0.0.0 0" },
	{ "three that begin together", "10.0.0.0/8=1 10.0.0.0/16=2 10.0.0.0/24=3",
	  ":: 0, ::ffff:10.0.0.0 3, ::ffff:10.0.1.0 2, ::ffff:10.1.0.0 1, ::ffff:11.0.0.0 0" },
	{ "three that end together",
	  "10.0.0.0/8=1 10.255.0.0/16=2 10.255.255.0/24=3",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.255.0.0 2, ::ffff:10.255.255.0 3, ::ffff:11.0.0.0 0" },
	{ "as the outer one again inside", "10.0.0.0/8=1 10.1.0.0/16=2 10.1.1.0/24=1",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.1.0.0 2, ::ffff:10.1.1.0 1, ::ffff:10.1.2.0 2, ::ffff:10.2.0.0 1, ::ffff:11.0.0.0 0" },
	{ "inside is the same zone", "10.0.0.0/8=1 10.1.0.0/16=1",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:11.0.0.0 0" },
	{ "begin together, the innermost as the outermost",
	  "10.0.0.0/8=1 10.0.0.0/16=2 10.0.0.0/24=1",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.0.1.0 2, ::ffff:10.1.0.0 1, ::ffff:11.0.0.0 0" },
	{ "siblings", "10.0.0.0/9=1 10.128.0.0/9=2",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.128.0.0 2, ::ffff:11.0.0.0 0" },
	{ "siblings of one zone", "10.0.0.0/9=1 10.128.0.0/9=1",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:11.0.0.0 0" },
	{ "siblings that cover their parent",
	  "10.0.0.0/8=3 10.0.0.0/9=1 10.128.0.0/9=2",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.128.0.0 2, ::ffff:11.0.0.0 0" },
	{ "behind a covered one comes its like",
	  "9.0.0.0/8=1 10.0.0.0/8=2 10.0.0.0/9=1 10.128.0.0/9=1 11.0.0.0/8=1",
	  ":: 0, ::ffff:9.0.0.0 1, ::ffff:12.0.0.0 0" },
	{ "a gap", "10.0.0.0/8=1 12.0.0.0/8=1",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:11.0.0.0 0, ::ffff:12.0.0.0 1, ::ffff:13.0.0.0 0" },
	{ "a gap inside", "10.0.0.0/8=1 10.1.0.0/16=2 10.3.0.0/16=2",
	  ":: 0, ::ffff:10.0.0.0 1, ::ffff:10.1.0.0 2, ::ffff:10.2.0.0 1, ::ffff:10.3.0.0 2, ::ffff:10.4.0.0 1, ::ffff:11.0.0.0 0" },
	{ "all of IPv4", "0.0.0.0/0=1",
	  ":: 0, ::ffff:0.0.0.0 1, ::1:0:0:0 0" },
	{ "all of IPv4, as IPv6", "::ffff:0:0/96=1",
	  ":: 0, ::ffff:0.0.0.0 1, ::1:0:0:0 0" },
	{ "all of IPv6 holds all of IPv4", "::/0=1", ":: 1" },
	{ "IPv4 inside of all of IPv6", "::/0=1 0.0.0.0/0=2 10.0.0.0/8=3",
	  ":: 1, ::ffff:0.0.0.0 2, ::ffff:10.0.0.0 3, ::ffff:11.0.0.0 2, ::1:0:0:0 1" },
	{ "the last address of IPv4", "255.255.255.255/32=1",
	  ":: 0, ::ffff:255.255.255.255 1, ::1:0:0:0 0" },
	{ "the first address", "::/128=1", ":: 1, ::1 0" },
	{ "the last address",
	  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128=1",
	  ":: 0, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 1" },
	{ "the last address inside of all",
	  "::/0=1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128=2",
	  ":: 1, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 2" },
	{ "the last but one",
	  "ff00::/8=1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/128=2",
	  ":: 0, ff00:: 1, ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe 2, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 1" },
	{ "several that end with the last address", "8000::/1=1 c000::/2=2 ff00::/8=3",
	  ":: 0, 8000:: 1, c000:: 2, ff00:: 3" },
	{ "halves", "::/1=1 8000::/1=2", ":: 1, 8000:: 2" },
	{ "halves of one zone", "::/0=2 ::/1=1 8000::/1=1", ":: 1" },
	{ "two single addresses", "2001:db8::1/128=1 2001:db8::2/128=2",
	  ":: 0, 2001:db8::1 1, 2001:db8::2 2, 2001:db8::3 0" },
	{ "the end of the lower half",
	  "2001:db8::ffff:ffff:ffff:ffff/128=1 2001:db8:1::/64=2",
	  ":: 0, 2001:db8::ffff:ffff:ffff:ffff 1, 2001:db8:0:1:: 0, 2001:db8:1:: 2, 2001:db8:1:1:: 0" },
	{ "lengths around 64",
	  "2001:db8::/63=1 2001:db8::/64=2 2001:db8::/65=3 2001:db8:0:1:8000::/65=4",
	  ":: 0, 2001:db8:: 3, 2001:db8:0:0:8000:: 2, 2001:db8:0:1:: 1, 2001:db8:0:1:8000:: 4, 2001:db8:0:2:: 0" },
	{ "the largest number of a zone", "10.0.0.0/8=4294967295",
	  ":: 0, ::ffff:10.0.0.0 4294967295, ::ffff:11.0.0.0 0" },
};

static void ranges_are_those_worked_out_by_hand(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(vectors); i++) {
		struct set s = parse_set(vectors[i].prefixes);

		if (strcmp(text_of(&s), vectors[i].ranges))
			fail_msg("%s: %s", vectors[i].rule, text_of(&s));
		free_set(&s);
	}
}

static u32 zone_of(const struct set *s, const char *text)
{
	struct weir_zone_addr a = addr_of(text);

	return weir_zone_of(s->ranges, s->n_ranges, &a);
}

static void zone_is_that_of_the_longest_prefix(void **state)
{
	struct set s = parse_set("::/0=1 10.0.0.0/8=2 10.1.0.0/16=3 10.1.2.3/32=4 2001:db8::/32=5 2001:db8::1/128=6");

	(void)state;
	assert_int_equal(zone_of(&s, "::"), 1);
	assert_int_equal(zone_of(&s, "0.0.0.0"), 1);
	assert_int_equal(zone_of(&s, "9.255.255.255"), 1);
	assert_int_equal(zone_of(&s, "10.0.0.0"), 2);
	assert_int_equal(zone_of(&s, "::ffff:10.0.0.0"), 2);
	assert_int_equal(zone_of(&s, "10.0.255.255"), 2);
	assert_int_equal(zone_of(&s, "10.1.0.0"), 3);
	assert_int_equal(zone_of(&s, "10.1.2.2"), 3);
	assert_int_equal(zone_of(&s, "10.1.2.3"), 4);
	assert_int_equal(zone_of(&s, "10.1.2.4"), 3);
	assert_int_equal(zone_of(&s, "10.2.0.0"), 2);
	assert_int_equal(zone_of(&s, "10.255.255.255"), 2);
	assert_int_equal(zone_of(&s, "255.255.255.255"), 1);
	assert_int_equal(zone_of(&s, "2001:db8::"), 5);
	assert_int_equal(zone_of(&s, "2001:db8::1"), 6);
	assert_int_equal(zone_of(&s, "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"), 5);
	assert_int_equal(zone_of(&s, "2001:db9::"), 1);
	/* The bytes of 10.1.2.3, but not where IPv4 has them. */
	assert_int_equal(zone_of(&s, "::a01:203"), 1);
	assert_int_equal(zone_of(&s, "a01:203::"), 1);
	assert_int_equal(zone_of(&s, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), 1);
	free_set(&s);
}

static void zone_without_prefixes_is_none(void **state)
{
	struct weir_zone_addr a = addr_of("10.0.0.1");

	(void)state;
	assert_int_equal(weir_zone_ranges(NULL, 0, NULL), 0);
	assert_int_equal(weir_zone_of(NULL, 0, &a), 0);
}

static void address_is_a_number_with_ipv4_mapped(void **state)
{
	struct weir_zone_addr a = addr_of("10.1.2.3");
	struct weir_zone_addr b = addr_of("1:203:405:607:809:a0b:c0d:e0f");
	struct weir_addr dirty;

	(void)state;
	assert_true(a.high == 0 && a.low == 0x0000ffff0a010203ULL);
	assert_true(b.high == 0x0001020304050607ULL);
	assert_true(b.low == 0x08090a0b0c0d0e0fULL);

	/* Of IPv4 only its four bytes are read. */
	memset(&dirty, 0xff, sizeof(dirty));
	dirty.ip = cpu_to_be32(0x0a010203);
	a = weir_zone_addr(AF_INET, &dirty);
	assert_true(a.high == 0 && a.low == 0x0000ffff0a010203ULL);
}

static void order_is_by_address_then_length(void **state)
{
	static const struct weir_zone_prefix ascending[] = {
		{ { 0, 0 }, 0, 9 }, { { 0, 0 }, 1, 8 }, { { 0, 0 }, 128, 7 },
		{ { 0, 1 }, 128, 6 }, { { 0, 1ULL << 63 }, 65, 5 },
		{ { 0, ~0ULL }, 128, 4 }, { { 1, 0 }, 64, 3 },
		{ { 1, 0 }, 65, 2 }, { { 1ULL << 63, 0 }, 1, 1 },
		{ { ~0ULL, 0 }, 64, 1 }, { { ~0ULL, ~0ULL }, 128, 1 },
	};
	unsigned int i, j;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(ascending); i++)
		for (j = 0; j < ARRAY_SIZE(ascending); j++) {
			struct weir_zone_prefix other = ascending[j];
			int order;

			other.zone = unit_random();
			order = weir_zone_cmp(&ascending[i], &other);
			assert_int_equal(order < 0, i < j);
			assert_int_equal(order > 0, i > j);
		}
}

/* One bit at a time, with every length. */
static void prefix_is_ok_without_bits_behind_it(void **state)
{
	struct weir_zone_prefix p = {};
	unsigned int plen, bit;

	(void)state;
	for (plen = 0; plen < 256; plen++) {
		p = (struct weir_zone_prefix) { .plen = plen };
		assert_int_equal(weir_zone_prefix_ok(&p), plen <= 128);
		for (bit = 0; bit < 128; bit++) {
			u64 one = 1ULL << (63 - bit % 64);

			p.addr.high = bit < 64 ? one : 0;
			p.addr.low = bit < 64 ? 0 : one;
			assert_int_equal(weir_zone_prefix_ok(&p),
					 plen <= 128 && bit < plen);
		}
	}
	p = (struct weir_zone_prefix) { { ~0ULL, ~0ULL }, 128, 1 };
	assert_true(weir_zone_prefix_ok(&p));
}

/* The first @plen bits of 64; @plen may be before or behind them. */
static u64 head(u64 bits, int plen)
{
	int i;

	for (i = 0; i < 64; i++)
		if (i >= plen)
			bits &= ~(1ULL << (63 - i));

	return bits;
}

static struct weir_zone_addr network(struct weir_zone_addr a, int plen)
{
	a.high = head(a.high, plen);
	a.low = head(a.low, plen - 64);

	return a;
}

/* All lengths at once: every one of 129 prefixes holds the next. */
static void prefixes_of_every_length_nest(void **state)
{
	static const u64 patterns[] = {
		0, ~0ULL, 0x5555555555555555ULL, 0xaaaaaaaaaaaaaaaaULL,
	};
	unsigned int i;
	int plen;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct weir_zone_addr whole = { patterns[i], patterns[i] };
		struct set s = new_set(129);

		for (plen = 0; plen <= 128; plen++)
			add_prefix(&s, network(whole, plen), plen, plen + 1);
		make_ranges(&s);
		assert_int_equal(s.n_ranges, 129);
		for (plen = 0; plen <= 128; plen++) {
			struct weir_zone_addr a = whole;

			/* The bit behind the prefix is the other one. */
			if (plen < 64)
				a.high ^= 1ULL << (63 - plen);
			else if (plen < 128)
				a.low ^= 1ULL << (127 - plen);
			assert_int_equal(weir_zone_of(s.ranges, s.n_ranges, &a),
					 plen + 1);
		}
		free_set(&s);
	}
}

/* As many ranges as there can be: prefixes apart from each other, and prefixes
 * that share neither end with the one around them. */
static void ranges_fill_their_room(void **state)
{
	struct weir_zone_addr a = { 0x5555555555555555ULL, 0x5555555555555555ULL };
	struct set apart = new_set(1000), nested = new_set(64);
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++)
		add_prefix(&apart, (struct weir_zone_addr) { 0, 2 * i + 1 },
			   128, i + 1);
	make_ranges(&apart);
	assert_int_equal(apart.n_ranges, 2001);

	for (i = 2; i <= 128; i += 2)
		add_prefix(&nested, network(a, i), i, i);
	make_ranges(&nested);
	assert_int_equal(nested.n_ranges, 129);
	free_set(&apart);
	free_set(&nested);
}

static bool holds(const u8 *prefix, unsigned int plen, const u8 *addr)
{
	unsigned int whole = plen / 8, rest = plen % 8;

	if (memcmp(prefix, addr, whole))
		return false;

	return !rest || prefix[whole] >> (8 - rest) == addr[whole] >> (8 - rest);
}

/* The model: all prefixes, bit by bit as on the wire, in no order. */
static u32 model(const struct set *s, u8 (*bytes)[16],
		 const struct weir_zone_addr *a)
{
	u32 i, zone = 0;
	int longest = -1;
	u8 addr[16];

	bytes_of(a, addr);
	for (i = 0; i < s->n; i++)
		if (s->prefixes[i].plen > longest &&
		    holds(bytes[i], s->prefixes[i].plen, addr)) {
			longest = s->prefixes[i].plen;
			zone = s->prefixes[i].zone;
		}

	return zone;
}

static void check_addr(const struct set *s, u8 (*bytes)[16],
		       struct weir_zone_addr a)
{
	u32 zone = weir_zone_of(s->ranges, s->n_ranges, &a);
	u32 want = model(s, bytes, &a);

	if (zone != want)
		fail_msg("%u prefixes: %s is in %u, expected %u", s->n,
			 name_of(&a), zone, want);
}

static struct weir_zone_addr plus(struct weir_zone_addr a, int by)
{
	u64 low = a.low + by;

	if (by > 0 && low < a.low)
		a.high++;
	if (by < 0 && low > a.low)
		a.high--;
	a.low = low;

	return a;
}

static struct weir_zone_addr random_addr(void)
{
	return (struct weir_zone_addr) { unit_random(), unit_random() };
}

/* An address that a prefix holds. */
static struct weir_zone_addr random_inside(const struct weir_zone_prefix *p)
{
	struct weir_zone_addr a = random_addr(), host = network(a, p->plen);

	a.high = p->addr.high | (a.high ^ host.high);
	a.low = p->addr.low | (a.low ^ host.low);

	return a;
}

static struct weir_zone_addr last_of(const struct weir_zone_prefix *p)
{
	struct weir_zone_addr head = { ~0ULL, ~0ULL };

	head = network(head, p->plen);

	return (struct weir_zone_addr) {
		p->addr.high | ~head.high, p->addr.low | ~head.low,
	};
}

/* What was said changes only where a range begins; the truth only where a
 * prefix does, or behind it. With all of these right, every address is. Some
 * more are looked at, lest that be wrong; wrapping round is no harm to them. */
static void check_set(const struct set *s)
{
	u8 (*bytes)[16] = calloc(s->n + 1, sizeof(*bytes));
	u32 i;

	assert_non_null(bytes);
	for (i = 0; i < s->n; i++)
		bytes_of(&s->prefixes[i].addr, bytes[i]);

	for (i = 0; i < s->n_ranges; i++)
		check_addr(s, bytes, s->ranges[i].first);
	for (i = 0; i < s->n; i++) {
		check_addr(s, bytes, s->prefixes[i].addr);
		check_addr(s, bytes, plus(last_of(&s->prefixes[i]), 1));
		if (s->n > 1000 && i % 8)
			continue;
		check_addr(s, bytes, plus(s->prefixes[i].addr, -1));
		check_addr(s, bytes, last_of(&s->prefixes[i]));
		check_addr(s, bytes, random_inside(&s->prefixes[i]));
	}
	for (i = 0; i < 20; i++)
		check_addr(s, bytes, random_addr());
	free(bytes);
}

static void check_shape(const struct set *s)
{
	const struct weir_zone_range *r = s->ranges;
	u32 i;

	assert_int_equal(s->n_ranges > 0, s->n > 0);
	if (s->n_ranges)
		assert_true(!r[0].first.high && !r[0].first.low);
	for (i = 1; i < s->n_ranges; i++) {
		assert_true(r[i].first.high > r[i - 1].first.high ||
			    (r[i].first.high == r[i - 1].first.high &&
			     r[i].first.low > r[i - 1].first.low));
		assert_true(r[i].zone != r[i - 1].zone);
	}
}

/* Ends of the address space and of its halves are likelier than by chance. */
static u64 random_half(void)
{
	u64 bits = unit_random();

	switch (unit_below(6)) {
	case 0:
		return 0;
	case 1:
		return ~0ULL;
	case 2:
		return bits >> unit_below(64);
	case 3:
		return ~(bits >> unit_below(64));
	default:
		return bits;
	}
}

static u8 random_plen(void)
{
	static const u8 special[] = { 0, 1, 63, 64, 65, 96, 127, 128 };

	if (!unit_below(8))
		return special[unit_below(ARRAY_SIZE(special))];

	return unit_below(129);
}

/* A prefix beside, inside or around one that is there already. */
static void random_relative(const struct set *s, struct weir_zone_addr *a,
			    u8 *plen)
{
	const struct weir_zone_prefix *p = &s->prefixes[unit_below(s->n)];

	*a = p->addr;
	*plen = p->plen;
	switch (unit_below(5)) {
	case 0:
		*a = plus(last_of(p), 1);	/* behind it, as long or longer */
		*plen += unit_below(129 - p->plen);
		break;
	case 1:
		*a = plus(p->addr, -1);
		*plen += unit_below(129 - p->plen);
		break;
	case 2:
		*plen += unit_below(129 - p->plen);	/* begins with it */
		break;
	case 3:
		*a = random_inside(p);
		*plen += unit_below(129 - p->plen);
		break;
	default:
		*plen = unit_below(p->plen + 1);
	}
}

/* In each set, IPv4 or relatives are rare or many, and zones few or many. */
static struct set random_set(u32 room)
{
	u32 zones = unit_below(4) ? 1 + unit_below(4) : room;
	u32 strangers = 1 + unit_below(8), ip4 = 1 + unit_below(8);
	struct set s = new_set(room);

	while (s.n < room) {
		struct weir_zone_addr a = { random_half(), random_half() };
		u8 plen = random_plen();

		if (s.n && unit_below(8) >= strangers) {
			random_relative(&s, &a, &plen);
		} else if (unit_below(8) >= ip4) {
			a.high = 0;
			a.low = 0xffffULL << 32 | (u32)a.low;
			plen = 96 + unit_below(33);
		}
		add_prefix(&s, network(a, plen), plen, 1 + unit_below(zones));
	}
	make_ranges(&s);

	return s;
}

static void check_random(u32 room)
{
	struct set s = random_set(room);

	check_shape(&s);
	check_set(&s);
	free_set(&s);
}

static void zones_of_random_sets_are_those_of_the_model(void **state)
{
	u32 round;

	(void)state;
	for (round = 0; round < 4000; round++)
		check_random(1 + unit_below(12));
	for (round = 0; round < 100; round++)
		check_random(1 + unit_below(200));
}

static void zones_of_thousands_of_prefixes_are_those_of_the_model(void **state)
{
	u32 round;

	(void)state;
	for (round = 0; round < 8; round++)
		check_random(6000);
}

/* Eight bits at one place of an address, the lowest of them 2^@shift. */
static struct weir_zone_addr cell_at(struct weir_zone_addr base,
				     unsigned int shift, u64 cell)
{
	struct weir_zone_addr a = network(base, 120 - shift);

	if (shift < 64)
		a.low |= cell << shift;
	if (shift >= 64)
		a.high |= cell << (shift - 64);
	else if (shift > 56)
		a.high |= cell >> (64 - shift);

	return a;
}

/* Prefixes that differ in no more than these: every one of the 256 cells. */
static void check_window(unsigned int shift)
{
	struct weir_zone_addr base = { random_half(), random_half() };
	struct set s = new_set(24);
	u8 bytes[24][16];
	u32 i;

	while (s.n < s.room) {
		u8 plen = 120 - shift + unit_below(9);

		add_prefix(&s, network(cell_at(base, shift, unit_below(256)), plen),
			   plen, 1 + unit_below(3));
	}
	make_ranges(&s);
	check_shape(&s);
	for (i = 0; i < s.n; i++)
		bytes_of(&s.prefixes[i].addr, bytes[i]);

	for (i = 0; i < 256; i++) {
		struct weir_zone_prefix p = {
			cell_at(base, shift, i), 128 - shift, 1,
		};

		check_addr(&s, bytes, p.addr);
		check_addr(&s, bytes, last_of(&p));
	}
	free_set(&s);
}

static void zones_are_those_of_the_model_at_every_bit(void **state)
{
	unsigned int shift, round;

	(void)state;
	for (shift = 0; shift <= 120; shift++)
		for (round = 0; round < 4; round++)
			check_window(shift);
}

/* The CPU is offered at least once for every 8192 prefixes. */
static void long_work_offers_the_cpu(void **state)
{
	struct set s = new_set(100000);
	u32 i;

	(void)state;
	for (i = 0; i < s.room; i++)
		add_prefix(&s, (struct weir_zone_addr) { i, 0 }, 64, 1 + i % 2);
	weir_shim_rescheds = 0;
	make_ranges(&s);
	assert_true(weir_shim_rescheds >= s.n / 8192);
	assert_int_equal(s.n_ranges, s.n + 1);
	free_set(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_those_worked_out_by_hand),
		cmocka_unit_test(zone_is_that_of_the_longest_prefix),
		cmocka_unit_test(zone_without_prefixes_is_none),
		cmocka_unit_test(address_is_a_number_with_ipv4_mapped),
		cmocka_unit_test(order_is_by_address_then_length),
		cmocka_unit_test(prefix_is_ok_without_bits_behind_it),
		cmocka_unit_test(prefixes_of_every_length_nest),
		cmocka_unit_test(ranges_fill_their_room),
		cmocka_unit_test(zones_of_random_sets_are_those_of_the_model),
		cmocka_unit_test(zones_of_thousands_of_prefixes_are_those_of_the_model),
		cmocka_unit_test(zones_are_those_of_the_model_at_every_bit),
		cmocka_unit_test(long_work_offers_the_cpu),
	};

	return cmocka_run_group_tests_name("zone", tests, unit_seed, NULL);
}
