/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/procmap/kernel.h"

#include <stdio.h>
#include <stdlib.h>

#include "t/unit/unit.h"

static const char own_symbols[] = "ffffffff81000000 T _text\n"
				  "ffffffff81001000 t __do_work\n"
				  "ffffffff81001000 t do_work\n"
				  "ffffffff81002000 t do_more\n"
				  "ffffffff82000000 T _etext\n";

/* On AArch64 modules are below the kernel. */
static const char *const other_symbols[] = {
	"ffffffffc0001000 t bpf_prog_1_a\t[bpf]\n",
	"",
	"ffffffffc0001000 t bpf_prog_2_b\t[bpf]\n"
	"ffffffffc0001100 t bpf_prog_1_a\t[bpf]\n",
	"ffffffff71001000 t bpf_prog_3_c\t[bpf]\n",
	"ffffffffc0002000 t bpf_prog_4_d\t[bpf]\n"
	"ffffffff81002000 t bpf_prog_5_e\t[bpf]\n",
};

static const uint64_t pcs[] = {
	0xffffffff71001010, 0xffffffff81000010, 0xffffffff81001010,
	0xffffffff81002010, 0xffffffff81ffffff, 0xffffffff82000010,
	0xffffffffc0001010, 0xffffffffc0001110, 0xffffffffc0002010,
};

static void parse(struct kernel *k, const char *others)
{
	char text[sizeof(own_symbols) + 256];

	snprintf(text, sizeof(text), "%s%s", own_symbols, others);
	ck_assert_int_eq(kernel_parse(k, text), 0);
}

static void compare(const struct kernel *k, const struct kernel *fresh, uint64_t pc)
{
	struct kernel_symbol a, b;
	const bool found = kernel_find(k, pc, &a);

	ck_assert_int_eq(found, kernel_find(fresh, pc, &b));
	if (!found)
		return;
	ck_assert_str_eq(a.name, b.name);
	ck_assert_ptr_eq(a.image, b.image);
	ck_assert_uint_eq(a.start, b.start);
	ck_assert_uint_eq(a.end, b.end);
	ck_assert_uint_eq(a.base, b.base);
}

/* The kernel's own symbols are kept; the result is that of a first reading. */
START_TEST(reading_again_finds_what_a_first_reading_finds)
{
	static const struct image_source none;
	struct images *im = images_new(NULL);
	struct kernel *k = kernel_new(im, &none);

	for (size_t i = 0; i < sizeof(other_symbols) / sizeof(other_symbols[0]); i++) {
		struct kernel *fresh = kernel_new(im, &none);

		parse(k, other_symbols[i]);
		parse(fresh, other_symbols[i]);
		for (size_t j = 0; j < sizeof(pcs) / sizeof(pcs[0]); j++)
			compare(k, fresh, pcs[j]);
		kernel_close(fresh);
		/* marks do not stay */
		kernel_text_changed(k, 0xffffffffc0001080, 0x10, UINT64_MAX);
		kernel_text_changed(k, 0xffffffff71001000, 0x10, UINT64_MAX);
	}
	kernel_close(k);
	images_free(im);
}
END_TEST

/* kernel.kptr_restrict was changed meanwhile. */
START_TEST(hidden_symbols_are_dropped_and_read_again)
{
	static const struct image_source none;
	char hidden[] = "0000000000000000 T _text\n0000000000000000 t do_work\n"
			"0000000000000000 T _etext\n";
	struct images *im = images_new(NULL);
	struct kernel *k = kernel_new(im, &none);
	struct kernel_symbol s;

	parse(k, other_symbols[0]);
	ck_assert(kernel_find(k, 0xffffffff81001010, &s));
	ck_assert_int_eq(kernel_parse(k, hidden), 0);
	ck_assert(!kernel_find(k, 0xffffffff81001010, &s));
	parse(k, other_symbols[0]);
	ck_assert(kernel_find(k, 0xffffffff81001010, &s));
	ck_assert_str_eq(s.name, "do_work");
	kernel_close(k);
	images_free(im);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("kernel");
	TCase *tc = tcase_create("kernel");

	tcase_add_test(tc, reading_again_finds_what_a_first_reading_finds);
	tcase_add_test(tc, hidden_symbols_are_dropped_and_read_again);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
