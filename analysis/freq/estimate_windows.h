/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_windows.h - each class's frequency, from samples of time and windows
 *
 * Windows are few, and measure executions. Samples of time are many, and measure
 * executions times cycles. The frequency of a class is the mean of both, weighted by
 * their accuracy: if many windows passed the class, they decide, else the samples.
 */
#ifndef CPI_ANALYSIS_ESTIMATE_WINDOWS_H
#define CPI_ANALYSIS_ESTIMATE_WINDOWS_H

#include "analysis/cfg/equiv.h"
#include "analysis/freq/estimate.h"
#include "analysis/freq/freq.h"
#include "base/arena.h"

/*
 * requires: estimate_classes(). Replaces the frequencies and deviations in est by those
 * from samples and windows together, with the rule ESTIMATE_WINDOWS. Returns 0 or
 * -ENOMEM.
 */
int estimate_add_windows(const struct freq_input *in, const struct equiv *eq,
			 struct arena *arena, struct estimate *est);

#endif
