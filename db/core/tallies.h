/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tallies.h - what streams received, stored and lost: tables tally and loss
 */
#ifndef CPI_DB_TALLIES_H
#define CPI_DB_TALLIES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/profile/flush.h"

/* Whether a stream is one of s. */
bool tallies_have(const struct flush_streams *s, int stream);

/*
 * Checks I1 of store.h for each stream; stored is by stream. 0, or -EINVAL, logged with
 * the flush's number and the database's path.
 */
int tallies_check(const struct flush_streams *s, enum tally_kind kind,
		  const uint64_t *stored, uint64_t seq, const char *path);

/* The same for a row of sums: its columns received, stored and lost, from first on. */
bool tallies_row_adds_up(sqlite3_stmt *st, int first);

/*
 * In a write transaction: adds streams that keep I1, and their losses, to an epoch.
 * Their ids go to id[s->nr].
 */
int tallies_add(sqlite3 *h, enum tally_kind kind, int64_t epoch,
		const struct flush_streams *s, const uint64_t *stored, int64_t *id);

/*
 * Takes n received and stored samples away from an epoch, by a statement that is
 * prepared before. *out is the caller's to sqlite3_finalize().
 */
int tallies_prepare_take(sqlite3 *h, sqlite3_stmt **out);
int tallies_take_by(sqlite3_stmt *take, enum tally_kind kind, int64_t epoch,
		    int64_t stream, int64_t n);

/* Adds n received and stored samples to an epoch. */
int tallies_give(sqlite3 *h, enum tally_kind kind, int64_t target, int64_t stream,
		 int64_t n);

#endif
