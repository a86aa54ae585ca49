/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuse.h - the frequency of each class, from samples of time and from windows together
 *
 * Windows are few, and say how often code was executed; samples are many, and say how
 * often times how long. Where windows came often their word counts, elsewhere that of
 * the samples, once both agree on what the procedure's cycles are worth.
 */
#ifndef CPI_ANALYSIS_FUSE_H
#define CPI_ANALYSIS_FUSE_H

#include "analysis/equiv.h"
#include "analysis/estimate.h"
#include "analysis/freq.h"
#include "base/arena.h"

/*
 * requires: estimate_classes(). Changes what it found to what both say: frequencies,
 * deviations, and ESTIMATE_FUSED as rule. 0 or -ENOMEM.
 */
int fuse_windows(const struct freq_input *in, const struct equiv *eq,
		 struct arena *arena, struct estimate *est);

#endif
