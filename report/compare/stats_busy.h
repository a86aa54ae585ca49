/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_busy.h - finds procedures with enough samples for an analysis
 *
 * A flat profile has thousands of procedures with a sample or two per epoch, many of
 * them large. Their analysis would take nearly all of the time, and its results would
 * be noise.
 */
#ifndef CPI_REPORT_STATS_BUSY_H
#define CPI_REPORT_STATS_BUSY_H

#include <stdbool.h>

#include "base/hmap.h"
#include "report/select/events.h"
#include "report/select/imagecache.h"
#include "report/select/select.h"

/* Starts as { 0 }. */
struct stats_busy {
	struct hmap map;
	double least; /* samples */
};

/*
 * Counts the first event's samples of each procedure of the selection. Returns 0 or a
 * negative error.
 */
int stats_busy_read(struct stats_busy *b, const struct selection *sel,
		    const struct events *ev, struct image_cache *images);
void stats_busy_fini(struct stats_busy *b);

/* Whether the procedure has a mean of at least SPREAD_MIN_COUNT samples per epoch. */
bool stats_busy_has(const struct stats_busy *b, int64_t image, uint64_t start);

#endif
