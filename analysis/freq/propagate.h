/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * propagate.h - estimates for classes without samples, from their neighbours'
 *
 * SOSP'97 section 6.1.4: what flows into a block flows through it and out of it.
 */
#ifndef CPI_ANALYSIS_PROPAGATE_H
#define CPI_ANALYSIS_PROPAGATE_H

#include "analysis/cfg/equiv.h"
#include "base/arena.h"
#include "base/buf.h"

struct guess {
	bool known;
	bool propagated; /* not from samples of its own */
	double frequency;
	double sd; /* of its logarithm */
};

/*
 * requires: equiv_build(), and guesses for classes with samples. Adds the guesses that
 * follow from these, never negative; other classes stay unknown. Linear in blocks and
 * edges. 0 or -ENOMEM.
 */
int propagate(const struct cfg *cfg, const struct equiv *eq, struct arena *arena,
	      struct guess *guess);

void propagate_dump(const struct guess *guess, int nr, struct buf *out);

#endif
