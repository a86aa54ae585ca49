/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cursor.h - how far each run is shipped
 */
#ifndef CPI_SHIP_CURSOR_H
#define CPI_SHIP_CURSOR_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ship/address.h"

struct ship_cursor {
	char *host, *boot_id;
	int64_t id;      /* of the run, in the database */
	uint32_t number; /* of the host */
	struct ship_run run;
	uint64_t last;
	uint64_t next;    /* epochs with later flushes are sent */
	uint64_t rewound; /* flushes from this one on are being sent again; 0: none */
	uint64_t until;   /* the flush with which that ends */
	unsigned int nr_rewinds;   /* of ship_rewind_gives_up() */
	uint64_t committed, found; /* the last flush that the store should have; that it
				      has */
	bool had; /* the store had epochs of the host when the run began */
};

/* Starts as { 0 }. */
struct ship_cursors {
	struct ship_cursor *cursor;
	size_t nr;
};

void ship_cursors_forget(struct ship_cursors *list);

/* NULL if the run is not known. Valid until the next ship_cursors_get(). */
struct ship_cursor *ship_cursors_find(const struct ship_cursors *list,
				      const struct ship_run *run);

/*
 * The same; asks the store if the run is not known, and finishes what a crash left
 * unfinished. id is the number of the run in the database.
 */
int ship_cursors_get(struct ship_cursors *list, struct ch_store *store, sqlite3 *h,
		     int64_t id, const struct ship_run *run, uint64_t *nr_void,
		     struct ship_cursor **out);

/* An epoch of the run is in the store. */
void ship_cursor_advance(struct ship_cursor *c, const struct ship_epoch *e);

/* Voids shipments whose last flush is `first` or later, if others replace them. */
int ship_cursor_void(struct ship_cursor *c, struct ch_store *store, uint64_t first,
		     uint64_t *nr_void);

/*
 * Call it if due epochs of the run have flushes that were sent before; `first` is the
 * first of these. Goes back to the beginning of the shipments of which these epochs
 * have a part (rewind.h). If it goes back, c->rewound is not 0 afterwards.
 */
int ship_cursor_rewind(struct ship_cursor *c, struct ch_store *store, sqlite3 *h,
		       uint64_t first);

/*
 * Call it when all due epochs were sent again. Goes back again if epochs were changed
 * meanwhile, but only a few times in a row. Otherwise c->rewound is 0 afterwards.
 */
int ship_cursor_end_rewind(struct ship_cursor *c, struct ch_store *store, sqlite3 *h,
			   uint64_t *nr_void);

#endif
