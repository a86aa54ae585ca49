/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.h - how often loops ran, from pairs of samples
 *
 * A pair says how often an instruction ran in a known time (EDGES_PACE in
 * db/profile/edges.h). The pairs of an instruction give the mean time of one execution
 * in its loop. The places where the pairs began show which loop that is, and which part
 * of the loop's time is spent in its own code rather than in procedures that it calls.
 * The number of executions is the time sampled in the loop's own code, divided by the
 * part of one execution's time that is spent there.
 *
 * The interval accounts for the spread of the pairs, the number of samples, and
 * executions that the pairs missed. If the loop was left and re-entered once between
 * the two samples, the register's change contradicts the loop's step, and the pair is
 * not used. If that happened twice, the change may look valid. So an instruction is
 * left out if more than 30 % of its pairs contradict the loop's step or ended outside
 * of the loop: a run of the loop is then shorter than the time between two samples. Up
 * to 60 % are allowed if at least 80 % of the remaining pairs give the same speed,
 * within a factor of 1.4. This happens if a run of the loop lasts one to a few times as
 * long as the time between the two samples. If more than 10 % contradict the loop's
 * step, at least 80 % of the remaining pairs must agree within a factor of 4.
 */
#ifndef CPI_ANALYSIS_PACE_H
#define CPI_ANALYSIS_PACE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/freq/scale.h"
#include "base/arena.h"
#include "db/profile/edges.h"

#define PACE_PAIRS 8 /* of one instruction, at least */

struct pace_input {
	struct edges *pace, *start; /* of one image; the field `to` is UINT64_MAX if the
				     * pair began in another image
				     */
	/* Samples of time at an offset; ns is what one of them stands for. */
	double (*samples)(void *ctx, uint64_t offset);
	double sample_ns;
	void *ctx;
	uint64_t begin, end; /* of a procedure, whose instructions are wanted */
};

struct pace {
	uint64_t offset; /* of an instruction */
	double ns;       /* of the loop's time, for one execution */
	/*
	 * The part of it in the procedure's own code: the likeliest value, and a 90 %
	 * interval; and the first and the last place of that code where pairs began.
	 */
	double low, likely, high;
	uint64_t first, last;
	/*
	 * If too few pairs began in the procedure's own code, low and likely are 0, and
	 * high and at_most are bounds; at_most: of executions in the whole selection.
	 */
	double at_most;
	uint64_t nr_pairs;
};

/* What is known of the procedure, by ascending offset; in the arena. Returns 0 or
 * -ENOMEM. */
int pace_find(const struct pace_input *in, struct arena *arena, struct pace **out,
	      size_t *nr);

/* Converts p to evidence for scale.h. Returns how many pieces there are: 1 or 2. */
int pace_evidence(const struct pace *p, double cycles_per_ns,
		  struct scale_evidence out[2]);

#endif
