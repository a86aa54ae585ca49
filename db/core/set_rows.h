/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set_rows.h - tables whose rows hold a set as a blob: edge, stack, window_set and
 * access_set
 *
 * The tables differ in their key and in their blob; struct set_kind describes the
 * differences. Adding to a row, reading, moving, removing and checking rows is the same
 * for all.
 *
 * I1  A row, and its part of its stream's tally, change in the same transaction.
 */
#ifndef CPI_DB_SET_ROWS_H
#define CPI_DB_SET_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/core/slice.h"
#include "db/profile/flush.h"

/* A row's key. Members for which a table has no column are 0. */
struct set_key {
	int64_t epoch, image, target, stream, context, kind;
};

/* Describes a table. In its SQL, ?1 to ?6 are the key's members, in their order. */
struct set_kind {
	const char *name; /* for messages: "edges" */
	enum tally_kind tally;
	const char *find;   /* selects the blob of a row */
	const char *put;    /* writes a row: ?7 total, ?8 kept, ?9 the blob */
	const char *remove; /* deletes a row */
	/*
	 * Selects at most 64 rows of epoch ?1 whose keys are greater than the rest of
	 * the key, in ascending order: the key without epoch, and the row's part of the
	 * tally.
	 */
	const char *after;
	const char *all; /* selects all rows: key, total, kept, blob */

	/*
	 * Makes an empty set. added: the set that will be added to it, or NULL. Returns
	 * NULL if out of memory.
	 */
	void *(*new)(const struct set_key *key, const void *added);
	void (*free)(void *set); /* accepts NULL */
	/* Decodes a blob, and adds it to a set. */
	int (*decode)(sqlite3 *h, const struct set_key *key, const void *blob,
		      size_t size, void *set);
	/* Limits the size of a set that will be added to a row; NULL: no limit. */
	int (*bound)(sqlite3 *h, const struct set_key *key, void *set);
	/*
	 * Adds from to set; image i of from is map[i] in set. Only for kinds that
	 * number images.
	 */
	int (*merge)(void *set, void *from, const uint32_t *map, uint32_t nr_map);
	/*
	 * Encodes the part of a set that belongs to a row with this key; appends
	 * nothing for an empty set.
	 */
	int (*encode)(const struct set_key *key, void *set, struct buf *out);
	uint64_t (*total)(const struct set_key *key, void *set);
	uint64_t (*kept)(const void *set); /* NULL: the table has no such column */
	bool numbers_images; /* sets contain numbers of images (image_numbers.h) */
};

extern const struct set_kind profile_set; /* its sets are struct profile */
extern const struct set_kind edge_set;    /* ... struct edges */
extern const struct set_kind stack_set;   /* ... struct stack_tree */
extern const struct set_kind window_set;  /* ... struct windows */
extern const struct set_kind access_set;  /* ... struct accesses */

/*
 * All kinds except profiles, which a roll-up merges in groups
 * (db/retain/rollup_group.h).
 */
#define NR_SET_KINDS 4
extern const struct set_kind *const set_kinds[NR_SET_KINDS];

/*
 * Reads a row and adds it to set, with its epoch's numbers of images. A missing row
 * adds nothing. Returns 0; -CPI_ECORRUPT if the row does not decode (logged); -ENOMEM;
 * or SQLite's error.
 */
int set_rows_read(sqlite3 *h, const struct set_kind *kind, const struct set_key *key,
		  void *set);

/*
 * The same with a statement of kind->find that the caller has prepared, to read many
 * rows. Resets the statement.
 */
int set_rows_read_by(sqlite3_stmt *find, const struct set_kind *kind,
		     const struct set_key *key, void *set);

/*
 * The statements that read and write rows of a kind, for many rows. Begins as zeros;
 * the first set_adder_add() prepares them. All calls have the same kind.
 */
struct set_adder {
	sqlite3_stmt *find, *put;
};

/*
 * In a write transaction: adds set to a row, which may be new. Image i of the set is
 * map[i] in the epoch. set does not change, so a failed transaction can be tried again.
 * Returns as set_rows_read(), or -EOVERFLOW or -CPI_ELIMIT if the sum does not fit in a
 * row (logged).
 */
int set_adder_add(sqlite3 *h, struct set_adder *a, const struct set_kind *kind,
		  const struct set_key *key, void *set, const uint32_t *map,
		  uint32_t nr_map);
void set_adder_fini(struct set_adder *a);

/*
 * In a slice: moves rows of epoch last->epoch, and their part of the tally, to the
 * epoch target. Begins after the key *last, and sets it to the last row's key. A row
 * that does not decode, or does not fit in its new row, is logged and stays. Returns 1
 * if there may be more rows, 0 if done, or an error.
 */
int set_rows_move(struct slice *s, const struct set_kind *kind, int64_t target,
		  struct set_key *last);

/*
 * The prepared statements that remove rows of a kind. Call set_taker_fini() even if
 * set_taker_init() failed; it also accepts a zeroed struct.
 */
struct set_taker {
	const struct set_kind *kind;
	sqlite3_stmt *remove, *tally;
};

int set_taker_init(sqlite3 *h, const struct set_kind *kind, struct set_taker *t);
void set_taker_fini(struct set_taker *t);

/*
 * In a write transaction: removes a row, and `counted` samples from its tally. Returns
 * 0, -EAGAIN if the row does not exist any more, or another error.
 */
int set_taker_take(const struct set_taker *t, const struct set_key *key,
		   int64_t counted);

/*
 * In a slice: removes some rows of an epoch. Returns 1 if there may be more, 0 if done,
 * or an error.
 */
int set_rows_remove(struct slice *s, const struct set_kind *kind, int64_t epoch);

/* Decodes all rows. Returns 0, -CPI_ECORRUPT (logged), or another error. */
int set_rows_check(sqlite3 *h, const struct set_kind *kind);

/* Returns a key that is less than those of all rows of an epoch. */
struct set_key set_rows_before(int64_t epoch);

#endif
