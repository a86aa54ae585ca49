/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_time.h - the time of each row over the epochs
 *
 * The time of the selected epochs is divided into intervals of equal length; an epoch
 * across several is spread over them evenly. What a row has there is its time, or its
 * samples of an event that is no time, for each second of the epochs' length: "1.5" is
 * one and a half CPUs.
 */
#ifndef CPI_REPORT_PROF_TIME_H
#define CPI_REPORT_PROF_TIME_H

#include "base/buf.h"
#include "report/profile/prof.h"

/*
 * Divides the selection's time: p->bucket, in at most 48 intervals, or in those of a
 * length, which begin at its multiples. 0, -ENOMEM, or -EINVAL (logged) for more than
 * PROF_MAX_INTERVALS.
 */
#define PROF_MAX_INTERVALS 4096
int prof_make_buckets(struct prof *p);

/* The bucket that has a whole epoch, or a number that no other epoch has. */
size_t prof_slot(const struct prof *p, size_t epoch);

/* Whether the epoch is the first one of its machine after it was started anew. */
bool prof_is_restart(const struct prof *p, size_t epoch);

/*
 * Fills p->bucket, and over_time of its rows. One that no epoch is in has no seconds.
 * 0, -ENOMEM, or what a query fails with, logged.
 */
int prof_over_time(struct prof *p);
void prof_free_buckets(struct prof *p);

/* A row's value in a bucket. */
double prof_at(const struct prof_row *row, size_t bucket);

#endif
