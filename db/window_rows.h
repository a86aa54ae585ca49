/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_rows.h - table window_set: rows that are added to, moved, removed and read
 */
#ifndef CPI_DB_WINDOW_ROWS_H
#define CPI_DB_WINDOW_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/slice.h"
#include "db/store.h"

/* A row's key. */
struct window_key {
	int64_t epoch, image, stream, context;
};

/* Adds what each stream stores; -EINVAL where a set or edges are of none. */
int window_rows_add_up(const struct flush_windows *f, uint64_t *stored);

/* Adds windows to an epoch; search finds images (intern.h). 0 or a negative error. */
int window_rows_merge(sqlite3 *h, int64_t epoch, const struct flush_windows *f,
		      sqlite3_stmt *search);

/*
 * Adds what a row has to set, with the numbers of images of its epoch. -CPI_ECORRUPT,
 * logged, when that does not decode. A row that is not there has nothing.
 */
int window_rows_read(sqlite3 *h, const struct window_key *key, struct windows *set);

/*
 * In a slice: moves what an epoch has of windows to another one, or removes it. 1:
 * there is more; 0: done, but, moving, for what does not decode.
 */
int window_rows_move(struct slice *s, int64_t epoch, int64_t target);
int window_rows_remove(struct slice *s, int64_t epoch);

/* Decodes all rows: 0, or -CPI_ECORRUPT (logged). */
int window_rows_check(sqlite3 *h);

#endif
