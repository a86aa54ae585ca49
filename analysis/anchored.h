/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchored.h - how often instructions ran, from visits of a breakpoint
 *
 * Visits (db/anchorsums.h) begin at moments that have nothing to do with the
 * instruction, so that the mean of their rates, in CPU time of a command, is its rate
 * in all of it.
 */
#ifndef CPI_ANALYSIS_ANCHORED_H
#define CPI_ANALYSIS_ANCHORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/anchorsums.h"

#define ANCHORED_HITS   8 /* of less nothing follows */
#define ANCHORED_VISITS 2

struct anchored {
	uint64_t offset;
	double executions;
	double variance; /* of its logarithm */
};

/*
 * In seconds of CPU time. False where visits say too little, or what none can; then
 * *out is untouched.
 */
bool anchored_estimate(const struct anchor_sums *sums, double seconds,
		       struct anchored *out);

/* The same instruction in another command: both together. */
void anchored_add(struct anchored *to, const struct anchored *from);

/* An anchor beside what windows passed it. */
struct anchored_ratio {
	double log;      /* of executions for a pass */
	double variance; /* the anchor's */
};

/*
 * The logarithm of executions for a pass that all have in common: the weighted median.
 * Sorts; there is at least one.
 */
double anchored_common(struct anchored_ratio *ratio, size_t nr);

#endif
