/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db.c - opens a file that may be damaged, hostile, or no database at all
 *
 * The path is examined with stat() only, because closing a descriptor of the file would
 * drop the locks of another connection of this process. Nothing is written before the
 * file is known to be a database of CPI.
 */
#include "config.h"

#include "db/core/db.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/times.h"
#include "db/core/claim.h"
#include "db/core/schema.h"
#include "db/core/schema_check.h"
#include "db/core/sql.h"
#include "db/core/unlocked.h"
#include "db/core/vfs.h"

#define TEMPORARY_CACHE "-65536" /* -KiB of cache; beyond that SQLite uses a file */

/*
 * The limit of SQLite's virtual machine instructions while a schema is not known to be
 * ours; checked every OPENING_LOOK instructions.
 */
#define OPENING_STEPS  10000000
#define OPENING_LOOK   1000
#define WAL_WRITE_LOCK 120 /* byte of the -shm file (sqlite.org/walformat) */
#define SEARCH_NS      (50 * NSEC_PER_MSEC)

struct db {
	sqlite3 *handle;
	char *path; /* absolute, without symlinks; used for SQLite and the claim */
	/* these only for DB_COLLECT */
	char *asked; /* the path that was given */
	enum db_mode mode;
	bool created; /* it did not exist before */
	struct claim claim;
	struct db_place place;
	uint64_t now_ns; /* temporary database: when it was opened; else 0 */
	bool unlocked;   /* DB_READ_CHECKED: it is read without locks */
	struct stat noted;
};

static bool collects(enum db_mode mode)
{
	return mode == DB_COLLECT || mode == DB_COLLECT_YEARS;
}

static bool reads(enum db_mode mode)
{
	return mode == DB_READ || mode == DB_READ_CHECKED;
}

static int refuse(const char *path, int err, const char *advice)
{
	log_err("db: %s: %s: %s", path, err_str(err), advice);
	return err;
}

/* Creates the file with mode 0640, readable by its group. */
static int create_file(const char *path, bool *created)
{
	int err = file_create(path, 0640);

	if (err == -EEXIST)
		return 0;
	*created = !err;
	return err;
}

/* Describes who may read the file, and how to let others read it. */
static const char *who_may_read(const struct stat *st, char *out, size_t size)
{
	const struct group *group = getgrgid(st->st_gid);

	if (!st->st_gid)
		snprintf(out, size,
			 "readable by root only (group root): start cpid "
			 "with --group cpi");
	else if (!(st->st_mode & S_IRGRP) || !group)
		snprintf(out, size, "readable by its owner only");
	else
		snprintf(out, size, "be a member of group %.64s to read it",
			 group->gr_name);
	return out;
}

static int check_file(const char *path, enum db_mode mode, bool *created)
{
	const int access = reads(mode) ? R_OK : R_OK | W_OK;
	char advice[128];
	struct stat st;
	int err = 0;

	if (stat(path, &st) < 0)
		err = -errno;
	if (err == -ENOENT && collects(mode)) {
		err = create_file(path, created);
		if (err)
			return refuse(path, err, "cannot create the database there");
		if (stat(path, &st) < 0)
			err = -errno;
	}
	if (err == -ENOENT)
		return refuse(path, err, "start cpid, or name another database");
	if (err)
		return refuse(path, err, "cannot look at it");
	if (S_ISDIR(st.st_mode))
		return refuse(path, -EISDIR, "name the file inside");
	if (!S_ISREG(st.st_mode))
		return refuse(path, -ENODEV, "a database is a regular file");
	if (!st.st_size && !collects(mode))
		return refuse(path, -CPI_EFORMAT, "it is empty: nothing was collected");
	if (!faccessat(AT_FDCWD, path, access, AT_EACCESS))
		return 0;
	err = -errno; /* save it, because who_may_read() changes errno */
	return refuse(path, err,
		      reads(mode) ? who_may_read(&st, advice, sizeof(advice))
				  : "be its owner to write it");
}

/* Progress handler: interrupts the statement when the limit is used up. */
static int count_steps(void *left)
{
	int *n = left;

	return *n <= 0 || --*n == 0;
}

/*
 * Sets SQLite's limits. The largest blobs are an epoch's stacks (64 MiB before
 * compression), edges, captures, and an image's counts (about 4 bytes per offset, so a
 * few MiB). Our statements are short.
 */
static void set_limits(sqlite3 *h)
{
	static const struct {
		int what, most;
	} limit[] = {
		{ SQLITE_LIMIT_LENGTH, 64 << 20 },
		{ SQLITE_LIMIT_SQL_LENGTH, 1 << 18 },
		{ SQLITE_LIMIT_COLUMN, 64 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 64 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 8 },
		{ SQLITE_LIMIT_VDBE_OP, 100000 },
		{ SQLITE_LIMIT_FUNCTION_ARG, 8 },
		{ SQLITE_LIMIT_VARIABLE_NUMBER, 64 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	for (size_t i = 0; i < sizeof(limit) / sizeof(limit[0]); i++)
		sqlite3_limit(h, limit[i].what, limit[i].most);
}

/* Makes the first access, in which SQLite finds out whether the file is a database. */
static int first_read(struct db *db)
{
	return sql_error(sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_schema",
				      NULL, NULL, NULL));
}

/* Logs why the first access failed. */
static int refuse_read(const struct db *db, int err)
{
	switch (err) {
	case -CPI_EFORMAT:
		return refuse(db->path, err,
			      "not an SQLite database: name another file");
	case -CPI_ECORRUPT:
		return refuse(db->path, err,
			      "restore a copy, or move it away to begin a new one");
	case -EINTR:
		return refuse(db->path, -CPI_ECORRUPT,
			      "its schema has no end: restore a copy, or move it away");
	case -EBUSY:
		return refuse(db->path, err,
			      "another program has locked it: try later");
	case -EACCES:
		return refuse(db->path, err,
			      "its -wal and -shm files are missing or not yours: "
			      "let its owner read it once (cpi status)");
	case -EAGAIN: /* db_read_check() has logged it */
		return err;
	}
	return refuse(db->path, err, sqlite3_errmsg(db->handle));
}

/*
 * Sets options that protect this process from a hostile file, and the file from changes
 * until it is known to be ours.
 */
static int harden(struct db *db)
{
	static const struct {
		int option, value;
	} config[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FKEY, 1 },
		/* until the file is known to be ours */
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
	};

	sqlite3_extended_result_codes(db->handle, 1);
	for (size_t i = 0; i < sizeof(config) / sizeof(config[0]); i++)
		sqlite3_db_config(db->handle, config[i].option, config[i].value, NULL);
	return sql_exec(db->handle, "PRAGMA cell_size_check = ON;"
				    "PRAGMA mmap_size = 0;"
				    "PRAGMA temp_store = MEMORY");
}

static int open_file(struct db *db, const char *name, int flags, int *steps)
{
	const char *vfs = vfs_name();
	int rc = vfs ? sqlite3_open_v2(name, &db->handle, flags | SQLITE_OPEN_URI, vfs)
		     : SQLITE_NOMEM;

	if (!db->handle)
		return -ENOMEM;
	if (rc)
		return refuse(db->path, sql_error(rc), sqlite3_errmsg(db->handle));
	set_limits(db->handle);
	/* A reader that opens or closes the file locks others out for a moment. */
	sql_set_patience(db->handle, SQL_BUSY_TIMEOUT_MS);
	sqlite3_progress_handler(db->handle, OPENING_LOOK, count_steps, steps);
	return 0;
}

/*
 * Returns err, or -EAGAIN (logged) if the error may come from a file that was read
 * without locks while it was written.
 */
static int written_meanwhile(const struct db *db, int err)
{
	return err && err != -EAGAIN && db_read_check(db) == -EAGAIN ? -EAGAIN : err;
}

/* Opens the file again, without its -wal and -shm files, if it has all content. */
static int open_unlocked(struct db *db, int flags, int *steps)
{
	struct buf uri = { 0 };
	struct stat noted;
	int err = unlocked_note(db->path, &noted);

	if (!err)
		err = sql_put_uri(&uri, db->path, "mode=ro&immutable=1");
	if (!err) {
		sqlite3_close(db->handle);
		db->handle = NULL;
		db->unlocked = true;
		db->noted = noted;
		err = open_file(db, uri.data, flags, steps);
	}
	buf_fini(&uri);
	if (!err)
		err = written_meanwhile(db, first_read(db));
	return err;
}

/* Opens the SQLite handle. The path is absolute, so it is never a URI. */
static int open_handle(struct db *db, enum db_mode mode, int *steps)
{
	/* One thread alone reads, and a mutex would cost as much as reading a column.
	 */
	const int flags = reads(mode) ? SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
				      : SQLITE_OPEN_READWRITE;
	int err = open_file(db, db->path, flags, steps);

	if (err)
		return err;
	err = first_read(db);
	if (err == -EACCES && mode == DB_READ_CHECKED)
		err = open_unlocked(db, flags, steps);
	return err ? refuse_read(db, err) : harden(db);
}

static bool is_planted(const struct stat *folder, const struct stat *st)
{
	return folder->st_mode & S_ISVTX && folder->st_mode & S_IWOTH &&
	       st->st_uid != geteuid() && st->st_uid != folder->st_uid;
}

/*
 * For a writer: refuses a file that another user may have put there, to read or to
 * forge what is stored. As the kernel's fs.protected_regular, which may be off, and is
 * only for open() with O_CREAT. A database of another user is refused to a collector
 * only; the files beside it may be its owner's.
 */
static int refuse_planted(const struct db *db)
{
	static const char *const beside[] = { "-journal", "-wal", "-shm" };
	char *path = strndup(db->path, (size_t)(path_base(db->path) - db->path));
	struct stat folder, own, st;
	bool planted;
	int err = !path                ? -ENOMEM
		  : collects(db->mode) ? claim_stat(&db->claim, &own)
				       : place_stat_beside(db->path, "", &own);

	if (!err && stat(path, &folder) < 0)
		err = -errno;
	free(path);
	if (err)
		return refuse(db->path, err, "cannot look at its folder");
	planted = collects(db->mode) && is_planted(&folder, &own);
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
		planted |= !place_stat_beside(db->path, beside[i], &st) &&
			   st.st_uid != own.st_uid && is_planted(&folder, &st);
	if (!planted)
		return 0;
	return refuse(db->path, -EPERM,
		      "another user made it, or its -journal, -wal or -shm, in a "
		      "folder for everybody: name another file");
}

static int set_up_writer(struct db *db)
{
	sqlite3_stmt *st = NULL;
	int on = 1, err;

	err = sql_exec(db->handle, "PRAGMA synchronous = FULL;"
				   "PRAGMA secure_delete = FAST;"
				   "PRAGMA journal_size_limit = 0");
	if (!err)
		err = sql_prepare(db->handle, "PRAGMA journal_mode = WAL", &st);
	if (!err)
		err = sql_step(st);
	if (err == 1)
		err = strcmp(sql_text(st, 0), "wal") ? -ENOTSUP : 0;
	sqlite3_finalize(st);
	if (err == -ENOTSUP)
		return refuse(db->path, err, "put it on a local file system");
	if (!err) /* the first access creates the WAL, which place_note() needs */
		err = sql_exec(db->handle, "SELECT count(*) FROM sqlite_schema");
	if (!err) /* again: a WAL may have been put there meanwhile */
		err = refuse_planted(db);
	if (err)
		return err;
	sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return 0;
}

/*
 * Sets the page size of a new file. Small databases have small pages, because a flush
 * writes whole pages, and each table takes at least one. In large databases most counts
 * take 100 to 1500 bytes; those larger than a quarter of a page waste half of an
 * overflow page.
 */
static int set_up_file(struct db *db, enum db_mode mode)
{
	return sql_exec(db->handle, mode == DB_COLLECT_YEARS
					    ? "PRAGMA page_size = 8192;"
					      "PRAGMA auto_vacuum = INCREMENTAL"
					    : "PRAGMA page_size = 1024;"
					      "PRAGMA auto_vacuum = INCREMENTAL");
}

/*
 * Checks that the tables are ours. *version is their version; 0: there are none. *why
 * says what is wrong with them.
 */
static int check_schema(struct db *db, enum db_mode mode, int *version, struct buf *why)
{
	int err = schema_version(db->handle, "main", &schema_current, version);

	if (err)
		return err;
	if (!*version && !collects(mode))
		return refuse(db->path, -CPI_EFORMAT,
			      "it is empty: nothing was collected");
	return *version ? schema_check(db->handle, "main", &schema_current, *version,
				       why)
			: 0;
}

static int set_up(struct db *db, enum db_mode mode, int version)
{
	int err = 0;

	if (reads(mode) && version < schema_current.version)
		err = schema_read_older(db->handle, version);
	if (err == -CPI_EFORMAT)
		return refuse(db->path, err,
			      "an older version: start this version's cpid on it once");
	if (reads(mode))
		return err;
	if (!version) /* possible only before the first table exists */
		err = set_up_file(db, mode);
	if (!err)
		err = set_up_writer(db);
	if (!err && version < schema_current.version)
		err = schema_migrate(db->handle, &schema_current);
	return err;
}

/* Opens the file, checks it, and creates or migrates its tables. */
static int open_checked(struct db *db, enum db_mode mode)
{
	int steps = OPENING_STEPS / OPENING_LOOK, version;
	struct buf why = { 0 };
	int err = reads(mode) ? 0 : refuse_planted(db);

	if (!err)
		err = open_handle(db, mode, &steps);
	if (!err)
		err = check_schema(db, mode, &version, &why);
	if (db->handle)
		sqlite3_progress_handler(db->handle, 0, NULL, NULL);
	if (!err)
		err = set_up(db, mode, version);
	err = written_meanwhile(db, err);
	if (err == -CPI_ECORRUPT && why.len)
		refuse(db->path, err, buf_str(&why));
	buf_fini(&why);
	return err;
}

/*
 * For a collector: claims the file before SQLite opens it, and notes the file's
 * identity.
 */
static int claim(struct db *db, const char *asked, const struct db *held)
{
	db->asked = strdup(asked);
	if (!db->asked)
		return -ENOMEM;
	return claim_take(db->path, held ? &held->claim : NULL, &db->claim);
}

static int note_place(struct db *db)
{
	struct stat st;
	int err = claim_stat(&db->claim, &st);

	if (!err)
		err = place_note(&db->place, db->path, &st);
	if (err)
		refuse(db->path, err, "its files are not where they should be");
	return err;
}

static int open_db(const char *path, enum db_mode mode, const struct db *held,
		   struct db **out)
{
	bool created = false;
	int err = check_file(path, mode, &created);
	struct db *db;

	if (err)
		return err;
	db = calloc(1, sizeof(*db));
	if (!db)
		return -ENOMEM;
	db->mode = mode;
	db->created = created;
	db->claim = CLAIM_NONE;
	db->path = realpath(path, NULL);
	if (!db->path)
		err = refuse(path, -errno, "cannot find its real path");
	if (!err && collects(mode))
		err = claim(db, path, held);
	if (!err)
		err = open_checked(db, mode);
	if (!err && collects(mode))
		err = note_place(db);
	if (err) {
		db_close_unused(db);
		return err;
	}
	*out = db;
	return 0;
}

int db_open(const char *path, enum db_mode mode, struct db **out)
{
	return open_db(path, mode, NULL, out);
}

struct lockholder_query db_writer_query(const struct db *db)
{
	return (struct lockholder_query){ .inode = db->place.shm.st_ino,
					  .kinds = "POSIX OFDLCK",
					  .byte = WAL_WRITE_LOCK,
					  .except = getpid(),
					  .max_ns = SEARCH_NS };
}

/*
 * Removes old -wal and -shm files if the file is no longer at its real path. If only a
 * symlink leads elsewhere now, nothing is removed.
 */
static int clear_place(const struct db *held)
{
	enum place_state state;
	nlink_t nr_links;
	int err = place_look(&held->place, held->path, &state, &nr_links);

	if (err || (state != PLACE_GONE && state != PLACE_REPLACED))
		return err;
	return place_clear(&held->place, held->path, state == PLACE_GONE);
}

int db_reopen(const struct db *held, struct db **out)
{
	enum place_state state;
	nlink_t nr_links;
	int err = db_look(held, &state, &nr_links);

	if (err || (state != PLACE_GONE && state != PLACE_REPLACED))
		return err ? err : -EEXIST;
	err = clear_place(held);
	return err ? err : open_db(held->asked, held->mode, held, out);
}

int db_put_back(const struct db *held, const char *copy)
{
	int err = clear_place(held);

	if (!err && renameat2(AT_FDCWD, copy, AT_FDCWD, held->path, RENAME_NOREPLACE))
		err = -errno;
	return err;
}

int db_look(const struct db *db, enum place_state *state, nlink_t *nr_links)
{
	int err = place_look(&db->place, db->path, state, nr_links);
	enum place_state asked;
	nlink_t unused;

	if (err || *state != PLACE_KEPT)
		return err;
	/*
	 * The real path may still exist although the given path, a symlink, is gone or
	 * changed.
	 */
	if (!place_look(&db->place, db->asked, &asked, &unused) &&
	    asked == PLACE_REPLACED)
		*state = PLACE_REPLACED;
	return 0;
}

int db_read_check(const struct db *db)
{
	int err = db->unlocked ? unlocked_check(db->path, &db->noted) : 0;

	if (err == -EAGAIN)
		log_info("db: %s: it was written while it was read without locks: "
			 "try again",
			 db->path);
	else if (err)
		refuse(db->path, err, "cannot look at it");
	return err;
}

static int empty_wal(struct db *db)
{
	int nr_frames, nr_moved;
	int rc = sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE,
					   &nr_frames, &nr_moved);

	if (rc)
		return sql_error(rc);
	return nr_frames == nr_moved ? 0 : -EBUSY;
}

int db_renew(struct db *db)
{
	int err = db->handle ? empty_wal(db) : 0;

	if (err)
		return err;
	sqlite3_close(db->handle);
	db->handle = NULL;
	err = open_checked(db, db->mode);
	if (!err)
		err = note_place(db);
	if (err) {
		sqlite3_close(db->handle);
		db->handle = NULL;
	}
	return err;
}

int db_open_temporary(const char *name, struct db **out)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
	struct db *db = calloc(1, sizeof(*db));
	int err = 0;

	if (!db)
		return -ENOMEM;
	db->claim = CLAIM_NONE;
	db->now_ns = time_real_ns();
	db->path = strdup(name);
	if (!db->path || sqlite3_open_v2("", &db->handle, flags, NULL))
		err = -ENOMEM;
	if (!err)
		set_limits(db->handle);
	if (!err)
		err = harden(db);
	if (!err)
		err = sql_exec(db->handle, "PRAGMA page_size = 1024;"
					   "PRAGMA synchronous = OFF;"
					   "PRAGMA cache_size = " TEMPORARY_CACHE);
	if (!err)
		err = schema_migrate(db->handle, &schema_current);
	if (err)
		db_close(db);
	else
		*out = db;
	return err;
}

uint64_t db_now_ns(const struct db *db)
{
	return db->now_ns ? db->now_ns : time_real_ns();
}

int db_begin_read(struct db *db)
{
	return sql_begin_read(db->handle);
}

void db_end_read(struct db *db)
{
	sql_end_read(db->handle);
}

void db_give_back_memory(struct db *db)
{
	if (db->handle) /* db_renew() may have failed */
		sqlite3_db_release_memory(db->handle);
}

void db_close(struct db *db)
{
	if (!db)
		return;
	sqlite3_close(db->handle);
	claim_drop(&db->claim);
	free(db->asked);
	free(db->path);
	free(db);
}

/*
 * Leaves WAL mode, so that one file remains. Returns false, and does nothing, if
 * another connection has the database open.
 */
static bool leave_wal(struct db *db)
{
	sqlite3_stmt *st = NULL;
	int keep = 0;
	bool left;

	sql_set_patience(db->handle, 0);
	sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
	left = !sql_prepare(db->handle, "PRAGMA journal_mode = DELETE", &st) &&
	       sql_step(st) == 1 && !strcmp(sql_text(st, 0), "delete");
	sqlite3_finalize(st);
	return left;
}

void db_close_whole(struct db *db)
{
	if (!db)
		return;
	if (db->handle)
		leave_wal(db);
	sqlite3_close(db->handle);
	db->handle = NULL;
	claim_end(&db->claim, db->path);
	db_close(db);
}

/* Whether the claimed file is still at its path. */
static bool is_in_place(const struct db *db)
{
	struct stat claimed, now;

	return !claim_stat(&db->claim, &claimed) && !lstat(db->path, &now) &&
	       file_same(&claimed, &now);
}

/*
 * Whether nobody has the database open or stored anything. If so, nobody can store
 * until it is closed.
 */
static bool is_unused(struct db *db)
{
	int64_t nr_tables = 0, nr_rows = 0;

	if (!leave_wal(db) || sql_exec(db->handle, "BEGIN EXCLUSIVE") ||
	    sql_get(db->handle, &nr_tables,
		    "SELECT count(*) FROM sqlite_schema WHERE name IN ('epoch', "
		    "'mark')",
		    ""))
		return false;
	return nr_tables < 2 || (!sql_get(db->handle, &nr_rows,
					  "SELECT (SELECT count(*) FROM epoch) + "
					  "(SELECT count(*) FROM mark)",
					  "") &&
				 !nr_rows);
}

void db_close_unused(struct db *db)
{
	if (!db || !db->created) {
		db_close(db);
		return;
	}
	if ((!db->handle || is_unused(db)) && is_in_place(db) && unlink(db->path) < 0)
		log_warn("db: %s: %s", db->path, err_str(-errno));
	sqlite3_close(db->handle);
	db->handle = NULL;
	claim_end(&db->claim, db->path);
	db_close(db);
}

bool db_is_new(const struct db *db)
{
	return db->created;
}

sqlite3 *db_handle(struct db *db)
{
	return db->handle;
}

const char *db_path(const struct db *db)
{
	return db->path;
}

static int file_size(const char *path, uint64_t *bytes)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	*bytes = st.st_size;
	return 0;
}

int db_size(const struct db *db, uint64_t *file_bytes, uint64_t *wal_bytes)
{
	uint64_t file, wal = 0;
	char *name;
	int err;

	if (asprintf(&name, "%s-wal", db->path) < 0)
		return -ENOMEM;
	err = file_size(name, &wal);
	if (!err || err == -ENOENT)
		err = file_size(db->path, &file);
	free(name);
	if (err)
		return err;
	*file_bytes = file;
	*wal_bytes = wal;
	return 0;
}

const char *db_env_path(void)
{
	const char *path = getenv("CPI_DB");

	return path && *path ? path : NULL;
}

const char *db_default_path(void)
{
	const char *path = db_env_path();

	return path ? path : DB_DEFAULT_PATH;
}
