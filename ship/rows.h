/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - the rows of an epoch, as a store takes them
 */
#ifndef CPI_SHIP_ROWS_H
#define CPI_SHIP_ROWS_H

#include <stdbool.h>

#include "base/buf.h"
#include "db/core/db.h"
#include "db/profile/model.h"

#define SHIP_MAX_TABLES 16

/* Where an epoch's rows are in the store. */
struct ship_address {
	uint32_t host, at; /* at: seconds since 1970 */
	uint16_t nr;
};

/* What tells this machine's epochs from others: NULL or "" where it was not said. */
struct ship_origin {
	const char *cluster, *machine, *release;
	const char *host; /* the machine's name, instead of that in the database */
};

/* An epoch that is complete, as the database has it. */
struct ship_epoch {
	int64_t id, run;
	struct ship_address address;
	char *label;
	char *machine, *release; /* its origin; the cluster is the machine's */
	uint64_t from_ns, to_ns, uncertainty_ms;
	uint64_t run_from_ns, run_to_ns, run_state;
	struct platform_desc platform; /* its texts belong to the epoch */
	uint64_t first_flush, last_flush;
	uint64_t received, stored, lost; /* of the epoch's flushes */
	uint64_t nr_rows;                /* of profiles */
	bool damaged;                    /* it cannot be shipped */
};

void ship_epoch_fini(struct ship_epoch *e);

/* Rows of several epochs, by table, in the order of storetables_epoch. */
struct ship_rows {
	struct buf profile, thin; /* thin: of table thin_profile */
	struct buf table[SHIP_MAX_TABLES];
};

size_t ship_rows_bytes(const struct ship_rows *r);
void ship_rows_fini(struct ship_rows *r);

/*
 * Appends the rows of e behind its address, and counts those of profiles. The caller
 * has begun a transaction. -EAGAIN if the epoch changed since it was found: then try
 * again later. -CPI_ECORRUPT, logged, for a profile that is damaged.
 */
int ship_rows_read(struct db *db, struct ship_epoch *e, struct ship_rows *out);

/* Appends what the current row of a statement has, by types (rowbinary.h). */
struct sqlite3_stmt;
void ship_rows_put(struct sqlite3_stmt *st, const char *types, struct buf *out);

#endif
