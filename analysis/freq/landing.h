/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landing.h - moves samples from where they landed to the instruction that waited
 *
 * With the landing model after-group, an interrupt is taken after the group of
 * instructions that retired last, so the sample's time belongs to an instruction
 * before the PC (TIP, MICRO'21 section 2; doc/glossary.md: landing model). Inside a
 * block, samples move to the group before. At a block's head they move to the last
 * groups of the predecessors, in proportion to the edges' frequencies. Samples of
 * other landing models stay. The sum of samples stays the same.
 */
#ifndef CPI_ANALYSIS_LANDING_H
#define CPI_ANALYSIS_LANDING_H

#include "analysis/cfg/cfg.h"
#include "analysis/isa/isa.h"
#include "base/arena.h"
#include "db/profile/model.h"

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
