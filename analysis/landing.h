/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landing.h - from where samples landed to what they waited for
 *
 * An interrupt is taken behind the group of instructions that retired last, so the
 * time that it stands for belongs to an instruction before the PC (design of the
 * streams' landing models; TIP, MICRO'21 section 2). Samples are moved there, inside
 * a block to the group before, from a block's head to the predecessors' last groups
 * by edge frequency. Σ stays.
 */
#ifndef CPI_ANALYSIS_LANDING_H
#define CPI_ANALYSIS_LANDING_H

#include "analysis/cfg.h"
#include "analysis/isa.h"
#include "base/arena.h"
#include "db/model.h"

struct landing_input {
	const struct cfg *cfg;
	const struct isa_timing *timing; /* by instruction, in its block */
	const double *samples;           /* by instruction, as they landed */
	const double *edge;              /* by edge: its frequency; NULL: all equal */
	enum landing landing;
};

/* Writes blamed[cfg->nr_insns]. Returns 0 or -ENOMEM. */
int landing_blame(const struct landing_input *in, struct arena *arena, double *blamed);

#endif
