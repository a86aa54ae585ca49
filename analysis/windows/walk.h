/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * walk.h - the path of a window: which jumps it took, which data it touched
 *
 * The kernel side records only which conditional jumps were taken, where indirect jumps
 * went, and addresses of data. A walk of the same micro-ops finds everything else.
 */
#ifndef CPI_ANALYSIS_WALK_H
#define CPI_ANALYSIS_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "abi/window.h"

struct walk_jump {
	uint64_t from; /* address of the jump, call or return itself */
	uint64_t to;
};

/* What an instruction loaded or stored: its first access (cpi_uop_is_data()). */
struct walk_access {
	uint64_t at;   /* address of the instruction */
	uint32_t data; /* low half of the data's address, or CPI_WINDOW_NO_DATA */
	uint8_t size;  /* log2 of the bytes, at most 6 */
	uint8_t nr;    /* of the instruction in the window, from 0 on */
	bool store;    /* it only stores */
	bool writes;   /* it stores, and may load, too */
};

/*
 * Between jumps all instructions ran in order. So the window ran [start, jump[0].from],
 * [jump[0].to, jump[1].from], …, [jump[nr - 1].to, last].
 */
struct walk {
	uint64_t start;
	uint64_t last; /* address of the last instruction that was reached */
	uint32_t nr;   /* jumps that were taken */
	uint32_t nr_instructions;
	uint32_t nr_accesses; /* of which the record has the data */
	uint32_t nr_left_out; /* later ones, for which it had no room */
	struct walk_jump jump[CPI_WINDOW_MAX];
	struct walk_access access[CPI_WINDOW_DATA];
};

/*
 * Where an instruction's micro-ops are: uop has the nr_uops micro-ops of its page, and
 * uop[place] is its first one. A direct jump u goes to uop[u->address - 1]; if
 * u->address is 0, to another page.
 */
struct walk_code {
	const struct cpi_uop *uop;
	uint32_t nr_uops;
	uint32_t place;
};

/*
 * Finds the code at an address of the window's process, as it was when the window ran.
 * Returns 0 and sets *out; or -ENOENT if it is gone.
 */
typedef int walk_find_fn(void *ctx, uint64_t address, struct walk_code *out);

/* The same for an offset of a page, which may be NULL; and of a packed page. */
int walk_find_in_page(const struct cpi_code_page *page, uint32_t offset,
		      struct walk_code *out);
int walk_find_in_packed(const union cpi_code_cell *page, uint32_t offset,
			struct walk_code *out);

/*
 * Finds the micro-ops of the next instruction that the window interpreted by its form
 * (abi/form.h). walk_window() calls it once for each such instruction, in their order.
 * Returns as walk_find_fn; *out is valid until the next call.
 */
typedef int walk_form_fn(void *ctx, struct walk_code *out);

/*
 * Walks w; form may be NULL if no forms interpreted it. Returns 0; -ENOENT if a page or
 * an instruction is missing; -EBADMSG if the record does not agree with the code. On
 * failure *out is unspecified.
 */
int walk_window(const struct cpi_window *w, walk_find_fn *find, walk_form_fn *form,
		void *ctx, struct walk *out);

#endif
