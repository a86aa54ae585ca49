/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowleads.c - drops lead-ins into whose instructions other code may jump
 *
 * The target is computed first, because few are in the mapping; then the opcode is
 * looked at. The targets of a whole mapping are kept, because its pages are translated
 * one by one.
 */
#include "config.h"

#include "daemon/windows/windowleads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK   61440u
#define LONGEST 6u /* bytes of a jump: its opcode, and the distance */
/* The mappings whose jumps are kept, and the pages of all of them together. */
#define SLOTS     16
#define MAX_PAGES 4096 /* a struct entered of 1 KiB each */

/*
 * A bit for each offset of a page that is a jump's target; then only for jumps from
 * other pages.
 */
struct entered {
	uint64_t bit[CPI_CODE_LINES];
	uint64_t from_outside[CPI_CODE_LINES];
};

/* The targets of all jumps of a mapping. */
struct targets {
	const void *owner; /* NULL: the slot is free */
	uint64_t used;     /* the clock of its last use */
	uint64_t covered;  /* bytes that were read */
	uint64_t nr_pages;
	struct entered *page;
};

struct windowleads {
	struct targets slot[SLOTS];
	uint64_t nr_pages; /* of all slots */
	uint64_t clock;
	uint8_t code[CHUNK + LONGEST];
};

struct windowleads *windowleads_new(void)
{
	return calloc(1, sizeof(struct windowleads));
}

static void clear_slot(struct windowleads *wl, struct targets *t)
{
	wl->nr_pages -= t->nr_pages;
	free(t->page);
	*t = (struct targets){ .owner = NULL };
}

void windowleads_forget(struct windowleads *wl)
{
	for (int i = 0; i < SLOTS; i++)
		clear_slot(wl, &wl->slot[i]);
}

void windowleads_free(struct windowleads *wl)
{
	if (!wl)
		return;
	windowleads_forget(wl);
	free(wl);
}

/*
 * jmp, call and conditional jumps; xbegin, whose target is its abort handler; lea,
 * whose target may be a procedure.
 */
static bool is_jump(uint8_t before, uint8_t opcode)
{
	return opcode == 0xe8 || opcode == 0xe9 ||
	       (before == 0x0f && (opcode & 0xf0) == 0x80) ||
	       (before == 0xc7 && opcode == 0xf8) ||
	       (before == 0x8d && (opcode & 0xc7) == 0x05);
}

static void set_bit(uint64_t *bits, uint64_t offset)
{
	bits[offset / CPI_CODE_LINE] |= 1ULL << offset % CPI_CODE_LINE;
}

/* code begins at an offset of the mapping. */
static void note_jumps(struct targets *t, const uint8_t *code, size_t size,
		       uint64_t from)
{
	const uint64_t end = t->nr_pages * CPI_CODE_PAGE;

	for (size_t i = 0; i + 5 <= size; i++) {
		int32_t distance;
		uint64_t to;

		memcpy(&distance, code + i + 1, sizeof(distance));
		to = from + i + 5 + (uint64_t)(int64_t)distance;
		if (to >= end || !is_jump(i ? code[i - 1] : 0, code[i]))
			continue;
		set_bit(t->page[to / CPI_CODE_PAGE].bit, to % CPI_CODE_PAGE);
		if ((from + i) / CPI_CODE_PAGE != to / CPI_CODE_PAGE)
			set_bit(t->page[to / CPI_CODE_PAGE].from_outside,
				to % CPI_CODE_PAGE);
	}
}

/*
 * Reads all code of the mapping. A file may end before its mapping does. If the last
 * read failed, what was read is not kept: it may be more the next time.
 */
static void look_at_all(struct windowleads *wl, struct targets *t, uint64_t size,
			windowleads_read_fn *read, void *ctx)
{
	const void *owner = t->owner;

	for (uint64_t i = 0; i < size; i += CHUNK) {
		const uint64_t left = size - i;
		const size_t want = left < sizeof(wl->code) ? left : sizeof(wl->code);
		const size_t got = read(ctx, i, wl->code, want);

		note_jumps(t, wl->code, got, i);
		t->covered = i + got;
		t->owner = got ? owner : NULL;
		if (got < want)
			return;
	}
}

/* The slot of this owner; else a free one, or the least recently used. */
static struct targets *find_slot(struct windowleads *wl, const void *owner)
{
	struct targets *oldest = wl->slot;

	for (struct targets *t = wl->slot; t < wl->slot + SLOTS; t++) {
		if (t->owner == owner)
			return t;
		if (!t->owner || (oldest->owner && t->used < oldest->used))
			oldest = t;
	}
	return oldest;
}

/* Clears slots, the least recently used first, until nr more pages may be kept. */
static void make_room(struct windowleads *wl, uint64_t nr)
{
	while (wl->nr_pages && wl->nr_pages + nr > MAX_PAGES) {
		struct targets *oldest = NULL;

		for (struct targets *t = wl->slot; t < wl->slot + SLOTS; t++)
			if (t->nr_pages && (!oldest || t->used < oldest->used))
				oldest = t;
		clear_slot(wl, oldest);
	}
}

/* Returns what is jumped to in the page, or NULL if that is not known. */
static const struct entered *look_up(struct windowleads *wl, const void *owner,
				     uint64_t at, uint64_t size,
				     windowleads_read_fn *read, void *ctx)
{
	struct targets *t = find_slot(wl, owner);

	if (t->owner != owner) {
		const uint64_t nr = (size + CPI_CODE_PAGE - 1) / CPI_CODE_PAGE;

		clear_slot(wl, t);
		make_room(wl, nr);
		t->page = calloc(nr, sizeof(*t->page));
		if (!t->page)
			return NULL;
		t->owner = owner;
		t->nr_pages = nr;
		wl->nr_pages += nr;
		look_at_all(wl, t, size, read, ctx);
	}
	t->used = ++wl->clock;
	return at < t->covered ? &t->page[at / CPI_CODE_PAGE] : NULL;
}

static bool has_bit(const uint64_t *bits, uint64_t offset)
{
	return offset < CPI_CODE_PAGE &&
	       bits[offset / CPI_CODE_LINE] >> offset % CPI_CODE_LINE & 1;
}

/*
 * Marks an offset as wrong if the page takes vectors for 0 there. Returns whether
 * the mark is new.
 */
static bool doubt(const struct cpi_code_page *page, uint64_t *wrong, uint64_t offset)
{
	if (!has_bit(page->zero, offset) || has_bit(wrong, offset))
		return false;
	wrong[offset / CPI_CODE_LINE] |= 1ULL << offset % CPI_CODE_LINE;
	return true;
}

/*
 * Marks the successors of an instruction at a wrong offset, too. Returns whether any
 * mark is new.
 */
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

uint32_t windowleads_check(struct windowleads *wl, const void *owner,
			   struct cpi_code_page *page, uint32_t nr_uops, uint64_t at,
			   uint64_t size, windowleads_read_fn *read, void *ctx)
{
	uint32_t first = nr_uops, nr;
	uint64_t wrong[CPI_CODE_LINES];
	const struct entered *e;

	while (first && page->uop[first - 1].op == CPI_UOP_LEAD)
		first--;
	if (first == nr_uops || size > WINDOWLEADS_MAX_SIZE)
		return first;
	e = look_up(wl, owner, at, size, read, ctx);
	if (!e)
		return first;
	find_wrong(e, page, first, wrong);
	nr = first;
	for (uint32_t i = first; i < nr_uops; i++) {
		const struct cpi_uop *u = &page->uop[i];

		if (!is_entered(e, u) &&
		    !(u->imm && has_bit(wrong, cpi_lead_offset(u) - cpi_lead_back(u))))
			page->uop[nr++] = *u;
	}
	return nr;
}
