/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feedback_carry.h - counts of older builds, as far as a newer one has their lines
 *
 * CGO'10, section 2.2: functions by name and lines by their distance from the
 * function's first bind a profile to sources loosely, so that it serves later versions
 * of them. What a version no longer has would be told of other
 * code, so it goes, and is counted.
 */
#ifndef CPI_ANALYSIS_FEEDBACK_CARRY_H
#define CPI_ANALYSIS_FEEDBACK_CARRY_H

#include "analysis/feedback.h"

/* Of functions of a name, wherever they were inlined: counts of lines. */
struct feedback_carried {
	const char *name; /* the tree's */
	bool gone;        /* no function is called so any more */
	double all, lost;
};

/*
 * Takes out of f, which is not finished, what im has no line for. *out are the tree's
 * functions, those that lost most first; the array is f's. Returns 0, -ENOMEM, or
 * -CPI_EEMPTY when im has no lines at all.
 */
int feedback_carry(struct feedback *f, struct image *im,
		   const struct feedback_carried **out, size_t *nr);

#endif
