/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * join.h - chosen epochs of several databases, as one database
 *
 * It is as if all their flushes had been stored in one place: images, streams and
 * contexts are the same where they are the same thing, and what two of them have
 * is there once. Queries need not know. It takes the time to copy the epochs.
 */
#ifndef CPI_DB_JOIN_H
#define CPI_DB_JOIN_H

#include "db/query.h"

struct join_part {
	const char *path; /* absolute: db_path()'s */
	const struct query_epochs *epochs;
};

/*
 * Several parts' epochs get the ids of QUERY_EPOCH_ID(), part i as number i + 1
 * (-CPI_ELIMIT for an id beyond 32 bits); one part's keep theirs. name stands for
 * the path. -CPI_ECORRUPT for what is no database of ours; -EEXIST where two have
 * parts of one epoch. Errors are logged.
 */
int join_open(const char *name, const struct join_part *part, size_t nr,
	      struct db **out);

#endif
