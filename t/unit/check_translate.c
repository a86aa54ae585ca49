/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "abi/window.h"
#include "analysis/translate/translate.h"
#include "analysis/windows/walk.h"
#include "t/unit/unit.h"
#include "t/uop_name.h"

#define SIZE (CPI_CODE_PAGE + CPI_CODE_MORE)

struct fixture {
	struct translator *translator;
	uint8_t code[SIZE];
	struct cpi_code_page page;
};

static struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(translator_open(EM_X86_64, &f->translator), 0);
	memset(f->code, 0xcc, sizeof(f->code));
	return f;
}

static void fixture_free(struct fixture *f)
{
	translator_close(f->translator);
	free(f);
}

static const struct cpi_uop *at(const struct fixture *f, unsigned int offset)
{
	ck_assert_uint_ne(f->page.index[offset], 0);
	return &f->page.uop[f->page.index[offset] - 1];
}

static const struct {
	const char *bytes, *uops;
} instructions[] = {
	{ "\x90", "nop" },
	{ "\x48\x89\xd8", "mov" },                      /* mov rax, rbx */
	{ "\x31\xc0", "xor" },                          /* xor eax, eax */
	{ "\x48\x87\x03", "mov mov mov" },              /* xchg [rbx], rax */
	{ "\x75\x10", "jcc" },                          /* jne */
	{ "\xe2\x10", "dec jnz" },                      /* loop */
	{ "\xe1\x10", "stop" },                         /* loope */
	{ "\x0f\x05", "stop" },                         /* syscall */
	{ "\xc3", "ret" },                              /* ret */
	{ "\xff\xd0", "calli" },                        /* call rax */
	{ "\xc9", "mov pop" },                          /* leave */
	{ "\xf3\xa4", "forward shl blur lea lea mov" }, /* rep movsb */
	{ "\xae", "stop" },                             /* scasb */
	{ "\xfd", "stop" },                             /* std */
	{ "\x0f\xab\x03", "stop" },                     /* bts [rbx], eax: anywhere */
	{ "\xf2\x0f\x58\xc1", "mov mov" },              /* addsd: unknown */
	{ "\x66\x0f\x74\xc1", "vcmpeq vcmpeq" },        /* pcmpeqb */
	{ "\xc5\xfe\x6f\x06", "mov mov mov mov" },      /* vmovdqu ymm0, [rsi] */
	{ "\x0f\x0b", "stop" },                         /* ud2 */
	{ "\x66\x75\x10", "stop" }, /* as the processor's maker has it */
	{ "\x66\x66\x48\xe8\x10\x10\x10\x10", "call" }, /* of thread-local storage */
	{ "\xf3\x90", "nop" },                          /* pause */
	{ "\xf3\x41\x90", "stop" },                     /* pause, or xchg r8, rax */
	{ "\x06", "stop" },                             /* none at all */
};

START_TEST(each_instruction_has_its_micro_ops)
{
	const char *bytes = instructions[_i].bytes, *want = instructions[_i].uops;
	struct fixture *f = fixture_new();
	const uint16_t wanted = 100;
	const struct cpi_uop *u;
	char got[200] = "";

	memcpy(f->code + wanted, bytes, strlen(bytes));
	translator_page(f->translator, f->code, SIZE, &wanted, 1, &f->page);
	u = at(f, wanted);
	do {
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%s",
			 got[0] ? " " : "", cpi_uop_name(u->op));
		u++;
	} while (u->flags & CPI_UOP_MORE && u->op != CPI_UOP_GOTO);
	ck_assert_str_eq(got, want);
	ck_assert_uint_eq(cpi_uop_length(at(f, wanted)),
			  strcmp(bytes, "\x06") ? strlen(bytes) : 1);
	fixture_free(f);
}
END_TEST

START_TEST(what_is_wanted_inside_an_instruction_is_its_own)
{
	/* mov eax, 0x90909090; ret: its constant is code to who jumps there */
	static const uint8_t code[] = { 0xb8, 0x90, 0x90, 0x90, 0x90, 0xc3 };
	struct fixture *f = fixture_new();
	const uint16_t wanted[] = { 0, 2 };

	memcpy(f->code, code, sizeof(code));
	translator_page(f->translator, f->code, SIZE, wanted, NR(wanted), &f->page);
	ck_assert_uint_eq(at(f, 0)->op, CPI_UOP_MOV);
	ck_assert_uint_eq(at(f, 2)->op, CPI_UOP_NOP);
	ck_assert_uint_eq(at(f, 5)->op, CPI_UOP_RET);
	/* The second run goes on where the first one's ret is. */
	ck_assert_uint_eq(at(f, 4)[1].op, CPI_UOP_GOTO);
	ck_assert_uint_eq(at(f, 4)[1].address, f->page.index[5]);
	ck_assert_uint_eq(f->page.index[1], 0);
	fixture_free(f);
}
END_TEST

START_TEST(jumps_inside_the_page_name_their_targets)
{
	struct fixture *f = fixture_new();
	const uint16_t wanted = 0x10;

	memcpy(f->code + 0x10, "\xe9\xeb\x0f\x00\x00", 5); /* jmp to the next page */
	memcpy(f->code + 0x20, "\x74\x5e", 2);             /* je 0x80 */
	memcpy(f->code + 0x22, "\xc3", 1);
	memcpy(f->code + 0x80, "\xeb\x9e", 2); /* jmp 0x20 */
	translator_page(f->translator, f->code, SIZE, &wanted, 1, &f->page);
	ck_assert_uint_eq(at(f, 0x10)->address, 0);
	ck_assert_int_eq(at(f, 0x10)->disp, 0xff0);
	ck_assert_uint_eq(at(f, 0x20)->op, CPI_UOP_JCC); /* behind the jump */
	ck_assert_uint_eq(at(f, 0x20)->address, f->page.index[0x80]);
	ck_assert_uint_eq(at(f, 0x80)->address, f->page.index[0x20]);
	ck_assert_int_eq(at(f, 0x80)->disp, -0x60);
	fixture_free(f);
}
END_TEST

/* Also before what is wanted, where nothing jumps to, and no instruction twice. */
START_TEST(all_instructions_of_a_page_are_translated)
{
	static const char code[] = "\xb8\x11\x22\x33\x44\xc3"; /* mov eax, …; ret */
	struct fixture *f = fixture_new();
	const uint16_t wanted = 200 * 6;
	int nr_wrong = 0;

	for (unsigned int i = 0; i + 6 <= SIZE; i += 6)
		memcpy(f->code + i, code, 6);
	translator_page(f->translator, f->code, SIZE, &wanted, 1, &f->page);
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++)
		nr_wrong += (i % 6 == 0 || i % 6 == 5) != (f->page.index[i] != 0);
	ck_assert_int_eq(nr_wrong, 0);
	fixture_free(f);
}
END_TEST

START_TEST(an_instruction_across_the_end_belongs_to_where_it_begins)
{
	struct fixture *f = fixture_new();
	const uint16_t wanted = CPI_CODE_PAGE - 2;
	const struct cpi_uop *u;

	memcpy(f->code + wanted, "\xb8\x78\x56\x34\x12", 5); /* mov eax, … */
	translator_page(f->translator, f->code, SIZE, &wanted, 1, &f->page);
	u = at(f, wanted);
	ck_assert_int_eq(u->imm, 0x12345678);
	ck_assert_uint_eq(u[1].op, CPI_UOP_GOTO);
	ck_assert_uint_eq(u[1].address, 0);
	/* Without the next page's bytes it is none. */
	translator_page(f->translator, f->code, CPI_CODE_PAGE, &wanted, 1, &f->page);
	ck_assert_uint_eq(at(f, wanted)->op, CPI_UOP_STOP);
	fixture_free(f);
}
END_TEST

START_TEST(the_first_wanted_wins_where_there_is_no_room)
{
	struct fixture *f = fixture_new();
	const uint16_t wanted[] = { 3000, 0 };

	for (unsigned int i = 0; i + 4 <= CPI_CODE_PAGE;
	     i += 4) /* vmovdqu ymm0, [rsi] */
		memcpy(f->code + i, "\xc5\xfe\x6f\x06", 4);
	ck_assert_uint_le(translator_page(f->translator, f->code, SIZE, wanted, 2,
					  &f->page),
			  CPI_UOPS_PER_PAGE);
	ck_assert_uint_ne(f->page.index[3000], 0);
	ck_assert_uint_ne(f->page.index[0], 0);
	ck_assert_uint_eq(f->page.index[2000], 0);
	fixture_free(f);
}
END_TEST

/* Whether each offset has micro-ops of its own, and no others are first ones. */
static bool is_well_formed(const struct cpi_code_page *page, size_t nr)
{
	bool begins[CPI_UOPS_PER_PAGE + 1] = { false };

	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++) {
		const unsigned int index = page->index[i];

		if (index > nr || (index && begins[index]))
			return false;
		begins[index] = index;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (!(page->uop[i].flags & CPI_UOP_MORE) != begins[i + 1] ||
		    page->uop[i].op >= CPI_NR_UOPS)
			return false;
	return nr && page->uop[nr - 1].op <= CPI_UOP_RET;
}

/* Any bytes, any offsets: T1, T2, and what is wanted most is there. */
START_TEST(pages_of_any_bytes_are_well_formed)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct fixture *f = fixture_new();

	for (int round = 0; round < 100; round++) {
		uint16_t wanted[4];
		size_t nr;

		for (size_t i = 0; i < SIZE; i++)
			f->code[i] = (uint8_t)unit_random(&state);
		for (size_t i = 0; i < NR(wanted); i++)
			wanted[i] = unit_random(&state) % CPI_CODE_PAGE;
		nr = translator_page(f->translator, f->code, SIZE, wanted, NR(wanted),
				     &f->page);
		ck_assert_msg(nr <= CPI_UOPS_PER_PAGE && f->page.index[wanted[0]] &&
				      is_well_formed(&f->page, nr),
			      "seed %#llx", (unsigned long long)seed);
	}
	fixture_free(f);
}
END_TEST

static uint32_t nr_translated(const struct fixture *f)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < CPI_CODE_PAGE; i++)
		nr += f->page.index[i] != 0;
	return nr;
}

/* A page of nops; at 200 a conditional jump to 1000. */
START_TEST(only_the_instructions_within_reach_are_translated)
{
	struct fixture *f = fixture_new();
	uint64_t starts[CPI_CODE_LINES] = { 0 };
	const uint16_t wanted[] = { 100, 198 };

	memset(f->code, 0x90, SIZE);
	memcpy(f->code + 200, "\x0f\x84\x1a\x03\x00\x00", 6);
	translator_reach(f->translator, f->code, SIZE, wanted, 1, starts, 10, &f->page);
	ck_assert_uint_eq(nr_translated(f), 10);
	ck_assert(f->page.index[100] && f->page.index[109]);
	/* Two nops and the jump, then seven instructions both ways. */
	translator_reach(f->translator, f->code, SIZE, wanted + 1, 1, starts, 10,
			 &f->page);
	ck_assert_uint_eq(nr_translated(f), 10 + 7);
	ck_assert(f->page.index[212] && f->page.index[1000] && f->page.index[1006]);
	/* What is at starts costs nothing, and leads nowhere else. */
	starts[1] = 7; /* 64 to 66 */
	starts[100 / 64] |= 0xffULL << 100 % 64;
	translator_reach(f->translator, f->code, SIZE, wanted, 1, starts, 2, &f->page);
	ck_assert_uint_eq(nr_translated(f), 3 + 8 + 2);
	ck_assert(f->page.index[64] && f->page.index[66] && f->page.index[109]);
	fixture_free(f);
}
END_TEST

/* Any bytes: what was translated once is again, if it is among the starts. */
START_TEST(translating_more_loses_nothing)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1;
	struct fixture *f = fixture_new();

	for (int round = 0; round < 100; round++) {
		uint64_t starts[CPI_CODE_LINES] = { 0 };

		for (size_t i = 0; i < SIZE; i++)
			f->code[i] = (uint8_t)unit_random(&state);
		for (int more = 0; more < 4; more++) {
			const uint16_t wanted = unit_random(&state) % CPI_CODE_PAGE;
			bool lost = false;
			size_t nr;

			nr = translator_reach(f->translator, f->code, SIZE, &wanted, 1,
					      starts, unit_random(&state) % 64,
					      &f->page);
			for (uint32_t i = 0; i < CPI_CODE_PAGE; i++) {
				lost |= starts[i / 64] >> i % 64 & 1 &&
					!f->page.index[i];
				starts[i / 64] |= (uint64_t)(f->page.index[i] != 0)
						  << i % 64;
			}
			ck_assert_msg(!lost && is_well_formed(&f->page, nr),
				      "seed %#llx", (unsigned long long)seed);
		}
	}
	fixture_free(f);
}
END_TEST

START_TEST(machines_without_a_translator_are_refused)
{
	struct translator *t = NULL;

	ck_assert_int_eq(translator_open(EM_S390, &t), -EOPNOTSUPP);
	ck_assert_ptr_null(t);
}
END_TEST

/* A window's record, of a page at 0x5000. */
static int find(void *ctx, uint64_t address, struct walk_code *out)
{
	struct fixture *f = ctx;

	return walk_find_in_page(address / CPI_CODE_PAGE == 5 ? &f->page : NULL,
				 address % CPI_CODE_PAGE, out);
}

/* 0: je 4; 2: ret; 4: call rax; 6: syscall */
static struct fixture *walked_new(void)
{
	struct fixture *f = fixture_new();
	const uint16_t wanted = 0;

	memcpy(f->code, "\x74\x02\xc3\x90\xff\xd0\x0f\x05", 8);
	translator_page(f->translator, f->code, SIZE, &wanted, 1, &f->page);
	return f;
}

static const struct {
	struct cpi_window w;
	int err;
	uint32_t nr;
	struct walk_jump jump[2];
} walks[] = {
	/* not taken; the ret's target is known, but has no code */
	{ { .start = 0x5000,
	    .last = 0x5002,
	    .next = 0x9999,
	    .nr = 2,
	    .nr_jumps = 1,
	    .nr_targets = 1,
	    .target = { 0x9999 },
	    .end = CPI_WINDOW_NO_CODE },
	  0,
	  1,
	  { { 0x5002, 0x9999 } } },
	/* taken, a call that comes back to the page, and an end before syscall */
	{ { .start = 0x5000,
	    .last = 0x5006,
	    .nr = 3,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .nr_targets = 1,
	    .target = { 0x5006 },
	    .end = CPI_WINDOW_SYSTEM_CALL },
	  0,
	  2,
	  { { 0x5000, 0x5004 }, { 0x5004, 0x5006 } } },
	/* ends before the call is done */
	{ { .start = 0x5000,
	    .last = 0x5004,
	    .nr = 2,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .end = CPI_WINDOW_UNKNOWN_TARGET },
	  0,
	  1,
	  { { 0x5000, 0x5004 } } },
	{ { .start = 0x5000, .nr = 0, .end = CPI_WINDOW_NO_CODE }, 0, 0, { { 0, 0 } } },
	/* no more steps: the jump was executed, but nothing behind it was reached */
	{ { .start = 0x5000,
	    .last = 0x5000,
	    .nr = 1,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .end = CPI_WINDOW_STEPS },
	  0,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x5000,
	    .last = 0x5004,
	    .nr = 2,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .nr_targets = 1,
	    .target = { 0x5006 },
	    .end = CPI_WINDOW_STEPS },
	  0,
	  1,
	  { { 0x5000, 0x5004 } } },
	/* records that say other things than the code */
	{ { .start = 0x5000,
	    .last = 0x5000,
	    .nr = 1,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .end = CPI_WINDOW_FAULT },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x5000,
	    .last = 0x5004,
	    .nr = 2,
	    .nr_jumps = 2,
	    .taken = { 1 },
	    .nr_targets = 1,
	    .target = { 0x5006 },
	    .end = CPI_WINDOW_STEPS },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x5001, .nr = 1, .end = CPI_WINDOW_FAULT },
	  -ENOENT,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x6000, .nr = 1, .end = CPI_WINDOW_FAULT },
	  -ENOENT,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x5000, .last = 0x5002, .nr = 2, .end = CPI_WINDOW_FAULT },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x5000, .last = 0x5002, .nr = 1, .end = CPI_WINDOW_FAULT },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x5000,
	    .last = 0x5002,
	    .nr = 2,
	    .nr_jumps = 2,
	    .end = CPI_WINDOW_FAULT },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
	{ { .start = 0x5000, .nr = 255, .end = CPI_WINDOW_FAULT },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
	/* a word of data, where only the last instruction, not executed, may have one
	 */
	{ { .start = 0x5000,
	    .last = 0x5004,
	    .nr = 2,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .nr_data = 1,
	    .end = CPI_WINDOW_FAULT },
	  0,
	  1,
	  { { 0x5000, 0x5004 } } },
	{ { .start = 0x5000,
	    .last = 0x5004,
	    .nr = 2,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .nr_data = 2,
	    .end = CPI_WINDOW_FAULT },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
	/* more words than there is room for */
	{ { .start = 0x5000,
	    .last = 0x5006,
	    .nr = 3,
	    .nr_jumps = 1,
	    .taken = { 1 },
	    .nr_targets = 1,
	    .target = { 0x5006 },
	    .nr_data = CPI_WINDOW_DATA - 1,
	    .end = CPI_WINDOW_SYSTEM_CALL },
	  -EBADMSG,
	  0,
	  { { 0, 0 } } },
};

START_TEST(a_walk_has_the_record_s_jumps_or_fails)
{
	struct fixture *f = walked_new();
	struct walk walk;

	ck_assert_int_eq(walk_window(&walks[_i].w, find, NULL, f, &walk),
			 walks[_i].err);
	if (walks[_i].err)
		goto out;
	ck_assert_uint_eq(walk.start, walks[_i].w.start);
	ck_assert_uint_eq(walk.nr, walks[_i].nr);
	for (uint32_t i = 0; i < walk.nr; i++) {
		ck_assert_uint_eq(walk.jump[i].from, walks[_i].jump[i].from);
		ck_assert_uint_eq(walk.jump[i].to, walks[_i].jump[i].to);
	}
out:
	fixture_free(f);
}
END_TEST

/* Each instruction by itself, at 0x5000, executed; the record has one word, 77. */
static const struct {
	const char *bytes;
	uint32_t length;
	uint32_t nr; /* accesses, 0 or 1 */
	uint8_t size;
	bool store;
	bool both; /* it loads, too */
} touches[] = {
	{ "\x8b\x07", 2, 1, 2, false, false },             /* mov eax, [rdi] */
	{ "\x88\x07", 2, 1, 0, true, false },              /* mov [rdi], al */
	{ "\x48\x01\x07", 3, 1, 3, false, true },          /* add [rdi], rax */
	{ "\x48\x8b\x44\x24\x08", 5, 0, 0, false, false }, /* mov rax, [rsp + 8] */
	{ "\x48\x8b\x44\x04\x08", 5, 1, 3, false,
	  false }, /* mov rax, [rsp + rax + 8] */
	{ "\x48\x8b\x05\x10\x00\x00\x00", 7, 1, 3, false,
	  false },                                     /* mov rax, [rip + 16] */
	{ "\x50", 1, 0, 0, false, false },             /* push rax */
	{ "\xff\x37", 2, 1, 3, false, false },         /* push [rdi] */
	{ "\x8f\x07", 2, 1, 3, true, false },          /* pop [rdi] */
	{ "\x48\x8d\x07", 3, 0, 0, false, false },     /* lea rax, [rdi] */
	{ "\x0f\x1f\x00", 3, 0, 0, false, false },     /* nop [rax] */
	{ "\x0f\x18\x0f", 3, 0, 0, false, false },     /* prefetcht0 [rdi] */
	{ "\xf3\x0f\x6f\x07", 4, 1, 4, false, false }, /* movdqu xmm0, [rdi] */
	{ "\xc5\xfe\x7f\x07", 4, 1, 5, true, false },  /* vmovdqu [rdi], ymm0 */
	{ "\xf2\x0f\x58\x07", 4, 1, 3, false, false }, /* addsd xmm0, [rdi] */
	{ "\xc5\xfc\x58\x07", 4, 1, 5, false, false }, /* vaddps ymm0, ymm0, [rdi] */
	{ "\xdd\x07", 2, 1, 3, false, false },         /* fld qword [rdi] */
	{ "\xf2\x48\x0f\x2a\x0c\x24", 6, 0, 0, false,
	  false }, /* cvtsi2sd xmm1, [rsp] */
	{ "\xf2\x0f\x58\x44\x24\x08", 6, 0, 0, false,
	  false }, /* addsd xmm0, [rsp + 8] */
	{ "\xf2\x0f\x58\x44\x04\x08", 6, 1, 3, false,
	  false },                                     /* addsd xmm0, [rsp + rax + 8] */
	{ "\xdd\x44\x24\x08", 4, 0, 0, false, false }, /* fld qword [rsp + 8] */
	{ "\x62\xf1\x7c\x49\x58\x07", 6, 0, 0, false,
	  false }, /* vaddps zmm0{k1}, zmm0, [rdi]: none if k1 is 0 */
	{ "\xc4\xe2\x7d\x2c\x07", 5, 0, 0, false,
	  false },                         /* vmaskmovps ymm0, ymm0, [rdi]: likewise */
	{ "\xa5", 1, 1, 2, false, false }, /* movsd */
	{ "\xf3\xa4", 2, 0, 0, false, false },        /* rep movsb */
	{ "\xf0\x0f\xc1\x07", 4, 1, 2, false, true }, /* lock xadd [rdi], eax */
};

START_TEST(a_walk_tells_which_data_an_instruction_touches)
{
	struct fixture *f = fixture_new();
	const uint32_t nr = touches[_i].nr, length = touches[_i].length;
	struct cpi_window w = { .start = 0x5000,
				.last = 0x5000,
				.next = 0x5000 + length,
				.nr = 1,
				.nr_data = (uint8_t)nr,
				.end = CPI_WINDOW_LENGTH };
	const uint16_t wanted = 0;
	struct walk walk;

	w.data[CPI_WINDOW_DATA - 1] = 77;
	memcpy(f->code, touches[_i].bytes, length);
	translator_page(f->translator, f->code, SIZE, &wanted, 1, &f->page);
	ck_assert_int_eq(walk_window(&w, find, NULL, f, &walk), 0);
	ck_assert_uint_eq(walk.nr_accesses, nr);
	ck_assert_uint_eq(walk.nr_left_out, 0);
	if (nr) {
		ck_assert_uint_eq(walk.access[0].at, 0x5000);
		ck_assert_uint_eq(walk.access[0].data, 77);
		ck_assert_uint_eq(walk.access[0].size, touches[_i].size);
		ck_assert(walk.access[0].store == touches[_i].store);
		ck_assert(walk.access[0].writes ==
			  (touches[_i].store || touches[_i].both));
		ck_assert_uint_eq(walk.access[0].nr, 0);
		w.nr_data = 0;
		ck_assert_int_eq(walk_window(&w, find, NULL, f, &walk), 0);
		ck_assert_uint_eq(walk.nr_left_out, 1);
	}
	w.nr_data = (uint8_t)(nr + 1);
	ck_assert_int_eq(walk_window(&w, find, NULL, f, &walk), -EBADMSG);
	fixture_free(f);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("translate");
	TCase *c = tcase_create("page"), *walk = tcase_create("walk");

	tcase_add_loop_test(c, each_instruction_has_its_micro_ops, 0, NR(instructions));
	tcase_add_test(c, what_is_wanted_inside_an_instruction_is_its_own);
	tcase_add_test(c, jumps_inside_the_page_name_their_targets);
	tcase_add_test(c, all_instructions_of_a_page_are_translated);
	tcase_add_test(c, an_instruction_across_the_end_belongs_to_where_it_begins);
	tcase_add_test(c, the_first_wanted_wins_where_there_is_no_room);
	tcase_add_test(c, pages_of_any_bytes_are_well_formed);
	tcase_add_test(c, only_the_instructions_within_reach_are_translated);
	tcase_add_test(c, translating_more_loses_nothing);
	tcase_add_test(c, machines_without_a_translator_are_refused);
	suite_add_tcase(suite, c);
	tcase_add_loop_test(walk, a_walk_has_the_record_s_jumps_or_fails, 0, NR(walks));
	tcase_add_loop_test(walk, a_walk_tells_which_data_an_instruction_touches, 0,
			    NR(touches));
	suite_add_tcase(suite, walk);
	return suite;
}

UNIT_MAIN(make_suite)
