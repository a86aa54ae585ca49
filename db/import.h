/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - epochs of another database, exactly once, beside a collector
 *
 * I1  An epoch appears whole, in one transaction, after all that tells of its
 *     images. An import that was cut short is finished by the next one.
 * I2  No transaction is longer than an epoch, and others can write between two.
 */
#ifndef CPI_DB_IMPORT_H
#define CPI_DB_IMPORT_H

#include <stddef.h>

#include "db/db.h"

struct import_result {
	size_t nr_new;
	size_t nr_known;     /* they were there already, and stay as they are */
	size_t nr_grown;     /* there had been less of them */
	uint64_t longest_ns; /* that others may have waited for */
	int64_t first, last; /* ids of the new ones, if any */
};

/*
 * Imports all epochs of the database at path, of which every row is checked before
 * db (DB_WRITE or DB_COLLECT) changes. -EEXIST where an epoch is there in another
 * form: then nothing is imported. Errors are logged.
 */
int import_epochs(struct db *db, const char *path, struct import_result *out);

#endif
