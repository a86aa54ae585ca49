/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feedback_carry.h - keeps the counts of older builds whose lines a newer build still
 * has
 *
 * CGO'10, section 2.2: function names, and line numbers relative to the function's
 * first line, bind a profile loosely to its sources, so that it fits later versions.
 * Counts of lines that a version no longer has would apply to other code. They are
 * dropped, and their sum is kept.
 */
#ifndef CPI_ANALYSIS_FEEDBACK_CARRY_H
#define CPI_ANALYSIS_FEEDBACK_CARRY_H

#include "analysis/feedback/feedback.h"

/* The counts of all functions of one name, wherever they were inlined. */
struct feedback_carried {
	const char *name; /* belongs to the tree */
	bool gone;        /* no function has this name any more */
	double all, lost;
};

/*
 * Drops the counts of f for which im has no line; f must not be finished. *out gets the
 * tree's functions, those that lost most first; the array belongs to f. Returns 0,
 * -ENOMEM, or -CPI_EEMPTY if im has no lines at all.
 */
int feedback_carry(struct feedback *f, struct image *im,
		   const struct feedback_carried **out, size_t *nr);

#endif
