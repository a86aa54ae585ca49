/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/compare/similar.h"

#include "base/err.h"
#include "t/unit/unit.h"

/* xor, add, shl, imul, ret: of rax and rdi. */
static const uint8_t first[] = { 0x31, 0xc0, 0x48, 0x01, 0xf8, 0x48, 0xc1,
				 0xe0, 0x07, 0x48, 0x0f, 0xaf, 0xc7, 0xc3 };
/* The same of rcx and rsi, by another number, and no-operations. */
static const uint8_t again[] = { 0x31, 0xc9, 0x90, 0x48, 0x01, 0xf1, 0x48, 0xc1, 0xe1,
				 0x09, 0x48, 0x0f, 0xaf, 0xce, 0x66, 0x90, 0xc3 };
/* and, sub, by a number: of eax, which has opcodes of its own, and of ecx. */
static const uint8_t short_form[] = { 0x25, 0xff, 0x0f, 0x00, 0x00, 0x2d,
				      0x44, 0x33, 0x22, 0x11, 0xc3 };
static const uint8_t long_form[] = { 0x81, 0xe1, 0xff, 0x0f, 0x00, 0x00, 0x81,
				     0xe9, 0x44, 0x33, 0x22, 0x11, 0xc3 };
/* push, mov, sub, call, pop, ret. */
static const uint8_t other[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10,
				 0xe8, 0x00, 0x00, 0x00, 0x00, 0x5d, 0xc3 };

enum { FIRST = 0x100, AGAIN = 0x200, OTHER = 0x300, SHORT = 0x400, LONG = 0x500 };

START_TEST(code_is_alike_whatever_its_registers)
{
	const struct image_desc desc = { .kind = IMAGE_MODULE, .name = "m" };
	const struct capture_code codes[] = {
		{ FIRST, sizeof(first), first },
		{ AGAIN, sizeof(again), again },
		{ OTHER, sizeof(other), other },
		{ SHORT, sizeof(short_form), short_form },
		{ LONG, sizeof(long_form), long_form },
	};
	struct similar *a, *b, *c, *both, *none, *x, *y;
	struct image *im;
	struct isa *isa;

	ck_assert_int_eq(isa_open(MACHINE_X86_64, &isa), 0);
	ck_assert_int_eq(image_open_capture(&desc, MACHINE_X86_64, NULL, 0, codes,
					    NR(codes), &im),
			 0);
	ck_assert_int_eq(similar_new(im, isa, FIRST, FIRST + sizeof(first), &a), 0);
	ck_assert_int_eq(similar_new(im, isa, AGAIN, AGAIN + sizeof(again), &b), 0);
	ck_assert_int_eq(similar_new(im, isa, OTHER, OTHER + sizeof(other), &c), 0);
	ck_assert(similar_score(a, b) == 1);
	ck_assert(similar_score(a, c) < SIMILAR_ENOUGH);
	ck_assert_int_eq(similar_new(im, isa, FIRST, FIRST + 0x80, &none),
			 -CPI_ENOCODE);
	ck_assert_int_eq(similar_new(im, isa, 0, 1 << 30, &none), -CPI_ELIMIT);
	ck_assert_int_eq(similar_new(im, isa, SHORT, SHORT + sizeof(short_form), &x),
			 0);
	ck_assert_int_eq(similar_new(im, isa, LONG, LONG + sizeof(long_form), &y), 0);
	ck_assert(similar_score(x, y) == 1);
	similar_free(x);
	similar_free(y);
	both = similar_join(a, c);
	ck_assert_ptr_nonnull(both);
	ck_assert(similar_part(b, both) == 1 && similar_part(c, both) == 1);
	ck_assert(similar_part(both, c) < SIMILAR_PART);
	ck_assert(similar_score(a, both) < 1 && similar_score(a, both) > 0);
	similar_free(both);
	similar_free(a);
	similar_free(b);
	similar_free(c);
	similar_free(NULL);
	image_close(im);
	isa_close(isa);
}
END_TEST

static Suite *similar_suite(void)
{
	Suite *s = suite_create("similar");
	TCase *t = tcase_create("similar");

	tcase_add_test(t, code_is_alike_whatever_its_registers);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(similar_suite)
