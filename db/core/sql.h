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

/* How long a writer waits for another one; the short time is for the daemon. */
#define SQL_BUSY_TIMEOUT_MS   2000
#define SQL_SHORT_PATIENCE_MS 60

/*
 * SQLite's result as a negative error: -ENOSPC, -EIO, -EBUSY, -EACCES,
 * -ENOMEM, -CPI_EFORMAT (no database), -CPI_ELIMIT (too big), else -CPI_ECORRUPT.
 */
int sql_error(int rc);

/*
 * Sets about how long h waits for another writer. It tries each millisecond. SQLite's
 * own handler sleeps up to 100 ms, and would miss the pauses that retention leaves.
 */
void sql_set_patience(sqlite3 *h, int ms);

/*
 * Moves the WAL into the database and empties it, as far as possible without waiting
 * for readers. The next checkpoint does the rest. Then sets h's patience to
 * patience_ms.
 */
void sql_checkpoint(sqlite3 *h, int patience_ms);

/* Begins a write transaction. -EBUSY, not logged: another one lasted too long. */
int sql_begin(sqlite3 *h);

/* Runs statements without results. */
int sql_exec(sqlite3 *h, const char *sql);

/* *out is the caller's to sqlite3_finalize(), which accepts NULL. */
int sql_prepare(sqlite3 *h, const char *sql, sqlite3_stmt **out);

/*
 * Binds ?1, ?2, … by type, after a sqlite3_reset():
 *	i	a 64-bit integer, signed or not
 *	r	a double
 *	s	const char *; NULL is NULL
 *	b	const void *, size_t: bytes, where NULL with 0 is x''
 * Text and bytes must stay until the statement is reset.
 */
int sql_bind(sqlite3_stmt *st, const char *types, ...);

/* 1: there is a row; 0: done, and reset. An error resets too. */
int sql_step(sqlite3_stmt *st);

/* Runs a bound statement that gives no row. */
int sql_run(sqlite3_stmt *st);

/*
 * Fetches the integer that a bound query gives, and resets the query. 0, or -ENOENT
 * (not logged) if there is no row, or NULL in it.
 */
int sql_fetch(sqlite3_stmt *st, int64_t *out);

/* prepare, bind, run, finalize. */
int sql_do(sqlite3 *h, const char *sql, const char *types, ...);

/* prepare, bind, fetch, finalize. */
int sql_get(sqlite3 *h, int64_t *out, const char *sql, const char *types, ...);

/*
 * prepare, bind, fn for each row until it returns an error, finalize. 0 or the error.
 */
typedef int (*sql_row_fn)(sqlite3_stmt *st, void *ctx);
int sql_each(sqlite3 *h, sql_row_fn fn, void *ctx, const char *sql, const char *types,
	     ...);

/*
 * Columns of a database that may be damaged. Text is never NULL; neither are bytes, of
 * which size is 0 then.
 */
const char *sql_text(sqlite3_stmt *st, int column);
const void *sql_blob(sqlite3_stmt *st, int column, size_t *size);

/* Rolls back what is open; a failed COMMIT may have done so already. */
void sql_rollback(sqlite3 *h);

/* Commits if err is 0, else rolls back. Returns err, or the error of the commit. */
int sql_finish(sqlite3 *h, int err);

#endif
