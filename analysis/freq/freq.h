/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freq.h - how often each block and edge of a procedure ran
 *
 * SOSP'97 section 6.1 (equivalence classes, local propagation, confidence), with edge
 * samples from conditional jumps and a repair at the least cost (CGO'10 section 3.2).
 * Every frequency in struct freq is an estimated number of executions in the selected
 * epochs. The passes compute with another unit, F: for an instruction that does not
 * stall, F = samples / M, where M is the number of cycles that one execution takes
 * (estimate.h). Executions = F × period, where period is the number of cycles that one
 * sample stands for.
 */
#ifndef CPI_ANALYSIS_FREQ_H
#define CPI_ANALYSIS_FREQ_H

#include <stdbool.h>

#include "analysis/cfg/cfg.h"
#include "analysis/freq/scale.h"
#include "base/arena.h"
#include "base/buf.h"
#include "db/profile/profile.h"

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

/* Frequencies estimated from windows (window_weights.h), in the unit of F. */
struct freq_windows {
	const double *block;        /* by block */
	const double *edge;         /* by edge, fall-through ones included */
	const double *worth;        /* by block: effective sample size, in windows */
	const double *const *error; /* by block: WINDOW_WEIGHTS_DRAWS random draws of an
				       error of log(block) that several blocks have
				       in common; or NULL */
	double one; /* the frequency that one pass of a window of weight 1 stands for */
};

/* Instructions that were sampled as they retired. */
struct freq_retired {
	const double *n; /* by instruction: how many retired */
	double period;   /* instructions that a sample stands for */
};

struct freq_input {
	const struct cfg *cfg;
	const double *samples; /* by instruction: time samples, where they landed */
	const struct count
		*outcomes;   /* by instruction: taken and not_taken, raw; or NULL */
	const double *fixed; /* by edge: its probability, if the code fixes it
				(trips.h), else NAN; or NULL */
	const struct freq_windows *windows; /* or NULL */
	const struct freq_retired *retired; /* or NULL; not used if there are windows */
	double period_cycles;               /* cycles that one sample stands for */
};

struct freq {
	double *block; /* executions, by block; for the exit block, those of the
			  procedure */
	double *edge;  /* executions, by edge */
	struct freq_interval *block_range,
		*edge_range; /* the same, with 90 % intervals */
	double *block_sd;    /* deviation of the logarithm, within the procedure */
	double *edge_sd;
	enum confidence *shape; /* by block: confidence within the procedure */
	enum confidence *edge_shape;
	enum confidence scale; /* confidence across procedures */
	int *class;            /* equivalence class of each block */
	int *edge_class;
	int nr_classes;
	bool windows;     /* windows contributed */
	bool retired;     /* from samples of retired instructions, not of time */
	bool anchored;    /* the scale was measured, not found by static costs */
	bool counted;     /* by branch stacks (branchstack.h), not estimated */
	double unmatched; /* how much the repair changed frequencies: Σ |change| / Σ
			     frequency, of blocks that were estimated */
};

/*
 * requires: cfg_build(). Everything lives in the arena. Each pass writes its results to
 * debug, unless that is NULL. Returns 0, -ENOMEM, or -EINVAL for samples or cycles that
 * are negative or not finite.
 */
int freq_estimate(const struct freq_input *in, struct arena *arena, struct buf *debug,
		  struct freq **out);

/*
 * Multiplies frequencies by the factors of a scale, and computes their 90 %
 * intervals from the errors of scale and shape. Returns 0 or -ENOMEM.
 */
int freq_take_scale(struct freq *f, const struct cfg *cfg, const struct scale *scale,
		    struct arena *arena);

/*
 * The same where the scale is known: a factor of 1 with this deviation of its
 * logarithm.
 */
int freq_keep_scale(struct freq *f, const struct cfg *cfg, double sd,
		    struct arena *arena);

#endif
