/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate_windows.h - each class's frequency, from samples of time and windows
 *
 * Windows are few, and measure executions. Samples of time are many, and measure
 * executions times cycles. If many windows passed a class, they decide its frequency,
 * else the samples do, scaled by the procedure's cycles per execution as windows see
 * them.
 */
#ifndef CPI_ANALYSIS_ESTIMATE_WINDOWS_H
#define CPI_ANALYSIS_ESTIMATE_WINDOWS_H

#include "analysis/cfg/equiv.h"
#include "analysis/freq/estimate.h"
#include "analysis/freq/freq.h"
#include "base/arena.h"

/*
 * requires: estimate_classes(). Replaces its frequencies and deviations by those of
 * both together, with the rule ESTIMATE_WINDOWS. Returns 0 or -ENOMEM.
 */
int estimate_add_windows(const struct freq_input *in, const struct equiv *eq,
			 struct arena *arena, struct estimate *est);

#endif
