/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.c - the path of a window: which jumps it took, which data it touched
 *
 * The kernel side wrote the record, but the code is hostile. A record that does not
 * agree with the code is an error. Every walk ends: it has one iteration for each
 * instruction of the record, and an iteration executes at most MOST_UOPS micro-ops.
 */
#include "config.h"

#include "analysis/windows/walk.h"

#include <errno.h>
#include <stdbool.h>

#include "analysis/windows/codepack.h"

/* The most micro-ops of one instruction, including a GOTO that ends it. */
#define MOST_UOPS 64

struct walker {
	const struct cpi_window *w;
	walk_find_fn *find;
	walk_form_fn *form;
	void *ctx;
	struct walk_code code;
	bool is_form; /* code is a form's micro-ops */
	uint64_t pc;
	uint8_t nr; /* of the instruction */
	uint32_t nr_jumps;
	uint32_t nr_targets;
};

static const struct cpi_uop *at(const struct walker *k)
{
	return k->code.place < k->code.nr_uops ? &k->code.uop[k->code.place] : NULL;
}

int walk_find_in_page(const struct cpi_code_page *page, uint32_t offset,
		      struct walk_code *out)
{
	const uint32_t index = page ? page->index[offset] : 0;

	if (!index || index > CPI_UOPS_PER_PAGE)
		return -ENOENT;
	*out = (struct walk_code){ page->uop, CPI_UOPS_PER_PAGE, index - 1 };
	return 0;
}

/* The cells after the head are numbered like micro-ops; jumps use these numbers. */
int walk_find_in_packed(const union cpi_code_cell *page, uint32_t offset,
			struct walk_code *out)
{
	const uint32_t cell = page ? codepack_find(page, offset) : 0;

	if (!cell)
		return -ENOENT;
	*out = (struct walk_code){ &page[1].uop, page->head.bytes - 1u, cell - 1 };
	return 0;
}

/* Whether a form interpreted an instruction. */
static bool by_form(const struct cpi_window *w, uint32_t nr)
{
	return nr < CPI_WINDOW_MAX && w->by_form[nr / 64] >> nr % 64 & 1;
}

/* The code of an instruction by number, at the current address. */
static int look_up(struct walker *k, uint32_t nr)
{
	k->is_form = by_form(k->w, nr);
	if (!k->is_form)
		return k->find(k->ctx, k->pc, &k->code);
	return k->form ? k->form(k->ctx, &k->code) : -ENOENT;
}

/* Goes to a direct jump's target, or looks it up if it is on another page. */
static int go(struct walker *k, const struct cpi_uop *u)
{
	if (!u->address)
		return look_up(k, k->nr + 1u);
	k->code.place = u->address - 1u;
	return 0;
}

/* Whether the jump u is taken, and where to. Returns 0 or -EBADMSG. */
static int decide_jump(struct walker *k, const struct cpi_uop *u, bool *taken,
		       uint64_t *to)
{
	const struct cpi_window *w = k->w;

	*taken = true;
	*to = k->pc + (uint64_t)(int64_t)u->disp;
	switch (u->op) {
	case CPI_UOP_JCC:
	case CPI_UOP_JZ:
	case CPI_UOP_JNZ:
		if (k->nr_jumps >= w->nr_jumps || k->nr_jumps >= CPI_WINDOW_MAX)
			return -EBADMSG;
		*taken = w->taken[k->nr_jumps / 64] >> k->nr_jumps % 64 & 1;
		k->nr_jumps++;
		return 0;
	case CPI_UOP_CALLI:
	case CPI_UOP_JMPI:
	case CPI_UOP_RET:
		if (k->nr_targets >= w->nr_targets ||
		    k->nr_targets >= CPI_WINDOW_TARGETS)
			return -EBADMSG;
		*to = w->target[k->nr_targets++];
		return 0;
	default:
		*taken = u->op == CPI_UOP_JMP || u->op == CPI_UOP_CALL;
		return 0;
	}
}

/* ---- data ---- */

/* The bytes that a micro-op loads or stores, or that its operand has. */
static uint32_t bytes_of(const struct cpi_uop *u)
{
	if (u->flags & (CPI_UOP_LEFT_MEM | CPI_UOP_SRC_MEM))
		return 1u << cpi_uop_source_size(u);
	if (u->flags & CPI_UOP_STORE)
		return 1u << cpi_uop_size(u);
	return 1u << (u->imm & 7);
}

/* Whether it stores at its address: push and call store on the stack. */
static bool stores_there(const struct cpi_uop *u)
{
	return u->flags & CPI_UOP_STORE && u->op != CPI_UOP_PUSH &&
	       u->op != CPI_UOP_CALL && u->op != CPI_UOP_CALLI;
}

/*
 * The access of the instruction whose first micro-op with data is the current one. The
 * lanes of a vector are micro-ops of their own, with the same registers.
 */
static struct walk_access find_access(const struct walker *k)
{
	const struct cpi_uop *first = at(k), *u = first;
	const unsigned int regs = first->address & 0x3fff;
	struct walk_access a = { .at = k->pc, .store = true };
	int64_t end = 0;

	for (uint32_t i = 0; i < MOST_UOPS; i++, u++) {
		if (k->code.place + i >= k->code.nr_uops ||
		    (i && !(u->flags & CPI_UOP_MORE)))
			break;
		if (!cpi_uop_is_data(u) || (u->address & 0x3fff) != regs)
			continue;
		if (u->disp + (int64_t)bytes_of(u) - first->disp > end)
			end = u->disp + (int64_t)bytes_of(u) - first->disp;
		if (u->flags & (CPI_UOP_LEFT_MEM | CPI_UOP_SRC_MEM) ||
		    !(u->flags & CPI_UOP_STORE))
			a.store = false;
		a.writes |= stores_there(u);
	}
	while (a.size < 6 && 1 << a.size < end)
		a.size++;
	return a;
}

static void add_access(struct walker *k, struct walk *out)
{
	const struct cpi_window *w = k->w;

	if (out->nr_accesses >= w->nr_data) {
		out->nr_left_out++;
		return;
	}
	out->access[out->nr_accesses] = find_access(k);
	out->access[out->nr_accesses].nr = k->nr;
	out->access[out->nr_accesses].data =
		w->data[CPI_WINDOW_DATA - 1 - out->nr_accesses];
	out->nr_accesses++;
}

/*
 * Whether the walk used all jumps of the record. If the window ran out of steps, its
 * last instruction, which is not walked, may have been a jump that the record has.
 */
static bool has_jumps(const struct walker *k)
{
	const uint32_t more =
		k->w->nr_jumps - k->nr_jumps + k->w->nr_targets - k->nr_targets;

	return more <= (k->w->end == CPI_WINDOW_STEPS);
}

/*
 * Whether the record has no more words than the walk had accesses. The last
 * instruction may have one word more, although it was not executed.
 */
static bool has_data(const struct cpi_window *w, const struct walk *walk, bool done)
{
	return w->nr_data <= walk->nr_accesses + !done;
}

/* ---- instructions ---- */

/*
 * Executes the walker's current instruction. more: the record has another instruction,
 * so the micro-ops of that one are needed.
 */
static int do_instruction(struct walker *k, bool more, struct walk *out)
{
	const struct cpi_uop *u = at(k);
	const unsigned int length = u ? cpi_uop_length(u) : 0;
	bool taken, touched = false;
	uint64_t to;
	int err, i;

	for (i = 0; i < MOST_UOPS; i++) {
		u = at(k);
		if (!u && i && k->is_form) {
			k->pc += length;
			return more ? look_up(k, k->nr + 1u) : 0;
		}
		if (!u)
			return -EBADMSG;
		if (i && !(u->flags & CPI_UOP_MORE)) { /* the next instruction */
			k->pc += length;
			return 0;
		}
		if (u->op == CPI_UOP_STOP)
			return -EBADMSG;
		if (!touched && cpi_uop_is_data(u)) {
			add_access(k, out);
			touched = true;
		}
		if (u->op == CPI_UOP_GOTO) {
			k->pc += length;
			return more ? go(k, u) : 0;
		}
		err = decide_jump(k, u, &taken, &to);
		if (err)
			return err;
		if (taken) {
			out->jump[out->nr++] = (struct walk_jump){ k->pc, to };
			k->pc = to;
			if (!more)
				return 0;
			return cpi_uop_is_direct(u) ? go(k, u) : look_up(k, k->nr + 1u);
		}
		k->code.place++;
	}
	return -EBADMSG;
}

int walk_window(const struct cpi_window *w, walk_find_fn *find, walk_form_fn *form,
		void *ctx, struct walk *out)
{
	struct walker k = {
		.w = w, .find = find, .form = form, .ctx = ctx, .pc = w->start
	};
	const bool done = cpi_window_is_done(w->end);
	int err;

	if (w->nr > CPI_WINDOW_MAX || w->nr_targets > CPI_WINDOW_TARGETS ||
	    w->nr_data > CPI_WINDOW_DATA - 2 * w->nr_targets)
		return -EBADMSG;
	out->start = w->start;
	out->last = w->start;
	out->nr = 0;
	out->nr_instructions = w->nr;
	out->nr_accesses = 0;
	out->nr_left_out = 0;
	if (!w->nr)
		return 0;
	err = look_up(&k, 0);
	for (uint32_t i = 0; i < w->nr && !err; i++) {
		out->last = k.pc;
		k.nr = (uint8_t)i;
		if (i + 1 < w->nr || done)
			err = do_instruction(&k, i + 1 < w->nr, out);
	}
	if (err)
		return err;
	if (out->last != w->last || !has_jumps(&k) || (done && k.pc != w->next) ||
	    !has_data(w, out, done))
		return -EBADMSG;
	return 0;
}
