/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_address.h - how an instruction's address changes from one execution to the next
 *
 * The paper does not have this: DMISS and DTBMISS samples told it whether a loop walks
 * through a page or leaps from page to page. The code alone also tells much of that.
 */
#ifndef CPI_ANALYSIS_BLAME_ADDRESS_H
#define CPI_ANALYSIS_BLAME_ADDRESS_H

#include "analysis/blame/blame_path.h"

/*
 * From the best known to the least known; a sum is as little known as its worst part.
 */
enum address_walk {
	ADDRESS_FIXED,    /* always the same on the frequent paths */
	ADDRESS_NEAR,     /* anywhere in less than a page */
	ADDRESS_STEPS,    /* by stride bytes each time; may start over */
	ADDRESS_PAGES,    /* computed, to multiples of a page or more */
	ADDRESS_COMPUTED, /* anywhere */
	ADDRESS_LOADED,   /* anywhere, and the address itself is loaded */
};

#define ADDRESS_PAGE 4096 /* the smallest page of both machines */
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
