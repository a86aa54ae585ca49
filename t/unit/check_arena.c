/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <stdalign.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "t/unit/unit.h"

static bool is_filled(const unsigned char *p, size_t size, int with)
{
	for (size_t i = 0; i < size; i++) {
		if (p[i] != with)
			return false;
	}
	return true;
}

START_TEST(memory_is_zeroed_aligned_and_apart)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	unsigned char *piece[500];
	size_t size[NR(piece)];
	struct arena a;

	arena_init(&a, 0);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < NR(piece); i++) {
			uint64_t r = unit_random(&state);

			size[i] = r % (r & 1 ? 100 : 200000);
			piece[i] = arena_alloc(&a, size[i]);
			ck_assert_ptr_nonnull(piece[i]);
			ck_assert_uint_eq((uintptr_t)piece[i] % alignof(max_align_t),
					  0);
			ck_assert(is_filled(piece[i], size[i], 0));
			memset(piece[i], (int)(i % 255 + 1), size[i]);
		}
		for (size_t i = 0; i < NR(piece); i++) {
			ck_assert_msg(is_filled(piece[i], size[i], i % 255 + 1),
				      "seed %llu", (unsigned long long)seed);
		}
		arena_fini(&a);
	}
}
END_TEST

START_TEST(the_limit_holds)
{
	struct arena a;
	size_t got = 0;

	arena_init(&a, 1 << 20);
	ck_assert_ptr_null(arena_alloc(&a, (1 << 20) + 1));
	ck_assert_ptr_nonnull(arena_alloc(&a, 1 << 19));
	while (arena_alloc(&a, 1000))
		got += 1000;
	ck_assert_uint_ge(got, (1 << 19) * 9 / 10);
	ck_assert_uint_le(a.used, 1 << 20);
	arena_fini(&a);
	ck_assert_ptr_nonnull(arena_alloc(&a, 1 << 20));
	arena_fini(&a);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused)
{
	struct arena a;

	arena_init(&a, SIZE_MAX);
	ck_assert_ptr_null(arena_alloc(&a, SIZE_MAX));
	ck_assert_ptr_null(arena_array(&a, SIZE_MAX / 2, 3));
	ck_assert_ptr_nonnull(arena_array(&a, 0, 8));
	ck_assert_ptr_nonnull(arena_array(&a, 10, 8));
	arena_fini(&a);
}
END_TEST

static Suite *arena_suite(void)
{
	Suite *s = suite_create("arena");
	TCase *tc = tcase_create("arena");

	tcase_add_test(tc, memory_is_zeroed_aligned_and_apart);
	tcase_add_test(tc, the_limit_holds);
	tcase_add_test(tc, sizes_that_overflow_are_refused);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(arena_suite)
