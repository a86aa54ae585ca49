/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traffic.h - a procedure's frequencies, as a branch recorder would have counted them
 *
 * Computes how often straight runs of instructions, and taken jumps and calls, were
 * executed; places are image offsets. The targets of direct jumps and calls are in the
 * code. For indirect ones, the block's executions are divided among the targets that
 * branch stacks or windows saw.
 */
#ifndef CPI_ANALYSIS_TRAFFIC_H
#define CPI_ANALYSIS_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cfg/cfg.h"
#include "analysis/freq/freq.h"
#include "base/buf.h"
#include "db/profile/edges.h"

struct traffic_run {
	uint64_t first, last; /* instructions, both included */
	double n;
};

#define TRAFFIC_ELSEWHERE UINT64_MAX

struct traffic_jump {
	uint64_t from, to; /* from: the jump or call, or TRAFFIC_ELSEWHERE */
	double n;
	bool enters; /* a call or a tail call */
};

/* Starts as { 0 }; buf.err is -ENOMEM after a failure. */
struct traffic {
	struct buf runs;    /* struct traffic_run */
	struct buf jumps;   /* struct traffic_jump */
	struct buf entries; /* struct traffic_jump: entries of each procedure from
			       elsewhere */
};

/*
 * Appends a procedure of im; branches (of the image to itself) may be NULL. Runs
 * that were never executed are appended with n = 0; jumps that were never taken are
 * left out. An instruction without a line is in no run, because a search for its
 * line would find a wrong one. Returns 0 or -ENOMEM.
 */
int traffic_add(struct traffic *t, struct image *im, const struct cfg *cfg,
		const struct freq *freq, struct edges *branches);

/*
 * Call once all procedures of an image are added. If a procedure was entered more often
 * than its known callers explain, the rest become jumps from elsewhere. Returns 0 or
 * -ENOMEM.
 */
int traffic_finish(struct traffic *t);

/* Appends everything in from. Returns 0 or -ENOMEM. */
int traffic_append(struct traffic *t, const struct traffic *from);

const struct traffic_run *traffic_runs(const struct traffic *t, size_t *nr);
const struct traffic_jump *traffic_jumps(const struct traffic *t, size_t *nr);
void traffic_reset(struct traffic *t);
void traffic_fini(struct traffic *t);

/*
 * How often a procedure was entered: executions of its first block without jumps back
 * to it.
 */
double traffic_entries(const struct cfg *cfg, const struct freq *freq);

#endif
