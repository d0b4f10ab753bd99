// SPDX-License-Identifier: GPL-2.0
/*
 * The table of keys: random versions of it against plain arrays. A version that
 * is there stays what it is, whatever is made of it.
 */
#include <errno.h>
#include <sys/socket.h>

#include <linux/slab.h>

#include "unit.h"
#include "../../kmod/keys.h"

#define NR_KEYS		3000	/* that there may be */
#define NR_VERSIONS	6	/* alive at a time */

/* A version and what it should have: a value for each key, 0 if it is not in it. */
struct version {
	struct weir_keys keys;
	u32 values[NR_KEYS];
	u32 nr;
};

/* Alike in nearly all: addresses in a row, a few ports and kinds. */
static struct weir_key nth(u32 n)
{
	struct weir_key key = {
		.port = n % 5,
		.proto = n % 2 ? 6 : 17,
		.family = n % 3 ? AF_INET : AF_INET6,
		.kind = n / 7 % 4,
	};

	key.addr.ip = cpu_to_be32(0x0a000000 + n);
	return key;
}

static void put(struct version *v, u32 n, u32 value)
{
	struct weir_key key = nth(n);
	struct weir_entry *entry = weir_keys_get(&v->keys, &key);

	assert_non_null(entry);
	assert_int_equal(entry->uses[0], v->values[n]);
	entry->uses[0] = value;
	v->nr += !v->values[n];
	v->values[n] = value;
}

static void del(struct version *v, u32 n)
{
	struct weir_key key = nth(n);

	assert_int_equal(weir_keys_del(&v->keys, &key), 0);
	v->nr -= !!v->values[n];
	v->values[n] = 0;
}

static void is_right(const struct version *v)
{
	u32 n;

	assert_int_equal(v->keys.nr, v->nr);
	for (n = 0; n < NR_KEYS; n++) {
		struct weir_key key = nth(n);
		const struct weir_entry *entry = weir_keys_find(&v->keys, &key);

		assert_int_equal(!!entry, !!v->values[n]);
		if (entry)
			assert_int_equal(entry->uses[0], v->values[n]);
	}
}

static struct version *new_version(u32 room)
{
	struct version *v = calloc(1, sizeof(*v));

	assert_non_null(v);
	assert_int_equal(weir_keys_init(&v->keys, room), 0);
	return v;
}

static struct version *next_version(const struct version *old)
{
	struct version *v = malloc(sizeof(*v));

	assert_non_null(v);
	*v = *old;
	assert_int_equal(weir_keys_share(&v->keys, &old->keys), 0);
	return v;
}

static void free_version(struct version *v)
{
	weir_keys_free(&v->keys);
	free(v);
}

static void change(struct version *v, u32 times)
{
	while (times--) {
		u32 n = unit_below(NR_KEYS);

		if (unit_below(3))
			put(v, n, 1 + unit_below(1000));
		else
			del(v, n);
	}
}

static void an_empty_one_has_nothing(void **state)
{
	struct weir_keys keys = {};
	struct weir_key key = nth(1);

	(void)state;
	assert_null(weir_keys_find(&keys, &key));
	assert_false(weir_keys_suits(&keys, 1));
	weir_keys_free(&keys);
	assert_int_equal(weir_keys_init(&keys, 0), 0);
	assert_null(weir_keys_find(&keys, &key));
	assert_int_equal(weir_keys_del(&keys, &key), 0);
	weir_keys_free(&keys);
}

/* With far less room than it takes, with enough, and with too much. */
static void finds_what_it_was_given(void **state)
{
	static const u32 rooms[] = { 0, 1, 100, NR_KEYS, 100000 };
	u32 i, n;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rooms); i++) {
		struct version *v = new_version(rooms[i]);

		for (n = 0; n < NR_KEYS; n += 1 + unit_below(3))
			put(v, n, n + 1);
		is_right(v);
		for (n = 0; n < NR_KEYS; n++)
			if (unit_below(2))
				del(v, n);
		is_right(v);
		for (n = 0; n < NR_KEYS; n++)
			del(v, n);
		assert_int_equal(v->keys.nr, 0);
		free_version(v);
	}
}

static void versions_stay_what_they_are(void **state)
{
	struct version *versions[NR_VERSIONS] = {};
	u32 step, i, from, to;

	(void)state;
	versions[0] = new_version(NR_KEYS);
	change(versions[0], NR_KEYS);
	for (step = 0; step < 300; step++) {
		do
			from = unit_below(NR_VERSIONS);
		while (!versions[from]);
		do
			to = unit_below(NR_VERSIONS);
		while (to == from);
		if (versions[to])
			free_version(versions[to]);
		versions[to] = next_version(versions[from]);
		change(versions[to], unit_below(60));
		for (i = 0; i < NR_VERSIONS; i++)
			if (versions[i])
				is_right(versions[i]);
	}
	for (i = 0; i < NR_VERSIONS; i++)
		if (versions[i])
			free_version(versions[i]);
}

/* The list, and one part. */
static void a_change_costs_what_it_changes(void **state)
{
	struct version *old = new_version(NR_KEYS), *v;
	unsigned long before;

	(void)state;
	change(old, 2 * NR_KEYS);
	before = weir_shim_allocs;
	v = next_version(old);
	put(v, 1, 7);
	put(v, 1, 8);
	del(v, 1);
	assert_int_equal(weir_shim_allocs - before, 2);
	is_right(v);
	is_right(old);
	free_version(v);
	is_right(old);
	free_version(old);
}

/* Whichever allocation fails, what there was is as it was, and nothing is lost. */
static void does_without_memory(void **state)
{
	struct version *old = new_version(NR_KEYS);
	bool failed = true;
	u32 at;

	(void)state;
	change(old, NR_KEYS);
	for (at = 1; failed; at++) {
		struct weir_keys keys;
		u32 n;

		weir_shim_fail_at = weir_shim_allocs + at;
		failed = weir_keys_share(&keys, &old->keys) == -ENOMEM;
		for (n = 0; n < 20 && !failed; n++) {
			struct weir_key one = nth(n), other = nth(n + 1000);

			failed = !weir_keys_get(&keys, &one) ||
				 weir_keys_del(&keys, &other) == -ENOMEM;
		}
		weir_shim_fail_at = 0;
		weir_keys_free(&keys);
		is_right(old);
	}
	assert_true(at > 10);
	free_version(old);
}

static void says_when_it_is_too_small_or_too_large(void **state)
{
	struct weir_keys keys;

	(void)state;
	assert_int_equal(weir_keys_init(&keys, 64 * 64), 0);
	assert_true(weir_keys_suits(&keys, 64 * 64));
	assert_true(weir_keys_suits(&keys, 2 * 64 * 64));
	assert_false(weir_keys_suits(&keys, 2 * 64 * 64 + 1));
	assert_false(weir_keys_suits(&keys, 100));
	weir_keys_free(&keys);
	assert_int_equal(weir_keys_init(&keys, 1), 0);
	assert_true(weir_keys_suits(&keys, 1));
	weir_keys_free(&keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_one_has_nothing),
		cmocka_unit_test(finds_what_it_was_given),
		cmocka_unit_test(versions_stay_what_they_are),
		cmocka_unit_test(a_change_costs_what_it_changes),
		cmocka_unit_test(does_without_memory),
		cmocka_unit_test(says_when_it_is_too_small_or_too_large),
	};

	return cmocka_run_group_tests(tests, unit_seed, NULL);
}
