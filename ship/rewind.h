/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rewind.h - how far to go back, so that no shipment counts with a part of another one
 *
 * A sum has epochs of several hours, or of a part of one. If one of them gets a label
 * after that, or the clock is set back, retention makes an epoch of some of the sum's
 * flushes and of newer ones: neither shipment contains the other, and what both have
 * would count twice. Then all that the sum had is sent again, from the epochs that the
 * machine now has; together they replace the sum (address.h, I3).
 */
#ifndef CPI_SHIP_REWIND_H
#define CPI_SHIP_REWIND_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "ship/contained.h"

/*
 * Of marked shipments that the store has, some may overlap, because a process died
 * between two batches, or epochs were changed between them. Lowers *next to where to
 * begin again. What the database has no longer does not count: it cannot be sent again.
 */
int ship_rewind_overlaps(sqlite3 *h, int64_t run, const struct shipments *list,
			 uint64_t *next);

/*
 * Epochs of a run with a flush after *next will be sent. Lowers *next so far that they
 * have all flushes of each shipment in the list that they have a flush of, as far as
 * the database has these.
 */
int ship_rewind(sqlite3 *h, int64_t run, const struct shipments *list, uint64_t *next);

/*
 * When all that begins after `next` was sent again: the last flush of the epochs that
 * have flushes up to `last`.
 */
int ship_rewind_until(sqlite3 *h, int64_t run, uint64_t next, uint64_t last,
		      uint64_t *until);

/*
 * All that was due after going back was sent, and flushes are left for which to go back
 * again, or none are (left). Whether to stop all the same, because that was so several
 * times in a row: an epoch of theirs cannot be sent. *nr starts as 0.
 */
bool ship_rewind_gives_up(unsigned int *nr, bool left);

#endif
