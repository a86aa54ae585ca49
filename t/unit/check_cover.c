/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "analysis/image/cover.h"
#include "t/unit/unit.h"

#define SPACE 64
#define MAX   12

/* The oracle: of the ranges around at, the one that starts last; then the shortest. */
static const struct cover_range *owner(const struct cover_range *in, size_t nr,
				       uint64_t at)
{
	const struct cover_range *best = NULL;

	for (size_t i = 0; i < nr; i++) {
		const struct cover_range *r = &in[i];

		if (at < r->start || at >= r->end)
			continue;
		if (!best || r->start > best->start ||
		    (r->start == best->start && r->end < best->end) ||
		    (r->start == best->start && r->end == best->end &&
		     r->id > best->id))
			best = r;
	}
	return best;
}

START_TEST(the_innermost_range_owns_each_address)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 3000; round++) {
		struct cover_range in[MAX], copy[MAX];
		size_t nr = unit_random(&state) % (MAX + 1);
		struct cover c = { 0 };

		for (size_t i = 0; i < nr; i++) {
			uint64_t start = unit_random(&state) % SPACE;

			in[i] = (struct cover_range){ start,
						      start + unit_random(&state) % 20,
						      (uint32_t)i };
		}
		memcpy(copy, in, sizeof(copy));
		ck_assert_int_eq(cover_build(copy, nr, &c), 0);
		for (uint64_t at = 0; at < SPACE + 20; at++) {
			const struct cover_range *want = owner(in, nr, at);
			const struct cover_range *got = cover_find(&c, at);

			ck_assert_msg(want ? got && got->id == want->id : !got,
				      "seed %llu, at %llu", (unsigned long long)seed,
				      (unsigned long long)at);
		}
		for (size_t i = 0; i + 1 < c.nr; i++)
			ck_assert_uint_le(c.range[i].end, c.range[i + 1].start);
		cover_fini(&c);
	}
}
END_TEST

START_TEST(the_last_address_can_be_owned)
{
	struct cover_range in = { 5, UINT64_MAX, 1 };
	struct cover c = { 0 };

	ck_assert_int_eq(cover_build(&in, 1, &c), 0);
	ck_assert_ptr_nonnull(cover_find(&c, UINT64_MAX - 1));
	ck_assert_ptr_null(cover_find(&c, UINT64_MAX));
	ck_assert_ptr_null(cover_find(&c, 4));
	cover_fini(&c);
}
END_TEST

static Suite *cover_suite(void)
{
	Suite *s = suite_create("cover");
	TCase *tc = tcase_create("cover");

	tcase_add_test(tc, the_innermost_range_owns_each_address);
	tcase_add_test(tc, the_last_address_can_be_owned);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(cover_suite)
