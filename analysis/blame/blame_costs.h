/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_costs.h - the fewest and most cycles that one execution of a block takes
 *
 * The code alone shows what an instruction may wait for: a loop of additions never
 * waits, a load from an unknown address may wait for memory. So each block has a range
 * of cycles, which limits the number of executions that its samples can represent
 * (analysis/freq/scale.h).
 */
#ifndef CPI_ANALYSIS_BLAME_COSTS_H
#define CPI_ANALYSIS_BLAME_COSTS_H

#include "analysis/blame/blame.h"
#include "analysis/freq/scale.h"
#include "base/arena.h"

/*
 * requires: freq_estimate(), whose shape shows which paths are frequent. Does not use
 * in->samples and in->period_cycles. Everything lives in the arena. Returns 0 or
 * -ENOMEM.
 */
int blame_costs_find(const struct blame_input *in, struct arena *arena,
		     struct scale_costs *out);

#endif
