/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tallies.h - tables tally and loss: what streams received, stored and lost
 */
#ifndef CPI_DB_TALLIES_H
#define CPI_DB_TALLIES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/profile/flush.h"

/* Whether a stream's index is valid in s. */
bool tallies_have(const struct flush_streams *s, int stream);

/*
 * Checks I1 of store.h for each stream; stored[i] is the number of stored samples of
 * stream i. Returns 0, or -EINVAL (logged with the flush's number and the database's
 * path).
 */
int tallies_check(const struct flush_streams *s, enum tally_kind kind,
		  const uint64_t *stored, uint64_t seq, const char *path);

/* Whether received = stored + lost in a row whose columns from first on are these. */
bool tallies_row_adds_up(sqlite3_stmt *st, int first);

/*
 * In a write transaction: adds streams, which must keep I1, and their losses to an
 * epoch. Sets id[i] to the id of stream i.
 */
int tallies_add(sqlite3 *h, enum tally_kind kind, int64_t epoch,
		const struct flush_streams *s, const uint64_t *stored, int64_t *id);

/*
 * tallies_take_by() subtracts n from an epoch's received and stored samples, with a
 * statement of tallies_prepare_take(). The caller passes *out to sqlite3_finalize().
 */
int tallies_prepare_take(sqlite3 *h, sqlite3_stmt **out);
int tallies_take_by(sqlite3_stmt *take, enum tally_kind kind, int64_t epoch,
		    int64_t stream, int64_t n);

/* Adds n to an epoch's received and stored samples. */
int tallies_give(sqlite3 *h, enum tally_kind kind, int64_t target, int64_t stream,
		 int64_t n);

#endif
