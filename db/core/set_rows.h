/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set_rows.h - tables whose rows hold a set as a blob: edge, stack and window_set
 *
 * The three differ in their key and in their blob; struct set_kind has these
 * differences. Adding to a row, reading, moving, removing and checking it is the same
 * for all.
 *
 * I1  A row and what it adds to its stream's tally change in the same transaction.
 */
#ifndef CPI_DB_SET_ROWS_H
#define CPI_DB_SET_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/core/slice.h"
#include "db/profile/flush.h"

/* A row's key. What a table has no column for is 0. */
struct set_key {
	int64_t epoch, image, target, stream, context, kind;
};

/* In SQL, ?1 to ?6 are the key's members, in their order. */
struct set_kind {
	const char *name; /* for messages: "edges" */
	enum tally_kind tally;
	const char *find;   /* the blob of a row */
	const char *put;    /* writes a row: ?7 total, ?8 kept, ?9 the blob */
	const char *remove; /* a row */
	/*
	 * The rows of epoch ?1 whose keys are greater than the rest of the key, at most
	 * 64, ascending: key without epoch, and what the tally has of the row.
	 */
	const char *after;
	const char *all; /* every row: key, total, kept, blob */

	/* A set to add to. added: what will be, or NULL. NULL when out of memory. */
	void *(*new)(const struct set_key *key, const void *added);
	void (*free)(void *set); /* accepts NULL */
	/* Adds a blob to a set. */
	int (*decode)(sqlite3 *h, const struct set_key *key, const void *blob,
		      size_t size, void *set);
	/* Keeps what will be added to a row within bounds; NULL: no bounds. */
	int (*bound)(sqlite3 *h, const struct set_key *key, void *set);
	/* Adds from, whose image i is map[i]; only for kinds that number images. */
	int (*merge)(void *set, void *from, const uint32_t *map, uint32_t nr_map);
	/* What a row of this key has of a set; nothing for an empty set. */
	int (*encode)(const struct set_key *key, void *set, struct buf *out);
	uint64_t (*total)(const struct set_key *key, void *set);
	uint64_t (*kept)(const void *set); /* NULL: there is no such column */
	bool numbers_images;               /* by image_numbers.h */
};

extern const struct set_kind profile_set; /* sets are struct profile */
extern const struct set_kind edge_set;    /* ... struct edges */
extern const struct set_kind stack_set;   /* ... struct stack_tree */
extern const struct set_kind window_set;  /* ... struct windows */

/* All but profiles, which a roll-up merges in groups (db/retain/rollup_group.h). */
#define NR_SET_KINDS 3
extern const struct set_kind *const set_kinds[NR_SET_KINDS];

/*
 * Adds a row to set, with the numbers of images of its epoch. A row that is not there
 * adds nothing. 0; -CPI_ECORRUPT, logged, when the row does not decode; -ENOMEM, or
 * what SQLite reports.
 */
int set_rows_read(sqlite3 *h, const struct set_kind *kind, const struct set_key *key,
		  void *set);

/*
 * The same for a caller that reads many rows and prepares kind->find once. The
 * statement is reset afterwards.
 */
int set_rows_read_by(sqlite3_stmt *find, const struct set_kind *kind,
		     const struct set_key *key, void *set);

/*
 * In a write transaction: adds set to a row, which may be new. Image i of the set is
 * map[i] in the epoch. The set stays the same, so a transaction that failed can be
 * tried again with it. Errors as of set_rows_read(); and -EOVERFLOW or -CPI_ELIMIT,
 * logged, when the sum does not fit a row.
 */
int set_rows_add(sqlite3 *h, const struct set_kind *kind, const struct set_key *key,
		 void *set, const uint32_t *map, uint32_t nr_map);

/*
 * In a slice: moves rows of epoch last->epoch to another epoch, with what they add to
 * the tally, beginning behind *last, which becomes the key of the last row. A row that
 * does not decode, or does not fit the row it is added to, is logged and stays. 1:
 * there may be more; 0: done.
 */
int set_rows_move(struct slice *s, const struct set_kind *kind, int64_t target,
		  struct set_key *last);

/*
 * The statements that remove rows of a kind. End it even if its start failed, or if it
 * is all zero.
 */
struct set_taker {
	const struct set_kind *kind;
	sqlite3_stmt *remove, *tally;
};

int set_taker_init(sqlite3 *h, const struct set_kind *kind, struct set_taker *t);
void set_taker_fini(struct set_taker *t);

/*
 * In a write transaction: removes a row, and counted samples from its tally. -EAGAIN:
 * the row is not there any more.
 */
int set_taker_take(const struct set_taker *t, const struct set_key *key,
		   int64_t counted);

/* In a slice: removes some rows of an epoch. 1: there may be more; 0: done. */
int set_rows_remove(struct slice *s, const struct set_kind *kind, int64_t epoch);

/* Decodes all rows: 0, -CPI_ECORRUPT (logged), or another error. */
int set_rows_check(sqlite3 *h, const struct set_kind *kind);

/* The key before all rows of an epoch. */
struct set_key set_rows_before(int64_t epoch);

#endif
