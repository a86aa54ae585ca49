/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hotspots.h - which rows of a long listing a reader is shown first
 */
#ifndef CPI_REPORT_HOTSPOTS_H
#define CPI_REPORT_HOTSPOTS_H

#include <stdbool.h>
#include <stddef.h>

struct hotspots {
	bool *shown; /* nr; NULL: all are */
	size_t nr;
};

/*
 * Chooses the rows to show: the heaviest rows that together have 90 % of the
 * weight (at most 40), and five rows before and after each. Shows all rows of a
 * short listing, or if all weights are 0. The caller frees out. Returns 0 or
 * -ENOMEM.
 */
int hotspots_find(const double *weight, size_t nr, struct hotspots *out);
void hotspots_fini(struct hotspots *h); /* accepts zeros */

static inline bool hotspots_shows(const struct hotspots *h, size_t i)
{
	return !h->shown || h->shown[i];
}

/* The next shown row after i, or nr. */
size_t hotspots_next(const struct hotspots *h, size_t i);

#endif
