/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests for pages and forms, of which one is never lost for want of the other's
 * room, and scans for forms, which take little time and go on after a failure. In place
 * of cpi-translate the test refuses each page, and in place of files it has zeros.
 */
#include "config.h"

#include <errno.h>
#include <time.h>

#include "daemon/procmap/codecache.h"
#include "daemon/windows/windowforms.h"
#include "daemon/windows/windowpages.h"
#include "t/unit/unit.h"

#define NR_ENTRIES 1024u
#define NR_CELLS   4096u /* of pages */
#define NR_FORMS   256u
#define NR_PAGES   40u /* of the image */

int __wrap_translate_child_ask(struct translate_child *t,
			       struct cpi_translate_request *q, uint32_t *cookie);
int __wrap_translate_child_take(struct translate_child *t, uint32_t *cookie, int *err,
				struct cpi_translate_reply **reply);
size_t __wrap_codecache_read(struct codecache *c, const struct known_image *image,
			     uint64_t off, void *to, size_t size);

static struct {
	struct windowsource source;
	struct windowsource_ops ops;
	struct cpi_window_entry entry[NR_ENTRIES];
	struct cpi_form form[NR_FORMS];
	union cpi_code_cell cell[NR_CELLS + NR_FORMS];
	struct known_image image;
	struct windowforms *forms;
	struct windowpages *pages;
	uint32_t first; /* entry of the image */
	uint32_t next_cookie, nr_asked;
	bool is_slow;              /* cpi-translate answers nothing yet */
	int nr_pages, nr_forms;    /* that were asked for */
	long read_ns;              /* a read takes */
	int nr_reads, nr_failures; /* these reads fail */
} t;

int __wrap_translate_child_ask(struct translate_child *child,
			       struct cpi_translate_request *q, uint32_t *cookie)
{
	(void)child;
	if (t.nr_asked == TRANSLATE_CHILD_MAX_ASKED)
		return -EAGAIN;
	t.nr_asked++;
	*cookie = t.next_cookie++;
	t.nr_pages += !q->nr_forms;
	t.nr_forms += (int)q->nr_forms;
	return 0;
}

int __wrap_translate_child_take(struct translate_child *child, uint32_t *cookie,
				int *err, struct cpi_translate_reply **reply)
{
	(void)child;
	if (!t.nr_asked || t.is_slow)
		return -EAGAIN;
	*cookie = t.next_cookie - t.nr_asked--;
	*err = -ETIMEDOUT;
	*reply = NULL;
	return 0;
}

size_t __wrap_codecache_read(struct codecache *c, const struct known_image *image,
			     uint64_t off, void *to, size_t size)
{
	const struct timespec pause = { .tv_nsec = t.read_ns };

	(void)c;
	ck_assert_ptr_eq(image, &t.image);
	ck_assert_uint_lt(off, NR_PAGES * CPI_CODE_PAGE);
	nanosleep(&pause, NULL);
	if (t.nr_reads++ < t.nr_failures)
		return 0;
	memset(to, 0, size);
	return size;
}

static int synchronize(const struct windowsource *ws)
{
	(void)ws;
	return 0;
}

static void set_up(uint32_t nr_pages)
{
	const struct windowpages_owner owner = { 1, 2, 3, 4 };
	struct windowpages_config cfg = { .source = &t.source };

	memset(&t, 0, sizeof(t));
	t.ops.synchronize = synchronize;
	t.source.ops = &t.ops;
	t.source.cfg.nr_entries = NR_ENTRIES;
	t.source.entry = t.entry;
	t.source.form = t.form;
	t.source.nr_forms = NR_FORMS;
	t.source.cell = t.cell;
	t.source.nr_cells = NR_CELLS;
	t.source.nr_form_cells = NR_FORMS;
	t.forms = cfg.forms = windowforms_new(&t.source, NULL);
	ck_assert_ptr_nonnull(t.forms);
	ck_assert_int_eq(windowpages_new(&cfg, &t.pages), 0);
	ck_assert_int_eq(windowpages_get(t.pages, &owner, &t.image, 0,
					 nr_pages * CPI_CODE_PAGE, &t.first),
			 0);
}

static void tear_down(void)
{
	windowpages_free(t.pages);
	windowforms_free(t.forms);
}

START_TEST(each_page_is_asked_for_beside_forms)
{
	static const uint8_t nop[CPI_FORM_BYTES] = { 0x90 };

	set_up(NR_PAGES);
	windowforms_want(t.forms, 4, nop);
	ck_assert_uint_eq(windowpages_run(t.pages), 1);
	t.is_slow = true;
	for (uint32_t i = 0; i < NR_PAGES; i++)
		ck_assert(windowpages_miss(t.pages, t.first + i, 0));
	windowpages_run(t.pages);
	t.is_slow = false;
	for (uint32_t i = 0; i < NR_PAGES; i++) {
		windowforms_want(t.forms, 4, nop);
		windowpages_run(t.pages);
	}
	ck_assert_int_eq(t.nr_pages, NR_PAGES);
	ck_assert_int_gt(t.nr_forms, 1);
	tear_down();
}
END_TEST

START_TEST(scans_of_a_round_take_little_time)
{
	int before;

	set_up(NR_PAGES);
	t.read_ns = 2000000;
	for (int round = 0; round < 3; round++) {
		windowpages_take_room(t.pages);
		before = t.nr_reads;
		for (uint32_t i = 0; i < NR_PAGES; i++)
			ck_assert(windowpages_scan(t.pages, t.first + i, 0, 4));
		ck_assert_int_gt(t.nr_reads, before);
		ck_assert_int_le(t.nr_reads, before + 3);
	}
	tear_down();
}
END_TEST

static void scan_often(uint32_t nr_pages)
{
	for (int round = 0; round < 100; round++) {
		windowpages_take_room(t.pages);
		for (uint32_t i = 0; i < nr_pages; i++)
			ck_assert(windowpages_scan(t.pages, t.first + i, 0, 4));
	}
}

START_TEST(scan_goes_on_after_a_failed_read)
{
	set_up(1);
	t.nr_failures = 5;
	scan_often(1);
	windowpages_run(t.pages);
	ck_assert_int_gt(t.nr_forms, 0);
	tear_down();
}
END_TEST

START_TEST(scan_of_what_cannot_be_read_ends)
{
	set_up(2);
	t.nr_failures = 1000000;
	scan_often(2);
	ck_assert_int_le(t.nr_reads, 10);
	windowpages_run(t.pages);
	ck_assert_int_eq(t.nr_forms, 0);
	tear_down();
}
END_TEST

START_TEST(a_page_whose_read_failed_is_asked_for_again)
{
	set_up(1);
	t.is_slow = true;
	t.nr_failures = 1;
	ck_assert(windowpages_miss(t.pages, t.first, 0));
	windowpages_run(t.pages);
	ck_assert_int_eq(t.nr_pages, 0);
	windowpages_miss(t.pages, t.first, 0);
	windowpages_run(t.pages);
	ck_assert_int_eq(t.nr_pages, 1);
	tear_down();
}
END_TEST

START_TEST(a_page_whose_answer_was_lost_is_asked_for_again)
{
	set_up(1);
	for (int i = 1; i <= 3; i++) {
		ck_assert(windowpages_miss(t.pages, t.first, 0));
		windowpages_run(t.pages); /* asks; the answer is -ETIMEDOUT */
		windowpages_run(t.pages);
		ck_assert_int_eq(t.nr_pages, i);
	}
	tear_down();
}
END_TEST

START_TEST(pages_ahead_wait_until_windows_have_paid_for_them)
{
	set_up(NR_PAGES);
	t.is_slow = true;
	windowpages_pay(t.pages, -WINDOWPAGES_FIRST_NS - NSEC_PER_SEC);
	windowpages_sampled(t.pages, &t.image, CPI_CODE_PAGE);
	windowpages_run(t.pages);
	ck_assert_int_eq(t.nr_pages, 0);
	/* what a window lacks is needed */
	ck_assert(windowpages_miss(t.pages, t.first, 0));
	windowpages_run(t.pages);
	ck_assert_int_eq(t.nr_pages, 1);
	for (int i = 0; i < (int)(NSEC_PER_SEC / WINDOWPAGES_PAID_NS); i++)
		windowpages_pay(t.pages, WINDOWPAGES_PAID_NS);
	ck_assert(!windowpages_has_credit(t.pages));
	windowpages_pay(t.pages, 1);
	windowpages_sampled(t.pages, &t.image, CPI_CODE_PAGE);
	windowpages_run(t.pages);
	ck_assert_int_eq(t.nr_pages, 2);
	tear_down();
}
END_TEST

START_TEST(credit_is_bounded)
{
	set_up(1);
	windowpages_pay(t.pages, 1000 * WINDOWPAGES_CREDIT_NS);
	windowpages_pay(t.pages, 1 - WINDOWPAGES_FIRST_NS);
	ck_assert(windowpages_has_credit(t.pages));
	windowpages_pay(t.pages, -1);
	ck_assert(!windowpages_has_credit(t.pages));
	windowpages_pay(t.pages, 1000 * WINDOWPAGES_CREDIT_NS);
	windowpages_pay(t.pages, 1 - WINDOWPAGES_CREDIT_NS);
	ck_assert(windowpages_has_credit(t.pages));
	windowpages_pay(t.pages, -1);
	ck_assert(!windowpages_has_credit(t.pages));
	tear_down();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windowpages");
	TCase *tc = tcase_create("windowpages");

	tcase_add_test(tc, each_page_is_asked_for_beside_forms);
	tcase_add_test(tc, scans_of_a_round_take_little_time);
	tcase_add_test(tc, scan_goes_on_after_a_failed_read);
	tcase_add_test(tc, scan_of_what_cannot_be_read_ends);
	tcase_add_test(tc, a_page_whose_read_failed_is_asked_for_again);
	tcase_add_test(tc, a_page_whose_answer_was_lost_is_asked_for_again);
	tcase_add_test(tc, pages_ahead_wait_until_windows_have_paid_for_them);
	tcase_add_test(tc, credit_is_bounded);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
