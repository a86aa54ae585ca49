/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_costs.h - what one execution of a block takes at least and at most
 *
 * The code says what an instruction may wait for, before any stall is found: a loop of
 * additions waits for nothing, a load from anywhere may wait for memory. So each block
 * has a range of cycles, which bounds the executions that its samples can stand for
 * (analysis/freq/scale.h).
 */
#ifndef CPI_ANALYSIS_BLAME_COSTS_H
#define CPI_ANALYSIS_BLAME_COSTS_H

#include "analysis/blame/blame.h"
#include "analysis/freq/scale.h"
#include "base/arena.h"

/*
 * requires: freq_estimate(), whose shape tells which paths are frequent. Of in, the
 * samples and the period are not used. Everything lives in the arena. 0 or -ENOMEM.
 */
int blame_costs_find(const struct blame_input *in, struct arena *arena,
		     struct scale_costs *out);

#endif
