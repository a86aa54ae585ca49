/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address.h - addresses of shipments, so that each epoch counts once in the store
 *
 * ClickHouse has neither transactions nor unique keys. So on all versions the shipper
 * inserts its row and reads it back, to find out whether another shipper took the same
 * address; a later read sees every earlier insert.
 *
 * I1  An address (host, at, nr) is used for one attempt of one shipper. Each attempt
 *     writes a random number at its address. If the shipper finds a second number
 *     there, another shipper took the address as well, and it takes another one.
 * I2  The row in table epoch is inserted last; only with it the other rows of the
 *     shipment count. If an insert fails, or an answer is missing, the rows stay
 *     without it and are never read, and the epoch is shipped again at another address.
 * I3  If complete shipments of the run that come before a shipment (contained.h) have
 *     all its flushes, it becomes void. So an epoch that was rolled up after a part of
 *     it was shipped replaces that part; of two that are equal, and were read at the
 *     same time, the one with the lower address stays.
 * I4  The turn of a shipment is higher than that of all shipments of the host that the
 *     store had before the epoch was read from the database. So of two turns the higher
 *     one has what retention and labels made of the epochs later.
 */
#ifndef CPI_SHIP_ADDRESS_H
#define CPI_SHIP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "db/clickhouse/store.h"
#include "ship/rows.h"

/* Gets the number of a host; takes a new one if the host has none. */
int ship_host_number(struct ch_store *s, const char *name, uint32_t *number);

/* Takes an address for each epoch. */
int ship_take_addresses(struct ch_store *s, struct ship_epoch *e, size_t nr);

/*
 * Inserts the rows of table epoch, except those of damaged epochs. After that the
 * shipments are complete.
 */
int ship_commit(struct ch_store *s, const struct ship_epoch *e, size_t nr);

struct ship_run {
	const char *host; /* the host's name, because two hosts may have taken one
			     number at the same time */
	const char *boot_id;
	uint64_t run_from_ns;
};

/*
 * The shipments of a run that are complete and not void, and whose last flush is
 * `first` or later, sorted and marked (contained.h).
 */
struct shipments;
int ship_read_shipments(struct ch_store *s, const struct ship_run *run, uint64_t first,
			struct shipments *out);

/*
 * Makes those void that are contained, as I3 says. With `all`, those that overlap, too:
 * what they alone have gets rows of table dropped first. Adds their number to *nr_void.
 */
int ship_void(struct ch_store *s, const struct ship_run *run,
	      const struct shipments *list, bool all, uint64_t *nr_void);

/*
 * The last flush of a run that is in the store; 0 for none. Void shipments count: their
 * flushes are in another one, or the store's owner rejected them (storereject.h).
 */
int ship_last_flush(struct ch_store *s, const struct ship_run *run, uint64_t *last);

/*
 * Calls fn with each run of a host that the store has, its last flush and highest turn.
 * Ends if fn returns non-zero, and returns that.
 */
typedef int (*ship_last_fn)(void *ctx, const char *boot_id, uint64_t run_from_ns,
			    uint64_t last, uint64_t turn);
int ship_last_flushes(struct ch_store *s, const char *host, ship_last_fn fn, void *ctx);

/* Whether the store had an epoch of the host when the run began. */
int ship_had_host(struct ch_store *s, const struct ship_run *run, bool *had);

#endif
