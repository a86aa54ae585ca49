/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/compare/diff_parts.h"

#include <math.h>

#include "db/core/sql.h"
#include "t/unit/dbtest.h"

/* Epoch 1 was three, of times 10, 20 and 30; what 4 varied by is of two others. */
static const char rolled[] =
	"INSERT INTO rolled VALUES (1, 'cpu-clock', 1, 2, 10), (1, 'cpu-clock', 2, 3, "
	"20),"
	" (1, 'cpu-clock', 3, 4, 30), (1, 'cycles', 1, 2, 99);"
	"INSERT INTO image VALUES (7, 0, 'a', x'01', x'', 0, 0, 0, 0),"
	" (8, 0, 'b', x'02', x'', 0, 0, 0, 0);"
	"INSERT INTO spread VALUES"
	" (1, 'cpu-clock', 7, 0, 4096, 3, 6, 14, 140),"
	" (1, 'cpu-clock', 7, 4096, 4096, 3, 6, 12, 120),"
	" (1, 'cpu-clock', 8, 0, 4096, 2, 6, 14, 140),"
	" (1, 'cycles', 8, 0, 4096, 1, 6, 36, 36)";

static const struct {
	struct matrix_count count[6];
	size_t nr, row; /* how many rows are known of, and the first of them */
	double time, within;
} cases[] = {
	{ { { 0 } }, 0, 0, 0, 0 },
	/* x is 1, 2 and 3: in proportion to all time. */
	{ { { 1, 7, 5, 3, 6 } }, 1, 3, 6, 0 },
	/* x is 2 in each: (1/3 - 1/6)² + 0 + (1/3 - 1/2)² */
	{ { { 1, 7, 4096, 3, 1 }, { 1, 7, 8191, 3, 5 } }, 1, 3, 6, 1 / 18.0 },
	/* Another row has a tenth of the range, or more. */
	{ { { 1, 7, 5, 3, 5.5 }, { 1, 7, 9, 4, 0.5 } }, 1, 3, 5.5, 0 },
	{ { { 1, 7, 5, 3, 5 }, { 1, 7, 9, 4, 1 } }, 0, 0, 0, 0 },
	/* In two streams, out of turn. */
	{ { { 1, 7, 5, 3, 2 }, { 1, 7, 9, 4, 1 }, { 1, 7, 5, 3, 8 } }, 1, 3, 10, 0 },
	/* In no range, of sums of other parts, of another epoch. */
	{ { { 1, 7, 8192, 3, 6 } }, 0, 0, 0, 0 },
	{ { { 1, 8, 5, 3, 6 } }, 0, 0, 0, 0 },
	{ { { 2, 7, 5, 3, 6 } }, 0, 0, 0, 0 },
	/* One row in two ranges: each is told. */
	{ { { 1, 7, 4095, 3, 1 }, { 1, 7, 4096, 3, 5 } }, 2, 3, 1, 0 },
};

START_TEST(a_row_is_known_by_the_range_that_is_nearly_all_its_own)
{
	struct query_epoch epoch = { .id = 1 };
	const struct query_epochs one = { &epoch, 1 };
	const struct diff_within *w = NULL;
	struct diff_parts p = { 0 };
	struct compare_run run = { .squares = 1, .cubes = 1 };
	struct dbtest t;
	struct db *db;
	size_t nr = 0;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	store_free(dbtest_begin(db));
	ck_assert_int_eq(sql_exec(db_handle(db), rolled), 0);
	ck_assert_int_eq(diff_parts_read(&p, db, &one, "cpu-clock"), 0);
	ck_assert(diff_parts_any(&p));
	ck_assert_uint_eq(p.nr, 3);
	diff_parts_describe(&p, 2, &run);
	ck_assert(run.squares == 1 && run.cubes == 1);
	diff_parts_describe(&p, 1, &run);
	ck_assert(fabs(run.squares - 14.0 / 36) < 1e-12);
	ck_assert(fabs(run.cubes - 36.0 / 216) < 1e-12);

	/* Twice: nothing of an epoch stays for the next one. */
	for (int again = 0; again < 2; again++) {
		for (int i = 0; cases[_i].count[i].epoch; i++)
			diff_parts_count(&p, &cases[_i].count[i]);
		ck_assert_int_eq(diff_parts_end(&p, &w, &nr), 0);
		ck_assert_uint_eq(nr, cases[_i].nr);
	}
	if (nr) {
		ck_assert_uint_eq(w->row, cases[_i].row);
		ck_assert(w->time == cases[_i].time);
		ck_assert(fabs(w->within - cases[_i].within) < 1e-12);
	}
	diff_parts_fini(&p);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("diff_parts");
	TCase *t = tcase_create("diff_parts");

	tcase_add_loop_test(t, a_row_is_known_by_the_range_that_is_nearly_all_its_own,
			    0, NR(cases));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
