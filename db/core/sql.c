/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sql.c - short forms of SQLite's calls, with one place that logs failures
 */
#include "config.h"

#include "db/core/sql.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"

int sql_error(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_OK:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_IOERR:
		return rc == SQLITE_IOERR_NOMEM ? -ENOMEM : -EIO;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL: /* lost the race for the WAL's locks for seconds */
		return -EBUSY;
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_INTERRUPT:
		return -EINTR;
	case SQLITE_NOTADB:
		return -CPI_EFORMAT;
	case SQLITE_TOOBIG:
		return -CPI_ELIMIT;
	}
	/* Our statements are correct, so any other error means a damaged schema. */
	return -CPI_ECORRUPT;
}

static int wait_a_little(void *limit_ms, int nr_tries)
{
	if (nr_tries >= (int)(intptr_t)limit_ms)
		return 0;
	sqlite3_sleep(1);
	return 1;
}

void sql_set_patience(sqlite3 *h, int ms)
{
	sqlite3_busy_handler(h, wait_a_little, (void *)(intptr_t)ms);
}

void sql_checkpoint(sqlite3 *h, int patience_ms)
{
	int rc;

	sql_set_patience(h, 0);
	rc = sqlite3_wal_checkpoint_v2(h, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if (rc && (rc & 0xff) != SQLITE_BUSY && (rc & 0xff) != SQLITE_LOCKED)
		log_warn("db: %s: checkpoint: %s", sqlite3_db_filename(h, "main"),
			 sqlite3_errmsg(h));
	sql_set_patience(h, patience_ms);
}

/* Logs h's last error, and returns rc as a negative error. */
static int fail(sqlite3 *h, int rc)
{
	const char *path = sqlite3_db_filename(h, "main");

	log_err("db: %s: %s", path && *path ? path : "(not open)", sqlite3_errmsg(h));
	return sql_error(rc);
}

int sql_put_uri(struct buf *out, const char *path, const char *parameters)
{
	buf_puts(out, "file:");
	for (const char *p = path; *p; p++) {
		if (isalnum((unsigned char)*p) || strchr("/._-", *p))
			buf_putc(out, *p);
		else
			buf_printf(out, "%%%02X", (unsigned char)*p);
	}
	buf_printf(out, "?%s", parameters);
	buf_str(out);
	return out->err;
}

int sql_exec(sqlite3 *h, const char *sql)
{
	int rc = sqlite3_exec(h, sql, NULL, NULL, NULL);

	return rc ? fail(h, rc) : 0;
}

int sql_begin(sqlite3 *h)
{
	int rc = sqlite3_exec(h, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	int err = sql_error(rc);

	return rc && err != -EBUSY ? fail(h, rc) : err;
}

int sql_prepare(sqlite3 *h, const char *sql, sqlite3_stmt **out)
{
	int rc = sqlite3_prepare_v2(h, sql, -1, out, NULL);

	return rc ? fail(h, rc) : 0;
}

static int bind_list(sqlite3_stmt *st, const char *types, va_list ap)
{
	int rc = SQLITE_OK;

	for (int i = 1; !rc && types[i - 1]; i++) {
		const void *data;

		switch (types[i - 1]) {
		case 'i':
			rc = sqlite3_bind_int64(st, i, va_arg(ap, int64_t));
			break;
		case 'r':
			rc = sqlite3_bind_double(st, i, va_arg(ap, double));
			break;
		case 's':
			rc = sqlite3_bind_text(st, i, va_arg(ap, const char *), -1,
					       SQLITE_STATIC);
			break;
		case 'b':
			data = va_arg(ap, const void *);
			rc = sqlite3_bind_blob64(st, i, data ? data : "",
						 va_arg(ap, size_t), SQLITE_STATIC);
			break;
		}
	}
	return rc ? fail(sqlite3_db_handle(st), rc) : 0;
}

int sql_bind(sqlite3_stmt *st, const char *types, ...)
{
	va_list ap;
	int err;

	va_start(ap, types);
	err = bind_list(st, types, ap);
	va_end(ap);
	return err;
}

int sql_step(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	rc = rc == SQLITE_DONE ? 0 : fail(sqlite3_db_handle(st), rc);
	sqlite3_reset(st);
	return rc;
}

int sql_run(sqlite3_stmt *st)
{
	int rc = sql_step(st);

	if (rc == 1)
		sqlite3_reset(st);
	return rc < 0 ? rc : 0;
}

int sql_fetch(sqlite3_stmt *st, int64_t *out)
{
	int err = sql_step(st);

	if (err == 1 && sqlite3_column_type(st, 0) != SQLITE_NULL) {
		*out = sqlite3_column_int64(st, 0);
		err = 0;
	} else if (err >= 0) {
		err = -ENOENT;
	}
	sqlite3_reset(st);
	return err;
}

static int prepare_bound(sqlite3 *h, const char *sql, const char *types, va_list ap,
			 sqlite3_stmt **out)
{
	int err = sql_prepare(h, sql, out);

	return err ? err : bind_list(*out, types, ap);
}

int sql_do(sqlite3 *h, const char *sql, const char *types, ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;
	int err;

	va_start(ap, types);
	err = prepare_bound(h, sql, types, ap, &st);
	va_end(ap);
	if (!err)
		err = sql_run(st);
	sqlite3_finalize(st);
	return err;
}

int sql_get(sqlite3 *h, int64_t *out, const char *sql, const char *types, ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;
	int err;

	va_start(ap, types);
	err = prepare_bound(h, sql, types, ap, &st);
	va_end(ap);
	if (!err)
		err = sql_fetch(st, out);
	sqlite3_finalize(st);
	return err;
}

int sql_each(sqlite3 *h, sql_row_fn fn, void *ctx, const char *sql, const char *types,
	     ...)
{
	sqlite3_stmt *st = NULL;
	va_list ap;
	int err;

	va_start(ap, types);
	err = prepare_bound(h, sql, types, ap, &st);
	va_end(ap);
	while (!err && (err = sql_step(st)) == 1)
		err = fn(st, ctx);
	sqlite3_finalize(st);
	return err;
}

const char *sql_text(sqlite3_stmt *st, int column)
{
	const unsigned char *text = sqlite3_column_text(st, column);

	return text ? (const char *)text : "";
}

const void *sql_blob(sqlite3_stmt *st, int column, size_t *size)
{
	const void *data = sqlite3_column_blob(st, column);

	*size = data ? sqlite3_column_bytes(st, column) : 0;
	return data ? data : "";
}

int sql_begin_read(sqlite3 *h)
{
	return sql_exec(h, "SAVEPOINT reading");
}

void sql_end_read(sqlite3 *h)
{
	sqlite3_exec(h, "RELEASE reading", NULL, NULL, NULL);
}

void sql_rollback(sqlite3 *h)
{
	if (!sqlite3_get_autocommit(h))
		sqlite3_exec(h, "ROLLBACK", NULL, NULL, NULL);
}

int sql_finish(sqlite3 *h, int err)
{
	if (!err)
		err = sql_exec(h, "COMMIT");
	if (err)
		sql_rollback(h);
	return err;
}
