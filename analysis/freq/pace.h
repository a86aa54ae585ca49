/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pace.h - how often loops ran, from pairs of samples
 *
 * A pair says how often an instruction ran in a known time (EDGES_PACE in
 * db/profile/edges.h). All pairs of an instruction give its mean speed in its loop, and
 * where they began says which loop that is, and how much of its time is in procedures
 * that it calls: executions are the time in the loop's own code, divided by how much of
 * that one execution takes.
 *
 * The interval accounts for the spread of the pairs, the number of samples, and
 * executions that the pairs missed. If the loop was left and re-entered once
 * between the two samples, the register's change contradicts the loop's step, and
 * the pair is not used. If that happened twice, the change may look valid. So an
 * instruction is left out if more than three of ten of its pairs contradict it or
 * ended outside of the loop: then the loop is too short for the time between two
 * samples. Up to six of ten such pairs are allowed if at least eight of ten of
 * the remaining pairs give the same speed within half an octave. This happens if
 * a run of the loop lasts one to a few times as long as the gap between samples.
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
	 * If there is hardly any such part, the values above are 0, and executions have
	 * only an upper bound.
	 */
	double at_most;
	uint64_t nr_pairs;
};

/* What is known of the procedure, by ascending offset; in the arena. Returns 0 or
 * -ENOMEM. */
int pace_find(const struct pace_input *in, struct arena *arena, struct pace **out,
	      size_t *nr);

/* The same as evidence of the procedure's scale. */
struct scale_evidence pace_evidence(const struct pace *p, double cycles_per_ns);

#endif
