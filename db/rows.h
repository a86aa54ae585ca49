/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - what the queries share: sets of ids, growing arrays, image columns
 */
#ifndef CPI_DB_ROWS_H
#define CPI_DB_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "db/query.h"

/*
 * Room for element nr of an array that grows one by one, or NULL (the array
 * stays as it is). Starts with NULL and 0.
 */
void *rows_grow(void *array, size_t nr, size_t size);

/*
 * Writes the epochs' ids as the JSON array that json_each() takes, for
 * "IN (SELECT value FROM json_each(?1))": a set in one parameter. 0 or -ENOMEM.
 */
int rows_epoch_ids(const struct query_epochs *e, struct buf *out);

/*
 * Appends the rows of a query to out, of size bytes each, as read fills them: a row is
 * looked at when the query is over, and whoever does may take his time. ?1 is the
 * epochs' ids, and ?2 event unless that is NULL. 0 or a negative error; out is the
 * caller's in any case.
 */
#define ROWS_MAX_SIZE 128
typedef void (*rows_read_fn)(sqlite3_stmt *st, void *row);
int rows_copy(struct db *db, const struct query_epochs *e, const char *event,
	      const char *sql, rows_read_fn read, size_t size, struct buf *out);

/* id, kind, name, build_id, content, device, inode, size, mtime_ns of image i. */
#define ROWS_IMAGE_COLUMNS                                                        \
	"i.id, i.kind, i.name, i.build_id, i.content, i.device, i.inode, i.size," \
	" i.mtime_ns"

/*
 * An order of images i and of streams s by what they are: ids differ between a
 * database and its copy. Cycles and time are before other events.
 */
#define ROWS_IMAGE_ORDER                                                    \
	"i.name, i.kind, i.build_id, i.content, i.device, i.inode, i.size," \
	" i.mtime_ns, i.id"
#define ROWS_STREAM_ORDER                                                           \
	"s.unit = 'events', s.unit, s.event, s.source, s.cpu_type, s.mean_period, " \
	"s.landing"

/* Reads them from column first on; image->desc.name is the caller's. 0 or -ENOMEM. */
int rows_image(sqlite3_stmt *st, int first, struct query_image *image);
void rows_image_fini(struct query_image *image);

/* Whether an image is selected, by its name. */
bool rows_image_matches(const struct query_selection *sel, const char *name);

/*
 * Epochs (a JSON array) of which retention takes rows away, or to which it adds some:
 * of these only all together are what they were. 0, -EAGAIN (logged), or an error.
 */
int rows_check_whole(sqlite3 *h, const char *epochs);

#endif
