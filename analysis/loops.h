/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loops.h - in which loop a block is
 *
 * A loop is known by its head: the block of it that a walk from the entry, depth first,
 * comes to first. Wei, Mao, Zou, Chen: "A New Algorithm for Identifying Loops in
 * Decompilation", SAS 2007: one walk, also where loops have several entries.
 */
#ifndef CPI_ANALYSIS_LOOPS_H
#define CPI_ANALYSIS_LOOPS_H

#include "analysis/cfg.h"
#include "base/arena.h"

#define LOOPS_NONE (-1)

/*
 * By block, the head of the innermost loop that it is in, itself where it is one, or
 * LOOPS_NONE. The arena's, as is what the walk takes: some 20 bytes a block. NULL: out
 * of memory.
 */
const int *loops_find(const struct cfg *cfg, struct arena *arena);

#endif
