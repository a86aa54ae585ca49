/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * origin.h - cluster, machine type and release of epochs
 *
 * The cluster is set in the configuration of cpi-ship. So is the type of the machine;
 * the default is the CPU model and the number of CPUs. The release of an epoch is the
 * newest mark "release NAME" of the machine before the epoch; if there is none, the
 * release in the configuration; else the epoch's label. If an epoch contains the mark
 * of another release, it belongs to neither: its release is "OLD..NEW".
 */
#ifndef CPI_SHIP_ORIGIN_H
#define CPI_SHIP_ORIGIN_H

#include "db/clickhouse/store.h"
#include "ship/rows.h"

/*
 * Sets the machine and the release of e, which owns them. Returns 0, -ENOMEM, or an
 * error of SQLite.
 */
int ship_origin_read(struct db *db, const struct ship_origin *told,
		     struct ship_epoch *e);

/* Inserts the rows of table origin, except those of damaged epochs. */
int ship_origin_send(struct ch_store *s, const struct ship_origin *told,
		     const struct ship_epoch *e, size_t nr);

#endif
