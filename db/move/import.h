/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - adds epochs of another database, exactly once, while a collector may run
 *
 * I1  An epoch appears in one transaction. The captures of its images come after all
 *     epochs. The next import completes one that was interrupted.
 * I2  No transaction copies more than an epoch. Others can write between two of them.
 */
#ifndef CPI_DB_IMPORT_H
#define CPI_DB_IMPORT_H

#include <stddef.h>

#include "db/core/db.h"

struct import_result {
	size_t nr_new;
	size_t nr_known;     /* epochs that db had already; they do not change */
	size_t nr_grown;     /* epochs of which db had only a part */
	uint64_t longest_ns; /* longest transaction: other writers waited this long */
	int64_t first, last; /* ids of the new ones, if any */
};

/*
 * Imports all epochs of the database at path. Every row of it is checked before db
 * (DB_WRITE or DB_COLLECT) changes. -EEXIST if db has a part of an epoch; then nothing
 * is imported. If another process stores such a part during the import, earlier epochs
 * are imported nevertheless. Errors are logged.
 */
int import_epochs(struct db *db, const char *path, struct import_result *out);

#endif
