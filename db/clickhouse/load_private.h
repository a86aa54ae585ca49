/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_private.h - what the files of load.h share
 */
#ifndef CPI_DB_STORE_LOAD_PRIVATE_H
#define CPI_DB_STORE_LOAD_PRIVATE_H

#include <sqlite3.h>

#include "db/clickhouse/daysums.h"
#include "db/clickhouse/load.h"
#include "db/clickhouse/store.h"
#include "db/clickhouse/storechoice.h"
#include "db/clickhouse/storetables.h"

/* An epoch of the store, and its id in the database. */
struct load_epoch {
	uint64_t host, at, nr;
	int64_t id;
	bool selected;
};

struct load {
	struct db *db;
	sqlite3 *h;
	struct ch_store *store;
	const char *spec;
	struct store_choice choice;
	struct load_epoch *epoch; /* by host, at and nr */
	size_t nr;
	enum load_what what;
	struct buf where;         /* of the selected epochs' addresses */
	struct daysums_lots days; /* of which sums are taken */
	struct buf images; /* a condition on column image: " AND …", or empty */
	sqlite3_stmt *insert;
	const struct storetable *table;
};

/* Binds cells of a row to ?first and on. */
void load_bind(sqlite3_stmt *st, int first, const char *types,
	       const struct rowbinary_cell *cells);

/* The epoch of an address; NULL if there is none. */
const struct load_epoch *load_find(const struct load *l,
				   const struct rowbinary_cell *address);

/*
 * If so many epochs are chosen that the store is to add up everything: makes epochs of
 * runs, and sets where, days and lots. *found is whether it did.
 */
int load_fleet(struct load *l, const struct load_machines *of, bool *found);

/* Asks for epochs by a statement that gives the columns of LOAD_EPOCH_COLUMNS. */
int load_epochs_by(struct load *l, struct buf *sql);
#define LOAD_EPOCH_TYPES "8888s884881sssss84"

/* Appends what l->spec asks for of times, for rows of table epoch; a day more. */
void load_put_times(const struct load *l, struct buf *sql);

/* Load table epoch; and rows of selected epochs; and names of what these refer to. */
int load_epochs(struct load *l);
int load_rows(struct load *l, const struct storetable *table);
int load_sums(struct load *l, const struct storetable *table);
int load_profiles(struct load *l);
int load_names(struct load *l);

#endif
