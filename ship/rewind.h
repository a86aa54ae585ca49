/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rewind.h - how far to go back, so that no flush counts in two shipments
 *
 * A sum has epochs of several hours, or of a part of one. If one of them gets a label
 * after the sum was sent, or the clock is set back, retention makes an epoch of some of
 * the sum's flushes and of newer ones. Then neither shipment contains the other, and
 * the flushes that are in both would count twice. So all flushes of the sum are sent
 * again, with the epochs that the machine now has; together these replace the sum
 * (address.h, I3).
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
 * begin again. Flushes that the database no longer has do not count: they cannot be
 * sent again.
 */
int ship_rewind_overlaps(sqlite3 *h, int64_t run, const struct shipments *list,
			 uint64_t *next);

/*
 * The epochs of a run that have a flush after *next will be sent. Lowers *next until
 * each shipment in the list that shares a flush with these epochs has all its flushes
 * in them, except for flushes that the database no longer has.
 */
int ship_rewind(sqlite3 *h, int64_t run, const struct shipments *list, uint64_t *next);

/*
 * Sets *until to the flush with which going back ends: the last flush of the epochs
 * that have a flush after `next` and not after `last`.
 */
int ship_rewind_until(sqlite3 *h, int64_t run, uint64_t next, uint64_t last,
		      uint64_t *until);

/*
 * Call it after going back, when all due epochs were sent. `left`: some flushes still
 * need another going back. Returns true if this was so several times in a row: then an
 * epoch of these flushes cannot be sent, and going back must end. *nr, which starts as
 * 0, counts the times.
 */
bool ship_rewind_gives_up(unsigned int *nr, bool left);

#endif
