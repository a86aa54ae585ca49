/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats_busy.h - which procedures have samples enough to be analysed
 *
 * A flat profile has thousands of procedures with a sample or two in an epoch, often
 * large ones: to analyse them takes nearly all of the time, and what it says is noise.
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

/* Counts the first event's samples of each procedure of the selection. 0 or negative.
 */
int stats_busy_read(struct stats_busy *b, const struct selection *sel,
		    const struct events *ev, struct image_cache *images);
void stats_busy_fini(struct stats_busy *b);

/* Whether the procedure has SPREAD_MIN_COUNT samples an epoch, in the mean. */
bool stats_busy_has(const struct stats_busy *b, int64_t image, uint64_t start);

#endif
