/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_private.h - shared by the files that implement load.h
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
	uint64_t one_in; /* 0: it has all; else see store_8.sql */
	int64_t id;
	bool selected;
};

struct load {
	struct db *db;
	sqlite3 *h;
	struct ch_store *store;
	const char *spec;
	struct store_choice choice;
	struct load_epoch *epoch; /* sorted by host, at and nr */
	size_t nr;
	enum load_what what;
	struct buf where; /* a condition on the addresses of the selected epochs */
	struct daysums_lots days; /* days whose sums are used */
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
 * If more epochs are selected than can be loaded, lets the store add up everything:
 * makes one or two epochs for each run, and sets where, days and lots. *found says
 * whether it did so.
 */
int load_fleet(struct load *l, const struct load_machines *of, bool *found);

/* Reads epochs by a statement that selects the columns LOAD_EPOCH_COLUMNS. */
int load_epochs_by(struct load *l, struct buf *sql);
#define LOAD_EPOCH_TYPES "8888s884881sssss844"

/*
 * Appends a condition on column at for the times in l->spec. It begins a day before
 * them, because an epoch that began then may reach into them.
 */
void load_put_times(const struct load *l, struct buf *sql);

/*
 * These load table epoch, the rows of selected epochs, and the images, streams and
 * contexts that these refer to.
 */
int load_epochs(struct load *l);
int load_rows(struct load *l, const struct storetable *table);
int load_sums(struct load *l, const struct storetable *table);
int load_profiles(struct load *l);
int load_names(struct load *l);

#endif
