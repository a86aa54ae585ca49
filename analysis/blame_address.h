/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_address.h - where an instruction's accesses go, from one to the next
 *
 * Not the paper's: it had DMISS and DTBMISS samples to tell a loop that walks
 * through a page from one that leaps. Code says much of it, too.
 */
#ifndef CPI_ANALYSIS_BLAME_ADDRESS_H
#define CPI_ANALYSIS_BLAME_ADDRESS_H

#include "analysis/blame_path.h"

/* In the order of how little is known; a sum is as bad as its worst part. */
enum address_walk {
	ADDRESS_FIXED,    /* always the same, while the frequent paths are taken */
	ADDRESS_NEAR,     /* anywhere in less than a page */
	ADDRESS_STEPS,    /* by stride bytes each time; may begin anew */
	ADDRESS_PAGES,    /* computed, to multiples of a page or more */
	ADDRESS_COMPUTED, /* anywhere */
	ADDRESS_LOADED,   /* anywhere, and the address itself is loaded */
};

#define ADDRESS_PAGE 4096 /* the least, on either machine */
#define ADDRESS_LINE 64

struct address {
	enum address_walk walk;
	int64_t stride; /* of ADDRESS_STEPS; 0: not known */
};

/*
 * Of an instruction with a memory operand; others are computed. isa NULL: what
 * instructions do with a register is not known, but that they change it.
 */
struct address blame_find_address(struct isa *isa, struct blame_paths *paths, int insn);

#endif
