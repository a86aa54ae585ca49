/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/windows/steps.h"

#include "t/unit/unit.h"

#define BASE   0x10000u
#define LENGTH 4 /* bytes of each instruction */
#define MOST   40
#define RAX    0
#define RCX    1
#define RDX    2
#define RBX    3

/*
 * One micro-op an instruction; to is the number of a jump's target. But LINK and the
 * line behind it are one instruction: a call of AArch64.
 */
struct line {
	enum cpi_uop_op op;
	uint8_t dst, left;
	int32_t imm;
	int to;
	uint8_t size; /* log2; 0 stands for 3: eight bytes */
};

static int find(void *ctx, uint64_t address, struct walk_code *out)
{
	const uint64_t offset = address % CPI_CODE_PAGE;

	return walk_find_in_page(address - offset == BASE ? ctx : NULL,
				 (uint32_t)offset, out);
}

static uint64_t pc_of(int line)
{
	return BASE + LENGTH * (uint64_t)line;
}

static struct cpi_uop uop_of(const struct line *l, int number)
{
	const unsigned int size = l->size ? l->size : 3;
	struct cpi_uop u = { .op = (uint8_t)l->op,
			     .dst = l->dst,
			     .left = l->left,
			     .src = l->left,
			     .imm = l->imm,
			     .address = (uint16_t)(size << 14 | CPI_REG_ZERO << 6 |
						   (l->left & 63)) };

	u.flags = (uint16_t)(size << CPI_UOP_SOURCE_SHIFT |
			     (LENGTH - 1) << CPI_UOP_LENGTH_SHIFT);
	if (l->op == CPI_UOP_ADD || l->op == CPI_UOP_SUB)
		u.flags |= CPI_UOP_SRC_IMM;
	if (l->op == CPI_UOP_LEA)
		u.disp = l->imm;
	if (l->op <= CPI_UOP_CALL)
		u.disp = (l->to - number) * LENGTH;
	return u;
}

static void make_page(const struct line *line, int nr, struct cpi_code_page *page)
{
	memset(page, 0, sizeof(*page));
	for (int i = 0; i < nr; i++) {
		struct cpi_uop *u = &page->uop[i];

		*u = uop_of(&line[i], i);
		if (i && cpi_uop_is_link(u - 1)) {
			u->flags |= CPI_UOP_MORE;
			u->disp += LENGTH;
			continue;
		}
		page->index[LENGTH * i] = (uint16_t)(i + 1);
		if (cpi_uop_is_link(u))
			u->flags |= (2 * LENGTH - 1) << CPI_UOP_LENGTH_SHIFT;
	}
}

#define ADD(r, n)                          \
	{                                  \
		CPI_UOP_ADD, r, r, n, 0, 0 \
	}
#define ADD32(r, n)                        \
	{                                  \
		CPI_UOP_ADD, r, r, n, 0, 2 \
	}
#define SET(r)                               \
	{                                    \
		CPI_UOP_CONST, r, 0, 7, 0, 0 \
	}
#define LEA(r, q, n)                       \
	{                                  \
		CPI_UOP_LEA, r, q, n, 0, 0 \
	}
#define MOVE(r, q)                         \
	{                                  \
		CPI_UOP_MOV, r, q, 0, 0, 0 \
	}
#define SHIFT(r)                           \
	{                                  \
		CPI_UOP_SHL, r, r, 1, 0, 0 \
	}
#define BRANCH(to)                          \
	{                                   \
		CPI_UOP_JCC, 0, 0, 0, to, 0 \
	}
#define GO(to)                              \
	{                                   \
		CPI_UOP_JMP, 0, 0, 0, to, 0 \
	}
#define CALLS                                \
	{                                    \
		CPI_UOP_CALL, 0, 0, 0, 39, 0 \
	}
#define RETURNS                            \
	{                                  \
		CPI_UOP_RET, 0, 0, 0, 0, 0 \
	}
#define LINK                                                                    \
	{                                                                       \
		CPI_UOP_LEA, CPI_REG_AARCH64_LINK, CPI_REG_PC, 2 * LENGTH, 0, 0 \
	}
#define GO_TO_REGISTER(r)                   \
	{                                   \
		CPI_UOP_JMPI, 0, r, 0, 0, 0 \
	}
#define RETURNS_BY_LINK GO_TO_REGISTER(CPI_REG_AARCH64_LINK)
#define END                                 \
	{                                   \
		CPI_UOP_STOP, 0, 0, 0, 0, 0 \
	}

/* What is found at a line of some code. */
static const struct {
	const char *what;
	struct line line[12];
	int nr, first, second;
	int nr_steps;
	struct step step[2];
} codes[] = {
	{ "a loop that steps one register",
	  { ADD(RAX, 8), BRANCH(0), RETURNS },
	  3,
	  0,
	  0,
	  1,
	  { { .at = 0, .by = 8, .unit = 8, .reg = RAX, .second = STEP_INSIDE } } },
	{ "seen from the middle, and two registers",
	  { ADD(RAX, 8), ADD(RCX, -1), BRANCH(0), RETURNS },
	  4,
	  1,
	  2,
	  2,
	  { { .at = 0, .by = 8, .unit = 8, .reg = RAX, .second = STEP_INSIDE },
	    { .at = 1, .by = -1, .unit = 1, .reg = RCX, .second = STEP_INSIDE } } },
	{ "no loop", { ADD(RAX, 8), ADD(RAX, 8), RETURNS }, 3, 0, 1, 0, { { 0 } } },
	{ "a loop that shifts the register as well",
	  { ADD(RAX, 8), SHIFT(RAX), BRANCH(0), RETURNS },
	  4,
	  0,
	  0,
	  0,
	  { { 0 } } },
	{ "an unrolled loop",
	  { ADD(RAX, 8), ADD(RAX, 8), BRANCH(0), RETURNS },
	  4,
	  0,
	  0,
	  1,
	  { { .at = 0, .by = 16, .unit = 8, .reg = RAX, .second = STEP_INSIDE } } },
	{ "32 bits",
	  { ADD32(RAX, -2), BRANCH(0), RETURNS },
	  3,
	  0,
	  0,
	  1,
	  { { .at = 0,
	      .by = -2,
	      .unit = 2,
	      .reg = RAX,
	      .narrow = true,
	      .second = STEP_INSIDE } } },
	{ "16 bits are not followed",
	  { { CPI_UOP_ADD, RAX, RAX, 1, 0, 1 }, BRANCH(0), RETURNS },
	  3,
	  0,
	  0,
	  0,
	  { { 0 } } },
	{ "a sum that takes a detour through another register",
	  { LEA(RCX, RAX, 8), SHIFT(RDX), MOVE(RAX, RCX), BRANCH(0), RETURNS },
	  5,
	  1,
	  1,
	  1,
	  { { .at = 2, .by = 8, .unit = 8, .reg = RAX, .second = STEP_INSIDE } } },
	{ "an inner loop whose register is set anew by the outer one",
	  { SET(RAX), ADD(RAX, 8), BRANCH(1), ADD(RCX, 1), BRANCH(0), RETURNS },
	  6,
	  1,
	  2,
	  2,
	  { { .at = 1,
	      .by = 8,
	      .unit = 8,
	      .nr_blocks = 1,
	      .reg = RAX,
	      .second = STEP_INSIDE },
	    { .at = 3,
	      .by = 1,
	      .unit = 1,
	      .nr_blocks = 3,
	      .reg = RCX,
	      .second = STEP_INSIDE } } },
	{ "the second one outside of the inner loop",
	  { SET(RAX), ADD(RAX, 8), BRANCH(1), ADD(RCX, 1), BRANCH(0), RETURNS },
	  6,
	  1,
	  3,
	  2,
	  { { .at = 1, .by = 8, .unit = 8, .reg = RAX },
	    { .at = 3, .by = 1, .unit = 1, .reg = RCX, .second = STEP_INSIDE } } },
	{ "a call keeps rbx, and not rax",
	  { ADD(RAX, 8), ADD(RBX, 1), CALLS, BRANCH(0), RETURNS },
	  5,
	  0,
	  3,
	  1,
	  { { .at = 1,
	      .by = 1,
	      .unit = 1,
	      .reg = RBX,
	      .calls = true,
	      .second = STEP_INSIDE } } },
	{ "a call of a leaf that leaves rax alone",
	  { ADD(RAX, 8),
	    { CPI_UOP_CALL, 0, 0, 0, 4, 0 },
	    BRANCH(0),
	    END,
	    ADD(RCX, 1),
	    RETURNS },
	  6,
	  0,
	  2,
	  1,
	  { { .at = 0,
	      .by = 8,
	      .unit = 8,
	      .reg = RAX,
	      .calls = true,
	      .second = STEP_INSIDE } } },
	{ "the second one in the leaf",
	  { ADD(RAX, 8),
	    { CPI_UOP_CALL, 0, 0, 0, 4, 0 },
	    BRANCH(0),
	    END,
	    ADD(RCX, 1),
	    RETURNS },
	  6,
	  2,
	  4,
	  1,
	  { { .at = 0,
	      .by = 8,
	      .unit = 8,
	      .reg = RAX,
	      .calls = true,
	      .second = STEP_BELOW } } },
	{ "a call of a leaf that writes it",
	  { ADD(RAX, 8),
	    { CPI_UOP_CALL, 0, 0, 0, 4, 0 },
	    BRANCH(0),
	    END,
	    ADD(RAX, 1),
	    RETURNS },
	  6,
	  0,
	  2,
	  0,
	  { { 0 } } },
	{ "the second one in a leaf that the callee calls",
	  { ADD(RAX, 8),
	    { CPI_UOP_CALL, 0, 0, 0, 4, 0 },
	    BRANCH(0),
	    END,
	    { CPI_UOP_CALL, 0, 0, 0, 7, 0 },
	    ADD(RCX, 1),
	    RETURNS,
	    ADD(RDX, 1),
	    RETURNS },
	  9,
	  2,
	  7,
	  1,
	  { { .at = 0,
	      .by = 8,
	      .unit = 8,
	      .reg = RAX,
	      .calls = true,
	      .second = STEP_BELOW } } },
	{ "a leaf that the callee calls writes it",
	  { ADD(RAX, 8),
	    { CPI_UOP_CALL, 0, 0, 0, 4, 0 },
	    BRANCH(0),
	    END,
	    { CPI_UOP_CALL, 0, 0, 0, 6, 0 },
	    RETURNS,
	    ADD(RAX, 1),
	    RETURNS },
	  8,
	  0,
	  2,
	  0,
	  { { 0 } } },
	{ "a call of AArch64 keeps rbx, and not rax",
	  { ADD(RAX, 8), ADD(RBX, 1), LINK, GO(30), BRANCH(0), RETURNS_BY_LINK },
	  6,
	  0,
	  4,
	  1,
	  { { .at = 1,
	      .by = 1,
	      .unit = 1,
	      .reg = RBX,
	      .calls = true,
	      .second = STEP_INSIDE } } },
	{ "so does a call by a pointer",
	  { ADD(RAX, 8), ADD(RBX, 1), LINK, GO_TO_REGISTER(RDX), BRANCH(0), END },
	  6,
	  0,
	  4,
	  1,
	  { { .at = 1,
	      .by = 1,
	      .unit = 1,
	      .reg = RBX,
	      .calls = true,
	      .second = STEP_INSIDE } } },
	{ "a jump to a register leads nowhere",
	  { ADD(RAX, 8), GO_TO_REGISTER(RDX), BRANCH(0), END },
	  4,
	  0,
	  2,
	  0,
	  { { 0 } } },
	{ "a leaf of AArch64 leaves rax alone",
	  { ADD(RAX, 8), LINK, GO(5), BRANCH(0), END, ADD(RCX, 1), RETURNS_BY_LINK },
	  7,
	  0,
	  5,
	  1,
	  { { .at = 0,
	      .by = 8,
	      .unit = 8,
	      .reg = RAX,
	      .calls = true,
	      .second = STEP_BELOW } } },
	{ "the second one in a leaf of AArch64 that the callee calls",
	  { ADD(RAX, 8), LINK, GO(5), BRANCH(0), END, LINK, GO(9), ADD(RCX, 1),
	    RETURNS_BY_LINK, ADD(RDX, 1), RETURNS_BY_LINK },
	  11,
	  0,
	  9,
	  1,
	  { { .at = 0,
	      .by = 8,
	      .unit = 8,
	      .reg = RAX,
	      .calls = true,
	      .second = STEP_BELOW } } },
	{ "a callee of AArch64 goes on behind its call, and writes it there",
	  { ADD(RAX, 8), LINK, GO(5), BRANCH(0), END, LINK, GO(9), ADD(RAX, 1),
	    RETURNS_BY_LINK, ADD(RDX, 1), RETURNS_BY_LINK },
	  11,
	  0,
	  9,
	  0,
	  { { 0 } } },
	{ "two ways that step it",
	  { BRANCH(3), ADD(RAX, 1), GO(4), ADD(RAX, 2), BRANCH(0), RETURNS },
	  6,
	  0,
	  4,
	  0,
	  { { 0 } } },
	{ "a way that may be left out",
	  { BRANCH(2), ADD(RAX, 1), BRANCH(0), RETURNS },
	  4,
	  0,
	  2,
	  1,
	  { { .at = 1, .by = 1, .unit = 1, .reg = RAX, .second = STEP_INSIDE } } },
	{ "an endless loop",
	  { ADD(RAX, 1), GO(0) },
	  2,
	  1,
	  0,
	  1,
	  { { .at = 0, .by = 1, .unit = 1, .reg = RAX, .second = STEP_INSIDE } } },
	{ "what it steps comes to nothing",
	  { ADD(RAX, 1), ADD(RAX, -1), BRANCH(0), END },
	  4,
	  0,
	  0,
	  0,
	  { { 0 } } },
	{ "a block that steps it up and down",
	  { ADD(RAX, 3), ADD(RAX, -1), BRANCH(0), END },
	  4,
	  0,
	  0,
	  0,
	  { { 0 } } },
	{ "code that is not known", { BRANCH(0), GO(30) }, 2, 1, 1, 0, { { 0 } } },
};

START_TEST(steps_are_found)
{
	const struct steps_code code = { find, NULL, STEPS_CLOBBERED_X86_64 };
	struct cpi_code_page *page = malloc(sizeof(*page));
	struct steps_code with = code;
	struct steps *s = steps_new();
	struct step got[STEPS_MAX];

	ck_assert(page && s);
	make_page(codes[_i].line, codes[_i].nr, page);
	with.ctx = page;
	ck_assert_msg((int)steps_find(s, &with, pc_of(codes[_i].first),
				      pc_of(codes[_i].first), pc_of(codes[_i].second),
				      got) == codes[_i].nr_steps,
		      "%s", codes[_i].what);
	for (int i = 0; i < codes[_i].nr_steps; i++) {
		const struct step *want = &codes[_i].step[i];

		ck_assert_msg(got[i].reg == want->reg && got[i].by == want->by &&
				      got[i].unit == want->unit &&
				      got[i].at == pc_of((int)want->at) &&
				      got[i].narrow == want->narrow &&
				      got[i].calls == want->calls &&
				      (!want->nr_blocks ||
				       got[i].nr_blocks == want->nr_blocks) &&
				      got[i].second == want->second,
			      "%s: step %d", codes[_i].what, i);
	}
	steps_free(s);
	free(page);
}
END_TEST

/* ---- random code, walked at random ---- */

#define WALKS    3000
#define NR_STEPS 60
#define NR_USED  4 /* registers */

/* Registers with odd numbers go down: no block goes both ways. */
static struct line random_line(uint64_t *seed, int nr)
{
	const uint8_t r = (uint8_t)(unit_random(seed) % NR_USED);
	const uint8_t q = (uint8_t)(unit_random(seed) % NR_USED);
	const int32_t n = (int32_t)(unit_random(seed) % 4 + 1) * (r % 2 ? -1 : 1);
	const int to = (int)(unit_random(seed) % (unsigned int)nr);

	switch (unit_random(seed) % 12) {
	case 0:
	case 1:
	case 2:
		return (struct line)BRANCH(to);
	case 3:
		return (struct line)GO(to);
	case 4:
		return (struct line)SET(r);
	case 5:
		return (struct line)LEA(r, q, n);
	case 6:
		return (struct line)MOVE(r, q);
	case 7:
		return (struct line)ADD32(r, n);
	default:
		return (struct line)ADD(r, n);
	}
}

/* The machine: what a line does to the registers. Returns the line that follows. */
static int do_line(const struct line *l, int number, uint64_t *reg, uint64_t *seed)
{
	switch (l->op) {
	case CPI_UOP_JCC:
		return unit_random(seed) & 1 ? l->to : number + 1;
	case CPI_UOP_JMP:
		return l->to;
	case CPI_UOP_CONST:
		reg[l->dst] = (uint64_t)l->imm << 32;
		break;
	case CPI_UOP_LEA:
	case CPI_UOP_MOV:
		reg[l->dst] = reg[l->left] + (uint64_t)(int64_t)l->imm;
		break;
	default:
		reg[l->dst] += (uint64_t)(int64_t)l->imm;
		if (l->size == 2)
			reg[l->dst] = (uint32_t)reg[l->dst];
		break;
	}
	return number + 1;
}

/* Registers and lines at each moment of a walk. */
struct trace {
	int line[NR_STEPS + 1];
	uint64_t reg[NR_STEPS + 1][NR_USED];
	int nr;
};

static void walk(const struct line *line, int nr, uint64_t *seed, struct trace *t)
{
	int at = (int)(unit_random(seed) % (unsigned int)nr);

	for (int r = 0; r < NR_USED; r++)
		t->reg[0][r] = unit_random(seed);
	for (t->nr = 0; at < nr && t->nr < NR_STEPS; t->nr++) {
		t->line[t->nr] = at;
		memcpy(t->reg[t->nr + 1], t->reg[t->nr], sizeof(t->reg[0]));
		at = do_line(&line[at], at, t->reg[t->nr + 1], seed);
	}
}

/* Whether a line writes anything to a register but itself plus something. */
static bool spoils(const struct line *l, unsigned int reg)
{
	return l->op > CPI_UOP_RET && l->dst == reg && l->op != CPI_UOP_ADD &&
	       !(l->op == CPI_UOP_LEA && l->left == reg) &&
	       !(l->op == CPI_UOP_MOV && l->left == reg);
}

/* The change of a register is that of its step's block, as often as that ran. */
static void compare(const struct line *line, const struct trace *t, int from, int to,
		    const struct step *s)
{
	const uint64_t raw = t->reg[to][s->reg] - t->reg[from][s->reg];
	const int64_t change = s->narrow ? (int32_t)(uint32_t)raw : (int64_t)raw;
	int64_t ran = 0;

	for (int i = from; i < to; i++) {
		if (spoils(&line[t->line[i]], s->reg))
			return; /* the region was left */
		ran += pc_of(t->line[i]) == s->at;
	}
	ck_assert(change % (int64_t)s->unit == 0);
	/* The last block, and the first one, may have been done in part. */
	ck_assert_int_le(llabs(change / s->by - ran), 1);
}

START_TEST(a_register_counts_its_block)
{
	struct cpi_code_page *page = malloc(sizeof(*page));
	struct steps_code code = { find, page, STEPS_CLOBBERED_X86_64 };
	uint64_t seed = unit_seed(), nr_found = 0;
	struct steps *s = steps_new();
	struct step got[STEPS_MAX];
	struct line line[MOST];
	struct trace t;

	ck_assert(page && s);
	for (int i = 0; i < WALKS; i++) {
		const int nr = 3 + (int)(unit_random(&seed) % (MOST - 3));

		for (int k = 0; k < nr; k++)
			line[k] = random_line(&seed, nr);
		make_page(line, nr, page);
		walk(line, nr, &seed, &t);
		for (int from = 0; from + 1 < t.nr; from += 5) {
			const int to = from + (int)(unit_random(&seed) %
						    (unsigned int)(t.nr - from));
			const uint32_t nr_got =
				steps_find(s, &code, pc_of(t.line[from]),
					   pc_of(t.line[from]), pc_of(t.line[to]), got);

			for (uint32_t k = 0; k < nr_got; k++) {
				if (got[k].second != STEP_INSIDE)
					continue;
				compare(line, &t, from, to, &got[k]);
				nr_found++;
			}
		}
	}
	ck_assert_uint_gt(nr_found, WALKS / 10);
	steps_free(s);
	free(page);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("steps");
	TCase *t = tcase_create("steps");

	tcase_add_loop_test(t, steps_are_found, 0, NR(codes));
	tcase_add_test(t, a_register_counts_its_block);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
