/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freq.h - how often did each block and edge of a procedure run?
 *
 * SOSP'97 section 6.1 (equivalence classes, issue points, local propagation,
 * confidence), with edge samples from conditional jumps, and repair at the least
 * cost (CGO'10 section 3.2). One unit everywhere: estimated executions in the
 * selection, F × period, F in executions per sample's worth of cycles.
 */
#ifndef CPI_ANALYSIS_FREQ_H
#define CPI_ANALYSIS_FREQ_H

#include <stdbool.h>

#include "analysis/cfg.h"
#include "base/arena.h"
#include "base/buf.h"
#include "db/profile.h"

enum confidence { CONFIDENCE_LOW, CONFIDENCE_MEDIUM, CONFIDENCE_HIGH };

struct freq_input {
	const struct cfg *cfg;
	const double *samples;    /* by instruction: blamed time samples */
	const double *min_cycles; /* by instruction: M, cycles at the head when nothing
				     dynamic stalls; 0: issues with its elder */
	const int *depends_on;    /* by instruction: the one whose result it waits for,
				     or -1; NULL: none does */
	const struct count
		*outcomes;    /* by instruction: taken and not_taken, raw; or NULL */
	double period_cycles; /* a sample's worth */
	bool in_order;        /* the machine issues in order: M are to be believed */
};

struct freq {
	double *block;    /* executions, by block (the exit: of the procedure) */
	double *edge;     /* executions, by edge */
	double *block_sd; /* deviation of the logarithm, within the procedure */
	double *edge_sd;
	enum confidence *shape; /* by block: right within the procedure? */
	enum confidence *edge_shape;
	enum confidence scale; /* right across procedures? low without an anchor */
	int *class;            /* equivalence class of each block */
	int *edge_class;
	int nr_classes;
	bool counted;     /* by branch stacks (counted.h), not estimated */
	double unmatched; /* flow that repair had to add or remove, relative */
};

/*
 * requires: cfg_build(). Everything lives in the arena. Each pass writes what it found
 * to debug, unless that is NULL. Returns 0, -ENOMEM, or -EINVAL for samples or cycles
 * that are negative or not finite.
 */
int freq_estimate(const struct freq_input *in, struct arena *arena, struct buf *debug,
		  struct freq **out);

#endif
