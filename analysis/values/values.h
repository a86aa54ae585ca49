/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values.h - which values instructions of a procedure have, from its windows
 *
 * Two kinds of values follow from the path of a window: where an indirect jump or call
 * went, and how many iterations an innermost loop ran. A run of a loop counts if the
 * window saw how it began. If the window ended before the run did, only a lower bound
 * is known. The distribution is then the product-limit estimate of Kaplan and Meier
 * (1958); what no window saw to its end stays unknown.
 *
 * The intervals assume that windows are independent of each other; executions in one
 * window are not. Windows with the weights w count as (Σ w)² / Σ w² windows.
 */
#ifndef CPI_ANALYSIS_VALUES_H
#define CPI_ANALYSIS_VALUES_H

#include "analysis/cfg/cfg.h"
#include "analysis/math/interval.h"
#include "analysis/windows/window_weights.h"
#include "base/arena.h"

#define VALUES_MOST 65536 /* different values of a procedure; others are unknown */

enum value_kind { VALUE_TARGET, VALUE_ITERATIONS };

struct value {
	uint64_t value;         /* offset of the target, or iterations */
	uint32_t image;         /* of the target: its number; else 0 */
	uint64_t seen, windows; /* executions, and the windows that have one */
	struct interval share;  /* of all executions; the shares add up to at most 1 */
};

/* An indirect jump or call, or an innermost loop. */
struct value_site {
	enum value_kind kind;
	int insn; /* the jump or call, or the first one of the loop's head */
	uint64_t seen, windows; /* executions or runs, also those without a value */
	double unknown;         /* share without a value */
	struct value *value;    /* the most frequent first */
	size_t nr;
	double distinct; /* estimated number of different values; at least nr */
};

struct values {
	struct value_site
		*site; /* those that windows saw; jumps, then loops, by insn */
	size_t nr;
};

/*
 * requires: window_weights_solve(). image is the number that ww uses for the image of
 * cfg. The result lives in the arena. Returns 0 or -ENOMEM.
 */
int values_find(const struct cfg *cfg, const struct window_weights *ww, uint32_t image,
		struct arena *arena, struct values *out);

#endif
