/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql.h - short forms of the SQLite calls that db/ makes
 *
 * Each logs a failure with the database's path, and returns a negative error.
 */
#ifndef CPI_DB_SQL_H
#define CPI_DB_SQL_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How long a writer waits for another writer; the daemon uses the short time. */
#define SQL_BUSY_TIMEOUT_MS   2000
#define SQL_SHORT_PATIENCE_MS 60

/*
 * Converts SQLite's result code to a negative error: -ENOSPC, -EIO, -EBUSY, -EACCES,
 * -ENOMEM, -CPI_EFORMAT (no database), -CPI_ELIMIT (too big), else -CPI_ECORRUPT.
 */
int sql_error(int rc);

/*
 * Sets the approximate time for which h waits for another writer. It tries every
 * millisecond, because SQLite's own handler sleeps for up to 100 ms, and would miss the
 * pauses between retention's slices.
 */
void sql_set_patience(sqlite3 *h, int ms);

/*
 * Moves the WAL into the database and empties it, as far as possible without waiting
 * for readers; the next checkpoint does the rest. Then sets h's patience to
 * patience_ms.
 */
void sql_checkpoint(sqlite3 *h, int patience_ms);

/*
 * Begins a write transaction. Returns -EBUSY (not logged) if another one lasted too
 * long.
 */
int sql_begin(sqlite3 *h);

/*
 * Appends "file:PATH?PARAMETERS", SQLite's URI of a file, whose name may hold any byte.
 * Returns 0 or -ENOMEM.
 */
int sql_put_uri(struct buf *out, const char *path, const char *parameters);

/* Runs statements without results. */
int sql_exec(sqlite3 *h, const char *sql);

/*
 * Prepares a statement. The caller passes *out to sqlite3_finalize(), which accepts
 * NULL.
 */
int sql_prepare(sqlite3 *h, const char *sql, sqlite3_stmt **out);

/*
 * Binds ?1, ?2, … by type; the statement must be reset:
 *	i	a 64-bit integer, signed or not
 *	r	a double
 *	s	const char *; NULL is NULL
 *	b	const void *, size_t: bytes; NULL with size 0 is x''
 * Text and bytes must stay valid until the statement is reset.
 */
int sql_bind(sqlite3_stmt *st, const char *types, ...);

/*
 * Returns 1 if there is a row. Returns 0 at the end, or an error; both reset the
 * statement.
 */
int sql_step(sqlite3_stmt *st);

/* Runs a bound statement that returns no rows. */
int sql_run(sqlite3_stmt *st);

/*
 * Fetches the integer result of a bound query, and resets the query. Returns 0, or
 * -ENOENT (not logged) if there is no row or its value is NULL.
 */
int sql_fetch(sqlite3_stmt *st, int64_t *out);

/* Prepares, binds, runs and finalizes a statement. */
int sql_do(sqlite3 *h, const char *sql, const char *types, ...);

/* Prepares, binds, fetches and finalizes. */
int sql_get(sqlite3 *h, int64_t *out, const char *sql, const char *types, ...);

/*
 * Prepares and binds, calls fn for each row until it returns an error, and finalizes.
 * Returns 0 or the error.
 */
typedef int (*sql_row_fn)(sqlite3_stmt *st, void *ctx);
int sql_each(sqlite3 *h, sql_row_fn fn, void *ctx, const char *sql, const char *types,
	     ...);

/*
 * Return a column's value in a database that may be damaged. They never return NULL;
 * missing bytes have size 0.
 */
const char *sql_text(sqlite3_stmt *st, int column);
const void *sql_blob(sqlite3_stmt *st, int column, size_t *size);

/*
 * Until sql_end_read(), all that is read is one moment's content: that of the first
 * query. Such intervals may contain each other; the outermost one decides. The WAL
 * cannot be emptied meanwhile. sql_begin_read() returns 0 or an error (logged).
 */
int sql_begin_read(sqlite3 *h);
void sql_end_read(sqlite3 *h);

/*
 * Rolls back an open transaction, if there is one; a failed COMMIT may have done this
 * already.
 */
void sql_rollback(sqlite3 *h);

/* Commits if err is 0, else rolls back. Returns err, or the error of the commit. */
int sql_finish(sqlite3 *h, int err);

#endif
