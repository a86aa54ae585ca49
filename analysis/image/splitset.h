/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splitset.h - the split units of one program, each opened on demand
 */
#ifndef CPI_ANALYSIS_SPLITSET_H
#define CPI_ANALYSIS_SPLITSET_H

#include "analysis/image/splitunit.h"

struct splitset;

/* main must outlive the result. NULL when out of memory. */
struct splitset *splitset_new(const struct elfview *main, size_t nr_units);
void splitset_free(struct splitset *s); /* accepts NULL */

/*
 * Whether the unit was looked for already. *out gets it, or NULL if it was not found.
 */
bool splitset_has(const struct splitset *s, uint32_t unit, struct splitunit **out);

/*
 * Looks for a unit: in the package beside the program, in the file that its skeleton
 * names, and for that name beside the program. All together take at most 512 MB of
 * memory.
 */
struct splitunit *splitset_find(struct splitset *s, uint32_t unit,
				const struct skeleton *skeleton);

#endif
