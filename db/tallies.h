/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tallies.h - what streams received, stored and lost: tables tally, stack_tally and
 * window_tally, and their losses
 */
#ifndef CPI_DB_TALLIES_H
#define CPI_DB_TALLIES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/store.h"

enum tallies { TALLIES_SAMPLES, TALLIES_STACKS, TALLIES_WINDOWS };

/* Whether a stream is one of s. */
bool tallies_have(const struct flush_streams *s, int stream);

/*
 * Whether each stream received what is stored (by stream) and lost, I1 of store.h. 0,
 * or -EINVAL, logged with the flush's number and the database's path.
 */
int tallies_check(const struct flush_streams *s, enum tallies what,
		  const uint64_t *stored, uint64_t seq, const char *path);

/*
 * In a write transaction: adds streams, which keep I1, and their losses to an epoch.
 * Gives their ids in id[s->nr].
 */
int tallies_add(sqlite3 *h, enum tallies what, int64_t epoch,
		const struct flush_streams *s, const uint64_t *stored, int64_t *id);

/* n that were received and stored are not the epoch's any more. */
int tallies_take(sqlite3 *h, enum tallies what, int64_t epoch, int64_t stream,
		 int64_t n);

/* They are the target's now. */
int tallies_give(sqlite3 *h, enum tallies what, int64_t target, int64_t stream,
		 int64_t n);

#endif
