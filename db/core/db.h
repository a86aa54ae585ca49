/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db.h - opens the database file: version, migration, claim
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
	DB_READ, /* must exist */
	/*
	 * As DB_READ. If it cannot make the -wal and -shm files that are missing, it
	 * reads without locks: what was read may be used after db_read_check() only.
	 */
	DB_READ_CHECKED,
	DB_WRITE,   /* must exist; for labels, marks and the like while a daemon runs */
	DB_COLLECT, /* created (mode 0640) if missing; claimed for this process */
	/* the same, but a new file gets the page size for many epochs */
	DB_COLLECT_YEARS
};

/*
 * Opens path. All modes except those to read migrate an older schema. A schema that CPI
 * did not make is refused as damaged, because queries would execute code in it. Returns
 * 0, -errno, -CPI_EFORMAT (not a CPI database), -CPI_EVERSION, -CPI_ECORRUPT, -EAGAIN
 * if it was written while DB_READ_CHECKED opened it without locks, or -CPI_EINUSE if
 * another collector has claimed it (all logged).
 */
int db_open(const char *path, enum db_mode mode, struct db **out);
void db_close(struct db *db); /* accepts NULL */

/*
 * Whether what was read from a DB_READ_CHECKED handle is valid. Returns 0; -EAGAIN
 * (logged) if the database was written while it was read without locks: all that was
 * read, also an error, means nothing then, and it must be opened again; or -errno.
 */
int db_read_check(const struct db *db);

/*
 * Until db_end_read() or db_close(), all queries read one moment's content: that of the
 * first query. A writer goes on meanwhile, but cannot empty the WAL. db_begin_read()
 * returns 0 or an error (logged).
 */
int db_begin_read(struct db *db);
void db_end_read(struct db *db);

/*
 * Frees the cached pages, which are not needed between two flushes. May be called after
 * db_renew() failed.
 */
void db_give_back_memory(struct db *db);

/*
 * As db_close(); if no other process has the database open, leaves a single file
 * without -wal, -shm and -lock, which can be copied or deleted. The next writer makes
 * them again. Other handles of this process must be closed.
 */
void db_close_whole(struct db *db);

/*
 * As db_close(), for a handle that has stored nothing: deletes the file if this handle
 * created it, nobody else has it open, and nobody has stored anything. Other handles of
 * this process must be closed.
 */
void db_close_unused(struct db *db);

bool db_is_new(const struct db *db); /* whether this handle created the file */

/*
 * Whether the file of a DB_COLLECT handle is still at its path (place.h). The path that
 * was given is resolved again, because a symlink may have changed. Returns 0 or -errno.
 */
int db_look(const struct db *db, enum place_state *state, nlink_t *nr_links);

/*
 * Returns the query for the process that keeps a DB_COLLECT handle from writing. This
 * may be a process that only reads, with a shared lock on the -shm file.
 */
struct lockholder_query db_writer_query(const struct db *db);

/*
 * Opens the file that is now at held's path, or creates one, in held's mode. held stays
 * open, and shares its claim of the path with *out. Returns as db_open().
 */
int db_reopen(const struct db *held, struct db **out);

/* For PLACE_GONE: moves a copy of held (save.h) to held's path. Returns 0 or -errno. */
int db_put_back(const struct db *held, const char *copy);

/*
 * For PLACE_WAL_GONE: moves the WAL's content into the file and opens the file again
 * with a new WAL. This process must have no other connection to it. Returns 0; -EBUSY
 * while readers need the old WAL, and then nothing has changed; or another error, after
 * which only db_renew() and db_close() may be called.
 */
int db_renew(struct db *db);

/*
 * Opens an empty database that only this process can see. It is in memory, and in an
 * unlinked file if it grows large. name is shown as its path. Returns 0 or an error.
 */
int db_open_temporary(const char *name, struct db **out);

/*
 * Returns the time to which relative times refer. This is the current time; for a
 * temporary database it is the time of its opening, at which its contents were chosen,
 * so that the same relative times mean the same epochs later.
 */
uint64_t db_now_ns(const struct db *db);

/* Only for db/ and its tests; other code uses store.h and query.h. */
sqlite3 *db_handle(struct db *db);
const char *db_path(const struct db *db);

/* Gets the sizes of the database file and of its WAL. Returns 0 or -errno. */
int db_size(const struct db *db, uint64_t *file_bytes, uint64_t *wal_bytes);

/*
 * Runs SQLite's integrity check, decodes the blobs of profiles, edges, stacks, windows
 * and accesses, and checks references and sums. Captures are not decoded. Returns 0, or
 * -CPI_ECORRUPT (logged).
 */
int db_check(struct db *db);

#define DB_DEFAULT_PATH "/var/lib/cpi/cpi.db"

const char *db_env_path(void);     /* $CPI_DB; NULL: not set or empty */
const char *db_default_path(void); /* $CPI_DB, else DB_DEFAULT_PATH */

#endif
