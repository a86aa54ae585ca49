/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lead-ins: what a window knows of vectors at its start is what the machine has there,
 * after random instructions; and there are none where control may come from elsewhere,
 * or where registers or memory have changed.
 */
#include "config.h"

#include "abi/window.h"
#include "analysis/translate/translate.h"
#include "analysis/windows/codepack.h"
#include "daemon/windows/windowleads.h"
#include "t/unit/native.h"

#define AT     1024 /* where the first instruction is in its page */
#define MIDDLE (NATIVE_MEMORY / 2)
#define MOST   10 /* instructions */

struct subject {
	struct native n;
	struct translator *translator;
	struct cpi_code_page page;
	size_t nr; /* micro-ops */
	struct cpi_window_state w;
	uint64_t seed, random;
	uint64_t nr_leads, nr_lanes, nr_lines;
};

static int read_memory(struct subject *t, uint64_t *to, uint32_t size, uint64_t address)
{
	const uint64_t memory = (uint64_t)(uintptr_t)t->n.memory;

	if (address - memory > NATIVE_MEMORY - size)
		return -1;
	memcpy(to, (const void *)(uintptr_t)address, size);
	return 0;
}

static int resolve(struct subject *t, uint64_t pc, uint32_t *ip, uint32_t *base)
{
	const uint64_t offset = pc - (uint64_t)(uintptr_t)t->n.code;

	if (offset >= CPI_CODE_PAGE || !t->page.index[offset])
		return -1;
	*ip = t->page.index[offset] - 1u;
	*base = ~0u; /* places, which jumps count from 1 on */
	return 0;
}

static const struct cpi_uop *lead_at(const struct cpi_code_page *page, size_t nr,
				     uint64_t offset)
{
	for (; nr && page->uop[nr - 1].op == CPI_UOP_LEAD; nr--)
		if (cpi_lead_offset(&page->uop[nr - 1]) == offset)
			return &page->uop[nr - 1];
	return NULL;
}

#define CPI_WINDOW_CONTEXT                      struct subject *
#define CPI_WINDOW_READ(ctx, to, size, address) read_memory(ctx, to, size, address)
#define CPI_WINDOW_UOP(ctx, ip)                 ((ip) < CPI_UOPS_PER_PAGE ? &(ctx)->page.uop[ip] : NULL)
#define CPI_WINDOW_RESOLVE(ctx, pc, ip, base)   resolve(ctx, pc, ip, base)
#define CPI_WINDOW_LEAD(ctx, pc, base) \
	lead_at(&(ctx)->page, (ctx)->nr, (pc) - (uint64_t)(uintptr_t)(ctx)->n.code)
#include "kmod/window.h"

/* ---- where there are lead-ins ---- */

static size_t translate(struct translator *translator, const uint8_t *code,
			struct cpi_code_page *page)
{
	const uint16_t wanted = AT;

	return translator_page(translator, code, CPI_CODE_PAGE, &wanted, 1, page);
}

#define LOAD    "\xc5\xfe\x6f\x07"         /* vmovdqu ymm0, [rdi] */
#define COMPARE "\xc5\xfd\x74\x06"         /* vpcmpeqb ymm0, ymm0, [rsi] */
#define MASK    "\xc5\xfd\xd7\xc0"         /* vpmovmskb eax, ymm0 */
#define ADD_RDI "\x48\x83\xc7\x20"         /* add rdi, 32 */
#define TEST    "\x85\xc0"                 /* test eax, eax */
#define STORE   "\x89\x0f"                 /* mov [rdi], ecx */
#define PUSH    "\x51"                     /* push rcx */
#define CALL    "\xe8\x00\x01\x00\x00"     /* call */
#define JUMP    "\x74\x60"                 /* je 96 bytes further on */
#define ZERO    "\xc5\xfd\xef\xc0"         /* vpxor ymm0, ymm0, ymm0 */
#define ADDRESS "\x48\x89\xf7"             /* mov rdi, rsi */
#define TWICE   "\x48\x89\xf7\x48\xff\xc7" /* mov rdi, rsi; inc rdi */
#define FLOAT   "\xf2\x0f\x10\x07"         /* movsd xmm0, [rdi] */
#define COMISD  "\x66\x0f\x2f\x06"         /* comisd xmm0, [rsi] */
#define ADDSD   "\xf2\x0f\x58\xc1"         /* addsd xmm0, xmm1 */

#define COMPARE_RDI "\xc5\xfd\x74\x07" /* vpcmpeqb ymm0, ymm0, [rdi] */

#define LOAD_RSI "\xc5\xfe\x6f\x06"     /* vmovdqu ymm0, [rsi] */
#define ZERO_15  "\xc4\x41\x01\xef\xff" /* vpxor xmm15, xmm15, xmm15 */
#define MASK_15  "\xc4\xc1\x7d\xd7\xc7" /* vpmovmskb eax, ymm15 */

#define CODE(text) text, sizeof(text) - 1

/* The code at AT; the offset from there of a window; the lead-in's first. */
static const struct {
	const char *code;
	size_t size;
	int offset, first; /* first < 0: there is no lead-in */
} places[] = {
	{ CODE(LOAD COMPARE MASK TEST), 4, 0 },
	{ CODE(LOAD COMPARE MASK TEST), 8, 0 },
	{ CODE(LOAD COMPARE MASK TEST), 12, -1 }, /* no vector is needed any more */
	{ CODE(LOAD COMPARE MASK TEST), 0, -1 },
	{ CODE(TEST TEST LOAD COMPARE MASK), 12, 4 },
	{ CODE(LOAD MASK COMPARE MASK), 4, 0 },
	{ CODE(LOAD COMPARE ADDSD ADDSD), 8, -1 }, /* no vector decides anything */
	{ CODE(LOAD ADD_RDI MASK), 8, -1 },
	{ CODE(LOAD_RSI ADDRESS COMPARE_RDI MASK), 11,
	  0 }, /* rdi is since then the same */
	{ CODE(LOAD_RSI TWICE COMPARE_RDI MASK), 14,
	  -1 },                                        /* likewise: it is not told */
	{ CODE(ZERO TWICE COMPARE_RDI MASK), 10, 10 }, /* 0 is so all the time */
	{ CODE(LOAD STORE MASK), 6, -1 },
	{ CODE(LOAD PUSH MASK), 5, -1 },
	{ CODE(LOAD CALL MASK), 9, -1 },
	{ CODE(LOAD JUMP MASK), 6, 0 }, /* it was not taken */
	{ CODE(ZERO JUMP MASK), 6, 6 },
	{ CODE(ZERO STORE MASK), 6, 6 },
	{ CODE(ZERO CALL MASK), 9, -1 },
	{ CODE(FLOAT COMISD), 4, 0 },
	{ CODE(FLOAT ADDSD COMISD), 8, -1 }, /* the sum is unknown */
	{ CODE(FLOAT ADDSD COMISD), 4, -1 },
};

/* What else is in the page; the first of MASK's lead-in at AT + 4, behind LOAD. */
static const struct {
	size_t at;
	const char *code;
	size_t size;
	int first;
} others[] = {
	{ 0, CODE("\x90"), AT },
	{ AT + 100, CODE("\xeb\x9a"), AT },                  /* jmp AT */
	{ AT + 100, CODE("\xeb\x9e"), -1 },                  /* jmp AT + 4 */
	{ AT + 100, CODE("\x0f\x84\x9a\xff\xff\xff"), -1 },  /* je AT + 4 */
	{ AT - 2, CODE("\xeb\x04"), -1 },                    /* jmp AT + 4 */
	{ AT - 2, CODE("\x66\x90"), AT },                    /* nop, goes on at AT */
	{ AT + 2000, CODE("\xff\xe0"), -1 },                 /* jmp rax: of a switch */
	{ AT + 2000, CODE("\xff\x25\x00\x10\x00\x00"), AT }, /* jmp [rip + …] */
};

/*
 * At AT is one of these, with JUMP to TO, where MASK_15 is; there may be more in the
 * page. Whether vector 15 is known to be 0 there.
 */
#define TO (AT + 103)
static const struct {
	const char *code;
	size_t size;
	size_t at;
	const char *more;
	size_t more_size;
	bool known;
} ways[] = {
	{ CODE(ZERO_15 JUMP), 0, CODE("\x90"), true },
	{ CODE("\x0f\x1f\x44\x00\x00" JUMP), 0, CODE("\x90"), false },
	/* jmp TO, which is all that comes there without a 0 */
	{ CODE(ZERO_15 JUMP), AT + 200, CODE("\xeb\x9d"), false },
	{ CODE(ZERO_15 JUMP), AT + 195, CODE(ZERO_15 "\xeb\x9d"), true },
	{ CODE(ZERO_15 JUMP), AT + 190, CODE(ZERO_15 CALL "\xeb\x9d"), false },
	{ CODE(ZERO_15 JUMP), TO - 1, CODE("\x90"), true },      /* padding */
	{ CODE(ZERO_15 JUMP), TO - 2, CODE("\x85\xc0"), false }, /* test eax, eax */
	{ CODE(ZERO_15 JUMP), AT + 2000, CODE("\xff\xe0"), false },
};

static int first_of(const struct cpi_code_page *page, size_t nr, unsigned int offset)
{
	const struct cpi_uop *u = lead_at(page, nr, offset);

	if (!u)
		return -1;
	ck_assert_uint_eq(u->address, page->index[offset - cpi_lead_back(u)]);
	return (int)(offset - cpi_lead_back(u));
}

static int first_in(const uint8_t code[CPI_CODE_PAGE], unsigned int offset)
{
	struct cpi_code_page page;
	struct translator *translator;
	int first;

	ck_assert_int_eq(translator_open(EM_X86_64, &translator), 0);
	first = first_of(&page, translate(translator, code, &page), offset);
	translator_close(translator);
	return first;
}

/*
 * A page of int3. A packed page notes lead-ins only of a line's first 32 instructions,
 * so there are longer ones before TO.
 */
static void fill_page(uint8_t code[CPI_CODE_PAGE])
{
	static const char nop[] = "\x0f\x1f\x84\x00\x00\x00\x00\x00";

	memset(code, 0xcc, CPI_CODE_PAGE);
	for (unsigned int i = AT + 64; i + 8 < TO; i += 8)
		memcpy(code + i, nop, 8);
}

START_TEST(a_lead_in_needs_what_is_as_it_was)
{
	uint8_t code[CPI_CODE_PAGE];
	const int want = places[_i].first;

	memset(code, 0xcc, sizeof(code)); /* int3 */
	memcpy(code + AT, places[_i].code, places[_i].size);
	ck_assert_int_eq(first_in(code, (unsigned int)(AT + places[_i].offset)),
			 want < 0 ? want : AT + want);
}
END_TEST

START_TEST(nothing_jumps_to_what_a_lead_in_executes)
{
	uint8_t code[CPI_CODE_PAGE];

	memset(code, 0xcc, sizeof(code));
	memcpy(code + AT, LOAD MASK TEST, sizeof(LOAD MASK TEST) - 1);
	memcpy(code + others[_i].at, others[_i].code, others[_i].size);
	ck_assert_int_eq(first_in(code, AT + 4), others[_i].first);
}
END_TEST

START_TEST(a_vector_is_0_if_it_is_on_all_ways)
{
	uint8_t code[CPI_CODE_PAGE];

	fill_page(code);
	memcpy(code + AT, ways[_i].code, ways[_i].size);
	memcpy(code + TO, MASK_15 TEST, sizeof(MASK_15 TEST) - 1);
	memcpy(code + ways[_i].at, ways[_i].more, ways[_i].more_size);
	ck_assert_int_eq(first_in(code, TO), ways[_i].known ? TO : -1);
}
END_TEST

/* As a procedure's argument may be, which others call. */
START_TEST(a_vector_of_arguments_is_unknown_where_only_jumps_lead)
{
	uint8_t code[CPI_CODE_PAGE];

	fill_page(code);
	memcpy(code + AT, ZERO JUMP, sizeof(ZERO JUMP) - 1);
	memcpy(code + AT + 102, MASK TEST, sizeof(MASK TEST) - 1);
	ck_assert_int_eq(first_in(code, AT + 102), -1);
}
END_TEST

START_TEST(there_are_no_lead_ins_near_the_ends_of_a_page)
{
	static const unsigned int at[] = { 100, CPI_CODE_PAGE - 100 };

	for (size_t i = 0; i < NR(at); i++) {
		uint8_t code[CPI_CODE_PAGE];

		memset(code, 0xcc, sizeof(code));
		memcpy(code + at[i], LOAD MASK TEST, sizeof(LOAD MASK TEST) - 1);
		ck_assert_int_eq(first_in(code, at[i] + 4), -1);
	}
}
END_TEST

/* ---- jumps from other pages ---- */

#define PAGES 20
#define PAGE  5 /* the one with lead-ins */

struct mapping {
	uint8_t code[PAGES * CPI_CODE_PAGE];
	size_t size;           /* that can be read */
	unsigned int nr_reads; /* that were made of it */
};

static size_t read_mapping(void *ctx, uint64_t offset, void *to, size_t size)
{
	struct mapping *m = ctx;
	const size_t left = offset < m->size ? m->size - offset : 0;

	m->nr_reads++;
	memcpy(to, m->code + offset, left < size ? left : size);
	return left < size ? left : size;
}

/* With jumps that are looked for now. */
static uint32_t check_once(struct mapping *m, struct cpi_code_page *page,
			   uint32_t nr_uops, uint64_t size)
{
	struct windowleads *wl = windowleads_new();
	uint32_t left;

	ck_assert_ptr_nonnull(wl);
	left = windowleads_check(wl, m, page, nr_uops, PAGE * CPI_CODE_PAGE, size,
				 read_mapping, m);
	windowleads_free(wl);
	return left;
}

/* Whether the page keeps its lead-in of AT + 4, if such a jump is at at. */
static const struct {
	size_t at, jump; /* its opcode's length */
	const char *opcode;
	unsigned int to; /* in the page */
	size_t size;     /* that can be read */
	bool stays;
} jumps[] = {
	{ 100, 1, "\xe9", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ 100, 1, "\xe9", AT, PAGES *CPI_CODE_PAGE, true },
	{ 100, 1, "\xe9", AT + 5, PAGES *CPI_CODE_PAGE, true },
	{ 100, 1, "\xea", AT + 4, PAGES *CPI_CODE_PAGE, true },
	{ 100, 2, "\x0f\x85", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ 100, 1, "\xe8", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ 100, 2, "\xc7\xf8", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ PAGES * CPI_CODE_PAGE - 5, 1, "\xe9", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ 15 * CPI_CODE_PAGE - 5, 1, "\xe9", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ 15 * CPI_CODE_PAGE - 3, 1, "\xe9", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ 15 * CPI_CODE_PAGE - 1, 2, "\x0f\x85", AT + 4, PAGES *CPI_CODE_PAGE, false },
	{ 100, 1, "\xea", AT + 4, PAGES *CPI_CODE_PAGE - 99, true },
	{ 100, 1, "\xea", AT + 4, 0, false }, /* nothing is known */
};

START_TEST(a_jump_from_another_page_drops_lead_ins)
{
	struct mapping *m = calloc(1, sizeof(*m));
	struct cpi_code_page page;
	struct translator *translator;
	const size_t at = jumps[_i].at + jumps[_i].jump;
	const int32_t distance =
		(int32_t)(PAGE * CPI_CODE_PAGE + jumps[_i].to) - (int32_t)(at + 4);
	size_t nr, left;

	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(translator_open(EM_X86_64, &translator), 0);
	memset(m->code, 0xcc, sizeof(m->code));
	memcpy(m->code + PAGE * CPI_CODE_PAGE + AT, LOAD MASK TEST,
	       sizeof(LOAD MASK TEST) - 1);
	memcpy(m->code + jumps[_i].at, jumps[_i].opcode, jumps[_i].jump);
	memcpy(m->code + at, &distance, sizeof(distance));
	m->size = jumps[_i].size;
	nr = translate(translator, m->code + PAGE * CPI_CODE_PAGE, &page);
	ck_assert_int_eq(first_of(&page, nr, AT + 4), AT);
	left = check_once(m, &page, (uint32_t)nr, PAGES * CPI_CODE_PAGE);
	ck_assert_int_eq(first_of(&page, left, AT + 4), jumps[_i].stays ? AT : -1);
	left = check_once(m, &page, (uint32_t)left, WINDOWLEADS_MAX_SIZE + 1);
	ck_assert_int_eq(first_of(&page, left, AT + 4), -1);
	translator_close(translator);
	free(m);
}
END_TEST

/* The target of a jump from another page; whether TO's vector is still known to be 0.
 */
static const struct {
	unsigned int to;
	bool stays;
} targets[] = {
	{ AT, true },     { AT + 5, false }, { TO, false },
	{ TO + 5, true }, { AT + 50, true },
};

START_TEST(a_jump_from_another_page_makes_zeros_unknown)
{
	struct mapping *m = calloc(1, sizeof(*m));
	uint8_t *code = m->code + PAGE * CPI_CODE_PAGE;
	const int32_t distance = (int32_t)(PAGE * CPI_CODE_PAGE + targets[_i].to) - 105;
	struct cpi_code_page page;
	struct translator *translator;
	uint32_t nr;

	ck_assert_int_eq(translator_open(EM_X86_64, &translator), 0);
	memset(m->code, 0xcc, sizeof(m->code));
	fill_page(code);
	memcpy(code + AT, ZERO_15 JUMP, sizeof(ZERO_15 JUMP) - 1);
	memcpy(code + TO, MASK_15 TEST, sizeof(MASK_15 TEST) - 1);
	m->code[100] = 0xe9;
	memcpy(m->code + 101, &distance, sizeof(distance));
	m->size = sizeof(m->code);
	nr = (uint32_t)translate(translator, code, &page);
	ck_assert_int_eq(first_of(&page, nr, TO), TO);
	nr = check_once(m, &page, nr, m->size);
	ck_assert_int_eq(first_of(&page, nr, TO), targets[_i].stays ? TO : -1);
	translator_close(translator);
	free(m);
}
END_TEST

#define MAPPINGS 17 /* one more than there is room for */

/* Checks a copy of the page as one of the owner's mapping. Returns how often it read.
 */
static unsigned int reads_for(struct windowleads *wl, struct mapping *m,
			      const struct cpi_code_page *page, uint32_t nr_uops,
			      const char *owner)
{
	static struct cpi_code_page copy;
	const unsigned int before = m->nr_reads;

	copy = *page;
	ck_assert_uint_eq(windowleads_check(wl, owner, &copy, nr_uops,
					    PAGE * CPI_CODE_PAGE, PAGES * CPI_CODE_PAGE,
					    read_mapping, m),
			  nr_uops);
	return m->nr_reads - before;
}

START_TEST(a_mapping_is_read_once)
{
	static struct cpi_code_page page;
	struct mapping *m = calloc(1, sizeof(*m));
	struct windowleads *wl = windowleads_new();
	struct translator *translator;
	char owner[MAPPINGS];
	uint32_t nr;

	ck_assert(m && wl);
	ck_assert_int_eq(translator_open(EM_X86_64, &translator), 0);
	memset(m->code, 0xcc, sizeof(m->code));
	memcpy(m->code + PAGE * CPI_CODE_PAGE + AT, LOAD MASK TEST,
	       sizeof(LOAD MASK TEST) - 1);
	m->size = sizeof(m->code);
	nr = (uint32_t)translate(translator, m->code + PAGE * CPI_CODE_PAGE, &page);
	ck_assert_uint_eq(reads_for(wl, m, &page, nr, &owner[0]), 2);
	ck_assert_uint_eq(reads_for(wl, m, &page, nr, &owner[0]), 0);
	for (int i = 1; i < MAPPINGS; i++) {
		ck_assert_uint_eq(reads_for(wl, m, &page, nr, &owner[i]), 2);
		if (i < MAPPINGS - 1)
			ck_assert_uint_eq(reads_for(wl, m, &page, nr, &owner[0]), 0);
	}
	ck_assert_uint_eq(reads_for(wl, m, &page, nr, &owner[0]), 0);
	ck_assert_uint_eq(reads_for(wl, m, &page, nr, &owner[1]), 2);
	windowleads_forget(wl);
	ck_assert_uint_eq(reads_for(wl, m, &page, nr, &owner[0]), 2);
	translator_close(translator);
	windowleads_free(wl);
	free(m);
}
END_TEST

/* A mapping of the largest size, full of one-byte instructions. */
static size_t read_large(void *ctx, uint64_t offset, void *to, size_t size)
{
	(*(unsigned int *)ctx)++;
	ck_assert_uint_le(offset + size, WINDOWLEADS_MAX_SIZE);
	memset(to, 0xcc, size);
	return size;
}

START_TEST(large_mappings_are_forgotten_early)
{
	static const bool reads[] = { true, true, false, true, false, true };
	static const int owner_of[] = { 0, 1, 0, 2, 0, 1 };
	static struct cpi_code_page page, copy;
	struct windowleads *wl = windowleads_new();
	struct translator *translator;
	uint8_t code[CPI_CODE_PAGE];
	char owner[3];
	uint32_t nr;

	ck_assert_ptr_nonnull(wl);
	ck_assert_int_eq(translator_open(EM_X86_64, &translator), 0);
	memset(code, 0xcc, sizeof(code));
	memcpy(code + AT, LOAD MASK TEST, sizeof(LOAD MASK TEST) - 1);
	nr = (uint32_t)translate(translator, code, &page);
	for (size_t i = 0; i < NR(reads); i++) {
		unsigned int nr_reads = 0;

		copy = page;
		windowleads_check(wl, &owner[owner_of[i]], &copy, nr,
				  PAGE * CPI_CODE_PAGE, WINDOWLEADS_MAX_SIZE,
				  read_large, &nr_reads);
		ck_assert_msg((nr_reads > 0) == reads[i], "look %zu: %u reads", i,
			      nr_reads);
	}
	translator_close(translator);
	windowleads_free(wl);
}
END_TEST

START_TEST(a_mapping_that_could_not_be_read_is_read_again)
{
	static struct cpi_code_page page;
	struct mapping *m = calloc(1, sizeof(*m));
	struct windowleads *wl = windowleads_new();
	struct translator *translator;
	uint32_t nr;

	ck_assert(m && wl);
	ck_assert_int_eq(translator_open(EM_X86_64, &translator), 0);
	memset(m->code, 0xcc, sizeof(m->code));
	memcpy(m->code + PAGE * CPI_CODE_PAGE + AT, LOAD MASK TEST,
	       sizeof(LOAD MASK TEST) - 1);
	nr = (uint32_t)translate(translator, m->code + PAGE * CPI_CODE_PAGE, &page);
	ck_assert_uint_lt(windowleads_check(wl, m, &page, nr, PAGE * CPI_CODE_PAGE,
					    PAGES * CPI_CODE_PAGE, read_mapping, m),
			  nr);
	m->size = sizeof(m->code);
	nr = (uint32_t)translate(translator, m->code + PAGE * CPI_CODE_PAGE, &page);
	ck_assert_uint_eq(reads_for(wl, m, &page, nr, (const char *)m), 2);
	translator_close(translator);
	windowleads_free(wl);
	free(m);
}
END_TEST

START_TEST(a_packed_page_has_the_lead_ins)
{
	static union cpi_code_cell packed[CPI_CODE_MAX_CELLS];
	struct cpi_code_page page;
	struct translator *translator;
	uint8_t code[CPI_CODE_PAGE];
	const uint16_t wanted = 256;
	unsigned int nr_leads = 0;
	size_t nr;

	ck_assert_int_eq(translator_open(EM_X86_64, &translator), 0);
	memset(code, 0xcc, sizeof(code));
	for (size_t i = 256; i < 1456; i += 12)
		memcpy(code + i, LOAD COMPARE MASK, 12);
	nr = translator_page(translator, code, 1456, &wanted, 1, &page);
	codepack_page(&page, (uint32_t)nr, code, sizeof(code), packed);
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++) {
		const int first = first_of(&page, nr, i);
		const uint32_t cell = codepack_find_lead(packed, i);
		const struct cpi_uop *u = &packed[cell].uop;

		nr_leads += first >= 0;
		ck_assert_int_eq(first >= 0, cell != 0);
		if (!cell)
			continue;
		ck_assert_uint_eq(u->op, CPI_UOP_LEAD);
		ck_assert_uint_eq(cpi_lead_offset(u), i);
		ck_assert_uint_eq(u->address, codepack_find(packed, (uint32_t)first));
	}
	ck_assert_uint_gt(nr_leads, 50);
	translator_close(translator);
}
END_TEST

/* ---- against the machine ---- */

static unsigned int below(struct subject *t, unsigned int limit)
{
	return (unsigned int)(unit_random(&t->random) >> 33) % limit;
}

/* r: a vector's number is added there, below 8; in bits 3 to 5, too; d: any byte. */
static const struct {
	const char *code;
	uint8_t size, modrm, modes; /* which byte is ModRM; 1: reg, 2: rm, 4: disp8 */
	bool avx;
} forms[] = {
	{ "\xf3\x0f\x6f\x47\x00", 5, 3, 1 | 4, false }, /* movdqu [rdi + d] */
	{ "\xf3\x0f\x6f\x46\x00", 5, 3, 1 | 4, false }, /* … [rsi + d] */
	{ "\xc5\xfe\x6f\x47\x00", 5, 3, 1 | 4, true },  /* vmovdqu */
	{ "\xc5\xfd\x74\x46\x00", 5, 3, 1 | 4, true },  /* vpcmpeqb [rsi + d] */
	{ "\x66\x0f\x74\xc0", 4, 3, 1 | 2, false },     /* pcmpeqb */
	{ "\xc5\xf5\xda\xc0", 4, 3, 1 | 2, true },      /* vpminub */
	{ "\xc5\xed\xef\xc0", 4, 3, 1 | 2, true },      /* vpxor */
	{ "\x66\x0f\xef\xc0", 4, 3, 1 | 2, false },     /* pxor */
	{ "\x66\x0f\x6e\xc1", 4, 3, 1, false },         /* movd xmm, ecx */
	{ "\xf2\x0f\x10\x47\x00", 5, 3, 1 | 4, false }, /* movsd [rdi + d] */
	{ "\xf2\x0f\x58\xc0", 4, 3, 1 | 2, false },     /* addsd */
	{ "\x66\x0f\x38\x00\xc0", 5, 4, 1 | 2, false }, /* pshufb */
	{ "\x66\x0f\x70\xc0\x1b", 5, 3, 1 | 2, false }, /* pshufd */
	{ "\x66\x0f\xd7\xc0", 4, 3, 2, false },         /* pmovmskb eax */
	{ "\xc5\xfd\xd7\xc8", 4, 3, 2, true },          /* vpmovmskb ecx, ymm */
	{ "\x66\x48\x0f\x7e\xc0", 5, 4, 1, false },     /* movq rax, xmm */
	{ "\x66\x0f\x2f\xc0", 4, 3, 1 | 2, false },     /* comisd */
	{ "\x48\x83\xc7\x08", 4, 0, 0, false },         /* add rdi, 8 */
	{ "\x48\x89\xf7", 3, 0, 0, false },             /* mov rdi, rsi */
	{ "\x48\x8d\x77\x00", 4, 2, 4, false },         /* lea rsi, [rdi + d] */
	{ "\xff\xc1", 2, 0, 0, false },                 /* inc ecx */
	{ "\x83\xd1\x05", 3, 0, 0, false },             /* adc ecx, 5 */
	{ "\x0f\xb6\x4f\x00", 4, 2, 4, false },         /* movzx ecx, [rdi + d] */
	{ "\x89\x4f\x00", 3, 1, 4, false },             /* mov [rdi + d], ecx */
	{ "\xf3\x0f\x7f\x46\x00", 5, 3, 1 | 4, false }, /* movdqu [rsi + d], xmm */
	{ "\x51", 1, 0, 0, false },                     /* push rcx */
	{ "\x59", 1, 0, 0, false },                     /* pop rcx */
	{ "\x74\x70", 2, 0, 0, false },                 /* je */
	{ "\x85\xc9", 2, 0, 0, false },                 /* test ecx, ecx */
	{ "\x66\x0f\xef\xc9", 4, 0, 0, false },         /* pxor xmm1, xmm1 */
	{ "\xc5\xf1\xef\xc9", 4, 0, 0, true },          /* vpxor xmm1, xmm1 */
	{ "\xc5\xf8\x77", 3, 0, 0, true },              /* vzeroupper */
};

/* A run of instructions; at[i] is where they begin. Returns their number. */
static unsigned int make_line(struct subject *t, unsigned int at[MOST + 1])
{
	const unsigned int nr = 2 + below(t, MOST - 2);
	uint8_t *code = t->n.code;
	unsigned int to = AT;

	memset(code, 0xcc, NATIVE_CODE);
	for (unsigned int i = 0; i < nr; i++) {
		const unsigned int f =
			i + 1 == nr ? 13 + below(t, 4) : below(t, NR(forms));
		const unsigned int vector = below(t, 3);

		if (forms[f].avx && !t->n.has_avx) {
			i--;
			continue;
		}
		at[i] = to;
		memcpy(code + to, forms[f].code, forms[f].size);
		if (forms[f].modes & 1)
			code[to + forms[f].modrm] |= (uint8_t)(vector << 3);
		if (forms[f].modes & 2)
			code[to + forms[f].modrm] |= (uint8_t)below(t, 3);
		if (forms[f].modes & 4)
			code[to + forms[f].modrm + 1] = (uint8_t)(8 * below(t, 16));
		to += forms[f].size;
	}
	at[nr] = to;
	return nr;
}

static uint64_t *gpr_of(struct user_regs_struct *r, unsigned int number)
{
	unsigned long long *const regs[] = { &r->rax, &r->rcx, &r->rdx, &r->rbx,
					     &r->rsp, &r->rbp, &r->rsi, &r->rdi,
					     &r->r8,  &r->r9,  &r->r10, &r->r11,
					     &r->r12, &r->r13, &r->r14, &r->r15 };

	return (uint64_t *)regs[number & 15];
}

static void make_state(struct subject *t, struct native_state *s)
{
	uint8_t *memory = t->n.memory + MIDDLE;

	for (unsigned int i = 0; i < 16; i++)
		*gpr_of(&s->regs, i) = unit_random(&t->random);
	s->regs.rsp = (uint64_t)(uintptr_t)memory + 1024;
	s->regs.rdi = (uint64_t)(uintptr_t)memory + 8 * below(t, 8);
	s->regs.rsi = (uint64_t)(uintptr_t)memory + 8 * below(t, 8);
	for (unsigned int v = 0; v < NATIVE_VECTORS; v++)
		for (unsigned int lane = 0; lane < 4; lane++)
			s->vector[v][lane] = unit_random(&t->random);
	for (unsigned int i = 0; i < 512; i++)
		memory[i] = (uint8_t)(below(t, 3) * 0x7f);
	native_clear_absent(&t->n, s);
	s->regs.rip = (uint64_t)(uintptr_t)t->n.code + AT;
	s->regs.eflags = 0x202 | (unit_random(&t->random) & CPI_FLAG_ALL);
	s->regs.orig_rax = ~0ULL;
}

static void disagree(const struct subject *t, const char *what, unsigned int number,
		     uint64_t want, uint64_t got)
{
	char bytes[3 * 64 + 1] = "";

	for (unsigned int i = 0; i < 64; i++)
		snprintf(bytes + 3 * i, 4, " %02x", t->n.code[AT + i]);
	ck_abort_msg("seed %#llx:%s: %s %u is %#llx, the window has %#llx",
		     (unsigned long long)t->seed, bytes, what, number,
		     (unsigned long long)want, (unsigned long long)got);
}

/* The window's start, whose state *s is, against the machine's. */
static void compare(struct subject *t, struct native_state *s)
{
	struct cpi_window_state *w = &t->w;

	for (unsigned int i = 0; i < 16; i++)
		if (w->unknown[i] || w->reg[i] != *gpr_of(&s->regs, i))
			disagree(t, "register", i, *gpr_of(&s->regs, i), w->reg[i]);
	if (w->unknown_flags || (w->flags ^ s->regs.eflags) & CPI_FLAG_ALL)
		disagree(t, "flags", 0, s->regs.eflags, w->flags);
	for (unsigned int i = 0; i < 4 * NATIVE_VECTORS; i++) {
		const unsigned int reg = CPI_REG_V + i;
		const uint64_t known = ~cpi_byte_bits(w->unknown[reg]);

		t->nr_lanes += known == ~0ULL;
		if ((w->reg[reg] ^ s->vector[i / 4][i % 4]) & known)
			disagree(t, "lane", i, s->vector[i / 4][i % 4], w->reg[reg]);
	}
	if (w->window.nr || w->window.nr_jumps || w->window.next != s->regs.rip ||
	    w->window.last != s->regs.rip || w->nr_reads || w->nr_stores)
		disagree(t, "record", 0, 0, 1);
}

/* A window where the machine is. It is compared when its lead-in is over. */
static void try_window(struct subject *t, struct native_state *s)
{
	int steps = 100;

	for (unsigned int i = 0; i < CPI_NR_REGS; i++)
		t->w.reg[i] = unit_random(&t->random);
	cpi_window_begin(&t->w, 1, 100);
	for (unsigned int i = 0; i < 16; i++)
		t->w.reg[i] = *gpr_of(&s->regs, i);
	t->w.flags = (uint32_t)s->regs.eflags;
	ck_assert_int_eq(cpi_window_start(&t->w, t, s->regs.rip), 0);
	t->nr_leads += t->w.lead;
	while (t->w.lead && steps--)
		ck_assert_int_eq(cpi_window_step(&t->w, t), 0);
	ck_assert_int_ge(steps, 0);
	compare(t, s);
}

static void try_line(struct subject *t, struct native_state *s)
{
	unsigned int at[MOST + 1];
	const unsigned int nr = make_line(t, at);

	make_state(t, s);
	t->nr = translate(t->translator, t->n.code, &t->page);
	t->nr_lines++;
	for (unsigned int i = 0; i + 1 < nr; i++) {
		if (native_step(&t->n, s) ||
		    s->regs.rip != (uint64_t)(uintptr_t)t->n.code + at[i + 1])
			return; /* it faults, or jumps */
		try_window(t, s);
	}
}

/* $WINDOWS: how many lines to try */
START_TEST(a_window_knows_vectors_as_the_machine_has_them)
{
	struct subject *t = calloc(1, sizeof(*t));
	const char *count = getenv("WINDOWS");
	struct native_state s = { 0 };

	ck_assert_ptr_nonnull(t);
	native_open(&t->n);
	ck_assert_int_eq(translator_open(EM_X86_64, &t->translator), 0);
	t->seed = unit_seed();
	t->random = t->seed | 1;
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, t->n.pid, 0, &s.regs), 0);
	for (uint64_t i = count ? strtoull(count, NULL, 0)
				: (uint64_t)unit_rounds(1000, 4000);
	     i; i--) {
		struct native_state now = s;

		try_line(t, &now);
	}
	ck_assert_uint_gt(t->nr_leads, t->nr_lines / 4);
	ck_assert_uint_gt(t->nr_lanes, t->nr_leads);
	translator_close(t->translator);
	native_close(&t->n);
	free(t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("window_lead");
	TCase *c = tcase_create("places"), *machine = tcase_create("machine");

	tcase_add_loop_test(c, a_lead_in_needs_what_is_as_it_was, 0, NR(places));
	tcase_add_loop_test(c, nothing_jumps_to_what_a_lead_in_executes, 0, NR(others));
	tcase_add_loop_test(c, a_vector_is_0_if_it_is_on_all_ways, 0, NR(ways));
	tcase_add_test(c, a_vector_of_arguments_is_unknown_where_only_jumps_lead);
	tcase_add_loop_test(c, a_jump_from_another_page_makes_zeros_unknown, 0,
			    NR(targets));
	tcase_add_test(c, there_are_no_lead_ins_near_the_ends_of_a_page);
	tcase_add_loop_test(c, a_jump_from_another_page_drops_lead_ins, 0, NR(jumps));
	tcase_add_test(c, a_mapping_is_read_once);
	tcase_add_test(c, large_mappings_are_forgotten_early);
	tcase_add_test(c, a_mapping_that_could_not_be_read_is_read_again);
	tcase_add_test(c, a_packed_page_has_the_lead_ins);
	suite_add_tcase(suite, c);
	tcase_set_timeout(machine, 0);
	tcase_add_test(machine, a_window_knows_vectors_as_the_machine_has_them);
	suite_add_tcase(suite, machine);
	return suite;
}

UNIT_MAIN(make_suite)
