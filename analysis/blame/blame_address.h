/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_address.h - how an instruction's address changes from one execution to the next
 *
 * This is not in the paper, which had DMISS and DTBMISS samples to tell whether a loop
 * stays within a page. Here the code is analysed instead.
 */
#ifndef CPI_ANALYSIS_BLAME_ADDRESS_H
#define CPI_ANALYSIS_BLAME_ADDRESS_H

#include "analysis/blame/blame_path.h"

/*
 * How an address changes (this is not a page walk), from the best known to the least
 * known kind. The kind of a sum is that of its least known part.
 */
enum address_walk {
	ADDRESS_FIXED,    /* always the same on the frequent paths */
	ADDRESS_NEAR,     /* anywhere in less than a page */
	ADDRESS_STEPS,    /* by stride bytes each time; may start over */
	ADDRESS_PAGES,    /* anywhere, in steps of at least a page */
	ADDRESS_COMPUTED, /* anywhere */
	ADDRESS_LOADED,   /* anywhere, and the address itself is loaded */
};

#define ADDRESS_PAGE 4096 /* the smallest page of both instruction sets */
#define ADDRESS_LINE 64

struct address {
	enum address_walk walk;
	int64_t stride; /* of ADDRESS_STEPS; 0: not known */
};

/*
 * The address of an instruction's memory operand; ADDRESS_COMPUTED without one. If isa
 * is NULL, it is known which registers instructions change, but not how.
 */
struct address blame_find_address(struct isa *isa, struct blame_paths *paths, int insn);

#endif
