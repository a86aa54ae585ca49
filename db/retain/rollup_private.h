/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_private.h - declarations that the files of the roll-up share
 *
 * rollup_begin.c chooses a day, rollup_day.c reads what is known of it, rollup.c plans
 * and moves profiles group by group (rollup_group.c, rollup_spread.c), rollup_finish.c
 * moves the rest of each epoch.
 */
#ifndef CPI_DB_ROLLUP_PRIVATE_H
#define CPI_DB_ROLLUP_PRIVATE_H

#include "db/core/set_rows.h"
#include "db/retain/rollup.h"
#include "db/retain/rollup_group.h"

/* Reads the day that is rolled up into target. The caller frees day in any case. */
int day_load(sqlite3 *h, int64_t target, struct rollup_day *day);
void day_fini(struct rollup_day *day);

/* How far the epochs of a roll-up are finished; all 0 at first. */
struct rollup_progress {
	int64_t epoch;
	size_t kind;         /* index into set_kinds: those before it are moved */
	struct set_key last; /* the last row of the kind that was looked at */
};

/*
 * In a slice: moves the rows of an epoch that are not profiles to target, from where
 * *progress says, and ends the epoch. 1: there is more; 0: done.
 */
int rollup_finish_epoch(struct slice *s, int64_t epoch, int64_t target,
			struct rollup_progress *progress);

#endif
