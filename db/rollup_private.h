/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup_private.h - what the roll-up's own files share
 *
 * rollup_begin.c chooses a day, rollup_day.c reads what is known of it, rollup.c plans
 * and moves profiles group by group (rollup_group.c, rollup_spread.c), rollup_finish.c
 * moves the rest of each epoch.
 */
#ifndef CPI_DB_ROLLUP_PRIVATE_H
#define CPI_DB_ROLLUP_PRIVATE_H

#include "db/edge_rows.h"
#include "db/rollup.h"
#include "db/rollup_group.h"

/* What the tables know of the day that goes to target. day is freed in any case. */
int day_load(sqlite3 *h, int64_t target, struct rollup_day *day);
void day_fini(struct rollup_day *day);

/*
 * In a slice: moves what an epoch has beside profiles, and ends it. *last says how far
 * its edges are; all 0 before the first epoch. 1: there is more; 0: done.
 */
int rollup_finish_epoch(struct slice *s, int64_t epoch, int64_t target,
			struct edge_key *last);

#endif
