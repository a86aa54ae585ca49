/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * precise.h - time that hardware measured itself, by instruction
 *
 * A sample of time says where one cycle was spent, and mostly not quite where. Two
 * sources on machines of today are proportional to time, as TIP is (MICRO'21, section
 * 2.2): of instructions that were sampled as they retired, the cycles since what
 * retired before; and the cycles that branch stacks have from one branch to the next.
 *
 * Both become weights of a profile: WEIGHT_UNIT of them for each cycle.
 */
#ifndef CPI_ANALYSIS_PRECISE_H
#define CPI_ANALYSIS_PRECISE_H

#include "analysis/image.h"
#include "analysis/isa.h"
#include "db/edges.h"
#include "db/profile.h"
#include "db/records.h"

/* Whether an event counts instructions that retire: "instructions:ppp", … */
bool precise_counts_instructions(const char *event);

/*
 * Adds what records have of RECORD_TIME_RETIRE_TO_RETIRE, each within 1/32. 0,
 * -EOVERFLOW or -ENOMEM; a part may have been added then.
 */
int precise_add_latencies(const struct records *r, struct profile *out);

/*
 * Adds the cycles of runs that stay in one image, in equal parts to the instructions of
 * each: nothing says more of them. Where the code is not at hand (im and isa may be
 * NULL) or is not what ran, the branch at the run's end has them. As above.
 */
int precise_add_runs(struct edges *runs, struct image *im, struct isa *isa,
		     struct profile *out);

/* Σ cycles of those runs; sums beyond 2^64 - 1 are that. */
uint64_t precise_run_cycles(struct edges *runs);

#endif
