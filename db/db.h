/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db.h - the database file: open, version, migrate, claim
 *
 * One SQLite file in WAL mode; schema.sql and cpi-db(5) describe its tables.
 * Readers open it mode=ro while a daemon writes; PERSIST_WAL keeps that
 * possible for users who may not create files beside it.
 */
#ifndef CPI_DB_DB_H
#define CPI_DB_DB_H

#include <sqlite3.h>
#include <stdint.h>

struct db;

enum db_mode {
	DB_READ,         /* must exist */
	DB_WRITE,        /* must exist; for labels and the like beside a daemon */
	DB_COLLECT,      /* created (0640) if missing; claimed for this process */
	DB_COLLECT_YEARS /* the same; created with the page size for many epochs */
};

/*
 * Opens path. All but DB_READ migrate an older schema. The cause of a
 * failure is logged here, path first. Returns 0, -errno, -CPI_EFORMAT (not a
 * CPI database), -CPI_EVERSION, -CPI_ECORRUPT, or -CPI_EINUSE when another
 * collector has claimed it.
 */
int db_open(const char *path, enum db_mode mode, struct db **out);
void db_close(struct db *db); /* accepts NULL */

/*
 * An empty database of this process alone, in memory or in an unlinked file where
 * that is too small; name stands for its path.
 */
int db_open_temporary(const char *name, struct db **out);

/* For db/ itself and its tests; everybody else uses store.h and query.h. */
sqlite3 *db_handle(struct db *db);
const char *db_path(const struct db *db);

/* Bytes of the database file and of its WAL. 0 or -errno. */
int db_size(const struct db *db, uint64_t *file_bytes, uint64_t *wal_bytes);

/* PRAGMA integrity_check and every blob decoded. 0, or -CPI_ECORRUPT (logged). */
int db_check(struct db *db);

/* The system database, or $CPI_DB. */
#define DB_DEFAULT_PATH "/var/lib/cpi/cpi.db"
const char *db_default_path(void);

#endif
