/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "analysis/image/symtab.h"
#include "base/err.h"
#include "t/unit/unit.h"

#define END 0x1000

/* Both entries start at one address: which name stands for it? */
static const struct {
	struct symtab_entry a, b;
	const char *best;
} pairs[] = {
	{ { .raw = "sized", .size = 4 }, { .raw = "unsized" }, "sized" },
	{ { .raw = "weak", .size = 4, .binding = SYMTAB_WEAK },
	  { .raw = "l", .size = 4, .binding = SYMTAB_LOCAL },
	  "l" },
	{ { .raw = "l_longer", .size = 4, .binding = SYMTAB_LOCAL },
	  { .raw = "g", .size = 4, .binding = SYMTAB_GLOBAL },
	  "g" },
	{ { .raw = "__read", .size = 4, .binding = SYMTAB_GLOBAL },
	  { .raw = "read", .size = 4, .binding = SYMTAB_GLOBAL },
	  "read" },
	{ { .raw = "io_read", .size = 4 }, { .raw = "read", .size = 4 }, "io_read" },
	{ { .raw = "b", .size = 4 }, { .raw = "a", .size = 4 }, "a" },
	{ { .raw = "small", .size = 4 }, { .raw = "larger", .size = 8 }, "larger" },
};

START_TEST(the_best_name_stands_for_an_address)
{
	for (int swap = 0; swap < 2; swap++) {
		struct symtab_entry a = pairs[_i].a, b = pairs[_i].b;
		const struct symbol *s;
		struct symtab t = { 0 };

		a.start = b.start = 0x100;
		a.limit = b.limit = END;
		ck_assert_int_eq(symtab_add(&t, swap ? &b : &a), 0);
		ck_assert_int_eq(symtab_add(&t, swap ? &a : &b), 0);
		ck_assert_int_eq(symtab_build(&t), 0);
		ck_assert_str_eq(symtab_at(&t, 0x100)->name, pairs[_i].best);
		/* The other one still finds it. */
		ck_assert_int_eq(symtab_named(&t, a.raw, &s), 0);
		ck_assert_str_eq(s->name, pairs[_i].best);
		ck_assert_int_eq(symtab_named(&t, b.raw, &s), 0);
		ck_assert_str_eq(s->name, pairs[_i].best);
		symtab_fini(&t);
	}
}
END_TEST

static const struct symtab_entry program[] = {
	{ .start = 0x100, .size = 0x40, .raw = "outer" },
	{ .start = 0x110, .raw = "label", .label = true },
	{ .start = 0x120, .size = 8, .raw = "inner" },
	{ .start = 0x130, .raw = "part" },
	{ .start = 0x200, .raw = "open_ended" },
	{ .start = 0x240, .raw = "free_label", .label = true },
	{ .start = 0x300, .size = UINT64_MAX, .raw = "lies_about_its_size" },
	{ .start = UINT64_MAX - 3, .size = 100, .raw = "beyond_the_limit" },
};

static const struct {
	uint64_t at;
	const char *name;
} owners[] = {
	{ 0xff, NULL },
	{ 0x100, "outer" },
	{ 0x110, "outer" },
	{ 0x11f, "outer" },
	{ 0x120, "inner" },
	{ 0x127, "inner" },
	{ 0x128, "outer" },
	{ 0x130, "part" },
	{ 0x13f, "part" },
	{ 0x140, NULL },
	{ 0x200, "open_ended" },
	{ 0x23f, "open_ended" },
	{ 0x240, "free_label" },
	{ 0x2ff, "free_label" },
	{ 0xfff, "lies_about_its_size" },
	{ 0x1000, NULL },
	{ UINT64_MAX - 1, NULL },
};

START_TEST(procedures_end_where_their_size_their_limit_or_the_next_one_says)
{
	struct symtab t = { 0 };

	for (size_t i = 0; i < NR(program); i++) {
		struct symtab_entry e = program[i];

		e.limit = END;
		ck_assert_int_eq(symtab_add(&t, &e), 0);
	}
	ck_assert_int_eq(symtab_build(&t), 0);
	for (size_t i = 0; i < NR(owners); i++) {
		const struct symbol *s = symtab_at(&t, owners[i].at);

		ck_assert_msg(!s == !owners[i].name, "at 0x%llx",
			      (unsigned long long)owners[i].at);
		if (s)
			ck_assert_str_eq(s->name, owners[i].name);
	}
	symtab_fini(&t);
}
END_TEST

static const char *const overloads[] = {
	"_Z4areai",          /* area(int) */
	"_Z4aread",          /* area(double) */
	"_ZNK5shape4nameEv", /* shape::name() const */
	"_Z4zoomi",          /* zoom(int) */
	"_Z4zoomi.cold",     /* zoom(int) [clone .cold] */
	"_ZN12_GLOBAL__N_14hideEv",
	"twice",
	"twice",
	"memcpy@@GLIBC_2.14",
	"_ZdlPv@plt",
	"puts@plt",
	"puts",
};

static const struct {
	const char *ask;
	int err;
	size_t which;
} questions[] = {
	{ "area", -CPI_ETOOMANY, 0 },
	{ "area(int)", 0, 0 },
	{ "area(double)", 0, 1 },
	{ "_Z4aread", 0, 1 },
	{ "shape::name", 0, 2 },
	{ "shape::name() const", 0, 2 },
	{ "zoom", 0, 3 },
	{ "zoom(int) [clone .cold]", 0, 4 },
	{ "(anonymous namespace)::hide", 0, 5 },
	{ "twice", -CPI_ETOOMANY, 0 },
	{ "memcpy", 0, 8 },
	{ "memcpy@@GLIBC_2.14", 0, 8 },
	{ "operator delete(void*)@plt", 0, 9 },
	{ "puts@plt", 0, 10 },
	{ "puts", 0, 11 },
	{ "put", -CPI_ENOSYMBOL, 0 },
	{ "", -CPI_ENOSYMBOL, 0 },
};

START_TEST(names_are_found_with_and_without_arguments)
{
	const struct symbol *s = NULL;
	struct symtab t = { 0 };

	for (size_t i = 0; i < NR(overloads); i++) {
		struct symtab_entry e = {
			.start = i * 16, .size = 16, .limit = END, .raw = overloads[i]
		};

		ck_assert_int_eq(symtab_add(&t, &e), 0);
	}
	ck_assert_int_eq(symtab_build(&t), 0);
	for (size_t i = 0; i < NR(questions); i++) {
		ck_assert_msg(symtab_named(&t, questions[i].ask, &s) ==
				      questions[i].err,
			      "%s", questions[i].ask);
		if (!questions[i].err)
			ck_assert_uint_eq(s->start, questions[i].which * 16);
	}
	ck_assert_str_eq(symtab_at(&t, 8 * 16)->name, "memcpy");
	symtab_fini(&t);
}
END_TEST

/* What mangling does not keep of a name must not hide it. */
static const char *const mangled[] = {
	"main",
	"_Z1fv",
	"_ZN5shapeC1Eid",
	"_ZN5shapeD0Ev",
	"_ZN5shapecviEv",
	"_ZN5shapeplERKS_",
	"_Z5twiceIiET_S0_",
	"_ZSt4copyIPiS0_ET0_T_S2_S1_",
	"_ZNSsC1Ev",
	"_ZNSaIcED2Ev",
	"_ZNSolsEi",
	"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev",
	"_ZZ1fvENKUlvE_clEv",
	"_ZN12_GLOBAL__N_14hideEv",
	"_ZN3fooB5cxx11Ev",
	"_ZThn8_N5shape4nameEv",
	"_Z4zoomi.cold",
	"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
	"_ZN4core3ops6FnOnce40call_once$u7b$$u7b$vtable.shim$u7d$$u7d$E",
	"_RNvCskwGfYPst2Cb_3foo16example_function",
	"[0x4290]",
};

START_TEST(each_name_finds_its_procedure)
{
	const struct symbol *found = NULL, *s;
	struct symtab t = { 0 };

	for (size_t i = 0; i < NR(mangled); i++) {
		struct symtab_entry e = {
			.start = i * 16, .size = 16, .limit = END, .raw = mangled[i]
		};

		ck_assert_int_eq(symtab_add(&t, &e), 0);
	}
	ck_assert_int_eq(symtab_build(&t), 0);
	for (size_t i = 0; i < NR(mangled); i++) {
		s = symtab_at(&t, i * 16);
		ck_assert_msg(!symtab_named(&t, s->name, &found), "%s", s->name);
		ck_assert_ptr_eq(found, s);
		ck_assert_msg(!symtab_named(&t, s->raw, &found), "%s", s->raw);
		ck_assert_ptr_eq(found, s);
	}
	symtab_fini(&t);
}
END_TEST

START_TEST(a_table_without_entries_answers)
{
	const struct symbol *s;
	struct symtab t = { 0 };
	size_t nr = 1;

	ck_assert_int_eq(symtab_build(&t), 0);
	ck_assert_ptr_null(symtab_at(&t, 0));
	ck_assert_ptr_null(symtab_all(&t, &nr));
	ck_assert_uint_eq(nr, 0);
	ck_assert_int_eq(symtab_named(&t, "main", &s), -CPI_ENOSYMBOL);
	symtab_fini(&t);
}
END_TEST

static Suite *symtab_suite(void)
{
	Suite *s = suite_create("symtab");
	TCase *tc = tcase_create("symtab");

	tcase_add_loop_test(tc, the_best_name_stands_for_an_address, 0, NR(pairs));
	tcase_add_test(
		tc, procedures_end_where_their_size_their_limit_or_the_next_one_says);
	tcase_add_test(tc, names_are_found_with_and_without_arguments);
	tcase_add_test(tc, each_name_finds_its_procedure);
	tcase_add_test(tc, a_table_without_entries_answers);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(symtab_suite)
