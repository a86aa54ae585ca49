/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * traffic.h - a procedure's frequencies as what a branch recorder would have counted
 *
 * How often each straight run of instructions was executed, and each jump and call was
 * taken, by image offsets. Direct targets are in the code; those of indirect calls are
 * where branch stacks or windows saw them go, as shares of the block's executions.
 */
#ifndef CPI_ANALYSIS_TRAFFIC_H
#define CPI_ANALYSIS_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/cfg.h"
#include "analysis/freq.h"
#include "base/buf.h"
#include "db/edges.h"

struct traffic_run {
	uint64_t first, last; /* instructions, both included */
	double n;
};

#define TRAFFIC_ELSEWHERE UINT64_MAX

struct traffic_jump {
	uint64_t from, to; /* the jump or call, or elsewhere; where it goes */
	double n;
	bool enters; /* it calls a procedure, or leaves for one */
};

/* Starts as { 0 }; buf.err tells of memory. */
struct traffic {
	struct buf runs;    /* struct traffic_run */
	struct buf jumps;   /* struct traffic_jump */
	struct buf entries; /* struct traffic_jump from elsewhere, of each procedure */
};

/*
 * Appends what a procedure of im did; branches (of the image to itself) may be NULL.
 * What never ran is there, too, but for jumps. An instruction that has no line, where
 * others may, is in no run: whoever looks for its line would find a wrong one. Returns
 * 0 or -ENOMEM.
 */
int traffic_add(struct traffic *t, struct image *im, const struct cfg *cfg,
		const struct freq *freq, struct edges *branches);

/*
 * Where more entered a procedure than is known from where, the rest are jumps from
 * elsewhere. Once all of an image is there. 0 or -ENOMEM.
 */
int traffic_finish(struct traffic *t);

/* Appends all of from. 0 or -ENOMEM. */
int traffic_append(struct traffic *t, const struct traffic *from);

const struct traffic_run *traffic_runs(const struct traffic *t, size_t *nr);
const struct traffic_jump *traffic_jumps(const struct traffic *t, size_t *nr);
void traffic_reset(struct traffic *t);
void traffic_fini(struct traffic *t);

/* How often a procedure was entered: its first block, but for jumps back to it. */
double traffic_entries(const struct cfg *cfg, const struct freq *freq);

#endif
