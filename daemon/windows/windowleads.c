/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowleads.c - drops lead-ins into whose instructions other code may jump
 *
 * The target is computed first, because few are in the page; then the opcode is
 * looked at.
 */
#include "config.h"

#include "daemon/windows/windowleads.h"

#include <stdbool.h>
#include <string.h>

#define CHUNK   16384u
#define LONGEST 6u /* bytes of a jump: its opcode, and the distance */

/* A bit for each offset of the page to which code jumps; of other pages alone. */
struct entered {
	uint64_t bit[CPI_CODE_LINES];
	uint64_t from_outside[CPI_CODE_LINES];
};

/*
 * jmp, call; the jumps on conditions; xbegin, whose target is where it goes on; lea,
 * whose target may be a procedure.
 */
static bool is_jump(uint8_t before, uint8_t opcode)
{
	return opcode == 0xe8 || opcode == 0xe9 ||
	       (before == 0x0f && (opcode & 0xf0) == 0x80) ||
	       (before == 0xc7 && opcode == 0xf8) ||
	       (before == 0x8d && (opcode & 0xc7) == 0x05);
}

/* code begins at an offset from the page's first byte. */
static void note_jumps(struct entered *e, const uint8_t *code, size_t size,
		       int64_t from)
{
	for (size_t i = 0; i + 5 <= size; i++) {
		int32_t distance;
		uint64_t to;

		memcpy(&distance, code + i + 1, sizeof(distance));
		to = (uint64_t)(from + (int64_t)i + 5 + distance);
		if (to >= CPI_CODE_PAGE || !is_jump(i ? code[i - 1] : 0, code[i]))
			continue;
		e->bit[to / CPI_CODE_LINE] |= 1ULL << to % CPI_CODE_LINE;
		if ((uint64_t)(from + (int64_t)i) >= CPI_CODE_PAGE)
			e->from_outside[to / CPI_CODE_LINE] |= 1ULL
							       << to % CPI_CODE_LINE;
	}
}

/* Returns whether all could be read. A file may end before its mapping does. */
static bool look_at_all(struct entered *e, uint64_t at, uint64_t size,
			windowleads_read_fn *read, void *ctx)
{
	uint8_t code[CHUNK + LONGEST];
	size_t got;

	for (uint64_t i = 0; i < size; i += CHUNK) {
		const uint64_t left = size - i;

		got = read(ctx, i, code, left < sizeof(code) ? left : sizeof(code));
		note_jumps(e, code, got, (int64_t)(i - at));
		if (got < sizeof(code))
			return i + got > at;
	}
	return true;
}

static bool has_bit(const uint64_t *bits, uint64_t offset)
{
	return offset < CPI_CODE_PAGE &&
	       bits[offset / CPI_CODE_LINE] >> offset % CPI_CODE_LINE & 1;
}

/* What the page says of an offset is wrong. Returns whether this is new. */
static bool doubt(const struct cpi_code_page *page, uint64_t *wrong, uint64_t offset)
{
	if (!has_bit(page->zero, offset) || has_bit(wrong, offset))
		return false;
	wrong[offset / CPI_CODE_LINE] |= 1ULL << offset % CPI_CODE_LINE;
	return true;
}

/* And so it is where the instruction at offset leads. Returns whether this is new. */
static bool spread(const struct cpi_code_page *page, uint32_t nr_uops, uint64_t *wrong,
		   uint32_t offset)
{
	uint32_t at = page->index[offset];
	bool changed = false;

	if (!at || at > nr_uops)
		return false;
	changed = doubt(page, wrong, offset + cpi_uop_length(&page->uop[at - 1]));
	do {
		const struct cpi_uop *u = &page->uop[at - 1];

		if (cpi_uop_is_direct(u))
			changed |=
				doubt(page, wrong, offset + (uint64_t)(int64_t)u->disp);
	} while (++at <= nr_uops && page->uop[at - 1].flags & CPI_UOP_MORE);
	return changed;
}

/* Where vectors are taken for 0, although other pages lead there. */
static void find_wrong(const struct entered *e, const struct cpi_code_page *page,
		       uint32_t nr_uops, uint64_t wrong[CPI_CODE_LINES])
{
	bool changed = true;

	for (uint32_t i = 0; i < CPI_CODE_LINES; i++)
		wrong[i] = e->from_outside[i] & page->zero[i];
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < CPI_CODE_PAGE; i++)
			if (has_bit(wrong, i))
				changed |= spread(page, nr_uops, wrong, i);
	}
}

/* Whether code may jump to a place after the lead-in's first instruction. */
static bool is_entered(const struct entered *e, const struct cpi_uop *u)
{
	const unsigned int offset = cpi_lead_offset(u), back = cpi_lead_back(u);

	if (back > offset)
		return true;
	for (unsigned int i = offset - back + 1; i <= offset; i++)
		if (has_bit(e->bit, i))
			return true;
	return false;
}

uint32_t windowleads_check(struct cpi_code_page *page, uint32_t nr_uops, uint64_t at,
			   uint64_t size, windowleads_read_fn *read, void *ctx)
{
	struct entered e = { .bit = { 0 } };
	uint32_t first = nr_uops, nr;
	uint64_t wrong[CPI_CODE_LINES];

	while (first && page->uop[first - 1].op == CPI_UOP_LEAD)
		first--;
	if (first == nr_uops || size > WINDOWLEADS_MAX_SIZE ||
	    !look_at_all(&e, at, size, read, ctx))
		return first;
	find_wrong(&e, page, first, wrong);
	nr = first;
	for (uint32_t i = first; i < nr_uops; i++) {
		const struct cpi_uop *u = &page->uop[i];

		if (!is_entered(&e, u) &&
		    !(u->imm && has_bit(wrong, cpi_lead_offset(u) - cpi_lead_back(u))))
			page->uop[nr++] = *u;
	}
	return nr;
}
