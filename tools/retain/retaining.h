/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retaining.h - rolls up and removes epochs for cpi epoch, with or without a running
 * cpid
 */
#ifndef CPI_TOOLS_RETAINING_H
#define CPI_TOOLS_RETAINING_H

#include "db/query/query.h"

/*
 * Rolls up the days of these epochs, or with NULL all days that are over. Prints what
 * was done, or logs the error. Returns 0 or a negative error.
 */
int retaining_roll(struct db *db, const struct query_epochs *epochs);

/*
 * Removes these epochs, or none of them if one is open or has a label. Errors as above.
 */
int retaining_remove(struct db *db, const struct query_epochs *epochs);

#endif
