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
	double *block;   /* how often it was entered at its head */
	double *through; /* by block: how often control went on behind its end */
	double *edge;    /* by edge: as often as the branch was seen; 0 of a fall */
	double sum;      /* of block */
	double cycles, timed, runs; /* of runs that begin in the procedure */
};

/* Everything lives in the arena. 0 or -ENOMEM. */
int block_counts_build(const struct cfg *cfg, struct edges *branches,
		       struct edges *runs, struct arena *arena,
		       struct block_counts *out);

#endif
