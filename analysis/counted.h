/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counted.h - frequencies that the hardware's branch stacks have counted
 *
 * A run between two branches executed each block that begins in it once (AutoFDO,
 * CGO'16, section 3.2): what samples of time only suggest is known then, but for the
 * luck of which stacks were seen. Runs have cycles on some machines; the time that a
 * procedure took over the cycles of its runs says how many executions each stands for.
 */
#ifndef CPI_ANALYSIS_COUNTED_H
#define CPI_ANALYSIS_COUNTED_H

#include <stdbool.h>

#include "analysis/freq.h"
#include "db/edges.h"

struct counted_input {
	const struct cfg *cfg;
	struct edges *branches, *runs; /* from its image to its image; or NULL */
	double time_cycles;            /* that the procedure took, all samples */
};

/* Fewer blocks of runs than that say less than samples do. */
#define COUNTED_LEAST 100

/*
 * Puts counted frequencies in the place of estimated ones, where runs went through
 * COUNTED_LEAST blocks of the procedure or more, and sets f->counted. 0 or -ENOMEM.
 */
int counted_apply(const struct counted_input *in, struct arena *arena, struct freq *f);

#endif
