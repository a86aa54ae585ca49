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
 * Of nr rows with these weights the heaviest that have nine tenths of the time
 * together, at most 40 of them, and the five rows around each. All of a listing that is
 * short, or of no weight. out is to be freed. Returns 0 or -ENOMEM.
 */
int hotspots_find(const double *weight, size_t nr, struct hotspots *out);
void hotspots_fini(struct hotspots *h); /* accepts zeros */

static inline bool hotspots_shows(const struct hotspots *h, size_t i)
{
	return !h->shown || h->shown[i];
}

/* The first row behind i that is shown, or nr. */
size_t hotspots_next(const struct hotspots *h, size_t i);

#endif
