/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retaining.h - cpi epoch's rolling up and removing, beside cpid or without it
 */
#ifndef CPI_TOOLS_RETAINING_H
#define CPI_TOOLS_RETAINING_H

#include "db/query/query.h"

/*
 * Rolls up the days of these epochs; NULL: all days that are over. Says what was done,
 * or logs why not. 0 or a negative error.
 */
int retaining_roll(struct db *db, const struct query_epochs *epochs);

/* Removes these epochs, or none if one is open or has a label. The same about errors.
 */
int retaining_remove(struct db *db, const struct query_epochs *epochs);

#endif
