/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Forms: the micro-ops of a form, filled with an instruction's displacement and
 * constant, are those of the instruction's own translation. The oracle is the
 * translator, and the instructions are those of the system's programs: some of
 * each file, or all of them with FORMS=1. Each constant of one byte is tried, too.
 */
#include "config.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/window.h"
#include "analysis/translate/translate_machine.h"
#include "t/unit/unit.h"

#define NR_SLOTS (1u << 17)
#define BLOCK    2048u      /* bytes of code that are tried ... */
#define STRIDE   (1u << 17) /* ... of so many */

struct slot {
	bool taken;
	struct translator_form form;
};

static struct {
	struct slot *slot;
	uint64_t nr_forms, nr_uops, nr_refused;
	uint64_t nr, nr_filled, nr_without; /* instructions */
	_Alignas(16) uint8_t state[4096];
	struct translator *translator;
} t;

static void set_up(void)
{
	memset(&t, 0, sizeof(t));
	t.slot = calloc(NR_SLOTS, sizeof(*t.slot));
	ck_assert_ptr_nonnull(t.slot);
	ck_assert_uint_le(translate_x86_64.state_size, sizeof(t.state));
	translate_x86_64.init(t.state);
	ck_assert_int_eq(translator_open(EM_X86_64, &t.translator), 0);
}

static void tear_down(void)
{
	translator_close(t.translator);
	free(t.slot);
}

/* Its slot, or the free one for it. */
static struct slot *slot_of(const uint64_t key[2])
{
	uint32_t at = cpi_form_set(key, NR_SLOTS);

	while (t.slot[at].taken &&
	       (t.slot[at].form.key[0] != key[0] || t.slot[at].form.key[1] != key[1]))
		at = (at + 1) % NR_SLOTS;
	return &t.slot[at];
}

static void add(const struct translator_form *form)
{
	struct slot *slot = slot_of(form->key);

	ck_assert(!slot->taken && t.nr_forms < NR_SLOTS / 2);
	slot->taken = true;
	slot->form = *form;
	t.nr_forms++;
	t.nr_uops += form->nr;
	t.nr_refused += !form->nr && !(form->how & CPI_FORM_CONSTANT);
}

/* Looks the form up as a window does; *parts gets the constant, where it has one. */
static const struct translator_form *find(struct cpi_form_parts *parts)
{
	const struct slot *slot = slot_of(parts->key);

	if (slot->taken && slot->form.how & CPI_FORM_CONSTANT) {
		cpi_form_add_constant(parts);
		slot = slot_of(parts->key);
	}
	return slot->taken ? &slot->form : NULL;
}

static const struct translator_form *make(const uint8_t *code,
					  struct cpi_form_parts *parts)
{
	const struct translator_form *found = find(parts);
	struct translator_form form;

	if (found)
		return found;
	ck_assert_int_eq(translator_form(t.translator, code, &form), 0);
	if (form.how & CPI_FORM_CONSTANT && !slot_of(parts->key)->taken &&
	    memcmp(form.key, parts->key, sizeof(form.key)) != 0) {
		struct translator_form general = { .how = CPI_FORM_CONSTANT };

		memcpy(general.key, parts->key, sizeof(general.key));
		add(&general);
		cpi_form_add_constant(parts);
	}
	ck_assert_mem_eq(form.key, parts->key, sizeof(form.key));
	form.how &= (uint8_t)~CPI_FORM_CONSTANT;
	add(&form);
	return find(parts);
}

static void fail_at(const uint8_t *code, const char *what)
{
	char text[64] = "";

	for (int i = 0; i < 16; i++)
		snprintf(text + 3 * i, 4, "%02x ", code[i]);
	ck_abort_msg("%s: %s", text, what);
}

/* Compares form and translation. */
static void compare(const uint8_t code[CPI_FORM_BYTES], const struct translated *direct)
{
	const struct translator_form *form;
	struct cpi_form_parts parts;
	uint64_t low, high;

	t.nr++;
	memcpy(&low, code, 8);
	memcpy(&high, code + 8, 8);
	form = cpi_form_split(&parts, low, high) ? make(code, &parts) : NULL;
	if (!form || !form->nr) {
		t.nr_without += direct->uop[0].op != CPI_UOP_STOP;
		return;
	}
	if (direct->length != parts.length)
		fail_at(code, "another length");
	if (direct->nr != form->nr)
		fail_at(code, "another number of micro-ops");
	for (unsigned int i = 0; i < form->nr; i++) {
		struct cpi_uop want = direct->uop[i], uop;

		want.flags |= (uint16_t)((direct->length - 1) << CPI_UOP_LENGTH_SHIFT);
		cpi_form_fill(&form->uop[i], form->how, &parts, &uop);
		if (memcmp(&want, &uop, sizeof(uop)) != 0)
			fail_at(code, "other micro-ops");
	}
	t.nr_filled++;
}

static void compare_code(const uint8_t *code, size_t size)
{
	const bool all = getenv("FORMS");
	struct translated one;

	for (size_t at = 0; at + CPI_FORM_BYTES <= size; at += one.length) {
		if (!all && at % STRIDE >= BLOCK)
			at += STRIDE - at % STRIDE;
		if (at + CPI_FORM_BYTES > size)
			break;
		translate_x86_64.instruction(t.state, code + at, size - at, &one);
		compare(code + at, &one);
	}
}

/* The sections with code. */
static void compare_file(const char *path)
{
	const Elf64_Ehdr *header;
	const Elf64_Shdr *section;
	const uint8_t *file;
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return;
	ck_assert_int_eq(fstat(fd, &st), 0);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	ck_assert_ptr_ne(file, MAP_FAILED);
	header = (const void *)file;
	section = (const void *)(file + header->e_shoff);
	for (int i = 0; i < header->e_shnum; i++) {
		if (section[i].sh_type == SHT_PROGBITS &&
		    section[i].sh_flags & SHF_EXECINSTR)
			compare_code(file + section[i].sh_offset, section[i].sh_size);
	}
	munmap((void *)file, (size_t)st.st_size);
}

static const char *const files[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/gcc/x86_64-linux-gnu/*/cc1",
	"/usr/lib/gcc/x86_64-linux-gnu/*/cc1plus",
	"/usr/bin/perl",
	"/usr/bin/python3",
};

START_TEST(forms_of_programs_are_their_translations)
{
	glob_t found;

	set_up();
	if (!glob(files[_i], 0, NULL, &found)) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			compare_file(found.gl_pathv[i]);
		printf("# %s: %llu instructions, %llu without a form; %llu forms, %llu "
		       "refused, %llu micro-ops\n",
		       found.gl_pathv[0], (unsigned long long)t.nr,
		       (unsigned long long)t.nr_without, (unsigned long long)t.nr_forms,
		       (unsigned long long)t.nr_refused, (unsigned long long)t.nr_uops);
		globfree(&found);
		ck_assert_uint_gt(t.nr_filled, 0);
		ck_assert_uint_le(500 * t.nr_without, t.nr);
	}
	tear_down();
}
END_TEST

/* Nearly an instruction: some prefixes, an opcode, and anything. */
static void make_code(uint64_t *random, uint8_t *code)
{
	static const uint8_t begin[][3] = {
		{ 0 },          { 0x66 },       { 0xf2 },       { 0xf3 },
		{ 0x48 },       { 0x66, 0x41 }, { 0x0f },       { 0x66, 0x0f },
		{ 0xf3, 0x0f }, { 0x0f, 0x38 }, { 0x0f, 0x3a }, { 0x66, 0x0f, 0x3a },
		{ 0xc5 },       { 0xc4 },       { 0x62 },       { 0x66, 0x0f, 0x38 },
		{ 0x64, 0x4c }, { 0x48, 0x0f }, { 0x67 },       { 0xf0 },
	};
	const uint8_t *b = begin[unit_random(random) % NR(begin)];
	unsigned int nr = 0;

	for (unsigned int i = 0; i < CPI_FORM_BYTES; i++)
		code[i] = (uint8_t)unit_random(random);
	while (nr < 3 && b[nr])
		nr++;
	memcpy(code, b, nr);
}

START_TEST(forms_of_random_code_are_its_translations)
{
	const uint64_t seed = unit_seed();
	uint64_t random = seed;

	set_up();
	for (unsigned int i = 0; i < (getenv("FORMS") ? 3000000 : 30000); i++) {
		uint8_t code[CPI_FORM_BYTES];
		struct translated one;

		if (t.nr_forms > NR_SLOTS / 2 - 2) {
			memset(t.slot, 0, NR_SLOTS * sizeof(*t.slot));
			t.nr_forms = 0;
		}
		make_code(&random, code);
		translate_x86_64.instruction(t.state, code, sizeof(code), &one);
		compare(code, &one);
	}
	printf("# seed %#llx: %llu of %llu have a form\n", (unsigned long long)seed,
	       (unsigned long long)t.nr_filled, (unsigned long long)t.nr);
	ck_assert_uint_gt(t.nr_filled, t.nr / 4);
	tear_down();
}
END_TEST

/* Of all instructions with a constant of one byte, in all its values. */
START_TEST(forms_hold_for_each_constant_of_a_byte)
{
	static const uint8_t code[][8] = {
		{ 0x83, 0xc0 },                         /* add */
		{ 0x48, 0x83, 0x7c, 0x24, 0x08 },       /* cmp, memory */
		{ 0x80, 0xe1 },                         /* and, of a byte */
		{ 0x66, 0x83, 0xc9 },                   /* or, of two */
		{ 0xc1, 0xe0 },                         /* shl */
		{ 0x48, 0xc1, 0xf8 },                   /* sar */
		{ 0xc0, 0xc0 },                         /* rol */
		{ 0x0f, 0xba, 0xe0 },                   /* bt */
		{ 0x0f, 0xa4, 0xc8 },                   /* shld */
		{ 0x6b, 0xc0 },                         /* imul */
		{ 0x6a },                               /* push */
		{ 0xb0 },                               /* mov */
		{ 0x66, 0x0f, 0x70, 0xc0 },             /* pshufd */
		{ 0x66, 0x0f, 0x73, 0xd8 },             /* psrldq */
		{ 0x66, 0x0f, 0x73, 0xf0 },             /* psllq */
		{ 0x66, 0x0f, 0x3a, 0x0f, 0xc1 },       /* palignr */
		{ 0x62, 0xf3, 0x7d, 0x48, 0x3f, 0xc1 }, /* vpcmpb */
		{ 0x62, 0xf3, 0x7d, 0x48, 0x25, 0xc1 }, /* vpternlogd */
		{ 0xc4, 0xe3, 0x7d, 0x39, 0xc1 },       /* vextracti128 */
		{ 0xeb },                               /* jmp */
		{ 0x74 },                               /* je */
		{ 0xcd },                               /* int */
	};

	set_up();
	for (size_t i = 0; i < NR(code); i++) {
		for (unsigned int imm = 0; imm < 256; imm++) {
			uint8_t with[CPI_FORM_BYTES] = { 0 };
			struct translated one;
			unsigned int nr = 1;

			for (unsigned int k = 0; k < sizeof(code[i]); k++)
				nr = code[i][k] ? k + 1 : nr;
			memcpy(with, code[i], nr);
			with[nr] = (uint8_t)imm;
			translate_x86_64.instruction(t.state, with, sizeof(with), &one);
			ck_assert_uint_eq(one.length, nr + 1);
			compare(with, &one);
		}
	}
	ck_assert_uint_eq(t.nr_without, 0);
	tear_down();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("form");
	TCase *tc = tcase_create("form");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, forms_of_programs_are_their_translations, 0,
			    (int)NR(files));
	tcase_add_test(tc, forms_of_random_code_are_its_translations);
	tcase_add_test(tc, forms_hold_for_each_constant_of_a_byte);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
