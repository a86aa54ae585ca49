/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_time.h - when the rows of a profile had their time
 *
 * The selected epochs are put into intervals of equal length, by their middle. What a
 * row has there is its time, or its samples of an event that is no time, for each
 * second of the epochs' length: "1.5" is one and a half CPUs.
 */
#ifndef CPI_TOOLS_PROF_TIME_H
#define CPI_TOOLS_PROF_TIME_H

#include "base/buf.h"
#include "tools/prof.h"

/*
 * Fills p->bucket, and over_time of its rows. One that no epoch is in has no seconds.
 * 0, -ENOMEM, or what a query fails with, logged.
 */
int prof_over_time(struct prof *p);
void prof_free_buckets(struct prof *p);

/* What a row has in a bucket. */
double prof_at(const struct prof_row *row, size_t bucket);

/* Appends a row's course as blocks of eight heights, a space where there is no epoch.
 */
void prof_put_sparkline(const struct prof *p, const struct prof_row *row,
			struct buf *out);

/* Writes the busiest rows' courses as a picture with axes. 0 or -errno, logged. */
int prof_write_svg(const struct prof *p, const char *path);

#endif
