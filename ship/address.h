/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address.h - addresses of shipments, so that each epoch counts once in the store
 *
 * The same way on every version of ClickHouse, which has neither transactions nor
 * unique keys: rows are inserted and read back, and a later read sees every earlier
 * insert.
 *
 * I1  An address (host, at, nr) is used for one attempt of one shipper. Who reads back
 *     another one's lot at its address takes another address.
 * I2  Rows count once the epoch's row is there, which is inserted last. A failure of
 * any insert, or an answer that is missing, leaves rows that nobody reads, and the
 * epoch is shipped again at another address. I3  Of complete shipments of a run, one
 * whose flushes another one also has becomes void. So an epoch that was rolled up after
 * a part of it was shipped replaces that part, and of two equal ones the lower address
 * stays.
 */
#ifndef CPI_SHIP_ADDRESS_H
#define CPI_SHIP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

#include "db/clickhouse/store.h"
#include "ship/rows.h"

/* The number of a host's name; one is taken if it has none. */
int ship_host_number(struct ch_store *s, const char *name, uint32_t *number);

/* Takes an address for each epoch. */
int ship_take_addresses(struct ch_store *s, struct ship_epoch *e, size_t nr);

/* Inserts the rows of table epoch, but of damaged ones: the shipments are complete. */
int ship_commit(struct ch_store *s, const struct ship_epoch *e, size_t nr);

/*
 * Makes void what I3 says, of one run of a host, among what reaches flush first. Adds
 * the number of shipments that became void to *nr_void.
 */
struct ship_run {
	const char *host; /* its name: two may have taken a number at once */
	const char *boot_id;
	uint64_t run_from_ns;
};

int ship_void_contained(struct ch_store *s, const struct ship_run *run, uint64_t first,
			uint64_t *nr_void);

/* The last flush of a run that is in the store; 0 for none. */
int ship_last_flush(struct ch_store *s, const struct ship_run *run, uint64_t *last);

/* Whether the store had an epoch of the host when the run began. */
int ship_had_host(struct ch_store *s, const struct ship_run *run, bool *had);

#endif
