/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codepack.c - packs translated pages
 *
 * The micro-ops keep their order, so that each still falls through to the next one.
 * Only references to micro-ops are rewritten: index[] becomes a bit and a cell number
 * per instruction, and direct jumps name cells.
 */
#include "config.h"

#include "analysis/windows/codepack.h"

#include <stdbool.h>
#include <string.h>

#define LINE_BYTES (CPI_CODE_LINE_CELLS * sizeof(union cpi_code_cell))

static bool has_line(const struct cpi_code_page *page, uint32_t line)
{
	for (uint32_t i = 0; i < CPI_CODE_LINE; i++) {
		if (page->index[line * CPI_CODE_LINE + i])
			return true;
	}
	return false;
}

/* Counts lines and instructions; the counts determine where each section begins. */
static struct cpi_code_head lay_out(const struct cpi_code_page *page, uint32_t nr_uops)
{
	struct cpi_code_head h = { 0 };
	uint32_t nr_lines = 0, nr_starts = 0;

	for (uint32_t i = 0; i < CPI_CODE_LINES; i++) {
		if (!has_line(page, i))
			continue;
		h.lines |= 1ULL << i;
		nr_lines++;
	}
	for (uint32_t i = 0; i < CPI_CODE_PAGE; i++)
		nr_starts += page->index[i] != 0;
	h.places = (uint16_t)(1 + nr_lines);
	h.bytes = (uint16_t)(h.places +
			     (nr_starts + CPI_CODE_PLACES - 1) / CPI_CODE_PLACES +
			     nr_uops);
	h.nr_cells = (uint16_t)(h.bytes + nr_lines * CPI_CODE_LINE_CELLS);
	return h;
}

static void copy_bytes(const uint8_t *code, size_t size, uint32_t from, void *to)
{
	const size_t left = from < size ? size - from : 0;

	memset(to, 0, LINE_BYTES);
	if (left > 0)
		memcpy(to, code + from, left < LINE_BYTES ? left : LINE_BYTES);
}

static void copy_uops(const struct cpi_code_page *page, uint32_t nr_uops,
		      union cpi_code_cell *out, uint32_t first)
{
	for (uint32_t i = 0; i < nr_uops; i++) {
		struct cpi_uop u = page->uop[i];

		if ((u.op == CPI_UOP_GOTO || u.op == CPI_UOP_LEAD ||
		     cpi_uop_is_direct(&u)) &&
		    u.address)
			u.address = (uint16_t)(u.address - 1u + first);
		out[first + i].uop = u;
	}
}

/*
 * The line of a translated offset, and how many instructions of the line come before
 * it. NULL: the offset is not translated.
 */
static union cpi_code_cell *find_line(union cpi_code_cell *packed, uint32_t offset,
				      uint32_t *before)
{
	const uint64_t lines = packed->head.lines;
	const uint64_t line = 1ULL << offset / CPI_CODE_LINE;
	const uint64_t start = 1ULL << offset % CPI_CODE_LINE;
	union cpi_code_cell *l = &packed[1 + __builtin_popcountll(lines & (line - 1))];

	if (!(lines & line) || !(l->line.starts & start))
		return NULL;
	*before = (uint32_t)__builtin_popcountll(l->line.starts & (start - 1));
	return l;
}

/* Lead-ins follow all other micro-ops, in the order of their offsets. */
static void note_leads(const struct cpi_code_page *page, uint32_t nr_uops,
		       union cpi_code_cell *out, uint32_t first)
{
	uint32_t from = nr_uops, number;

	while (from && page->uop[from - 1].op == CPI_UOP_LEAD)
		from--;
	for (uint32_t i = from; i < nr_uops; i++) {
		union cpi_code_cell *l =
			find_line(out, cpi_lead_offset(&page->uop[i]), &number);

		if (!l || number >= CPI_CODE_LEADS)
			continue;
		if (!l->line.leads)
			l->line.lead = (uint16_t)(first + i);
		l->line.leads |= 1u << number;
	}
}

uint32_t codepack_page(const struct cpi_code_page *page, uint32_t nr_uops,
		       const uint8_t *code, size_t size, union cpi_code_cell *out)
{
	const struct cpi_code_head h = lay_out(page, nr_uops);
	const uint32_t first = h.bytes - nr_uops;
	uint32_t line = 0, number = 0;

	memset(out, 0, h.nr_cells * sizeof(*out));
	out[0].head = h;
	for (uint32_t i = 0; i < CPI_CODE_PAGE; i += CPI_CODE_LINE) {
		struct cpi_code_line l = { .place = (uint16_t)number };

		if (!(h.lines >> i / CPI_CODE_LINE & 1))
			continue;
		for (uint32_t k = 0; k < CPI_CODE_LINE; k++) {
			const uint32_t place = page->index[i + k];

			if (!place)
				continue;
			l.starts |= 1ULL << k;
			out[h.places + number / CPI_CODE_PLACES]
				.place[number % CPI_CODE_PLACES] =
				(uint16_t)(place - 1 + first);
			number++;
		}
		out[1 + line].line = l;
		copy_bytes(code, size, i, &out[h.bytes + line * CPI_CODE_LINE_CELLS]);
		line++;
	}
	copy_uops(page, nr_uops, out, first);
	note_leads(page, nr_uops, out, first);
	return h.nr_cells;
}

uint32_t codepack_find(const union cpi_code_cell *packed, uint32_t offset)
{
	uint32_t before;
	const union cpi_code_cell *l =
		find_line((union cpi_code_cell *)packed, offset, &before);

	if (!l)
		return 0;
	before += l->line.place;
	return packed[packed->head.places + before / CPI_CODE_PLACES]
		.place[before % CPI_CODE_PLACES];
}

uint32_t codepack_find_lead(const union cpi_code_cell *packed, uint32_t offset)
{
	uint32_t before;
	const union cpi_code_cell *l =
		find_line((union cpi_code_cell *)packed, offset, &before);

	if (!l || before >= CPI_CODE_LEADS || !(l->line.leads >> before & 1))
		return 0;
	return l->line.lead +
	       (uint32_t)__builtin_popcount(l->line.leads & ((1u << before) - 1));
}

const uint8_t *codepack_bytes(const union cpi_code_cell *packed, uint32_t offset,
			      size_t size)
{
	uint32_t before;
	const union cpi_code_cell *l =
		find_line((union cpi_code_cell *)packed, offset, &before);
	const size_t at = offset % CPI_CODE_LINE;

	if (!l || size > LINE_BYTES - at)
		return NULL;
	l = &packed[packed->head.bytes + (l - packed - 1) * CPI_CODE_LINE_CELLS];
	return (const uint8_t *)l + at;
}
