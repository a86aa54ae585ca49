/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup.h - epochs of one day become one
 *
 * The epochs of one run that begin on one day (UTC) are merged into the first of them,
 * whose id and beginning the result keeps, so that ids stay in the order of time. What
 * is open, has a label, or is of a roll-up already stays as it is.
 *
 * I1  After each slice every sample is in exactly one epoch, and each epoch has
 *     received = stored + losses. Only the table roll tells that something is under
 * way. I2  A roll-up that was interrupted goes on from the database alone, and ends as
 * one that was not.
 */
#ifndef CPI_DB_ROLLUP_H
#define CPI_DB_ROLLUP_H

#include "db/slice.h"

struct rollup;

/*
 * Begins the roll-up of the oldest day that has at least two epochs to merge, all of
 * that day being before before_ns. ids, a JSON array, restricts it to some epochs;
 * NULL: all. Returns 1 if it has begun, 0 if there is none, or a negative error.
 */
int rollup_begin(struct slice *s, uint64_t before_ns, const char *ids);

/*
 * Takes up the roll-up that table roll tells of; *out is NULL when there is none.
 * s stays the caller's. 0 or a negative error.
 */
int rollup_resume(struct slice *s, struct rollup **out);

/*
 * Does a slice of it. 1: there is more to do; 0: it is done. -EAGAIN: another process
 * is at it, so what is to do is to be looked up again.
 */
int rollup_step(struct rollup *r);
void rollup_free(struct rollup *r); /* accepts NULL; it can be resumed */

#endif
