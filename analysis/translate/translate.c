/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.c - code to micro-ops, a page at a time
 *
 * Offsets to translate wait in a queue: the wanted ones, then the targets of jumps that
 * were met, each with the number of instructions that control may still go on from
 * there. A run goes on from an offset until it meets translated code (and goes to
 * that), the page's end, the end of that number, or the end of the room. If there is no
 * limit and the queue is empty, the offsets behind the lowest wanted one that are not
 * translated are tried in the order of the page: this is code behind jumps that are
 * always taken. The offsets before it come last, from the page's start on. There the
 * first instruction boundary is a guess, but decoding soon falls into step.
 *
 * T1  Each offset is translated once: index[] holds its first micro-op.
 * T2  A run's last micro-op never falls through: it is a jump, a STOP or a GOTO, so
 *     each instruction needs room for a GOTO behind it.
 * T3  Only this file's loops see hostile code, and each turn translates a new offset.
 */
#include "config.h"

#include "analysis/translate/translate.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/window.h"
#include "analysis/translate/translate_machine.h"

static const struct translate_machine *const machines[] = {
#ifdef HAVE_ZYDIS
	&translate_x86_64,
#endif
	&translate_aarch64,
	NULL,
};

struct translator {
	const struct translate_machine *machine;
	size_t nr_waiting, nr_done;
	uint16_t waiting[CPI_CODE_PAGE]; /* in order; each offset once */
	uint32_t left[CPI_CODE_PAGE];    /* instructions from there on */
	bool seen[CPI_CODE_PAGE];        /* is in the queue, or was */
	max_align_t state[];
};

/* The page that is being translated. */
struct page {
	struct translator *t;
	const uint8_t *code;
	const uint64_t *starts; /* NULL: no limit */
	size_t size;
	size_t nr; /* micro-ops */
	struct cpi_code_page *out;
};

int translator_open(unsigned int machine, struct translator **out)
{
	const struct translate_machine *const *m = machines;
	struct translator *t;

	while (*m && (*m)->machine != machine)
		m++;
	if (!*m)
		return -EOPNOTSUPP;
	t = malloc(sizeof(*t) + (*m)->state_size);
	if (!t)
		return -ENOMEM;
	t->machine = *m;
	t->machine->init(t->state);
	*out = t;
	return 0;
}

void translator_close(struct translator *t)
{
	free(t);
}

static void push(struct translator *t, uint64_t offset, uint32_t left)
{
	if (offset >= CPI_CODE_PAGE || t->seen[offset])
		return;
	t->seen[offset] = true;
	t->left[offset] = left;
	t->waiting[t->nr_waiting++] = (uint16_t)offset;
}

/* Whether an offset is to be translated in any case. */
static bool is_start(const struct page *p, size_t offset)
{
	return p->starts &&
	       p->starts[offset / CPI_CODE_LINE] >> offset % CPI_CODE_LINE & 1;
}

static bool in_page(const struct page *p, size_t offset)
{
	return offset < CPI_CODE_PAGE && offset < p->size;
}

/* On with the instruction at offset, which may be in this page. */
static void append_goto(struct page *p, size_t offset)
{
	struct cpi_uop *u = &p->out->uop[p->nr++];

	*u = (struct cpi_uop){ .op = CPI_UOP_GOTO, .flags = CPI_UOP_MORE };
	if (in_page(p, offset))
		u->address = p->out->index[offset];
}

/*
 * Appends the instruction, from which left more may be gone. Returns the offset behind
 * it, or 0 if there is no room.
 */
static size_t append(struct page *p, size_t offset, struct translated *one,
		     uint32_t left)
{
	p->t->machine->instruction(p->t->state, p->code + offset, p->size - offset,
				   one);
	if (p->nr + one->nr + 1 > CPI_CODE_UOPS)
		return 0;
	p->out->index[offset] = (uint16_t)(p->nr + 1);
	for (unsigned int i = 0; i < one->nr; i++) {
		struct cpi_uop *u = &p->out->uop[p->nr++];

		*u = one->uop[i];
		u->flags |= (uint16_t)((one->length - 1) << CPI_UOP_LENGTH_SHIFT);
		if (cpi_uop_is_direct(u) && left)
			push(p->t, offset + (uint64_t)(int64_t)u->disp, left);
	}
	return offset + one->length;
}

/* Translates from offset to the end of a run, of at most left instructions. */
static void translate_run(struct page *p, size_t offset, uint32_t left)
{
	struct translated one = { .ends = false };
	size_t next;

	while (in_page(p, offset) && !p->out->index[offset]) {
		if (!left && !is_start(p, offset))
			break;
		left -= p->starts && left && !is_start(p, offset);
		next = append(p, offset, &one, left);
		if (!next)
			break;
		if (one.ends)
			return;
		offset = next;
	}
	append_goto(p, offset);
}

/*
 * The next gap from offset on: where code could go on that is not translated, and was
 * not tried yet. CPI_CODE_PAGE: there is none.
 */
static size_t next_gap(const struct page *p, size_t offset)
{
	while (in_page(p, offset)) {
		if (p->out->index[offset])
			offset +=
				cpi_uop_length(&p->out->uop[p->out->index[offset] - 1]);
		else if (p->t->seen[offset])
			offset++;
		else
			return offset;
	}
	return CPI_CODE_PAGE;
}

/* Direct jumps to what is translated name its place. */
static void link_jumps(struct page *p)
{
	for (size_t offset = 0; offset < CPI_CODE_PAGE; offset++) {
		size_t place = p->out->index[offset];

		for (; place && place <= p->nr; place++) {
			struct cpi_uop *u = &p->out->uop[place - 1];
			uint64_t to = offset + (uint64_t)(int64_t)u->disp;

			if (place > p->out->index[offset] && !(u->flags & CPI_UOP_MORE))
				break;
			if (cpi_uop_is_direct(u) && to < CPI_CODE_PAGE)
				u->address = p->out->index[to];
		}
	}
}

/* Returns the number of micro-ops. */
static size_t finish(struct page *p)
{
	link_jumps(p);
	if (!p->t->machine->has_leads)
		return p->nr;
	return translated_leads(p->t->machine, p->t->state, p->code, p->size, p->out,
				p->nr);
}

static bool has_room(const struct page *p)
{
	return p->nr + TRANSLATED_MOST + 2 <= CPI_CODE_UOPS;
}

/* All that waits. */
static void translate_waiting(struct page *p)
{
	struct translator *t = p->t;

	while (t->nr_done < t->nr_waiting && has_room(p)) {
		const size_t from = t->waiting[t->nr_done++];

		if (in_page(p, from) && !p->out->index[from])
			translate_run(p, from, t->left[from]);
	}
}

/* What no jump leads to: from the lowest wanted offset on, then from the begin on. */
static void translate_gaps(struct page *p, size_t behind)
{
	bool around = false;

	while (has_room(p)) {
		behind = next_gap(p, behind);
		if (behind == CPI_CODE_PAGE && around)
			return;
		if (behind == CPI_CODE_PAGE) {
			around = true;
			behind = 0;
			continue;
		}
		push(p->t, behind, TRANSLATOR_ALL);
		translate_waiting(p);
	}
}

static size_t begin(struct page *p, const uint16_t *wanted, size_t nr, uint32_t reach)
{
	size_t lowest = CPI_CODE_PAGE;

	if (p->size > CPI_CODE_PAGE + CPI_CODE_MORE)
		p->size = CPI_CODE_PAGE + CPI_CODE_MORE;
	memset(p->out, 0, sizeof(*p->out));
	memset(p->t->seen, 0, sizeof(p->t->seen));
	p->t->nr_waiting = p->t->nr_done = 0;
	for (size_t i = 0; i < nr; i++) {
		push(p->t, wanted[i], reach);
		if (wanted[i] < lowest)
			lowest = wanted[i];
	}
	return lowest;
}

size_t translator_page(struct translator *t, const uint8_t *code, size_t size,
		       const uint16_t *wanted, size_t nr, struct cpi_code_page *out)
{
	struct page p = { .t = t, .code = code, .size = size, .out = out };
	const size_t lowest = begin(&p, wanted, nr, 1);

	translate_waiting(&p);
	translate_gaps(&p, lowest);
	return finish(&p);
}

size_t translator_reach(struct translator *t, const uint8_t *code, size_t size,
			const uint16_t *wanted, size_t nr,
			const uint64_t starts[CPI_CODE_LINES], uint32_t reach,
			struct cpi_code_page *out)
{
	struct page p = {
		.t = t, .code = code, .starts = starts, .size = size, .out = out
	};
	size_t lowest;

	lowest = begin(&p, wanted, nr, reach);
	translate_waiting(&p);
	for (size_t i = 0; i < CPI_CODE_PAGE; i++) {
		if (is_start(&p, i))
			push(t, i, 0);
	}
	translate_waiting(&p);
	if (reach == TRANSLATOR_ALL)
		translate_gaps(&p, lowest);
	return finish(&p);
}

int translator_form(struct translator *t, const uint8_t code[CPI_FORM_BYTES],
		    struct translator_form *out)
{
	if (!t->machine->has_forms)
		return -EINVAL;
	return translated_form(t->machine, t->state, code, out);
}
