/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branchstack.h - frequencies that the hardware's branch stacks have counted
 *
 * The straight run between two branches executes each block that begins in it once
 * (AutoFDO, CGO'16, section 3.2). So branch stacks count executions, which samples of
 * time only suggest; the remaining error is that of sampling. Some machines record the
 * cycles of each run. Then the procedure's sampled time, divided by the recorded cycles
 * of its runs, is the number of executions that each recorded run stands for.
 */
#ifndef CPI_ANALYSIS_BRANCHSTACK_H
#define CPI_ANALYSIS_BRANCHSTACK_H

#include <stdbool.h>

#include "analysis/freq/freq.h"
#include "db/profile/edges.h"

struct branchstack_input {
	const struct cfg *cfg;
	struct edges *branches,
		*runs;      /* with both ends in the procedure's image; or NULL */
	double time_cycles; /* the procedure's time, from all samples */
};

/* With fewer counted executions of blocks than this, samples of time are better. */
#define BRANCHSTACK_LEAST 100

/*
 * Replaces estimated by counted frequencies and sets f->counted, if the runs counted at
 * least BRANCHSTACK_LEAST executions of the procedure's blocks, all blocks together.
 * Returns 0 or -ENOMEM.
 */
int branchstack_apply(const struct branchstack_input *in, struct arena *arena,
		      struct freq *f);

#endif
