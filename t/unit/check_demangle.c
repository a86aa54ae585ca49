/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "analysis/image/demangle.h"
#include "base/buf.h"
#include "t/unit/unit.h"

static const struct {
	const char *raw, *pretty; /* NULL: not mangled */
} names[] = {
	{ "main", NULL },
	{ "", NULL },
	{ "_", NULL },
	{ "_Z", NULL },
	{ "_R", NULL },
	{ "_Znonsense", NULL },
	{ "[0x1234]", NULL },
	{ "_Z1fv", "f()" },
	{ "_ZN5shape4areaEid", "shape::area(int, double)" },
	{ "_ZNK5shape4nameEv", "shape::name() const" },
	{ "_ZN5shape4areaEid.cold", "shape::area(int, double) [clone .cold]" },
	{ "_ZdlPv", "operator delete(void*)" },
	{ "_GLOBAL__I_main", "global constructors keyed to main" },
	/* Rust: legacy, whose hash is left out, and v0. */
	{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	  "core::fmt::Write::write_fmt" },
	{ "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT"
	  "$3bar17h930b740aa94f1d3aE",
	  "<Test + 'static as foo::Bar<Test>>::bar" },
	{ "_RNvCskwGfYPst2Cb_3foo16example_function", "foo::example_function" },
};

START_TEST(names_read_as_their_programmers_wrote_them)
{
	char *pretty = demangle(names[_i].raw);

	if (names[_i].pretty)
		ck_assert_str_eq(pretty, names[_i].pretty);
	else
		ck_assert_ptr_null(pretty);
	free(pretty);
}
END_TEST

/* pair<int, int>, then pair of two of that, and so on: 2^levels times "int". */
START_TEST(a_name_that_stands_for_gigabytes_is_left_as_it_is)
{
	struct buf raw = { 0 };
	char *pretty;

	buf_puts(&raw, "_Z1fSt4pairIiiE");
	for (int level = 0; level < 30; level++) {
		static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char before = digits[level];

		buf_printf(&raw, "S_IS%c_S%c_E", before, before);
	}
	pretty = demangle(buf_str(&raw));
	ck_assert_ptr_null(pretty);
	buf_fini(&raw);
}
END_TEST

START_TEST(a_name_beyond_four_kilobytes_is_left_as_it_is)
{
	struct buf raw = { 0 };

	buf_puts(&raw, "_Z1f");
	while (raw.len <= 4096)
		buf_putc(&raw, 'i');
	ck_assert_ptr_null(demangle(buf_str(&raw)));
	buf_fini(&raw);
}
END_TEST

START_TEST(random_names_do_no_harm)
{
	static const char letters[] = "_ZNKSRCstIEvijlS0123456789LTtXnwrPh$u.";
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 20000; round++) {
		char raw[80] = "_Z";
		size_t len = 2 + unit_random(&state) % (sizeof(raw) - 3);
		char *pretty;

		if (round & 1)
			raw[1] = 'R';
		for (size_t i = 2; i < len; i++)
			raw[i] = letters[unit_random(&state) % (sizeof(letters) - 1)];
		pretty = demangle(raw);
		ck_assert_msg(!pretty || strlen(pretty) <= 16384, "seed %llu",
			      (unsigned long long)seed);
		free(pretty);
	}
}
END_TEST

static Suite *demangle_suite(void)
{
	Suite *s = suite_create("demangle");
	TCase *tc = tcase_create("demangle");

	tcase_add_loop_test(tc, names_read_as_their_programmers_wrote_them, 0,
			    NR(names));
	tcase_add_test(tc, a_name_that_stands_for_gigabytes_is_left_as_it_is);
	tcase_add_test(tc, a_name_beyond_four_kilobytes_is_left_as_it_is);
	tcase_add_test(tc, random_names_do_no_harm);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(demangle_suite)
