/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * holes.h - flushes of runs that the store will not get
 *
 * They were removed from the database before they were shipped, or their epoch is
 * damaged. The store's table dropped lists them.
 */
#ifndef CPI_SHIP_HOLES_H
#define CPI_SHIP_HOLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/clickhouse/store.h"
#include "db/core/db.h"
#include "ship/rows.h"

struct ship_hole {
	int64_t run;
	uint64_t first, last;
	bool damaged; /* false: removed */
};

/* Starts as { 0 }. */
struct ship_holes {
	struct ship_hole *hole;
	size_t nr;
};

void ship_holes_fini(struct ship_holes *list);

/*
 * Adds the flushes beyond the cursors that the database no longer has. temp.cursor has
 * the cursors: see set_cursors() in ship.c.
 */
int ship_holes_find(struct ship_holes *list, struct db *db);

/* Adds the flushes of an epoch, or of those of a sum, that is damaged; logged. */
int ship_holes_lose(struct ship_holes *list, struct db *db, int64_t epoch);
int ship_holes_lose_members(struct ship_holes *list, struct db *db,
			    const struct ship_epoch *e);

/*
 * Puts a row of the table: flushes that the store will not get; (host, at) is the
 * address of the shipment after which the cursor is beyond them.
 */
void ship_dropped_put(struct buf *rows, uint64_t host, uint64_t at, const char *boot_id,
		      uint64_t run_from_ns, uint64_t first, uint64_t last);
int ship_dropped_send(struct ch_store *store, struct buf *rows);

/*
 * Logs the flushes in the list that the cursors leave behind with the nr epochs of a
 * batch, and adds them to the store's table; *nr_dropped grows by their number.
 */
int ship_holes_send(const struct ship_holes *list, struct ch_store *store,
		    const struct ship_epoch *e, size_t nr, uint64_t *nr_dropped);

#endif
