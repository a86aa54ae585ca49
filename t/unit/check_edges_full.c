/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets with as many edges as they may have. They take seconds. */
#include "config.h"

#include "db/profile/edges.h"

#include "base/err.h"
#include "t/unit/unit.h"

/* A place that is its own; spread, as those that come are in no order. */
static struct edge own_edge(uint64_t i)
{
	return (struct edge){ .from = i * 0x9e3779b1u & (2 * EDGES_MAX - 1), .n = 1 };
}

/* However many are offered, those that are taken come back. Some come again. */
START_TEST(a_full_set_can_be_read_again)
{
	struct edges *set = edges_new(), *again = edges_new();
	struct buf blob = { 0 };
	uint64_t taken = 0;
	int err = 0;

	while (!err && taken < 2 * EDGES_MAX) {
		const struct edge e = own_edge(taken % 1000 ? taken : 0);

		err = edges_add(set, &e);
		taken += !err;
	}
	ck_assert_int_eq(err, -CPI_ELIMIT);
	ck_assert_uint_ge(taken, EDGES_MAX / 8 * 7);
	ck_assert_uint_eq(edges_total(set), taken);
	ck_assert_int_eq(edges_encode(set, &blob), 0);
	ck_assert_int_eq(edges_decode(blob.data, blob.len, again), 0);
	ck_assert_uint_eq(edges_total(again), taken);
	buf_fini(&blob);
	edges_free(set);
	edges_free(again);
}
END_TEST

/* The same places in turn, past the size that the array may have. */
START_TEST(what_comes_again_needs_no_room)
{
	const uint64_t nr = EDGES_MAX / 4 * 5;
	struct edges *set = edges_new();

	for (uint64_t i = 0; i < nr; i++) {
		const struct edge e = own_edge(i % (EDGES_MAX / 8 * 7));

		ck_assert_int_eq(edges_add(set, &e), 0);
	}
	ck_assert_uint_eq(edges_total(set), nr);
	edges_free(set);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("edges_full");
	TCase *t = tcase_create("edges_full");

	tcase_set_timeout(t, 600);
	tcase_add_test(t, a_full_set_can_be_read_again);
	tcase_add_test(t, what_comes_again_needs_no_room);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
