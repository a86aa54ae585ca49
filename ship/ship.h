/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ship.h - ships a machine's complete epochs to a store, each exactly once
 *
 * The database is the spool: the shipper keeps nothing, and asks the store at its start
 * up to which flush of each run it has the epochs. An epoch that retention rolled up
 * meanwhile is shipped as what it is now. Flushes that are gone before they were
 * shipped are counted in table dropped.
 */
#ifndef CPI_SHIP_SHIP_H
#define CPI_SHIP_SHIP_H

#include <stddef.h>
#include <stdint.h>

#include "db/clickhouse/store.h"
#include "ship/rows.h"

/* An insert has the rows of at most so many epochs, and of one beyond so many bytes. */
#define SHIP_MAX_EPOCHS 512
#define SHIP_MAX_BYTES  (64u << 20)

struct ship_stats {
	uint64_t nr_epochs, nr_rows, nr_void;
	uint64_t nr_dropped; /* flushes */
};

struct shipper;

/* The store and the texts of told must outlive it. NULL when out of memory. */
struct shipper *shipper_new(const char *db_path, const struct ship_origin *told,
			    struct ch_store *store);
void shipper_free(struct shipper *s); /* accepts NULL */

/*
 * Ships some of the epochs that are due. *nr is their number, 0 if there are none.
 * After an error nothing is known to be shipped; it can be called again. Errors are
 * logged.
 */
int shipper_step(struct shipper *s, size_t *nr);

const struct ship_stats *shipper_stats(const struct shipper *s);

#endif
