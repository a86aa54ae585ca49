/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.h - chosen epochs of several databases, as one database
 *
 * The result is as if all flushes had been stored in one database: an image, stream or
 * context that several databases have is one row. Queries need not know. Opening takes
 * as long as copying the epochs.
 */
#ifndef CPI_DB_JOIN_H
#define CPI_DB_JOIN_H

#include "db/core/db.h"
#include "db/profile/selection.h"

struct join_part {
	const char *path; /* absolute: db_path()'s */
	const struct query_epochs *epochs;
};

/*
 * Joins the parts. If there are several, epochs get the ids of QUERY_EPOCH_ID(), with i
 * + 1 as the number of part i (-CPI_ELIMIT for an id above 32 bits). If there is one
 * part, its epochs keep their ids. name is shown in place of the path. -CPI_ECORRUPT
 * for a file that is not a database of CPI; -EEXIST if two files have parts of the same
 * epoch. Errors are logged.
 */
int join_open(const char *name, const struct join_part *part, size_t nr,
	      struct db **out);

#endif
