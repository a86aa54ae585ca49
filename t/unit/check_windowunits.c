/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "abi/window_bpf.h"
#include "base/err.h"
#include "daemon/windows/windowunits.h"
#include "t/unit/unit.h"

#define NR_ENTRIES (1u << 18)
#define NR_IMAGES  4

static struct windowunits wu;
static struct known_image image[NR_IMAGES];

static void setup(void)
{
	windowunits_init(&wu, NR_ENTRIES);
}

static void teardown(void)
{
	windowunits_fini(&wu);
}

static struct windowpages_owner process(uint32_t tgid, uint32_t uid)
{
	return (struct windowpages_owner){ tgid, tgid, 7, uid };
}

static int get(uint32_t tgid, uint32_t uid, int i, uint64_t page, uint32_t nr_pages)
{
	const struct windowpages_owner who = process(tgid, uid);
	struct unit *u;

	return windowunits_get(&wu, &who, &image[i], page * CPI_CODE_PAGE, nr_pages,
			       &u);
}

/* ---- what is found ---- */

struct known {
	int image; /* -1: made at run time, by ... */
	uint32_t tgid;
	uint64_t page;
	uint32_t first, nr_pages;
};

struct expected {
	const struct unit *unit[WINDOWUNITS_LOOKED_AT];
	int nr;
};

static void note_unit(void *ctx, const struct unit *u)
{
	struct expected *e = ctx;

	e->unit[e->nr++] = u;
}

/* Each entry's unit, and the units of an image at a page, by looking at all. */
static void compare(const struct known *known, int nr, uint64_t *state)
{
	const uint32_t entry = (uint32_t)(unit_random(state) % (wu.next_entry + 5));
	const int i = (int)(unit_random(state) % NR_IMAGES);
	const uint64_t page = unit_random(state) % 64;
	const struct unit *u = windowunits_of(&wu, entry);
	struct expected e = { .nr = 0 };
	int nr_there = 0;

	windowunits_at(&wu, &image[i], page * CPI_CODE_PAGE + 5, note_unit, &e);
	for (int k = 0; k < nr; k++) {
		const struct known *w = &known[k];

		if (w->image == i && w->page <= page && page < w->page + w->nr_pages)
			nr_there++;
		if (w->image < 0 || entry < w->first || entry - w->first >= w->nr_pages)
			continue;
		ck_assert_ptr_nonnull(u);
		ck_assert_ptr_eq(u->image, &image[w->image]);
		ck_assert_uint_eq(u->first, w->first);
		ck_assert_uint_eq(u->offset, w->page * CPI_CODE_PAGE);
	}
	ck_assert_int_eq(e.nr, nr_there);
	if (!entry || entry >= wu.next_entry)
		ck_assert_ptr_null(u);
}

START_TEST(units_are_found_as_in_a_list_of_all)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 50; round++) {
		struct known known[200];
		int nr = 0;

		windowunits_forget(&wu);
		for (int step = 0; step < 200; step++) {
			const uint32_t tgid = 1 + (uint32_t)(unit_random(&state) % 10);
			const int i = (int)(unit_random(&state) % NR_IMAGES);
			const uint64_t page = unit_random(&state) % 30;
			const uint32_t pages = 1 + (uint32_t)(unit_random(&state) % 5);
			const struct windowpages_owner who = process(tgid, 1);
			const struct known *old = NULL;
			struct unit *u;

			compare(known, nr, &state);
			for (int k = 0; k < nr; k++) {
				if (known[k].image == i && known[k].page == page &&
				    known[k].nr_pages == pages)
					old = &known[k];
			}
			if (windowunits_get(&wu, &who, &image[i], page * CPI_CODE_PAGE,
					    pages, &u)) {
				ck_assert_ptr_null(old); /* I2 */
				continue;
			}
			if (old)
				ck_assert_uint_eq(u->first, old->first);
			else
				known[nr++] = (struct known){ i, tgid, page, u->first,
							      pages };
		}
	}
}
END_TEST

static void count_emptied(void *ctx, struct unit *u)
{
	(void)u;
	++*(int *)ctx;
}

/* Begins and ends a change in which only the first keep of n addresses are used. */
static int renew(const struct windowpages_owner *who, int n, int keep)
{
	int nr_emptied = 0;

	for (struct unit *u = windowunits_owned(&wu, who); u; u = u->next)
		u->used = false;
	for (int i = 0; i < n; i++) {
		struct unit *u;

		ck_assert_int_eq(
			windowunits_get_made(&wu, who, (uint64_t)i << 30, 3, &u), 0);
		u->used = i < keep;
	}
	windowunits_give_back(&wu, who, count_emptied, &nr_emptied);
	return nr_emptied;
}

START_TEST(code_that_was_made_at_run_time_is_its_processs)
{
	const struct windowpages_owner one = process(1, 1), other = process(2, 1);
	struct unit *u, *of_other;

	ck_assert_int_eq(renew(&one, 5, 5), 0);
	ck_assert_int_eq(windowunits_get_made(&wu, &one, CPI_CODE_PAGE, 2, &u), 0);
	ck_assert_uint_eq(u->offset, 0); /* in the first one */
	ck_assert_int_eq(windowunits_get_made(&wu, &other, 0, 3, &of_other), 0);
	ck_assert_ptr_ne(u, of_other);
	ck_assert_ptr_eq(windowunits_owned(&wu, &other), of_other);
	of_other->used = true;
	ck_assert_int_eq(renew(&one, 0, 0), 5);
	ck_assert_ptr_null(windowunits_owned(&wu, &one));
	ck_assert_ptr_eq(windowunits_owned(&wu, &other), of_other);
}
END_TEST

START_TEST(what_is_given_back_serves_again)
{
	uint32_t end;

	for (uint32_t tgid = 1; tgid <= 1000; tgid++) {
		const struct windowpages_owner who = process(tgid, 1);

		ck_assert_int_eq(renew(&who, 20, 20), 0);
		ck_assert_int_eq(renew(&who, 20, 3), 17);
		ck_assert_int_eq(renew(&who, 0, 0), 3);
		if (tgid == 1)
			end = wu.next_entry;
		ck_assert_uint_eq(wu.next_entry, end);
	}
}
END_TEST

/* ---- bounds ---- */

START_TEST(one_process_leaves_entries_to_others)
{
	uint64_t page = 0;
	int nr = 0;

	while (!get(1, 1, nr % NR_IMAGES, page, WINDOWUNITS_MAX_PAGES / 8)) {
		page += WINDOWUNITS_MAX_PAGES / 8;
		nr++;
	}
	ck_assert_uint_le(wu.next_entry, NR_ENTRIES / 4 + 1);
	ck_assert(!wu.full);
	ck_assert_int_eq(get(1, 1, 0, page, 1u << 15), -CPI_ELIMIT);
	ck_assert_int_eq(get(2, 1, 0, page, 1u << 15), 0);
	ck_assert_int_eq(get(1, 1, 0, page, 1u << 15), 0); /* which is there now */
}
END_TEST

START_TEST(one_user_leaves_entries_to_others)
{
	for (uint32_t tgid = 1; tgid < 100; tgid++)
		get(tgid, 1, 0, (uint64_t)tgid << 20, WINDOWUNITS_MAX_PAGES / 2);
	ck_assert_uint_le(wu.next_entry, NR_ENTRIES / 2 + 1);
	ck_assert(wu.full); /* what is not used any more may go */
	ck_assert_int_eq(get(100, 1, 1, 0, 1u << 14), -CPI_ELIMIT);
	ck_assert_int_eq(get(200, 2, 1, 0, 1u << 14), 0);
}
END_TEST

START_TEST(code_that_was_made_at_run_time_counts_too)
{
	const struct windowpages_owner who = process(1, 1);
	struct unit *u;
	int nr = 0;

	while (!windowunits_get_made(&wu, &who, (uint64_t)nr << 32,
				     WINDOWUNITS_MAX_MADE, &u))
		nr++;
	ck_assert_int_eq(nr, 4);
	ck_assert_int_eq(windowunits_get_made(&wu, &who, (uint64_t)nr << 32,
					      WINDOWUNITS_MAX_MADE + 1, &u),
			 -CPI_ELIMIT);
	ck_assert_int_eq(renew(&who, 0, 0), 4);
	ck_assert_int_eq(get(1, 1, 0, 0, WINDOWUNITS_MAX_PAGES + 1), -CPI_ELIMIT);
	ck_assert_int_eq(get(1, 1, 0, 0, WINDOWUNITS_MAX_PAGES), 0);
}
END_TEST

START_TEST(processes_that_own_nothing_take_no_memory)
{
	for (uint32_t tgid = 1; tgid <= 1000; tgid++) {
		const struct windowpages_owner who = process(tgid, 1);

		ck_assert_int_eq(renew(&who, 1, 0), 1);
		ck_assert_int_eq(get(tgid, 1, 0, 0, WINDOWUNITS_MAX_PAGES + 1),
				 -CPI_ELIMIT);
	}
	ck_assert_uint_le(wu.groups.nr, 4);
}
END_TEST

START_TEST(one_process_makes_so_many_units_of_an_image)
{
	int nr = 0;

	for (uint64_t page = 0; page < 60000; page++)
		nr += !get(1, 1, 0, page, 1);
	ck_assert_int_eq(nr, WINDOWUNITS_OF_IMAGE);
	ck_assert_int_eq(get(1, 1, 1, 0, 1), 0);     /* another image */
	ck_assert_int_eq(get(2, 1, 0, 0, 30000), 0); /* another process */
}
END_TEST

/* With a list of all, or of an image's, this takes minutes. */
START_TEST(no_operation_goes_through_all_units)
{
	const struct windowpages_owner who = process(1, 1);
	struct expected e;

	for (uint32_t tgid = 1; tgid <= 60000; tgid++)
		ck_assert_int_eq(get(tgid, 1, 0, tgid, 1), 0);
	for (uint32_t i = 1; i <= 1000000; i++) {
		e.nr = 0;
		ck_assert_int_eq(get(1, 1, 0, 1 + i % 60000, 1), 0);
		ck_assert_ptr_nonnull(windowunits_of(&wu, 1 + i % 60000));
		if (!(i % 16)) {
			windowunits_at(&wu, &image[0], (uint64_t)i * CPI_CODE_PAGE,
				       note_unit, &e);
			renew(&who, 1, i & 1);
		}
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windowunits");
	TCase *tc = tcase_create("windowunits");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, units_are_found_as_in_a_list_of_all);
	tcase_add_test(tc, code_that_was_made_at_run_time_is_its_processs);
	tcase_add_test(tc, what_is_given_back_serves_again);
	tcase_add_test(tc, one_process_leaves_entries_to_others);
	tcase_add_test(tc, one_user_leaves_entries_to_others);
	tcase_add_test(tc, code_that_was_made_at_run_time_counts_too);
	tcase_add_test(tc, processes_that_own_nothing_take_no_memory);
	tcase_add_test(tc, one_process_makes_so_many_units_of_an_image);
	tcase_add_test(tc, no_operation_goes_through_all_units);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
