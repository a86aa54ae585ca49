/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Micro-ops of real code pass; of those that could do harm none does. */
#include "config.h"

#include "daemon/windows/translate_check.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "abi/window.h"
#include "analysis/translate/translate.h"
#include "base/err.h"
#include "t/unit/unit.h"

static struct cpi_code_page page;

#ifdef HAVE_ZYDIS
START_TEST(what_the_translator_makes_of_this_program_passes)
{
	static uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE];
	const uint16_t wanted[] = { 0, 1, 100, 2048, 4095 };
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct translator *t;
	ssize_t size;
	int nr = 0;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(translator_open(EM_X86_64, &t), 0);
	/* All of the file: what is no code may be jumped to as well. */
	while ((size = pread(fd, code, sizeof(code), nr * CPI_CODE_PAGE)) > 0) {
		const size_t nr_uops =
			translator_page(t, code, (size_t)size, wanted, 5, &page);

		ck_assert_int_eq(translate_check_page(&page, nr_uops), 0);
		nr++;
	}
	ck_assert_int_gt(nr, 10);
	translator_close(t);
	close(fd);
}
END_TEST
#endif

static const struct {
	struct cpi_uop uop;
	int err;
} uops[] = {
	{ { .op = CPI_UOP_MOV }, 0 },
	{ { .op = CPI_NR_UOPS }, -CPI_ECORRUPT },
	{ { .op = 0xff }, -CPI_ECORRUPT },
	{ { .op = CPI_UOP_JCC, .address = 2 }, 0 },
	{ { .op = CPI_UOP_JCC, .address = 3 }, -CPI_ECORRUPT },
	{ { .op = CPI_UOP_GOTO, .address = 0xffff }, -CPI_ECORRUPT },
	{ { .op = CPI_UOP_STOP, .imm = CPI_WINDOW_TRAP }, 0 },
	{ { .op = CPI_UOP_STOP, .imm = CPI_NR_WINDOW_ENDS }, -CPI_ECORRUPT },
	{ { .op = CPI_UOP_STOP, .imm = -1 }, -CPI_ECORRUPT },
	{ { .op = CPI_UOP_ADD, .dst = CPI_REG_ZERO }, -CPI_ECORRUPT },
	{ { .op = CPI_UOP_ADD, .dst = CPI_REG_UNKNOWN }, -CPI_ECORRUPT },
	{ { .op = CPI_UOP_ADD, .dst = CPI_REG_ZERO, .flags = CPI_UOP_STORE }, 0 },
};

START_TEST(each_micro_op_is_looked_at)
{
	memset(&page, 0, sizeof(page));
	page.uop[1] = uops[_i].uop;
	ck_assert_int_eq(translate_check_page(&page, 2), uops[_i].err);
	ck_assert_int_eq(translate_check_page(&page, 1), 0);
}
END_TEST

START_TEST(no_index_leads_out_of_the_page)
{
	memset(&page, 0, sizeof(page));
	page.index[CPI_CODE_PAGE - 1] = 2;
	ck_assert_int_eq(translate_check_page(&page, 2), 0);
	ck_assert_int_eq(translate_check_page(&page, 1), -CPI_ECORRUPT);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("translate_check");
	TCase *tc = tcase_create("translate_check");

#ifdef HAVE_ZYDIS
	tcase_add_test(tc, what_the_translator_makes_of_this_program_passes);
#endif
	tcase_add_loop_test(tc, each_micro_op_is_looked_at, 0, NR(uops));
	tcase_add_test(tc, no_index_leads_out_of_the_page);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
