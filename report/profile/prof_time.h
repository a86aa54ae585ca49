/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_time.h - the time of each row over the epochs
 *
 * The time of the selected epochs is divided into intervals of equal length. An epoch
 * that overlaps several intervals is spread evenly over them. The value of a row in an
 * interval is its time (or its weight of an event that does not measure time) per
 * second of the interval's epochs: "1.5" is one and a half CPUs.
 */
#ifndef CPI_REPORT_PROF_TIME_H
#define CPI_REPORT_PROF_TIME_H

#include "base/buf.h"
#include "report/profile/prof.h"

/*
 * Makes p->bucket: at most 48 intervals, or intervals of the request's length, which
 * begin at multiples of that length. Returns 0, -ENOMEM, or -EINVAL (logged) for more
 * than PROF_MAX_INTERVALS.
 */
#define PROF_MAX_INTERVALS 4096
int prof_make_buckets(struct prof *p);

/*
 * Returns the bucket that contains the whole epoch; if none does, PROF_MAX_INTERVALS +
 * epoch.
 */
size_t prof_slot(const struct prof *p, size_t epoch);

/* Whether the epoch is the first one of its machine after a reboot. */
bool prof_is_restart(const struct prof *p, size_t epoch);

/* Whether it is the first one after cpid was restarted, without a reboot. */
bool prof_is_start(const struct prof *p, size_t epoch);

/*
 * Fills p->bucket and over_time of the rows. A bucket without epochs has 0 seconds.
 * Returns 0, -ENOMEM, or the error of a query, which is logged.
 */
int prof_over_time(struct prof *p);
void prof_free_buckets(struct prof *p);

/* Returns the value of a row in a bucket. */
double prof_at(const struct prof_row *row, size_t bucket);

#endif
