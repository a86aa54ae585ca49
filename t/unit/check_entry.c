/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "abi/entry.h"
#include "t/unit/unit.h"

static const struct {
	uint64_t pc;
	unsigned int event, outcome, tgid, generation;
} keys[] = {
	{ 0, 0, 0, 0, 0 },
	{ 0x00007fffffffffff, 31, 3, CPI_MAX_TGID, CPI_MAX_GENERATION },
	{ 0xffffffff81000000, 1, 1, 0, 1 },
	{ 0xff11000000000000, 2, 2, 1, 512 }, /* the lowest address with 57 bits */
	{ 0xffffffffffffffff, 0, 0, 4194303, 0 },
	{ 0x00ffffffffffffff, 30, 0, 1 << 21, 1023 }, /* the highest user one */
};

START_TEST(every_field_comes_back)
{
	struct cpi_entry e = { cpi_entry_word0(keys[_i].pc, keys[_i].event,
					       keys[_i].outcome),
			       cpi_entry_who(keys[_i].tgid, keys[_i].generation) |
				       77ULL << CPI_COUNT_SHIFT };

	ck_assert_uint_eq(cpi_entry_pc(&e), keys[_i].pc);
	ck_assert_uint_eq(cpi_entry_event(&e), keys[_i].event);
	ck_assert_uint_eq(cpi_entry_outcome(&e), keys[_i].outcome);
	ck_assert_uint_eq(cpi_entry_tgid(&e), keys[_i].tgid);
	ck_assert_uint_eq(cpi_entry_generation(&e), keys[_i].generation);
	ck_assert_uint_eq(cpi_entry_count(&e), 77);
}
END_TEST

/* The layout itself: the kernel module and old dumps depend on it. */
START_TEST(bits_stand_where_the_abi_says)
{
	ck_assert_uint_eq(cpi_entry_word0(1, 0, 0), 1ULL);
	ck_assert_uint_eq(cpi_entry_word0(0, 1, 0), 1ULL << 57);
	ck_assert_uint_eq(cpi_entry_word0(0, 0, 1), 1ULL << 62);
	ck_assert_uint_eq(cpi_entry_who(1, 0), 1ULL);
	ck_assert_uint_eq(cpi_entry_who(0, 1), 1ULL << 22);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("entry");
	TCase *tc = tcase_create("entry");

	tcase_add_loop_test(tc, every_field_comes_back, 0, NR(keys));
	tcase_add_test(tc, bits_stand_where_the_abi_says);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
