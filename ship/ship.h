/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ship.h - ships a machine's complete epochs to a store, each exactly once
 *
 * Epochs wait in the database. The shipper stores nothing itself: at its start it asks
 * the store up to which flush of each run the store has epochs. If retention rolled up
 * an epoch meanwhile, the merged epoch is shipped. Flushes that were removed before
 * they were shipped are listed in table dropped.
 */
#ifndef CPI_SHIP_SHIP_H
#define CPI_SHIP_SHIP_H

#include <stddef.h>
#include <stdint.h>

#include "db/clickhouse/store.h"
#include "ship/rows.h"

#define SHIP_MAX_BYTES (64u << 20) /* of a batch's rows; then no epoch is added */

struct ship_stats {
	uint64_t nr_epochs, nr_rows, nr_void;
	uint64_t nr_dropped; /* flushes */
};

struct shipper;

/* The store and the texts of told must outlive the shipper. NULL when out of memory. */
struct shipper *shipper_new(const char *db_path, const struct ship_origin *told,
			    const struct ship_how *how, struct ch_store *store);
void shipper_free(struct shipper *s); /* accepts NULL */

/*
 * Ships some of the complete epochs. *nr is their number, 0 if there are none. After an
 * error it is not known which were shipped; call it again. Errors are logged.
 */
int shipper_step(struct shipper *s, size_t *nr);

/* How long to wait when all is shipped, if no option says it. */
uint64_t shipper_every_ns(const struct shipper *s);

const struct ship_stats *shipper_stats(const struct shipper *s);

#endif
