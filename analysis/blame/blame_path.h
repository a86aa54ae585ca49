/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_path.h - which instructions were executed before another one
 *
 * Searches backwards over the graph, along edges that run often compared with the block
 * to which they lead (SOSP'97 section 6.3: those executed much less frequently are
 * ignored).
 */
#ifndef CPI_ANALYSIS_BLAME_PATH_H
#define CPI_ANALYSIS_BLAME_PATH_H

#include <stdbool.h>

#include "analysis/cfg/cfg.h"
#include "analysis/freq/freq.h"
#include "base/arena.h"

struct blame_paths {
	const struct cfg *cfg;
	const struct freq *freq;
	int *block_of; /* by instruction */
	int *queue;    /* of blocks */
	int *seen;     /* by block: the last search that reached its end */
	int search;
};

/* Fills p, in the arena. Returns 0 or -ENOMEM. */
int blame_paths_init(struct blame_paths *p, const struct cfg *cfg,
		     const struct freq *freq, struct arena *arena);

/*
 * Finds the instructions that are executed just before insn; returns their number, at
 * most max. *outside: others may also run just before it: code outside the procedure,
 * or, if there are more than max, further instructions.
 */
int blame_before(const struct blame_paths *p, int insn, int *before, int max,
		 bool *outside);

/* The instructions that wrote what another one reads. */
#define BLAME_MAX_WRITERS 6
struct blame_writers {
	int insn[BLAME_MAX_WRITERS];
	int nr;       /* stops at BLAME_MAX_WRITERS */
	bool outside; /* the caller wrote it, or a writer too far away */
};

/*
 * Finds the writers of a register. Calls count as writers of the result register only.
 */
void blame_find_writers(struct blame_paths *p, int insn, unsigned int reg,
			struct blame_writers *out);

/*
 * Whether a load follows pointers: its address is computed from the value that the same
 * load returned at its last execution. Only values in registers are traced.
 */
bool blame_follows_itself(struct blame_paths *p, int insn);

/*
 * Finds the stores to the memory that insn reads: those with the same address operand.
 */
void blame_find_stores(struct blame_paths *p, int insn, struct blame_writers *out);

#endif
