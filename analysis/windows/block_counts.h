/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * block_counts.h - executions of blocks and edges, counted from runs and branches
 */
#ifndef CPI_ANALYSIS_BLOCK_COUNTS_H
#define CPI_ANALYSIS_BLOCK_COUNTS_H

#include "analysis/cfg/cfg.h"
#include "base/arena.h"
#include "db/profile/edges.h"

struct block_counts {
	double *block;   /* by block: entries at its head */
	double *through; /* by block: how often control fell through its end */
	double *edge; /* by edge: how often the branch was taken; 0 for a fall-through
		       */
	double sum;   /* Σ block */
	/* Of the runs that begin in the procedure: cycles, runs with cycles, runs. */
	double cycles, timed, runs;
};

/* Counts for each block and edge of cfg, in the arena. Returns 0 or -ENOMEM. */
int block_counts_build(const struct cfg *cfg, struct edges *branches,
		       struct edges *runs, struct arena *arena,
		       struct block_counts *out);

#endif
