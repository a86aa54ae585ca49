/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * equiv.h - blocks and edges that run equally often
 *
 * SOSP'97 section 6.1.2. Two members of a class are on exactly the same cycles of the
 * CFG with an edge from the exit to the entry (and to each landing pad), so every
 * finished run of the procedure passes them equally often.
 */
#ifndef CPI_ANALYSIS_EQUIV_H
#define CPI_ANALYSIS_EQUIV_H

#include "analysis/cfg/cfg.h"
#include "base/arena.h"
#include "base/buf.h"

struct equiv {
	int *block; /* class of each block, the exit's included */
	int *edge;  /* class of each edge */
	int nr;     /* classes are 0 to nr - 1, in the order of their first member */
};

/*
 * requires: cfg. Takes O(blocks + edges). With missing edges each block and each
 * edge is a class of its own. Everything lives in the arena. 0 or -ENOMEM.
 */
int equiv_build(const struct cfg *cfg, struct arena *arena, struct equiv *out);

/* A line for each block and edge. */
void equiv_dump(const struct cfg *cfg, const struct equiv *eq, struct buf *out);

#endif
