/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale.h - how many executions the frequencies of a procedure stand for
 *
 * Frequencies have a shape (this block ran twice as often as that one) and a scale
 * (this block ran a million times, so each execution took 3 cycles). Samples of time
 * and windows measure the shape. They say nothing about the scale: a loop that waits
 * for memory looks like a loop that never waits but runs a hundred times as often.
 * This file combines evidence to estimate the scale.
 *
 * How to add evidence: make a struct scale_evidence for each thing that was
 * measured, and put them all into one list for the image. Pass this list in
 * explain_input.evidence (explain.h) for each procedure; each procedure uses only
 * its own evidence. Give the interval that holds the truth in 90 % of the cases, and
 * include every known source of error. A narrow interval that is wrong makes the
 * result wrong, unless other evidence contradicts it. Where only a bound is known,
 * state only the bound. Evidence with an impossible interval is ignored: low is
 * above high, likely is not between them, or high is 0.
 *
 * How it is joined: blocks in one outermost loop share a factor, by which their
 * frequencies must be multiplied. Each piece of evidence gives a likelihood of the
 * factor's logarithm, with heavy tails, so that one piece that contradicts all
 * others decides nothing. The factors of a procedure's loops may differ. The result
 * is the posterior of each factor: its median, and the interval from its 5 % to its
 * 95 % quantile.
 *
 * Windows also show how often the loops of all procedures of a program ran relative
 * to each other, and how exact that is (block_tie). All code of a program also
 * shares one factor, which windows do not show; the interval includes its error. If
 * windows show the relative frequency of a loop exactly, its likely factor stays
 * near 1, so that the estimate from windows is kept. This does not apply to loops
 * whose executions were measured.
 *
 * A block's own factor deviates from the loop's by the error of the shape. So evidence
 * about a block says most about that block and about blocks whose executions have a
 * fixed ratio to it, and less about others.
 *
 * Static costs are evidence as well: a loop takes at least its best case (its longest
 * chain of operands, or the issue slots that its instructions take), and at most the
 * time if all its instructions wait as long as they can. If no instruction of a loop
 * can wait, these alone give a narrow interval. The best case comes from a model of the
 * core, and the model may be wrong. So where executions were measured, only the issue
 * slots are a strict bound.
 */
#ifndef CPI_ANALYSIS_SCALE_H
#define CPI_ANALYSIS_SCALE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/cfg/cfg.h"
#include "base/arena.h"

enum scale_kind {
	SCALE_EXECUTIONS, /* of the block, in the whole selection */
	SCALE_CYCLES, /* that the loop around the block takes, without what it calls,
			 for each execution of the block */
};

/* One measurement of how often something ran, or how long it took. */
struct scale_evidence {
	uint64_t offset; /* image offset of an instruction of the block */
	enum scale_kind kind;
	double low, high;   /* 90 % interval; low 0 or high INFINITY: no bound there */
	double likely;      /* 0: all values between the bounds are equally likely; else
			       the most likely value, and both bounds must be finite
			       and above 0 */
	const char *source; /* "register steps"; a constant, for debug output */
	/*
	 * Of SCALE_CYCLES: two offsets in the loop. The loop meant is the smallest loop
	 * around the block that contains both offsets; if both are 0, the innermost.
	 */
	uint64_t first, last;
};

/* What one execution of a block costs at least and at most, in cycles; by block. */
struct scale_costs {
	const double *issue; /* issue slots only: all waits overlap with other work */
	const double *best;  /* the block repeated alone, by the model, less a margin
				because real cores may be faster; never below issue */
	const double *usual; /* alone in its steady state, with nothing to wait for */
	const double *worst; /* if every possible wait (misses and so on) happens;
				INFINITY: no bound */
	const bool *calls;   /* whether the block has a call; then its dependency chains
				may overlap with the callee's time */
};

/* Logarithms of factors on a grid, from SCALE_FROM on in steps of SCALE_STEP. */
#define SCALE_FROM   (-12.0)
#define SCALE_STEP   0.025
#define SCALE_POINTS 721

struct scale_input {
	const struct cfg *cfg;
	const double *block;    /* executions, by block: only the shape matters */
	const double *edge;     /* the same by edge; or NULL */
	const double *block_sd; /* deviation of their logarithm, by block */
	/*
	 * By block and by edge: a number that is equal for blocks and edges that run
	 * equally often. Both NULL: not known.
	 */
	const int *class;
	const int *edge_class;
	const double *fixed;   /* by edge: its probability, if the code fixes it, else
				  NAN; or NULL. Needs classes */
	const double *samples; /* of time, by instruction */
	double period_cycles;  /* cycles that one sample stands for */
	const struct scale_costs *costs; /* or NULL: not known */
	const struct scale_evidence *evidence;
	int nr_evidence;
	/*
	 * By block: the error of its executions relative to other code, as windows show
	 * them (deviation of the logarithm), or NAN; NULL: no windows.
	 */
	const double *block_tie;
};

/* A number with its 90 % interval. */
struct freq_interval {
	double low, likely, high; /* low 0, high INFINITY: no bound there */
};

/*
 * Whether the likely value is shown: neither end of the interval differs from it
 * by more than a factor of SCALE_KNOWN.
 */
#define SCALE_KNOWN 3.0
static inline bool freq_interval_known(const struct freq_interval *i)
{
	return i->low > 0 && isfinite(i->high) && i->high <= SCALE_KNOWN * i->likely &&
	       i->likely <= SCALE_KNOWN * i->low;
}

/*
 * The cycles of one execution, with their interval: time over executions, where time =
 * samples × period, in cycles. All are NAN if nothing was executed.
 */
struct freq_interval freq_interval_cycles(const struct freq_interval *executions,
					  double samples, double period);

struct scale {
	struct freq_interval *block, *edge; /* factors */
	/*
	 * Whether the factor already includes the error of the shape, because this
	 * block or edge was measured.
	 */
	bool *block_measured, *edge_measured;
	double *density; /* log density of the procedure's factor */
	bool evident;    /* anything at all was evidence */
};

/*
 * Everything lives in the arena. Without evidence all factors are { 0, 1, INFINITY }.
 * Returns 0 or -ENOMEM.
 */
int scale_find(const struct scale_input *in, struct arena *arena, struct scale **out);

#endif
