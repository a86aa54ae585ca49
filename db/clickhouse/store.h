/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - statements to a ClickHouse server, by HTTP
 *
 * One statement at a time. What a server answers is untrusted: sizes and times are
 * bounded, redirections are not followed, and texts are made harmless before they are
 * shown.
 */
#ifndef CPI_DB_CLICKHOUSE_STORE_H
#define CPI_DB_CLICKHOUSE_STORE_H

#include <stdint.h>

#include "base/buf.h"
#include "db/clickhouse/rowbinary.h"

struct ch_store;

/* While an answer is awaited. */
struct ch_store_wait {
	int end_fd; /* when it can be read, statements are given up; -1: none */
	void (*fn)(void *ctx); /* called about once a second, for a watchdog; or NULL */
	void *ctx;
};

/*
 * Connects to the store that url names (storeurl.h) and asks its version. Errors are
 * logged: -EINVAL, -ECONNREFUSED (no server answers), -EACCES (user or password),
 * -EPROTO (it answers something else), -ENOMEM, or what the password file gives.
 * Statements that wait gives up are -EINTR; NULL: none are. Of several hosts one after
 * the other is tried until one can be reached.
 */
int ch_store_open(const char *url, const struct ch_store_wait *wait,
		  struct ch_store **out);
void ch_store_close(struct ch_store *s); /* accepts NULL */

const char *ch_store_database(const struct ch_store *s);
unsigned int ch_store_version(const struct ch_store *s); /* 18016, 26007, … */
uint64_t ch_store_sent(const struct ch_store *s); /* bytes, since it was opened */

/* At most so many bytes a second are sent; 0: any. */
void ch_store_limit(struct ch_store *s, uint64_t bytes_per_s);

/*
 * Run a statement without rows. ch_store_admin() names no database, for one may have to
 * be made. Errors, logged:
 *	-ECONNREFUSED	no server got the statement
 *	-EACCES		the server knows no such user, or not this password
 *	-EIO		the answer is missing or says that it failed: it may have run
 *			or not
 */
int ch_store_exec(struct ch_store *s, const char *sql);
int ch_store_admin(struct ch_store *s, const char *sql);

/*
 * Calls fn for each row that sql gives; it ends with "FORMAT RowBinary", and its
 * columns are of these types. More than max_bytes of answer are -CPI_ELIMIT.
 */
int ch_store_query(struct ch_store *s, const char *sql, const char *types,
		   uint64_t max_bytes, rowbinary_fn fn, void *ctx);

/* The same of a statement that is in a buffer, which stays the caller's; or its error.
 */
int ch_store_exec_buf(struct ch_store *s, struct buf *sql);
int ch_store_query_buf(struct ch_store *s, struct buf *sql, const char *types,
		       uint64_t max_bytes, rowbinary_fn fn, void *ctx);

/* The same without naming a database, for one may have to be made. */
int ch_store_admin_query(struct ch_store *s, const char *sql, const char *types,
			 uint64_t max_bytes, rowbinary_fn fn, void *ctx);

/*
 * Inserts rows; columns is "table (a, b)", and their types are exactly those of the
 * table. Nothing is sent for no rows.
 */
int ch_store_insert(struct ch_store *s, const char *columns, const char *types,
		    const struct buf *rows);

/* A string literal of SQL. */
void ch_put_literal(struct buf *sql, const char *text);

#endif
