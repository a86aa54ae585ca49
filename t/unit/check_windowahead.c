/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "abi/window_bpf.h"
#include "analysis/windows/codepack.h"
#include "daemon/windows/windowahead.h"
#include "t/unit/unit.h"

#define MAX 32

struct fixture {
	struct cpi_code_page page;
	union cpi_code_cell packed[CPI_CODE_MAX_CELLS];
	uint32_t nr;
	int64_t to[MAX];
	int nr_to;
};

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
}

/* An instruction of four bytes. */
static void put(struct fixture *f, uint32_t offset, enum cpi_uop_op op, int64_t target)
{
	struct cpi_uop *u = &f->page.uop[f->nr++];

	u->op = (uint8_t)op;
	u->flags = 3 << CPI_UOP_LENGTH_SHIFT;
	u->disp = (int32_t)(target - (int64_t)offset);
	f->page.index[offset] = (uint16_t)f->nr;
}

static void put_nops(struct fixture *f, uint32_t offset, int nr)
{
	for (int i = 0; i < nr; i++)
		put(f, offset + 4 * (uint32_t)i, CPI_UOP_NOP, 0);
}

static void find(struct fixture *f, uint32_t from, int max)
{
	codepack_page(&f->page, f->nr, NULL, 0, f->packed);
	f->nr_to = windowahead_find(f->packed, from, f->to, max);
}

START_TEST(a_call_leads_both_ways)
{
	struct fixture f;

	setup(&f);
	put(&f, 0, CPI_UOP_CALL, 10000);
	put(&f, 4, CPI_UOP_CALL, -500);
	put(&f, 8, CPI_UOP_CALLI, 77777);
	put(&f, 12, CPI_UOP_JCC, 20000);
	put(&f, 16, CPI_UOP_RET, 0);
	put(&f, 20, CPI_UOP_JMP, 30000);
	find(&f, 0, MAX);
	ck_assert_int_eq(f.nr_to, 3);
	ck_assert_int_eq(f.to[0], 10000);
	ck_assert_int_eq(f.to[1], -500);
	ck_assert_int_eq(f.to[2], 20000);
}
END_TEST

/* AArch64's calls set the link register, and jump. */
START_TEST(a_jump_that_sets_the_link_register_is_a_call)
{
	static const enum cpi_uop_op jumps[] = { CPI_UOP_JMP, CPI_UOP_JMPI };
	struct fixture f;

	setup(&f);
	put(&f, 0, CPI_UOP_LEA, 4);
	f.page.uop[0].dst = CPI_REG_AARCH64_LINK;
	f.page.uop[0].address = CPI_REG_ZERO << 6 | CPI_REG_PC;
	put(&f, 0, jumps[_i], 10000);
	f.page.uop[1].flags |= CPI_UOP_MORE;
	f.page.index[0] = 1;
	put(&f, 4, CPI_UOP_JMP, 30000);
	find(&f, 0, MAX);
	ck_assert_int_eq(f.nr_to, 2 - _i);
	ck_assert_int_eq(f.to[f.nr_to - 1], 30000);
}
END_TEST

START_TEST(nothing_is_behind_what_ends)
{
	static const enum cpi_uop_op ends[] = { CPI_UOP_JMP, CPI_UOP_JMPI, CPI_UOP_RET,
						CPI_UOP_STOP };
	struct fixture f;

	setup(&f);
	put(&f, 0, ends[_i], 8);
	put(&f, 4, CPI_UOP_JMP, 30000);
	put(&f, 8, CPI_UOP_RET, 0);
	find(&f, 0, MAX);
	ck_assert_int_eq(f.nr_to, 0);
	find(&f, 4, MAX);
	ck_assert_int_eq(f.nr_to, 1);
}
END_TEST

/* By instructions, not by addresses; each once. */
START_TEST(the_nearest_come_first)
{
	struct fixture f;

	setup(&f);
	put(&f, 0, CPI_UOP_JCC, 400);
	put_nops(&f, 4, 3);
	put(&f, 16, CPI_UOP_JMP, 10000);
	put(&f, 400, CPI_UOP_CALL, 20000);
	put(&f, 404, CPI_UOP_CALL, 20000);
	put(&f, 408, CPI_UOP_JMP, 0);
	find(&f, 0, MAX);
	ck_assert_int_eq(f.nr_to, 2);
	ck_assert_int_eq(f.to[0], 20000);
	ck_assert_int_eq(f.to[1], 10000);
	find(&f, 0, 1);
	ck_assert_int_eq(f.nr_to, 1);
	ck_assert_int_eq(f.to[0], 20000);
}
END_TEST

START_TEST(a_window_s_length_is_the_limit)
{
	const uint32_t nr = CPI_WINDOW_INSTRUCTIONS;
	struct fixture f;

	setup(&f);
	put_nops(&f, 0, (int)nr);
	put(&f, 4 * nr, CPI_UOP_JMP, 10000);
	find(&f, 0, MAX);
	ck_assert_int_eq(f.nr_to, 0);
	find(&f, 4, MAX);
	ck_assert_int_eq(f.nr_to, 1);
}
END_TEST

/* An instruction across the end, and a run that goes on in the next page. */
START_TEST(the_next_page_is_outside)
{
	struct fixture f;

	setup(&f);
	put(&f, CPI_CODE_PAGE - 6, CPI_UOP_NOP, 0);
	put(&f, CPI_CODE_PAGE - 2, CPI_UOP_NOP, 0);
	f.page.uop[f.nr++] =
		(struct cpi_uop){ .op = CPI_UOP_GOTO, .flags = CPI_UOP_MORE };
	find(&f, CPI_CODE_PAGE - 6, MAX);
	ck_assert_int_eq(f.nr_to, 1);
	ck_assert_int_eq(f.to[0], CPI_CODE_PAGE + 2);
}
END_TEST

START_TEST(what_is_not_translated_leads_nowhere)
{
	struct fixture f;

	setup(&f);
	put(&f, 0, CPI_UOP_JMP, 100);
	find(&f, 0, MAX);
	ck_assert_int_eq(f.nr_to, 0);
	find(&f, 100, MAX);
	ck_assert_int_eq(f.nr_to, 0);
}
END_TEST

/* A micro-op that claims to go on behind the last place. */
START_TEST(the_last_place_is_the_last)
{
	struct fixture f;

	setup(&f);
	f.nr = CPI_UOPS_PER_PAGE - 1;
	put(&f, 0, CPI_UOP_NOP, 0);
	find(&f, 0, MAX);
	ck_assert_int_eq(f.nr_to, 0);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windowahead");
	TCase *tc = tcase_create("windowahead");

	tcase_add_test(tc, a_call_leads_both_ways);
	tcase_add_loop_test(tc, a_jump_that_sets_the_link_register_is_a_call, 0, 2);
	tcase_add_loop_test(tc, nothing_is_behind_what_ends, 0, 4);
	tcase_add_test(tc, the_nearest_come_first);
	tcase_add_test(tc, a_window_s_length_is_the_limit);
	tcase_add_test(tc, the_next_page_is_outside);
	tcase_add_test(tc, what_is_not_translated_leads_nowhere);
	tcase_add_test(tc, the_last_place_is_the_last);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
