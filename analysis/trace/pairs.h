/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs.h - issue slots wasted while an instruction is in progress, from a whole
 * pipeline trace and from random pairs of its instructions
 *
 * ProfileMe (MICRO'97) section 5.2.3. An instruction is in progress from its fetch
 * until it is ready to retire or is thrown away. Another instruction overlaps usefully
 * with it if it issues in this time and later retires.
 *
 * Memory: PAIRS_MAX_OPS operations.
 */
#ifndef CPI_ANALYSIS_PAIRS_H
#define CPI_ANALYSIS_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/trace.h"

#define PAIRS_MAX_OPS    (1u << 24)
#define PAIRS_MAX_WINDOW 1024

struct pairs;

struct pairs *pairs_new(void);    /* NULL: out of memory */
void pairs_free(struct pairs *p); /* accepts NULL */

/* Adds an operation of the trace, in any order. Returns 0, -ENOMEM or -CPI_ELIMIT. */
int pairs_add(struct pairs *p, const struct trace_op *op);

/* The sums over all fetches of one PC. */
struct pairs_row {
	uint64_t pc;
	double fetched, retired; /* operations */
	double latency;          /* cycles in progress */
	double useful;           /* slots that other instructions used in this time */
	double wasted;           /* latency * width - useful */
};

struct pairs_result {
	struct pairs_row *row; /* ascending PCs; the caller frees them */
	size_t nr;
	uint64_t operations;
	unsigned int width; /* issue slots of a cycle: the most that were used in one */
	unsigned int window; /* instructions between two that may overlap, at most */
};

/*
 * Computes the result from all pairs. Returns 0, -ENOMEM, or -CPI_EEMPTY if nothing
 * issues.
 */
int pairs_exact(struct pairs *p, struct pairs_result *out);

/*
 * Estimates the result from random pairs: the first instruction is one of each interval
 * operations on average, the second is 1 to window behind it. The relative error of
 * fetched and retired is 1 / sqrt(samples).
 */
int pairs_estimate(struct pairs *p, uint64_t interval, uint64_t seed,
		   struct pairs_result *out);

#endif
