/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bias.h - classes that samples of instructions show too often, or too seldom
 *
 * CGO'10 section 4.2. An interrupt comes some cycles after the instruction that it
 * counts, and finds what waits then: instructions that stall have more samples than are
 * theirs (aggregation), and what runs behind them has fewer (shadow). Other events tell
 * which:
 *
 *	A = Σ weight × cycles × events	what stalls draw here
 *	B = Σ cycles × events		what stalls explain of the time
 *	S = cycles - instructions	the shadow factor
 *
 * A class is over-sampled where A > S, and A is over BIAS_SHARE (the paper: half) of
 *its cycles; under-sampled where S - B is over twice its instructions. Both must hold
 *by BIAS_DEVIATIONS of the samples' own errors: what is not certain is as it was
 *sampled. Where accesses to memory were not counted, no time is explained, and nothing
 *under-sampled.
 */
#ifndef CPI_ANALYSIS_BIAS_H
#define CPI_ANALYSIS_BIAS_H

#include "analysis/equiv.h"
#include "analysis/freq.h"
#include "base/arena.h"
#include "base/buf.h"

#define BIAS_DEVIATIONS 3.0
#define BIAS_SHARE      0.7 /* of its cycles */

/* What one event of that name takes, and what of it draws samples. */
struct bias_event {
	const char *name; /* as perf has it */
	double cycles;
	double weight; /* 0 to 1 */
	bool memory;   /* without it, time is not explained */
};

/* Of the table in bias.c; NULL: it is not in there. */
const struct bias_event *bias_event(const char *name);

/* Sums over a class; variances are of the sums, from the number of samples. */
struct bias {
	double insns;
	double cycles, cycles_var;
	double retired, retired_var;
	double draws, draws_var;       /* A */
	double explains, explains_var; /* B */
	enum freq_bias kind;
};

/*
 * requires: equiv_build(), in->events. One for each class. Everything lives in the
 * arena. 0 or -ENOMEM.
 */
int bias_find(const struct freq_input *in, const struct equiv *eq, struct arena *arena,
	      struct bias **out);

void bias_dump(const struct bias *bias, int nr, struct buf *out);

#endif
