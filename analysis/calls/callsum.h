/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callsum.h - the cost of each frame of call stacks, itself and with its callees
 *
 * I1  Σ self over the frames = the sum of what was added, except for stacks without
 *     frames.
 * I2  A stack counts once in a frame's total, however often the frame is in it.
 */
#ifndef CPI_ANALYSIS_CALLSUM_H
#define CPI_ANALYSIS_CALLSUM_H

#include "analysis/calls/calltree.h"

struct callsum_row {
	struct call_cost self, total;
	uint64_t seen; /* private: the last stack that counted */
};

/* Starts as { 0 }. */
struct callsum {
	struct callsum_row *row; /* by frame; frames from nr on have no cost */
	size_t nr;
	/* private */
	uint64_t nr_stacks;
};

void callsum_fini(struct callsum *s);

/* Adds a stack of nr frames, the leaf first. Returns 0 or -ENOMEM. */
int callsum_add(struct callsum *s, const uint32_t *frame, size_t nr,
		struct call_cost cost);

#endif
