/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notes.h - sends marks and gaps
 *
 * Each is sent once while cpi-ship runs, whatever its time is: a mark may be set while
 * cpid does not run, or for a time in the past. After a restart all are sent again. The
 * store keeps only one of equal rows.
 */
#ifndef CPI_SHIP_NOTES_H
#define CPI_SHIP_NOTES_H

#include "db/clickhouse/store.h"
#include "db/core/db.h"

struct ship_notes;

struct ship_notes *ship_notes_new(void); /* NULL when out of memory */
void ship_notes_free(struct ship_notes *n);

/*
 * Sends new marks and gaps, as those of the machine `host`; NULL or "": of the one that
 * the database names. Returns 0, or an error of the database or of store.h, logged;
 * then all of them are sent again later.
 */
int ship_notes_send(struct ship_notes *n, struct db *db, const char *host,
		    struct ch_store *store);

#endif
