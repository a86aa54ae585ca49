/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passed.h - how often a procedure's blocks and edges were passed, by runs and branches
 */
#ifndef CPI_ANALYSIS_PASSED_H
#define CPI_ANALYSIS_PASSED_H

#include "analysis/cfg.h"
#include "base/arena.h"
#include "db/edges.h"

struct passed {
	double *block;   /* how often it was entered at its head */
	double *through; /* by block: how often control went on behind its end */
	double *edge;    /* by edge: as often as the branch was seen; 0 of a fall */
	double sum;      /* of block */
	double cycles, timed, runs; /* of runs that begin in the procedure */
};

/* Everything lives in the arena. 0 or -ENOMEM. */
int passed_count(const struct cfg *cfg, struct edges *branches, struct edges *runs,
		 struct arena *arena, struct passed *out);

#endif
