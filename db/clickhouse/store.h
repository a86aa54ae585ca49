/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - statements to a ClickHouse server, by HTTP
 *
 * There is one statement at a time. A server's answer is untrusted: its size and time
 * are bounded, redirections are not followed, and control characters in texts are
 * escaped before they are shown.
 */
#ifndef CPI_DB_CLICKHOUSE_STORE_H
#define CPI_DB_CLICKHOUSE_STORE_H

#include <stdint.h>

#include "base/buf.h"
#include "db/clickhouse/rowbinary.h"

struct ch_store;

/* What to do while an answer is awaited. */
struct ch_store_wait {
	int end_fd; /* when it becomes readable, statements are aborted; -1: none */
	void (*fn)(void *ctx); /* called about once a second, for a watchdog; or NULL */
	void *ctx;
};

/*
 * Connects to the store that url names (storeurl.h) and asks its version. Errors are
 * logged: -EINVAL, -ECONNREFUSED (no server answers), -EACCES (user or password),
 * -EPROTO (it answers something else), -ENOMEM, or what the password file gives. A
 * statement that is aborted because of wait returns -EINTR; with NULL none is. Several
 * hosts are tried in order until one can be reached.
 */
int ch_store_open(const char *url, const struct ch_store_wait *wait,
		  struct ch_store **out);
void ch_store_close(struct ch_store *s); /* accepts NULL */

const char *ch_store_database(const struct ch_store *s);
unsigned int ch_store_version(const struct ch_store *s); /* 18016, 26007, … */
uint64_t ch_store_sent(const struct ch_store *s); /* bytes, since it was opened */
/* Bytes sent and received, with HTTP's headers but without those of TCP and TLS. */
uint64_t ch_store_carried(const struct ch_store *s);

/*
 * The cluster that has the store's tables (storecluster.h). Without a name there is
 * none: ch_store_cluster() then returns NULL.
 */
struct ch_cluster {
	char name[64];
	uint64_t servers;  /* with a copy of each small table */
	uint64_t replicas; /* with the same rows of a divided table */
	uint64_t shards;   /* that rows are divided among */
};

void ch_store_set_cluster(struct ch_store *s, const struct ch_cluster *c);
const struct ch_cluster *ch_store_cluster(const struct ch_store *s);

/* The servers of the URL: statements go to one, and to the next if it is unreachable.
 */
int ch_store_nr_hosts(const struct ch_store *s);
int ch_store_host(const struct ch_store *s);
void ch_store_use_host(struct ch_store *s, int host);

/* Limits how many bytes are sent per second; 0: no limit. */
void ch_store_limit(struct ch_store *s, uint64_t bytes_per_s);

/*
 * Run a statement that returns no rows. ch_store_admin() uses no database, because the
 * database may not exist yet. Errors, logged:
 *	-ECONNREFUSED	no server got the statement
 *	-EACCES		the server knows no such user, or not this password
 *	-EIO		the answer is missing or says that it failed: it may have run
 *			or not
 */
int ch_store_exec(struct ch_store *s, const char *sql);
int ch_store_admin(struct ch_store *s, const char *sql);

/*
 * Runs an INSERT of rows that it selects. It is never repeated, because the server may
 * select the same rows in another order, and would then not know those that are there.
 * As ch_store_exec_buf(); also -EAGAIN, not logged: servers of a cluster could not take
 * all of the rows at that moment, and some of them may be there.
 */
int ch_store_insert_selected(struct ch_store *s, struct buf *sql);

/* Waits, as far as the caller of ch_store_open() lets it: 0, or -EINTR. */
int ch_store_pause(struct ch_store *s, int ms);

/*
 * Calls fn for each row that sql returns. sql ends with "FORMAT RowBinary", and its
 * columns have the given types. An answer of more than max_bytes is -CPI_ELIMIT.
 */
int ch_store_query(struct ch_store *s, const char *sql, const char *types,
		   uint64_t max_bytes, rowbinary_fn fn, void *ctx);

/*
 * The same for a statement in a buffer, which the caller still owns. If the buffer has
 * an error, returns it.
 */
int ch_store_exec_buf(struct ch_store *s, struct buf *sql);
int ch_store_query_buf(struct ch_store *s, struct buf *sql, const char *types,
		       uint64_t max_bytes, rowbinary_fn fn, void *ctx);

/* The same without a database, because it may not exist yet. */
int ch_store_admin_query(struct ch_store *s, const char *sql, const char *types,
			 uint64_t max_bytes, rowbinary_fn fn, void *ctx);

/*
 * Inserts rows. columns is "table (a, b)"; types must be exactly those of the table. If
 * there are no rows, nothing is sent.
 */
int ch_store_insert(struct ch_store *s, const char *columns, const char *types,
		    const struct buf *rows);

/* Appends text as a string literal of SQL. */
void ch_put_literal(struct buf *sql, const char *text);

#endif
