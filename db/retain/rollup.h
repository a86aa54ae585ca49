/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup.h - epochs of one hour, or of one day, become one
 *
 * Within one run of a collector (a row of table run), the epochs that begin in the same
 * hour, or on the same day (UTC), are merged into the first of them. The merged epoch
 * keeps the id and the start time of the first one, so that ids stay in order of time.
 * Open epochs, epochs with a label and days are left alone.
 *
 * The result for an hour is the same as if it had always been one epoch. A day
 * also stores how the time of its hot procedures varied among its hours; so hours
 * must be rolled up before days.
 *
 * I1  After each slice every sample is in exactly one epoch, and each epoch has
 *     received = stored + losses, where losses are the unknown and the lost samples.
 *     Only table roll shows that work is unfinished.
 * I2  An interrupted roll-up continues from the database alone, with the same result.
 */
#ifndef CPI_DB_ROLLUP_H
#define CPI_DB_ROLLUP_H

#include "db/core/slice.h"

struct rollup;

#define ROLLUP_SPREAD_BLOCK 4096  /* bytes of a block of code without symbols */
#define ROLLUP_SPREAD_LEAST 0.001 /* smaller shares of the day's time are not kept */

enum rollup_unit { ROLLUP_HOUR, ROLLUP_DAY };

/*
 * Begins the roll-up of the oldest hour or day that ended by before_ns and has at
 * least two epochs to merge. ids, a JSON array, restricts it to some epochs;
 * NULL: all. Returns 1 if it has begun, 0 if there is none, or a negative error.
 */
int rollup_begin(struct slice *s, enum rollup_unit unit, uint64_t before_ns,
		 const char *ids);

/*
 * Continues the roll-up in table roll; *out is NULL if there is none. s must outlive
 * it. 0 or a negative error.
 */
int rollup_resume(struct slice *s, struct rollup **out);

/*
 * Does a slice. Returns 1 if there is more, 0 if it is done, -EAGAIN if another process
 * did a part of it; then free r and call rollup_resume() again.
 */
int rollup_step(struct rollup *r);

/* What r makes. */
enum rollup_unit rollup_unit(const struct rollup *r);
void rollup_free(struct rollup *r); /* accepts NULL; the roll-up can be resumed */

#endif
