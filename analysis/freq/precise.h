/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * precise.h - time that the hardware measured, by instruction
 *
 * A sample of time shows where one cycle was spent, but rarely exactly. Two
 * measurements on current machines attribute time to instructions exactly, as TIP
 * (MICRO'21, section 2.2) does: for an instruction that is sampled as it retires,
 * the cycles since the retirement before it; and, in branch stacks, the cycles from
 * one branch to the next.
 *
 * Both are added to a profile as weights; one cycle has the weight WEIGHT_UNIT.
 */
#ifndef CPI_ANALYSIS_PRECISE_H
#define CPI_ANALYSIS_PRECISE_H

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "db/profile/edges.h"
#include "db/profile/profile.h"
#include "db/profile/records.h"

/* Whether an event counts instructions that retire: "instructions:ppp", … */
bool precise_counts_instructions(const char *event);

/*
 * Adds the RECORD_TIME_RETIRE_TO_RETIRE times of records, each with an error of at most
 * 1/32 of its value (3 %). Returns 0, -EOVERFLOW or -ENOMEM; on failure a part may have
 * been added.
 */
int precise_add_latencies(const struct records *r, struct profile *out);

/*
 * Adds the cycles of runs that stay in one image. The instructions of a run get equal
 * parts, because nothing tells them apart. If the code is not available (im and isa may
 * be NULL) or is not the code that ran, the branch at the run's end gets all. Returns
 * as above.
 */
int precise_add_runs(struct edges *runs, struct image *im, struct isa *isa,
		     struct profile *out);

/* Σ cycles of those runs, at most 2^64 - 1. */
uint64_t precise_run_cycles(struct edges *runs);

#endif
