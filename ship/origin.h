/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * origin.h - cluster, machine type and release of epochs
 *
 * The cluster is what cpi-ship was told. So is the type of the machine; else it is the
 * CPU and the number of CPUs. The release of an epoch is, in this order:
 *	the newest mark "release NAME" of the machine before the epoch
 *	what cpi-ship was told
 *	the epoch's label
 * With a mark of another release in its middle an epoch is of neither: its release is
 * "OLD..NEW".
 */
#ifndef CPI_SHIP_ORIGIN_H
#define CPI_SHIP_ORIGIN_H

#include "db/clickhouse/store.h"
#include "ship/rows.h"

/* Sets the machine and the release of e, which owns them. 0, -ENOMEM, or SQLite's. */
int ship_origin_read(struct db *db, const struct ship_origin *told,
		     struct ship_epoch *e);

/* Inserts the rows of table origin, but of damaged epochs. */
int ship_origin_send(struct ch_store *s, const struct ship_origin *told,
		     const struct ship_epoch *e, size_t nr);

#endif
