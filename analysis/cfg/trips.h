/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trips.h - loops whose number of rounds the code fixes
 *
 * A loop whose counter begins with a constant, is stepped by constants, and is compared
 * with a constant has the same number of rounds each time.
 */
#ifndef CPI_ANALYSIS_TRIPS_H
#define CPI_ANALYSIS_TRIPS_H

#include "analysis/cfg/cfg.h"
#include "base/arena.h"

#define TRIPS_MAX (1 << 20) /* rounds; of a loop with more nothing is said */

/*
 * By edge, in the arena: the probability with which it follows its block, if that is an
 * edge back to the head of such a loop or the edge out of it; else NAN. Only loops with
 * one entry, and with one way out, next to the only way back, are looked at. Returns 0
 * or -ENOMEM.
 */
int trips_find(struct isa *isa, const struct cfg *cfg, struct arena *arena,
	       double **out);

#endif
