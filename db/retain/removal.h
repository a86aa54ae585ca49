/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * removal.h - removes epochs, and rows that no epoch refers to
 *
 * An epoch that is being removed has a row in table roll, and queries ignore the epoch.
 */
#ifndef CPI_DB_REMOVAL_H
#define CPI_DB_REMOVAL_H

#include "db/core/slice.h"

/*
 * Marks an epoch for removal. 0, -ENOENT, -EBUSY (it is open, or being rolled up),
 * -EPERM (it has a label), or an error of SQLite.
 */
int removal_begin(struct slice *s, int64_t epoch);

/*
 * Does a slice of the marked removals. Returns 1 if there is more, 0 if none is left.
 */
int removal_step(struct slice *s);

/*
 * Removes images, contexts, runs and platforms that no epoch refers to, and gaps,
 * marks and names of containers older than the oldest epoch. It reads the keys of the
 * whole database, without a lock. s->h must not enforce foreign keys, because that
 * would search all tables for each image. 0 or a negative error.
 */
int removal_sweep(struct slice *s);

#endif
