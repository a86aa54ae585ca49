/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_window.c - any code is translated and interpreted, in bounds and to an end
 *
 * The first 24 bytes are registers and wanted offsets, the next byte chooses: x86-64 or
 * AArch64, whose code is translated, or micro-ops as they are. The code is as long as
 * the input, as at the end of a mapping; if the five high bits of that byte are set,
 * it is a page, with zeros behind the input, which takes ten times as long. What was
 * translated is interpreted packed as well: the windows are the same, unless they had
 * no more steps.
 */
#include "config.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/translate/translate.h"
#include "analysis/windows/codepack.h"
#include "analysis/windows/walk.h"
#include "daemon/windows/translate_check.h"
#include "t/fuzz/fuzz.h"

#define HEAD 24
#define PAGE 0x7000u

struct subject {
	_Alignas(8) uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE];
	size_t size;
	struct cpi_code_page page;
	union cpi_code_cell cell[CPI_CODE_MAX_CELLS];
	size_t nr;   /* micro-ops */
	bool packed; /* the cells are interpreted */
	struct cpi_window_state state;
	struct cpi_window first; /* of the page */
	struct walk walk;
};

/* One of each machine serves all inputs: it keeps nothing of what it has translated. */
static struct translator *translator_of(unsigned int machine)
{
	static struct translator *kept[2];
	struct translator **t = &kept[machine == EM_AARCH64];

	if (!*t)
		fuzz_check(!translator_open(machine, t));
	return *t;
}

/* All memory repeats the code. */
static int read_memory(const struct subject *t, uint64_t *to, uint32_t size,
		       uint64_t address)
{
	fuzz_check(size == 1 || size == 2 || size == 4 || size == 8);
	memcpy(to, t->code + address % (CPI_CODE_PAGE - 8), size);
	return address % 251 == 0;
}

static int resolve(const struct subject *t, uint64_t pc, uint32_t *ip, uint32_t *base)
{
	const uint32_t offset = pc % CPI_CODE_PAGE;
	uint32_t at;

	if (pc / CPI_CODE_PAGE != PAGE / CPI_CODE_PAGE)
		return -1;
	at = t->packed ? codepack_find(t->cell, offset) : t->page.index[offset];
	if (!at)
		return -1;
	*base = t->packed ? 0 : ~0u; /* jumps count places from 1 on */
	*ip = *base + at;
	return 0;
}

static const struct cpi_uop *uop_at(const struct subject *t, uint32_t ip)
{
	if (t->packed)
		return ip < CPI_CODE_MAX_CELLS ? &t->cell[ip].uop : NULL;
	return ip < CPI_UOPS_PER_PAGE ? &t->page.uop[ip] : NULL;
}

/* Likewise of the page and the cells. */
static const struct cpi_uop *lead_at(const struct subject *t, uint64_t pc)
{
	const uint32_t offset = pc % CPI_CODE_PAGE;
	const uint32_t cell = t->packed ? codepack_find_lead(t->cell, offset) : 0;

	if (t->packed)
		return cell ? &t->cell[cell].uop : NULL;
	for (size_t i = t->nr; i && t->page.uop[i - 1].op == CPI_UOP_LEAD; i--)
		if (cpi_lead_offset(&t->page.uop[i - 1]) == offset)
			return &t->page.uop[i - 1];
	return NULL;
}

#define CPI_WINDOW_LEAD(ctx, pc, base)          ((void)(base), lead_at(ctx, pc))
#define CPI_WINDOW_CONTEXT                      struct subject *
#define CPI_WINDOW_READ(ctx, to, size, address) read_memory(ctx, to, size, address)
#define CPI_WINDOW_UOP(ctx, ip)                 uop_at(ctx, ip)
#define CPI_WINDOW_RESOLVE(ctx, pc, ip, base)   resolve(ctx, pc, ip, base)
#include "kmod/window.h"

static int find(void *ctx, uint64_t address, struct walk_code *out)
{
	struct subject *t = ctx;
	const bool there = address / CPI_CODE_PAGE == PAGE / CPI_CODE_PAGE;

	if (t->packed)
		return walk_find_in_packed(there ? t->cell : NULL,
					   address % CPI_CODE_PAGE, out);
	return walk_find_in_page(there ? &t->page : NULL, address % CPI_CODE_PAGE, out);
}

static void interpret(struct subject *t, const uint8_t *head, bool translated)
{
	struct cpi_window_state *s = &t->state;
	uint32_t steps = head[1] & 1 ? 1000 : head[1];
	int err;

	cpi_window_begin(s, CPI_WINDOW_MAX, 500);
	for (unsigned int i = 0; i < 32; i++)
		memcpy(&s->reg[i], head + i % 16, 8);
	memcpy(&s->flags, head, sizeof(s->flags));
	s->reg[CPI_REG_THREAD] = 0;
	if (!cpi_window_start(s, t, PAGE + head[0]))
		while (steps && !cpi_window_step(s, t))
			steps--;
	cpi_window_finish(s);
	fuzz_check(s->window.nr <= CPI_WINDOW_MAX && s->nr_reads <= 501);
	if (t->packed && t->first.end != CPI_WINDOW_STEPS)
		fuzz_check(!memcmp(&s->window, &t->first, sizeof(t->first)));
	if (!t->packed)
		t->first = s->window;
	err = walk_window(&s->window, find, NULL, t, &t->walk);
	/* What was interpreted can be walked. */
	fuzz_check(!err || !translated);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct subject kept; /* to get new pages each time would take longest */
	struct subject *t = &kept;
	struct translator *translator;
	uint16_t wanted[3];
	unsigned int machine;
	uint8_t how;

	if (size <= HEAD)
		return 0;
	memset(t, 0, sizeof(*t));
	how = data[HEAD] & 1;
	machine = data[HEAD] & 2 ? EM_AARCH64 : EM_X86_64;
	translator = translator_of(machine);
	wanted[0] = data[0];
	memcpy(wanted + 1, data + 4, 4);
	t->size = size - HEAD - 1 < sizeof(t->code) ? size - HEAD - 1 : sizeof(t->code);
	memcpy(t->code, data + HEAD + 1, t->size);
	if (data[HEAD] >> 3 == 31)
		t->size = sizeof(t->code);
	if (how) {
		for (size_t at = 0; at < sizeof(t->page); at += sizeof(t->code))
			memcpy((uint8_t *)&t->page + at, t->code,
			       sizeof(t->page) - at < sizeof(t->code)
				       ? sizeof(t->page) - at
				       : sizeof(t->code));
		t->nr = CPI_UOPS_PER_PAGE;
		translate_check_page(&t->page, CPI_UOPS_PER_PAGE);
	} else {
		t->nr = data[HEAD] & 4
				? translator_reach(translator, t->code, t->size, wanted,
						   3, (const uint64_t *)t->code,
						   data[HEAD] / 8, &t->page)
				: translator_page(translator, t->code, t->size, wanted,
						  3, &t->page);
		fuzz_check(t->nr <= CPI_UOPS_PER_PAGE &&
			   !translate_check_page(&t->page, (uint32_t)t->nr));
	}
	interpret(t, data, !how);
	if (!how) {
		fuzz_check(codepack_page(&t->page, (uint32_t)t->nr, t->code, t->size,
					 t->cell) <= CPI_CODE_MAX_CELLS);
		t->packed = true;
		memset(&t->state, 0, sizeof(t->state));
		interpret(t, data, true);
	}
	return 0;
}
