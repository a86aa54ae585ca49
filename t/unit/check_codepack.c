/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages of random micro-ops, packed: every instruction is found with its
 * micro-ops, and goes on to the next one and to its jumps' targets.
 */
#include "config.h"

#include "analysis/windows/codepack.h"

#include <stdbool.h>
#include <string.h>

#include "t/unit/unit.h"

struct subject {
	struct cpi_code_page page;
	uint32_t nr_uops;
	uint32_t next[CPI_CODE_PAGE]; /* instruction behind one; 0: none */
	uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE];
	union cpi_code_cell packed[CPI_CODE_MAX_CELLS];
};

static void add_uop(struct subject *s, uint8_t op, uint16_t flags, uint32_t number)
{
	s->page.uop[s->nr_uops++] =
		(struct cpi_uop){ .op = op, .flags = flags, .imm = (int32_t)number };
}

/* Runs of instructions, each of which ends with a return or goes to another one. */
static void make_page(struct subject *s, uint64_t *random)
{
	const uint32_t distance = 1 + unit_random(random) % 60;
	uint32_t offset = unit_random(random) % 300, last = 0;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < sizeof(s->code); i++)
		s->code[i] = (uint8_t)unit_random(random);
	while (offset < CPI_CODE_PAGE && s->nr_uops + 4 < CPI_UOPS_PER_PAGE) {
		const bool ends = unit_random(random) % 8 == 0;

		s->page.index[offset] = (uint16_t)(s->nr_uops + 1);
		for (uint64_t n = unit_random(random) % 3; n--;)
			add_uop(s, CPI_UOP_MOV,
				s->nr_uops + 1u == s->page.index[offset] ? 0
									 : CPI_UOP_MORE,
				offset);
		add_uop(s, ends ? CPI_UOP_RET : CPI_UOP_JCC,
			s->nr_uops + 1u == s->page.index[offset] ? 0 : CPI_UOP_MORE,
			offset);
		if (last)
			s->next[last] = offset;
		last = ends ? 0 : offset;
		offset += 1 + unit_random(random) % distance;
	}
	add_uop(s, CPI_UOP_GOTO, CPI_UOP_MORE, 0);
	if (last)
		s->next[last] = 0;
	for (uint32_t i = 0; i < s->nr_uops; i++) { /* any instruction, or none */
		const uint32_t to = unit_random(random) % CPI_CODE_PAGE;
		struct cpi_uop *u = &s->page.uop[i];

		if (u->op == CPI_UOP_JCC) {
			u->disp = (int32_t)to - u->imm;
			u->address = s->page.index[to];
		}
	}
}

/* The instruction at a cell that begins one, or none. */
static bool begins(const union cpi_code_cell *p, uint32_t cell, uint32_t offset)
{
	return codepack_find(p, offset) == cell;
}

/* Whether an instruction is whole, and goes on where it is to. */
static bool is_right(const struct subject *s, const union cpi_code_cell *p,
		     uint32_t offset)
{
	const uint32_t place = s->page.index[offset];
	const struct cpi_uop *u = &s->page.uop[place ? place - 1 : 0];
	uint32_t cell = codepack_find(p, offset);

	if (!place)
		return !cell;
	for (bool more = true; more; u++, cell++) {
		const struct cpi_uop *at = &p[cell].uop;
		const uint32_t to = (uint32_t)(u->imm + u->disp);

		if (cell >= p->head.bytes || at->op != u->op || at->imm != u->imm ||
		    at->flags != u->flags || at->disp != u->disp)
			return false;
		if (u->op == CPI_UOP_JCC && at->address != codepack_find(p, to))
			return false;
		more = u[1].flags & CPI_UOP_MORE && u[1].op != CPI_UOP_GOTO;
	}
	if (u[-1].op == CPI_UOP_RET)
		return true;
	if (s->next[offset])
		return begins(p, cell, s->next[offset]);
	return p[cell].uop.op == CPI_UOP_GOTO && !p[cell].uop.address;
}

static bool has_bytes(const struct subject *s, const union cpi_code_cell *p)
{
	uint32_t cell = p->head.bytes;

	for (uint64_t all = p->head.lines; all; all &= all - 1) {
		uint8_t line[CPI_CODE_LINE + CPI_CODE_MORE + 1] = { 0 };
		const uint32_t from = (uint32_t)__builtin_ctzll(all) * CPI_CODE_LINE;
		const size_t left = sizeof(s->code) - from;

		memcpy(line, s->code + from, left < sizeof(line) ? left : sizeof(line));
		if (memcmp(line, &p[cell], sizeof(line)))
			return false;
		cell += CPI_CODE_LINE_CELLS;
	}
	return cell == p->head.nr_cells;
}

static void check_page(const struct subject *s, const union cpi_code_cell *p,
		       uint64_t seed)
{
	for (uint32_t i = 0; i < CPI_CODE_PAGE; i++) {
		if (!is_right(s, p, i))
			ck_abort_msg("seed %#llx, offset %u", (unsigned long long)seed,
				     i);
	}
	ck_assert_msg(has_bytes(s, p), "seed %#llx", (unsigned long long)seed);
}

START_TEST(what_is_packed_is_whole)
{
	static struct subject s;
	const uint64_t seed = unit_seed() + (uint64_t)_i;
	uint64_t random = seed | 1;
	uint32_t nr;

	make_page(&s, &random);
	nr = codepack_page(&s.page, s.nr_uops, s.code, sizeof(s.code), s.packed);
	ck_assert_uint_le(nr, CPI_CODE_MAX_CELLS);
	check_page(&s, s.packed, seed);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("codepack");
	TCase *tc = tcase_create("codepack");

	tcase_add_loop_test(tc, what_is_packed_is_whole, 0, 300);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
