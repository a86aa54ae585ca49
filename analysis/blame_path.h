/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_path.h - what was executed before an instruction
 *
 * Backwards over the graph, along edges that run often enough to matter to where they
 * lead (SOSP'97 section 6.3: those executed much less frequently are ignored).
 */
#ifndef CPI_ANALYSIS_BLAME_PATH_H
#define CPI_ANALYSIS_BLAME_PATH_H

#include <stdbool.h>

#include "analysis/cfg.h"
#include "analysis/freq.h"
#include "base/arena.h"

struct blame_paths {
	const struct cfg *cfg;
	const struct freq *freq;
	int *block_of; /* by instruction */
	int *queue;    /* of blocks */
	int *seen;     /* by block: the search that last came to its end */
	int search;
};

/* The arena's. Returns 0 or -ENOMEM. */
int blame_paths_init(struct blame_paths *p, const struct cfg *cfg,
		     const struct freq *freq, struct arena *arena);

/* The instructions that are executed just before insn. Returns how many, at most max;
 *outside, whether others, out of the procedure, may be. */
int blame_before(const struct blame_paths *p, int insn, int *before, int max,
		 bool *outside);

/* Who wrote what an instruction reads. */
#define BLAME_MAX_WRITERS 6
struct blame_writers {
	int insn[BLAME_MAX_WRITERS];
	int nr;       /* at most BLAME_MAX_WRITERS, though there may be more */
	bool outside; /* the procedure's caller, or too far away */
};

/* Calls write the register that results come in, and spare others. */
void blame_find_writers(struct blame_paths *p, int insn, unsigned int reg,
			struct blame_writers *out);

/* The same of the place in memory that insn reads: those that name it in the same way.
 */
void blame_find_stores(struct blame_paths *p, int insn, struct blame_writers *out);

#endif
