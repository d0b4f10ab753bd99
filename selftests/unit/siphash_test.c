// SPDX-License-Identifier: GPL-2.0
/*
 * The siphash() of these tests gives what the kernel's gives: otherwise nothing
 * proven here would hold for the module.
 */
#include "unit.h"

/* Key 00 01 .. 0f, message 00 01 .. (len - 1): the vectors of the paper's
 * authors. */
static const struct {
	unsigned int	len;
	u64		hash;
} vectors[] = {
	{  0, 0x726fdb47dd0e0e31ULL },
	{  1, 0x74f839c593dc67fdULL },
	{  2, 0x0d6c8009d9a94f5aULL },
	{  3, 0x85676696d7fb7e2dULL },
	{  4, 0xcf2794e0277187b7ULL },
	{  5, 0x18765564cd99a68dULL },
	{  6, 0xcbc9466e58fee3ceULL },
	{  7, 0xab0200f58b01d137ULL },
	{  8, 0x93f5f5799a932462ULL },
	{  9, 0x9e0082df0ba9e4b0ULL },
	{ 10, 0x7a5dbbc594ddb9f3ULL },
	{ 11, 0xf4b32f46226bada7ULL },
	{ 12, 0x751e8fbc860ee5fbULL },
	{ 13, 0x14ea5627c0843d90ULL },
	{ 14, 0xf723ca908e7af2eeULL },
	{ 15, 0xa129ca6149be45e5ULL },
	{ 16, 0x3f2acc7f57c29bdbULL },
	{ 24, 0xb8ad50c6f649af94ULL },
	{ 40, 0x0e3ea96b5304a7d0ULL },
	{ 63, 0x958a324ceb064572ULL },
};

static void siphash_meets_the_published_vectors(void **state)
{
	siphash_key_t key = unit_fixed_key();
	u8 message[64];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(message); i++)
		message[i] = i;
	for (i = 0; i < ARRAY_SIZE(vectors); i++)
		assert_true(siphash(message, vectors[i].len, &key) ==
			    vectors[i].hash);
}

static void siphash_depends_on_every_bit_of_the_key(void **state)
{
	siphash_key_t key = unit_fixed_key();
	u64 before = siphash("weir", 4, &key);
	unsigned int bit;

	(void)state;
	for (bit = 0; bit < 128; bit++) {
		key.key[bit / 64] ^= 1ULL << bit % 64;
		assert_true(siphash("weir", 4, &key) != before);
		key.key[bit / 64] ^= 1ULL << bit % 64;
	}
	assert_true(siphash("weir", 4, &key) == before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(siphash_meets_the_published_vectors),
		cmocka_unit_test(siphash_depends_on_every_bit_of_the_key),
	};

	return cmocka_run_group_tests_name("siphash", tests, unit_seed, NULL);
}
