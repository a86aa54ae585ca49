/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/profile/top_evidence.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/unit/unit.h"
#include "tools/ui/spark.h"

#define NAMES 30
#define LOOKS (3 * TOP_LOOKS)

/* What each name was given in each look: the oracle. */
static double given[NAMES][LOOKS];

static double given_of_late(int name, int look)
{
	double sum = 0;

	for (int i = look; i >= 0 && i > look - TOP_LOOKS; i--)
		sum += given[name][i];
	return sum;
}

/* Against sums that are made anew: order, values, and who is forgotten. */
static void check_rows(struct top *t, int look, uint64_t seed)
{
	struct top_row **row;
	size_t nr, want = 0;
	double last = 1e300, busy = 0;

	for (int i = 0; i < NAMES; i++)
		want += given_of_late(i, look) > 0;
	row = top_rank(t, TOP_PROCEDURE, TOP_BY_SUM, NULL, &nr);
	ck_assert_ptr_nonnull(row);
	ck_assert_msg(nr == want, "seed %llu, look %d: %zu rows, wanted %zu",
		      (unsigned long long)seed, look, nr, want);
	for (size_t i = 0; i < nr; i++) {
		const int name = atoi(row[i]->name);

		ck_assert_msg(fabs(row[i]->sum - given_of_late(name, look)) < 1e-6 &&
				      row[i]->ns[top_slot(t, 0)] == given[name][look] &&
				      row[i]->sum <= last,
			      "seed %llu, look %d: row %zu", (unsigned long long)seed,
			      look, i);
		last = row[i]->sum;
		busy += row[i]->ns[top_slot(t, 0)];
	}
	ck_assert_double_eq_tol(busy, t->busy[top_slot(t, 0)], 1e-6);
	free(row);
}

START_TEST(rows_are_the_sums_of_the_looks_that_are_remembered)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct top t = { 0 };

	for (int look = 0; look < LOOKS; look++) {
		top_begin(&t);
		for (int i = 0; i < NAMES; i++) {
			char name[16];

			snprintf(name, sizeof(name), "%d", i);
			given[i][look] = 0;
			/* The later a name, the rarer. */
			if (unit_random(&state) % (1 + 3 * i * i / 2))
				continue;
			given[i][look] = 1 + unit_random(&state) % 1000;
			ck_assert_int_eq(
				top_add_busy(&t, name, "image", given[i][look]), 0);
		}
		check_rows(&t, look, seed);
		ck_assert_uint_eq(top_nr_looks(&t),
				  look < TOP_LOOKS ? look + 1 : TOP_LOOKS);
	}
	top_fini(&t);
}
END_TEST

START_TEST(rows_of_one_name_in_two_images_stay_apart)
{
	struct top t = { 0 };
	struct top_row **row;
	size_t nr;

	top_begin(&t);
	top_add_busy(&t, "main", "/bin/a", 3);
	top_add_busy(&t, "main", "/bin/b", 5);
	top_add_busy(&t, "[unknown anonymous]", NULL, 1);
	row = top_rank(&t, TOP_PROCEDURE, TOP_BY_NOW, "MAIN", &nr);
	ck_assert_uint_eq(nr, 2);
	ck_assert_str_eq(row[0]->image, "/bin/b");
	free(row);
	row = top_rank(&t, TOP_IMAGE, TOP_BY_NAME, NULL, &nr);
	ck_assert_uint_eq(nr, 3);
	ck_assert_str_eq(row[0]->name, "/bin/a");
	ck_assert_str_eq(row[2]->name, "[unknown anonymous]");
	free(row);
	row = top_rank(&t, TOP_PROCEDURE, TOP_BY_NOW, "/BIN/A", &nr);
	ck_assert_uint_eq(nr, 1);
	free(row);
	top_fini(&t);
}
END_TEST

START_TEST(what_there_is_no_room_for_is_other)
{
	struct top t = { 0 };
	struct top_row **row;
	double sum = 0;
	char name[16];
	size_t nr;

	top_begin(&t);
	for (int i = 0; i < TOP_ROWS + 100; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		ck_assert_int_eq(top_add_busy(&t, name, "i", 1), 0);
	}
	row = top_rank(&t, TOP_PROCEDURE, TOP_BY_NOW, NULL, &nr);
	ck_assert_uint_eq(nr, TOP_ROWS + 1);
	ck_assert_str_eq(row[0]->name, TOP_OTHER);
	ck_assert_double_eq(row[0]->sum, 100);
	for (size_t i = 0; i < nr; i++)
		sum += row[i]->sum;
	ck_assert_double_eq(sum, t.busy[0]);
	free(row);
	top_fini(&t);
}
END_TEST

static const struct {
	double value[4], max;
	const char *ascii, *block;
} sparks[] = {
	{ { 0, 1, 4, 8 }, 8, " .=@", " ▁▄█" },
	{ { 8, 9, 0.001, -1 }, 8, "@@. ", "██▁ " }, /* too much, hardly any, none */
	{ { 0, 0, 0, 0 }, 0, "    ", "    " },
};

START_TEST(a_bar_is_as_high_as_its_value)
{
	struct buf b = { 0 };

	spark_put(&b, sparks[_i].value, 4, sparks[_i].max, false);
	ck_assert_str_eq(buf_str(&b), sparks[_i].ascii);
	buf_reset(&b);
	spark_put(&b, sparks[_i].value, 4, sparks[_i].max, true);
	ck_assert_str_eq(buf_str(&b), sparks[_i].block);
	buf_fini(&b);
}
END_TEST

static const struct {
	const char *all, *ctype, *lang;
	bool block;
} locales[] = {
	{ "C.UTF-8", "", "", true },
	{ "", "de_DE.utf8", "C", true },
	{ "C", "de_DE.UTF-8", "", false },
	{ "", "", "en_US.ISO-8859-1", false },
	{ "", "", "", false },
};

START_TEST(blocks_need_a_utf8_locale)
{
	setenv("LC_ALL", locales[_i].all, 1);
	setenv("LC_CTYPE", locales[_i].ctype, 1);
	setenv("LANG", locales[_i].lang, 1);
	ck_assert_int_eq(spark_can_block(), locales[_i].block);
}
END_TEST

static double time_of(struct top *t, enum top_by by, const char *name)
{
	double ns = 0;
	size_t nr;
	struct top_row **row = top_rank(t, by, TOP_BY_NOW, NULL, &nr);

	ck_assert_ptr_nonnull(row);
	for (size_t i = 0; i < nr; i++)
		ns += strcmp(row[i]->name, name) ? 0 : row[i]->ns[top_slot(t, 0)];
	free(row);
	return ns;
}

static void add_samples(struct top_evidence *e, const char *name, bool kernel,
			bool fresh, uint64_t random, uint64_t ticks)
{
	const struct top_amount of_random = { false, kernel, random, fresh, 10e6 };
	const struct top_amount of_ticks = { true, kernel, ticks, fresh, 4e6 };

	ck_assert_int_eq(top_evidence_add(e, TOP_PROCEDURE, name, "/app", &of_random),
			 0);
	ck_assert_int_eq(top_evidence_add(e, TOP_PROCEDURE, name, "/app", &of_ticks),
			 0);
}

/* At 10 and 4 ms a sample of either kind stands for 1/0.35 ms where both agree. */
START_TEST(ticks_are_time_unless_the_row_departs_in_all_looks)
{
	const struct query_streams streams = {
		.stream =
			(struct query_stream[]){
				{ .id = 1,
				  .desc = { "cpu-clock", "bpf", "", "ns", 10000000,
					    LANDING_AFTER_GROUP } },
				{ .id = 2,
				  .desc = { "ticks", "bpf", "", "ns", 4000000,
					    LANDING_AFTER_GROUP } } },
		.nr = 2
	};
	struct top_evidence e = { 0 };
	struct top t = { 0 };
	struct events ev;

	ck_assert_int_eq(events_init(&ev, &streams, 0), 0);
	add_samples(&e, "hot", false, false, 390, 970);
	add_samples(&e, "timed", false, false, 55, 0);
	add_samples(&e, "work", true, false, 50, 0);
	top_begin(&t);
	ck_assert_int_eq(top_evidence_put(&e, &ev, &t), 0);
	ck_assert_double_eq(t.busy[top_slot(&t, 0)], 0);
	add_samples(&e, "hot", false, true, 10, 30);
	add_samples(&e, "timed", false, true, 5, 0);
	add_samples(&e, "work", true, true, 2, 0);
	for (int look = 0; look < 2; look++) {
		top_begin(&t);
		ck_assert_int_eq(top_evidence_put(&e, &ev, &t), 0);
		ck_assert_double_eq_tol(time_of(&t, TOP_PROCEDURE, "hot"),
					look ? 0 : 40e6 / 0.35, 1e3);
		ck_assert_double_eq_tol(time_of(&t, TOP_PROCEDURE, "timed"),
					look ? 0 : 50e6, 1e3);
		ck_assert_double_eq_tol(time_of(&t, TOP_PROCEDURE, "work"),
					look ? 0 : 20e6, 1e3);
		ck_assert_double_eq_tol(time_of(&t, TOP_IMAGE, "/app"),
					look ? 0 : 40e6 / 0.35 + 70e6, 1e3);
	}
	events_fini(&ev);
	top_evidence_fini(&e);
	top_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("top");
	TCase *tc = tcase_create("top");

	tcase_add_test(tc, rows_are_the_sums_of_the_looks_that_are_remembered);
	tcase_add_test(tc, rows_of_one_name_in_two_images_stay_apart);
	tcase_add_test(tc, what_there_is_no_room_for_is_other);
	tcase_add_test(tc, ticks_are_time_unless_the_row_departs_in_all_looks);
	tcase_add_loop_test(tc, a_bar_is_as_high_as_its_value, 0, NR(sparks));
	tcase_add_loop_test(tc, blocks_need_a_utf8_locale, 0, NR(locales));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
