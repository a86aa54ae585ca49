/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - helpers for reading rows: sets of ids, checks of columns, images
 */
#ifndef CPI_DB_ROWS_H
#define CPI_DB_ROWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "db/core/db.h"
#include "db/profile/selection.h"

/*
 * Writes the epochs' ids as a JSON array, so that one parameter is a set: "IN (SELECT
 * value FROM json_each(?1))". Returns 0 or -ENOMEM.
 */
int rows_epoch_ids(const struct query_epochs *e, struct buf *out);

/*
 * Appends the rows of a query to out; read() fills a row of size bytes. The caller uses
 * the rows after the query has ended, so that its work does not block writers. ?1 has
 * the epochs' ids; ?2 is event, unless event is NULL. Returns 0 or a negative error;
 * the caller frees out in both cases.
 */
#define ROWS_MAX_SIZE 128
typedef int (*rows_read_fn)(sqlite3_stmt *st, void *row); /* 0 or an error */
int rows_copy(struct db *db, const struct query_epochs *e, const char *event,
	      const char *sql, rows_read_fn read, size_t size, struct buf *out);

/*
 * Checks the types of a row's columns from first on. types has a letter for each:
 *	n	an integer that is not negative
 *	N	the same, or NULL
 *	i	any integer: offsets and file data are unsigned, and may look negative
 *	t	a text of at most ROWS_MAX_TEXT bytes
 *	b	bytes
 *	.	any value
 * Returns 0, or -CPI_ECORRUPT (logged with the column's name).
 */
#define ROWS_MAX_TEXT (64 << 10)
int rows_check_columns(sqlite3_stmt *st, int first, const char *types);

/* SQL for the sum of a column. -1, which 'n' refuses, if a value is negative or NULL.
 */
#define ROWS_SUM(c)    "iif(count(" c ") < count(*) OR min(" c ") < 0, -1, sum(" c "))"
#define ROWS_SUM_AS(c) ROWS_SUM(c) " AS " c

/* id, kind, name, build_id, content, device, inode, size, mtime_ns of image i. */
#define ROWS_IMAGE_COLUMNS                                                        \
	"i.id, i.kind, i.name, i.build_id, i.content, i.device, i.inode, i.size," \
	" i.mtime_ns"

/*
 * The order of images i and streams s. It does not depend on ids, which differ between
 * a database and its copy. Cycles and time come before other events.
 */
#define ROWS_IMAGE_ORDER                                                    \
	"i.name, i.kind, i.build_id, i.content, i.device, i.inode, i.size," \
	" i.mtime_ns, i.id"
#define ROWS_STREAM_ORDER                                                           \
	"s.unit = 'events', s.unit, s.event, s.source, s.cpu_type, s.mean_period, " \
	"s.landing"

/*
 * Reads an image from column first on; rows_image_fini() frees its name. 0, -ENOMEM or
 * -CPI_ECORRUPT (logged).
 */
int rows_image(sqlite3_stmt *st, int first, struct query_image *image);
void rows_image_fini(struct query_image *image);

/* Whether a selection includes images of this name. */
bool rows_image_matches(const struct query_selection *sel, const char *name);

/*
 * Checks that retention moves no rows into or out of epochs (a JSON array). Epochs that
 * are rolled up into one may be selected together. 0, -EAGAIN (logged), or an error.
 */
int rows_check_whole(sqlite3 *h, const char *epochs);

#endif
