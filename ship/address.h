/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address.h - addresses of shipments, so that each epoch counts once in the store
 *
 * ClickHouse has neither transactions nor unique keys. So the shipper inserts its row
 * and reads it back, to find out whether another shipper took the same address. This
 * works with all versions, because a read sees every insert that came before it.
 *
 * I1  An address (host, at, nr) is used for one attempt of one shipper. Each attempt
 *     writes a random number at its address. If the shipper finds a second number
 *     there, another shipper took the address as well. Then both take other addresses.
 * I2  The row in table epoch is inserted last; the other rows of the shipment count
 *     only once it is there. If an insert fails, or an answer is missing, they stay
 *     without that row and are never read. The epoch is shipped again, at another
 *     address.
 * I3  A shipment becomes void if complete shipments of the run that come before it in
 *     the order of contained.h, in which those that were read later come first, have
 *     all its flushes. So an epoch that was rolled up after a part
 *     of it was shipped replaces that part. Of two equal shipments that were read at
 *     the same time, the one with the lower address stays.
 * I4  The turn of a shipment is higher than that of all shipments of the host that the
 *     store had before the epoch was read from the database. So of two shipments, the
 *     one with the higher turn has the later state of the epochs: what retention and
 *     labels have made of them.
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
 * Voids the shipments that are contained, as I3 says. With `all`, also voids those that
 * overlap; the flushes that only one of these has are first listed in table dropped.
 * Adds the number of shipments that became void to *nr_void.
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
