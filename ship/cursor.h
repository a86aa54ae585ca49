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
	uint64_t rewound; /* what replaces shipments from this flush on is sent; 0:
			     nothing is */
	uint64_t until;   /* then it is at an end */
	unsigned int nr_rewinds; /* of ship_rewind_gives_up() */
	uint64_t committed,
		found; /* the last flush that the store must have, and has */
	bool had;      /* the store had epochs of the host when the run began */
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
 * The same; asks the store if the run is not known, and finishes what a crash left. The
 * database has the run with the number id.
 */
int ship_cursors_get(struct ship_cursors *list, struct ch_store *store, sqlite3 *h,
		     int64_t id, const struct ship_run *run, uint64_t *nr_void,
		     struct ship_cursor **out);

/* An epoch of the run is in the store. */
void ship_cursor_advance(struct ship_cursor *c, const struct ship_epoch *e);

/* Voids what shipments whose last flush is `first` or later replace. */
int ship_cursor_void(struct ship_cursor *c, struct ch_store *store, uint64_t first,
		     uint64_t *nr_void);

/*
 * Epochs of the run are due that have flushes from `first` on, which were sent before.
 * Goes back to where the shipments that they have a part of begin (rewind.h); then
 * c->rewound is not 0.
 */
int ship_cursor_rewind(struct ship_cursor *c, struct ch_store *store, sqlite3 *h,
		       uint64_t first);

/*
 * What was due of the flushes was sent again. Goes back again if epochs were changed
 * meanwhile, but only a few times in a row; else that has ended.
 */
int ship_cursor_end_rewind(struct ship_cursor *c, struct ch_store *store, sqlite3 *h,
			   uint64_t *nr_void);

#endif
