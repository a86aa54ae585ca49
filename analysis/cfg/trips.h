/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trips.h - loops with a constant number of iterations
 *
 * A loop has the same number of iterations each time if its counter starts with a
 * constant, changes by constants, and is compared with a constant.
 */
#ifndef CPI_ANALYSIS_TRIPS_H
#define CPI_ANALYSIS_TRIPS_H

#include "analysis/cfg/cfg.h"
#include "base/arena.h"

#define TRIPS_MAX (1 << 20) /* loops with more iterations are ignored */

/*
 * Computes the probability of each edge that leads back to the head of such a loop or
 * out of it; NAN for all other edges. Only loops with one entry are examined, and only
 * if the same block has the only back edge and the only exit. *out lives in the arena.
 * Returns 0 or -ENOMEM.
 */
int trips_find(struct isa *isa, const struct cfg *cfg, struct arena *arena,
	       double **out);

#endif
