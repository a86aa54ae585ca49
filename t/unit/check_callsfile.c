/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/cache/callsfile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/err.h"
#include "t/unit/unit.h"

static char folder[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_callsfile.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

static struct calls_key key_of(uint64_t number)
{
	struct calls_key k = { { 0 } };

	calls_key_add(&k, &number, sizeof(number));
	return k;
}

/* Keeps a graph of nr procedures at 0, 16, ...; their factors depend on number. */
static void keep(struct callsfile *f, uint64_t number, size_t nr)
{
	struct callgraph_kept *kept = calloc(nr + 1, sizeof(*kept));
	const struct calls_key k = key_of(number);
	struct callgraph *g;

	for (size_t i = 0; i < nr; i++)
		kept[i] = (struct callgraph_kept){ 16 * i, (double)(number + i + 2) };
	ck_assert_int_eq(callgraph_get(kept, nr, &g), 0);
	callsfile_keep(f, &k, g);
	callgraph_free(g);
	free(kept);
}

/* Whether the graph of a number is there; it has the right factors then. */
static bool find(struct callsfile *f, uint64_t number, size_t nr)
{
	const struct calls_key k = key_of(number);
	struct callgraph *g;
	const int err = callsfile_find(f, &k, &g);

	if (err == -ENOENT)
		return false;
	ck_assert_int_eq(err, 0);
	for (size_t i = 0; i < nr; i++)
		ck_assert_double_eq(callgraph_factor(g, 16 * i),
				    (double)(number + i + 2));
	ck_assert_double_eq(callgraph_factor(g, 8), 1);
	callgraph_free(g);
	return true;
}

START_TEST(a_later_run_finds_what_was_kept)
{
	struct callsfile *f;

	make_folder();
	f = callsfile_open();
	ck_assert(!find(f, 1, 3));
	keep(f, 1, 3);
	keep(f, 2, 0);
	ck_assert(find(f, 1, 3));
	callsfile_close(f);
	f = callsfile_open();
	ck_assert(find(f, 1, 3));
	ck_assert(find(f, 2, 0));
	ck_assert(!find(f, 3, 0));
	callsfile_close(f);
	remove_folder();
}
END_TEST

START_TEST(what_no_run_asks_for_leaves_a_full_file)
{
	const size_t large = 20000; /* procedures: 320 kB */
	struct callsfile *f;
	int nr = 0;

	make_folder();
	f = callsfile_open();
	for (int i = 0; i < 40; i++)
		keep(f, 100 + i, large);
	callsfile_close(f);
	f = callsfile_open();
	for (int i = 30; i < 40; i++)
		ck_assert(find(f, 100 + i, large));
	for (int i = 0; i < 30; i++)
		keep(f, 200 + i, large);
	callsfile_close(f);
	f = callsfile_open();
	for (int i = 0; i < 30; i++)
		nr += find(f, 100 + i, large);
	for (int i = 30; i < 40; i++)
		ck_assert(find(f, 100 + i, large));
	for (int i = 0; i < 30; i++)
		ck_assert(find(f, 200 + i, large));
	ck_assert_int_gt(nr, 0); /* there was room for some */
	ck_assert_int_lt(nr, 30);
	callsfile_close(f);
	remove_folder();
}
END_TEST

static const struct {
	struct callgraph_kept kept[2];
	int err;
} forged[] = {
	{ { { 0, 1 }, { 16, 0.5 } }, 0 },
	{ { { 16, 1 }, { 0, 0.5 } }, -CPI_ECORRUPT }, /* not sorted */
	{ { { 0, 1 }, { 16, 0 } }, -CPI_ECORRUPT },
	{ { { 0, -1 }, { 16, 1 } }, -CPI_ECORRUPT },
	{ { { 0, INFINITY }, { 16, 1 } }, -CPI_ECORRUPT },
	{ { { 0, 1 }, { 16, NAN } }, -CPI_ECORRUPT },
};

START_TEST(forged_factors_are_refused)
{
	struct callgraph *g = NULL;

	ck_assert_int_eq(callgraph_get(forged[_i].kept, 2, &g), forged[_i].err);
	callgraph_free(g);
}
END_TEST

START_TEST(another_process_hands_over_what_is_new)
{
	struct buf bytes = { 0 };
	struct callsfile *f, *copy;

	make_folder();
	f = callsfile_open();
	copy = callsfile_open();
	keep(copy, 1, 5);
	callsfile_mark(copy);
	keep(copy, 2, 7);
	keep(copy, 3, 0);
	ck_assert_int_eq(callsfile_put_new(copy, &bytes), 0);
	for (size_t size = 1; size < bytes.len; size++) {
		uint8_t *cut = malloc(size);

		memcpy(cut, bytes.data, size);
		callsfile_add(f, cut, size); /* only ASan sees an error */
		free(cut);
	}
	ck_assert_int_eq(callsfile_add(f, (uint8_t *)bytes.data, bytes.len), 0);
	ck_assert(!find(f, 1, 5));
	ck_assert(find(f, 2, 7));
	ck_assert(find(f, 3, 0));
	callsfile_close(copy);
	callsfile_close(f);
	buf_fini(&bytes);
	remove_folder();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("callsfile");
	TCase *tc = tcase_create("callsfile");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_later_run_finds_what_was_kept);
	tcase_add_test(tc, another_process_hands_over_what_is_new);
	tcase_add_test(tc, what_no_run_asks_for_leaves_a_full_file);
	tcase_add_loop_test(tc, forged_factors_are_refused, 0, NR(forged));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
