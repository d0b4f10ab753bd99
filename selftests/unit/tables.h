/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of lookup tables share: tables, sets to fill them from, and what
 * differs between two.
 */
#ifndef WEIR_UNIT_TABLES_H
#define WEIR_UNIT_TABLES_H

#include <sys/socket.h>

#include <linux/sched.h>

#include "unit.h"
#include "../../kmod/maglev.h"

#define MEMBERS_MAX	65535
#define POISON		0xdead

/* How weights differ. */
enum profile {
	EQUAL,
	FEW,		/* 1 to 4 */
	ANY,		/* 1 to 1000 */
	POWERS,		/* of two, 1 to 512 */
	ONE_HEAVY,	/* 1000, the others 1 */
	PROFILES
};

/* A table with what was put into it. */
struct table {
	struct weir_member	*members;
	u32			n;
	u32			size;
	u16			*slots;
};

typedef void (*fill_t)(u16 *slots, u32 size, const struct weir_member *members,
		       u32 n, const siphash_key_t *key, void *scratch);

/* Scratch is exactly what the interface asks for, so that the sanitizer sees one
 * byte more. */
static inline void table_fill(struct table *t, fill_t way, size_t scratch_len,
			      const siphash_key_t *key)
{
	void *scratch = malloc(scratch_len);

	assert_non_null(scratch);
	unit_fill(scratch, scratch_len);
	way(t->slots, t->size, t->members, t->n, key, scratch);
	free(scratch);
}

static inline struct table new_table(u32 n, u32 size)
{
	struct table t = { .n = n, .size = size };
	u32 i;

	t.members = calloc(n, sizeof(*t.members));
	t.slots = malloc(size * sizeof(*t.slots));
	assert_non_null(t.members);
	assert_non_null(t.slots);
	for (i = 0; i < size; i++)
		t.slots[i] = POISON;

	return t;
}

static inline void free_table(struct table *t)
{
	free(t->members);
	free(t->slots);
}

/* Successive addresses, as a rack has them; indices in the same order. */
static inline struct table rack(u32 n, u32 size, u8 family)
{
	struct table t = new_table(n, size);
	u32 i;

	for (i = 0; i < n; i++) {
		struct weir_member *m = &t.members[i];

		m->family = family;
		m->index = i;
		m->weight = 1;
		if (family == AF_INET6) {
			m->addr.ip6[0] = cpu_to_be32(0x20010db8);
			m->addr.ip6[3] = cpu_to_be32(i + 1);
		} else {
			m->addr.ip = cpu_to_be32(0x0a020001 + i);
		}
	}

	return t;
}

static inline int compare(const void *a, const void *b)
{
	const struct weir_member *x = a, *y = b;

	return weir_addr_cmp(&x->addr, &y->addr);
}

static inline void shuffle(struct table *t)
{
	u32 i;

	for (i = t->n; i > 1; i--) {
		u32 j = unit_below(i);
		struct weir_member m = t->members[j];

		t->members[j] = t->members[i - 1];
		t->members[i - 1] = m;
	}
}

/* Random distinct indices. */
static inline void deal_indices(struct table *t)
{
	static u16 deck[MEMBERS_MAX + 1];
	u32 i, j;

	for (i = 0; i <= MEMBERS_MAX; i++)
		deck[i] = i;
	for (i = 0; i < t->n; i++) {
		j = i + unit_below(MEMBERS_MAX + 1 - i);
		t->members[i].index = deck[j];
		deck[j] = deck[i];
	}
}

static inline u16 weight_of(enum profile profile, u32 i, u32 n)
{
	switch (profile) {
	case FEW:
		return 1 + unit_below(4);
	case ANY:
		return 1 + unit_below(WEIR_WEIGHT_MAX);
	case POWERS:
		return 1 << unit_below(10);
	case ONE_HEAVY:
		return i == n / 2 ? WEIR_WEIGHT_MAX : 1;
	default:
		return 1;
	}
}

static inline void weigh(struct table *t, enum profile profile)
{
	u32 i;

	for (i = 0; i < t->n; i++)
		t->members[i].weight = weight_of(profile, i, t->n);
}

/* The same weights for the same @seed, whatever WEIR_SEED is. */
static inline void weigh_alike(struct table *t, enum profile profile, u64 seed)
{
	u64 saved = unit_state;

	unit_state = seed;
	weigh(t, profile);
	unit_state = saved;
}

static inline u32 sum_of_weights(const struct table *t)
{
	u32 i, sum = 0;

	for (i = 0; i < t->n; i++)
		sum += t->members[i].weight;

	return sum;
}

/* The slots of each member, in the order of members; free() it. Fails if a slot
 * is nobody's. */
static inline u32 *count_slots(const struct table *t)
{
	u32 *by_index = calloc(MEMBERS_MAX + 1, sizeof(*by_index));
	u32 *got = calloc(t->n, sizeof(*got));
	u32 i, sum = 0;

	assert_non_null(by_index);
	assert_non_null(got);
	for (i = 0; i < t->size; i++)
		by_index[t->slots[i]]++;
	for (i = 0; i < t->n; i++) {
		got[i] = by_index[t->members[i].index];
		sum += got[i];
	}
	assert_int_equal(sum, t->size);
	free(by_index);

	return got;
}

/* Members by what is in the slots; free() it. */
static inline struct weir_member *by_index(const struct table *t)
{
	struct weir_member *all = calloc(MEMBERS_MAX + 1, sizeof(*all));
	u32 i;

	assert_non_null(all);
	for (i = 0; i < t->n; i++)
		all[t->members[i].index] = t->members[i];

	return all;
}

static inline u64 digest(const struct table *t)
{
	struct weir_member *all = by_index(t);
	u64 sum = weir_maglev_digest(t->slots, t->size, all);

	free(all);

	return sum;
}

/* How many slots differ in address. */
static inline u32 differing(const struct table *a, const struct table *b)
{
	struct weir_member *x = by_index(a), *y = by_index(b);
	u32 i, n = 0;

	assert_int_equal(a->size, b->size);
	for (i = 0; i < a->size; i++)
		n += weir_addr_cmp(&x[a->slots[i]].addr,
				   &y[b->slots[i]].addr) != 0;
	free(x);
	free(y);

	return n;
}

/* @t without its member @gone. */
static inline struct table without(const struct table *t, u32 gone)
{
	struct table u = new_table(t->n - 1, t->size);

	memcpy(u.members, t->members, gone * sizeof(*u.members));
	memcpy(&u.members[gone], &t->members[gone + 1],
	       (t->n - gone - 1) * sizeof(*u.members));

	return u;
}

/* Slots that moved and need not have: beyond what members gained in number. */
static inline u32 excess(const struct table *a, const struct table *b)
{
	u32 *was = count_slots(a), *is = count_slots(b);
	u32 i, j = 0, gained = 0;

	for (i = 0; i < b->n; i++) {
		const struct weir_addr *addr = &b->members[i].addr;
		u32 before = 0;

		while (j < a->n && weir_addr_cmp(&a->members[j].addr, addr) < 0)
			j++;
		if (j < a->n && !weir_addr_cmp(&a->members[j].addr, addr))
			before = was[j];
		if (is[i] > before)
			gained += is[i] - before;
	}
	free(was);
	free(is);

	return differing(a, b) - gained;
}

/* Another table for the same set. */
static inline struct table same_set(const struct table *t)
{
	struct table u = new_table(t->n, t->size);

	memcpy(u.members, t->members, t->n * sizeof(*u.members));

	return u;
}

/* The same set, in whatever order and with whatever indices it came, makes the
 * same table. Frees @a. */
static inline void check_order(struct table a,
			       void (*fill)(struct table *t,
					    const siphash_key_t *key))
{
	siphash_key_t key = unit_key();
	struct table b = same_set(&a);

	deal_indices(&b);
	shuffle(&b);
	qsort(b.members, b.n, sizeof(*b.members), compare);
	fill(&a, &key);
	fill(&b, &key);
	assert_int_equal(differing(&a, &b), 0);
	assert_true(digest(&a) == digest(&b));
	free_table(&a);
	free_table(&b);
}

/* The CPU is offered at least once for every 8192 slots of work, and not much
 * more work is done than @most times the slots. */
static inline void check_work(u32 n, u32 size, enum profile p, u32 most,
			      void (*fill)(struct table *t,
					   const siphash_key_t *key))
{
	struct table t = rack(n, size, AF_INET);
	siphash_key_t key = unit_key();

	weigh(&t, p);
	weir_shim_rescheds = 0;
	fill(&t, &key);
	assert_in_range(weir_shim_rescheds, size / 8192, size / 4096 * most);
	free_table(&t);
}

#endif /* WEIR_UNIT_TABLES_H */
