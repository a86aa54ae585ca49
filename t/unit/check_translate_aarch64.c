/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What they compute is compared with a machine in t/0337-windows-aarch64.t. */
#include "config.h"

#include <elf.h>
#include <string.h>

#include "abi/window.h"
#include "analysis/translate/translate.h"
#include "daemon/windows/translate_check.h"
#include "t/unit/unit.h"
#include "t/uop_name.h"

#define NR_WORDS (CPI_CODE_PAGE / 4)

struct fixture {
	struct translator *translator;
	uint32_t word[NR_WORDS];
	struct cpi_code_page page;
};

static struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(translator_open(EM_AARCH64, &f->translator), 0);
	return f;
}

static void fixture_free(struct fixture *f)
{
	translator_close(f->translator);
	free(f);
}

static size_t translate(struct fixture *f, const uint16_t *wanted, size_t nr)
{
	uint8_t code[CPI_CODE_PAGE];

	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (uint8_t)(f->word[i / 4] >> 8 * (i % 4));
	return translator_page(f->translator, code, sizeof(code), wanted, nr, &f->page);
}

static const struct cpi_uop *at(const struct fixture *f, unsigned int offset)
{
	ck_assert_uint_ne(f->page.index[offset], 0);
	return &f->page.uop[f->page.index[offset] - 1];
}

static const struct {
	uint32_t word;
	const char *uops;
} instructions[] = {
	{ 0xd503201f, "nop" },                /* nop */
	{ 0x8b020020, "add" },                /* add x0, x1, x2 */
	{ 0x8b020c20, "lea" },                /* …, lsl #3 */
	{ 0xcb421020, "shr sub" },            /* sub x0, x1, x2, lsr #4 */
	{ 0xeb02003f, "subn" },               /* cmp x1, x2 */
	{ 0x1a9f17e0, "setcc" },              /* cset w0, eq */
	{ 0xfa420820, "mov ccmp" },           /* ccmp x1, #2, #0, eq */
	{ 0xd28acf00, "mov" },                /* mov x0, #0x5678 */
	{ 0xf2a24680, "mov const vternary" }, /* movk x0, …, lsl #16 */
	{ 0xd3431c20, "shl shr" },            /* ubfx x0, x1, #3, #5 */
	{ 0x90000000, "and lea" },            /* adrp x0, . */
	{ 0xf8408c20, "mov lea" },            /* ldr x0, [x1, #8]! */
	{ 0xa8c17bfd, "mov mov lea" },        /* ldp x29, x30, [sp], #16 */
	{ 0xa9400400, "mov mov" },            /* ldp x0, x1, [x0] */
	{ 0xf8408421, "stop" },               /* ldr x1, [x1], #8: either */
	{ 0x94000010, "lea jmp" },            /* bl */
	{ 0xd63f0020, "lea jmpi" },           /* blr x1 */
	{ 0xd63f03c0, "mov lea jmpi" },       /* blr x30 */
	{ 0xd65f03c0, "jmpi" },               /* ret */
	{ 0xd50323bf, "shl shr" },            /* autiasp */
	{ 0x36180040, "and jz" },             /* tbz w0, #3 */
	{ 0xd4000001, "stop" },               /* svc */
	{ 0xc8007c20, "stop" },               /* stxr */
	{ 0xc85f7c20, "mov" },                /* ldxr */
	{ 0xf8210040, "mov add mov" },        /* ldadd x1, x0, [x2] */
	{ 0xc8a17c40, "mov mov vcmpeq vternary mov mov" }, /* cas x1, x0, [x2] */
	{ 0x4e209820, "vcmpeq vcmpeq" },                   /* cmeq v0.16b, v1.16b, #0 */
	{ 0x0f0c8420, "vnarrow" },                         /* shrn v0.8b, v1.8h, #4 */
	{ 0x1e622820, "mov" },                             /* fadd: unknown */
	{ 0x25208000, "stop" },                            /* scalable vectors */
	{ 0x00000000, "stop" },                            /* none at all */
};

START_TEST(each_instruction_has_its_micro_ops)
{
	struct fixture *f = fixture_new();
	const uint16_t wanted = 100;
	const struct cpi_uop *u;
	char got[200] = "";

	f->word[wanted / 4] = instructions[_i].word;
	translate(f, &wanted, 1);
	u = at(f, wanted);
	do {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s",
			 got[0] ? " " : "", cpi_uop_name(u->op));
		u++;
	} while (u->flags & CPI_UOP_MORE && u->op != CPI_UOP_GOTO);
	ck_assert_str_eq(got, instructions[_i].uops);
	ck_assert_uint_eq(cpi_uop_length(at(f, wanted)), 4);
	fixture_free(f);
}
END_TEST

START_TEST(jumps_inside_the_page_name_their_targets)
{
	struct fixture *f = fixture_new();
	const uint16_t wanted = 0x10;

	f->word[4] = 0x14000400; /* b to the next page */
	f->word[5] = 0x54000340; /* b.eq 0x7c */
	f->word[6] = 0x97fffffe; /* bl 0x10 */
	translate(f, &wanted, 1);
	ck_assert_uint_eq(at(f, 0x10)->address, 0);
	ck_assert_int_eq(at(f, 0x10)->disp, 0x1000);
	ck_assert_uint_eq(at(f, 0x14)->address, f->page.index[0x7c]);
	ck_assert_uint_eq(at(f, 0x18)[1].address, f->page.index[0x10]);
	fixture_free(f);
}
END_TEST

START_TEST(words_of_any_kind_make_micro_ops_that_may_be_had)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct fixture *f = fixture_new();

	for (int round = 0; round < 1000; round++) {
		const uint16_t wanted[] = { (uint16_t)unit_random(&state) % 4096, 0 };
		size_t nr;

		for (size_t i = 0; i < NR_WORDS; i++)
			f->word[i] = (uint32_t)(unit_random(&state) >> 16);
		nr = translate(f, wanted, NR(wanted));
		ck_assert_msg(nr <= CPI_UOPS_PER_PAGE && f->page.index[wanted[0]] &&
				      !translate_check_page(&f->page, (uint32_t)nr),
			      "seed %#llx", (unsigned long long)seed);
	}
	fixture_free(f);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("translate_aarch64");
	TCase *c = tcase_create("translate_aarch64");

	tcase_set_timeout(c, 600);
	tcase_add_loop_test(c, each_instruction_has_its_micro_ops, 0, NR(instructions));
	tcase_add_test(c, jumps_inside_the_page_name_their_targets);
	tcase_add_test(c, words_of_any_kind_make_micro_ops_that_may_be_had);
	suite_add_tcase(suite, c);
	return suite;
}

UNIT_MAIN(make_suite)
