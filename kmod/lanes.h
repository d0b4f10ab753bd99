/* SPDX-License-Identifier: GPL-2.0 */
/*
 * lanes - the tags of eight places, sixteen bits each, four of them looked at at once
 *
 * 0 is the tag of a free place.
 */
#ifndef WEIR_LANES_H
#define WEIR_LANES_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define WEIR_LANES		4
#define WEIR_LANE_BITS		16
#define WEIR_LANES_LOW		0x7fff7fff7fff7fffULL

/* The first tag is in the lowest bits of the first word. */
struct weir_lanes {
	u64 words[2];
};

/**
 * weir_lanes_match() - which of a word's tags are this one?
 * Return: the highest bit of each lane that is.
 */
static inline u64 weir_lanes_match(u64 word, u16 tag)
{
	u64 differs = word ^ tag * 0x0001000100010001ULL;

	return ~(((differs & WEIR_LANES_LOW) + WEIR_LANES_LOW) | differs |
		 WEIR_LANES_LOW);
}

/* The first place of a word that weir_lanes_match() named; @match is not 0. */
static inline u32 weir_lanes_first(u64 match)
{
	return __ffs64(match) / WEIR_LANE_BITS;
}

/* Whoever writes is alone; others may read meanwhile. */
static inline void weir_lanes_write(struct weir_lanes *lanes, u32 place, u16 tag)
{
	u32 shift = place % WEIR_LANES * WEIR_LANE_BITS;
	u64 *word = &lanes->words[place / WEIR_LANES];

	WRITE_ONCE(*word, (*word & ~(0xffffULL << shift)) | (u64)tag << shift);
}

static inline u16 weir_lanes_read(const struct weir_lanes *lanes, u32 place)
{
	return READ_ONCE(lanes->words[place / WEIR_LANES]) >>
	       place % WEIR_LANES * WEIR_LANE_BITS;
}

#endif /* WEIR_LANES_H */
