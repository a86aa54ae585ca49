/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scale.h - how many executions the frequencies of a procedure stand for
 *
 * Frequencies have a shape (this block ran twice as often as that one) and a scale (so
 * many executions, hence so many cycles for each). Samples of time and windows measure
 * the shape. They say nothing about the scale: a loop that waits for memory looks like
 * one that does not and runs a hundred times as often. This file combines evidence to
 * estimate the scale.
 *
 * How to add evidence: make a struct scale_evidence for each thing that was measured,
 * and put them into explain_input.evidence (explain.h) for each procedure of the image.
 * Those of other procedures are ignored, so one list for an image is enough. Give the
 * interval that holds the truth in 90 % of the cases, and include every known source of
 * error. A wrong narrow interval changes the result, and nothing detects that. Where
 * only a bound is known, state only the bound. Evidence with an interval that cannot be
 * is left out: likely outside of low and high, or nothing above 0.
 *
 * How it is joined: blocks in one outermost loop share a factor, which is what their
 * frequencies must be multiplied by. Each piece of evidence gives a likelihood of its
 * logarithm, with heavy tails, so that one piece that contradicts all others decides
 * nothing. Loops of a procedure are tied to each other as closely as windows connect
 * them. The result is the posterior of each factor: its median, and the interval from
 * its 5 % to its 95 % quantile.
 *
 * Windows also compare the loops of all procedures of a program: draws of other windows
 * tell how exactly (block_tie). Where that is more exact than static costs, the
 * comparison stays, so the likely factor is near 1. The interval is wider, since the
 * program's own factor is not known.
 *
 * A block's own factor deviates from the loop's by the error of the shape. So evidence
 * of a block says more of this block, and of all that run as often, or so many times as
 * often as the code fixes, than of others.
 *
 * Static costs are evidence as well: a loop takes at least its best case (its longest
 * chain of operands, or the slots that its instructions take), and at most what its
 * instructions may wait for. A loop that can wait for nothing has a narrow interval
 * from these alone. The schedule is of a model of the core, which may be wrong: where
 * executions were measured, only the slots are a bound.
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
	SCALE_CYCLES,     /* of time in a loop around the block, calls left out, for one
			     execution of the block */
};

/* One measurement of how often something ran, or how long it took. */
struct scale_evidence {
	uint64_t offset; /* image offset of an instruction of the block */
	enum scale_kind kind;
	double low, high;   /* 90 % interval; low 0 or high INFINITY: no bound there */
	double likely;      /* its most likely value; 0: no value between is likelier */
	const char *source; /* "register steps"; a constant, for debug output */
	/*
	 * Of SCALE_CYCLES: two offsets in the loop. It is the smallest one around the
	 * block that has both; both 0: the innermost one.
	 */
	uint64_t first, last;
};

/* What one execution of a block costs at least and at most, in cycles; by block. */
struct scale_costs {
	const double *issue; /* slots only: everything else is hidden behind others */
	const double *best;  /* the block repeated alone, with small gains over the
				model's schedule; at least issue */
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
	const int *class; /* equal for blocks and edges that run equally often, by */
	const int *edge_class; /* block and by edge; both NULL: that is not known */
	const double *fixed;   /* by edge: its probability, if the code fixes it, else
				  NAN; or NULL. Needs classes */
	const double *samples; /* of time, by instruction */
	double period_cycles;  /* a sample's worth */
	const struct scale_costs *costs; /* or NULL: not known */
	const struct scale_evidence *evidence;
	int nr_evidence;
	const double *seen; /* by edge: how many windows passed it; NULL: no windows */
	const double
		*block_tie; /* by block: how far, by windows, it may be from other
			       code (deviation of the logarithm), or NAN; or NULL */
};

/* A number with its 90 % interval. */
struct freq_interval {
	double low, likely, high; /* low 0, high INFINITY: nothing ties it there */
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
 * The cycles of one execution, with their interval: time over executions, where time is
 * samples of period cycles each. NANs where nothing was executed.
 */
struct freq_interval freq_interval_cycles(const struct freq_interval *executions,
					  double samples, double period);

struct scale {
	struct freq_interval *block, *edge; /* factors */
	/* Whether the shape's error is in them, since the block or edge was measured.
	 */
	bool *block_measured, *edge_measured;
	double *density; /* of the procedure's factor */
	bool evident;    /* anything at all was evidence */
};

/*
 * Everything lives in the arena. Without evidence all factors are { 0, 1, INFINITY }.
 * Returns 0 or -ENOMEM.
 */
int scale_find(const struct scale_input *in, struct arena *arena, struct scale **out);

/* The median of a log density, and its quantiles of 5 % and 95 %. 0, -ENOMEM. */
int scale_interval(const double *density, struct arena *arena,
		   struct freq_interval *out);

/* Convolves a log density with a normal distribution of this deviation, in place. The
 * result is what it implies for a factor that is tied to it. 0, -ENOMEM.
 */
int scale_widen(double *density, double sd, struct arena *arena);

#endif
