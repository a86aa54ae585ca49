/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db.h - the database file: open, version, migrate, claim
 *
 * One SQLite file in WAL mode; schema.sql and cpi-db(5) describe its tables.
 * Readers open it mode=ro while a daemon writes. PERSIST_WAL keeps the WAL files, so
 * that users who cannot create files beside the database can read it as well.
 */
#ifndef CPI_DB_DB_H
#define CPI_DB_DB_H

#include <sqlite3.h>
#include <stdint.h>
#include <sys/types.h>

#include "db/core/lockholder.h"
#include "db/core/place.h"

struct db;

enum db_mode {
	DB_READ,         /* must exist */
	DB_WRITE,        /* must exist; for labels and the like beside a daemon */
	DB_COLLECT,      /* created (0640) if missing; claimed for this process */
	DB_COLLECT_YEARS /* the same; created with the page size for many epochs */
};

/*
 * Opens path. All modes but DB_READ migrate an older schema. A schema that CPI did not
 * make is refused as damaged, because queries would run what it says. Returns 0,
 * -errno, -CPI_EFORMAT (not a CPI database), -CPI_EVERSION, -CPI_ECORRUPT, or
 * -CPI_EINUSE when another collector has claimed it; all are logged.
 */
int db_open(const char *path, enum db_mode mode, struct db **out);
void db_close(struct db *db); /* accepts NULL */

/* Frees the cached pages, which are not needed between two flushes. */
void db_give_back_memory(struct db *db);

/*
 * The same, and leaves one file where no other process has the database open: without
 * -wal, -shm and -lock, to be copied or deleted as it is. The next one that writes
 * makes them again. Other handles of this process must be closed.
 */
void db_close_whole(struct db *db);

/*
 * Of a handle that has stored nothing: the same as db_close(), but deletes the file if
 * this handle created it. Other handles of this process must be closed.
 */
void db_close_unused(struct db *db);

bool db_is_new(const struct db *db); /* whether this handle created the file */

/*
 * Whether the file of a DB_COLLECT handle is still at its path (place.h). The path that
 * was given is followed again, because a symlink may have changed. 0 or -errno.
 */
int db_look(const struct db *db, enum place_state *state, nlink_t *nr_links);

/*
 * What to look for when a DB_COLLECT handle cannot write: another process's lock. It
 * may only read, with a shared lock on the -shm file.
 */
struct lockholder_query db_writer_query(const struct db *db);

/*
 * Opens the file that is now at held's path, or makes a new one, in held's mode. held
 * stays open and shares its claim of the path. Returns as db_open().
 */
int db_reopen(const struct db *held, struct db **out);

/* For PLACE_GONE: moves a copy of held (save.h) to its path. 0 or -errno. */
int db_put_back(const struct db *held, const char *copy);

/*
 * For PLACE_WAL_GONE: moves the WAL's content into the file and opens the file again
 * with a new WAL. This process must have no other connection to it. -EBUSY while
 * readers need the old WAL; then nothing has changed. After any other error only
 * db_renew() and db_close() may be called.
 */
int db_renew(struct db *db);

/*
 * An empty database that only this process sees, in memory, and in an unlinked file
 * when it grows large. name is shown as its path.
 */
int db_open_temporary(const char *name, struct db **out);

/*
 * What relative times are relative to: now. Of a temporary database it is when that was
 * opened, for what it was filled with was chosen by then: the same times must mean the
 * same epochs later.
 */
uint64_t db_now_ns(const struct db *db);

/* For db/ itself and its tests; other code uses store.h and query.h. */
sqlite3 *db_handle(struct db *db);
const char *db_path(const struct db *db);

/* Bytes of the database file and of its WAL. 0 or -errno. */
int db_size(const struct db *db, uint64_t *file_bytes, uint64_t *wal_bytes);

/* PRAGMA integrity_check and every blob decoded. 0, or -CPI_ECORRUPT (logged). */
int db_check(struct db *db);

#define DB_DEFAULT_PATH "/var/lib/cpi/cpi.db"

const char *db_env_path(void);     /* $CPI_DB; NULL: it names none */
const char *db_default_path(void); /* that, or DB_DEFAULT_PATH */

#endif
