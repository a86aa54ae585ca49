/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_private.h - declarations that the files of the roll-up share
 *
 * rollup_begin.c chooses an hour or a day, rollup_day.c reads its epochs, events
 * and streams, rollup.c plans and moves profiles group by group (rollup_group.c,
 * rollup_spread.c), rollup_finish.c moves the other rows of each epoch, and
 * rollup_flushes.c merges those of its flushes.
 */
#ifndef CPI_DB_ROLLUP_PRIVATE_H
#define CPI_DB_ROLLUP_PRIVATE_H

#include "db/core/set_rows.h"
#include "db/retain/rollup.h"
#include "db/retain/rollup_group.h"

/* Reads the hour or day that is rolled up into target. The caller frees day in any
 * case. */
int day_load(sqlite3 *h, int64_t target, struct rollup_day *day);
void day_fini(struct rollup_day *day);

/* The position in finishing the epochs of a roll-up; starts as { 0 }. */
struct rollup_progress {
	int64_t epoch;
	size_t kind;         /* index into set_kinds; earlier kinds have been moved */
	struct set_key last; /* the last row of the kind that was handled */
};

/*
 * In a slice: moves the rows of an epoch to target, all but its profiles, beginning at
 * *progress, and then removes the epoch. Returns 1 if there is more, 0 if it is done.
 */
int rollup_finish_epoch(struct slice *s, int64_t epoch, int64_t target,
			struct rollup_progress *progress);

/*
 * rollup_flushes.c, in a slice: merges the rows of an epoch's flushes whose numbers and
 * times follow each other without a hole. 0 or a negative error.
 */
int rollup_merge_flushes(sqlite3 *h, int64_t epoch);

#endif
