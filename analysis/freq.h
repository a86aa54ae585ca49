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

/* What windows passed (followed.h), as executions per sample's worth of cycles. */
struct freq_windows {
	const double *block;        /* by block */
	const double *edge;         /* by edge; of one that is fallen through, too */
	const double *worth;        /* by block: how many independent windows that is */
	const double *const *error; /* by block: FOLLOWED_DRAWS draws of the error of
				       log(block) that many of them share; or NULL */
	double one;                 /* what one window of weight 1 passing is */
};

/* Something that stalls, and was counted beside cycles. */
struct freq_stall {
	const double *events;  /* by instruction: how many */
	double period;         /* that a sample stands for */
	double cycles, weight; /* as struct bias_event has them, and memory */
	bool memory;
};

/* Instructions that were sampled as they retired, and what stalls tell of them. */
struct freq_events {
	const double *retired; /* by instruction: how many */
	double period;         /* that a sample stands for */
	const struct freq_stall *stall;
	int nr_stalls;
};

/* How often a block's instructions were sampled, beside how often it ran (bias.h). */
enum freq_bias { FREQ_AS_SAMPLED, FREQ_OVER_SAMPLED, FREQ_UNDER_SAMPLED };

struct freq_input {
	const struct cfg *cfg;
	const double *samples;    /* by instruction: blamed time samples */
	const double *min_cycles; /* by instruction: M, cycles at the head when nothing
				     dynamic stalls; 0: issues with its elder */
	const int *depends_on;    /* by instruction: the one whose result it waits for,
				     or -1; NULL: none does */
	const struct count
		*outcomes; /* by instruction: taken and not_taken, raw; or NULL */
	const struct freq_windows *windows; /* or NULL */
	const struct freq_events *events;   /* or NULL; windows are better */
	double period_cycles;               /* a sample's worth */
	bool in_order; /* the machine issues in order: M are to be believed */
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
	bool windows;         /* what windows passed is in it */
	bool anchored;        /* the scale follows from breakpoints in the procedure */
	enum freq_bias *bias; /* by block; NULL: events are not in it */
	bool counted;         /* by branch stacks (counted.h), not estimated */
	double unmatched;     /* flow that repair had to add or remove, relative */
};

/* Of what is known with a deviation of its logarithm. */
enum confidence freq_confidence(double sd);

/*
 * requires: cfg_build(). Everything lives in the arena. Each pass writes what it found
 * to debug, unless that is NULL. Returns 0, -ENOMEM, or -EINVAL for samples or cycles
 * that are negative or not finite.
 */
int freq_estimate(const struct freq_input *in, struct arena *arena, struct buf *debug,
		  struct freq **out);

const char *freq_bias_str(enum freq_bias bias); /* "as_is", "over", "under" */

/* Blocks that are held to be sampled so. */
int freq_nr_biased(const struct cfg *cfg, const struct freq *f, enum freq_bias kind);

#endif
