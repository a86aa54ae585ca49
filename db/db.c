/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * db.c - opening a database that may be anything, or somebody else's
 *
 * The path is looked at with stat() only: a descriptor of the file, opened and
 * closed here, would drop the locks of another connection in this process. What
 * SQLite opens is not written to before it is known to be ours.
 */
#include "config.h"

#include "db/db.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "db/claim.h"
#include "db/schema.h"
#include "db/sql.h"

#define MAX_VALUE_BYTES (128 << 20) /* of one blob or text */
#define TEMPORARY_CACHE "-65536"    /* KiB, below 0: then it goes to a file */

struct db {
	sqlite3 *handle;
	char *path; /* absolute, without symlinks: what SQLite and the claim name */
	int claim;
};

static bool collects(enum db_mode mode)
{
	return mode == DB_COLLECT || mode == DB_COLLECT_YEARS;
}

static int refuse(const char *path, int err, const char *advice)
{
	log_err("db: %s: %s: %s", path, err_str(err), advice);
	return err;
}

/* mode 0640 whatever the umask is, for the group reads it. */
static int create_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	int err = 0;

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	if (fchmod(fd, 0640) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int check_file(const char *path, enum db_mode mode)
{
	const int access = mode == DB_READ ? R_OK : R_OK | W_OK;
	struct stat st;
	int err = 0;

	if (stat(path, &st) < 0)
		err = -errno;
	if (err == -ENOENT && collects(mode)) {
		err = create_file(path);
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
	if (faccessat(AT_FDCWD, path, access, AT_EACCESS) < 0)
		return refuse(path, -errno,
			      mode == DB_READ ? "be a member of its group to read it"
					      : "be its owner to write it");
	return 0;
}

/* The first access: here SQLite finds out what the file is. */
static int first_read(struct db *db)
{
	int rc = sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_schema", NULL,
			      NULL, NULL);
	int err = sql_error(rc);

	switch (err) {
	case 0:
		return 0;
	case -CPI_EFORMAT:
		return refuse(db->path, err, "no SQLite database: name another file");
	case -CPI_ECORRUPT:
		return refuse(db->path, err,
			      "restore a copy, or move it away to begin a new one");
	case -EBUSY:
		return refuse(db->path, err,
			      "another program has locked it: try later");
	case -EACCES:
		return refuse(db->path, err,
			      "its -wal and -shm files are missing or not yours: "
			      "let its owner read it once (cpi status)");
	}
	return refuse(db->path, err, sqlite3_errmsg(db->handle));
}

/* What protects this process from the file, and the file from this process. */
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
		/* until it is known to be ours */
		{ SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1 },
	};

	sqlite3_extended_result_codes(db->handle, 1);
	sql_set_patience(db->handle, SQL_BUSY_TIMEOUT_MS);
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES);
	for (size_t i = 0; i < sizeof(config) / sizeof(config[0]); i++)
		sqlite3_db_config(db->handle, config[i].option, config[i].value, NULL);
	return sql_exec(db->handle, "PRAGMA cell_size_check = ON;"
				    "PRAGMA mmap_size = 0;"
				    "PRAGMA temp_store = MEMORY");
}

/* URIs are for copy.c: an absolute path is none. */
static int open_handle(struct db *db, enum db_mode mode)
{
	int flags = mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int rc = sqlite3_open_v2(db->path, &db->handle, flags | SQLITE_OPEN_URI, NULL);
	int err;

	if (!db->handle)
		return -ENOMEM;
	if (rc)
		return refuse(db->path, sql_error(rc), sqlite3_errmsg(db->handle));
	err = first_read(db);
	return err ? err : harden(db);
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
	if (err)
		return err;
	sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_PERSIST_WAL, &on);
	sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	return 0;
}

/*
 * Small pages for small databases: a flush writes whole ones, and each table has one.
 * In large databases most counts take 100 to 1500 bytes, and those that take more than
 * a quarter of a page waste half of another.
 */
static int set_up_file(struct db *db, enum db_mode mode)
{
	return sql_exec(db->handle, mode == DB_COLLECT_YEARS
					    ? "PRAGMA page_size = 8192;"
					      "PRAGMA auto_vacuum = INCREMENTAL"
					    : "PRAGMA page_size = 1024;"
					      "PRAGMA auto_vacuum = INCREMENTAL");
}

static int set_up(struct db *db, enum db_mode mode)
{
	int version, err = schema_version(db->handle, &schema_current, &version);

	if (err)
		return err;
	if (!version && !collects(mode))
		return refuse(db->path, -CPI_EFORMAT,
			      "it is empty: nothing was collected");
	if (mode == DB_READ && version < schema_current.version)
		return refuse(db->path, -CPI_EFORMAT,
			      "an older version: start this version's cpid on it once");
	if (mode == DB_READ)
		return 0;
	if (!version) /* only before the first table */
		err = set_up_file(db, mode);
	if (!err)
		err = set_up_writer(db);
	if (!err && version < schema_current.version)
		err = schema_migrate(db->handle, &schema_current);
	return err;
}

int db_open(const char *path, enum db_mode mode, struct db **out)
{
	struct db *db;
	int err = check_file(path, mode);

	if (err)
		return err;
	db = calloc(1, sizeof(*db));
	if (!db)
		return -ENOMEM;
	db->claim = -1;
	db->path = realpath(path, NULL);
	if (!db->path)
		err = refuse(path, -errno, "cannot find its real path");
	if (!err && collects(mode))
		err = claim_take(db->path, &db->claim);
	if (!err)
		err = open_handle(db, mode);
	if (!err)
		err = set_up(db, mode);
	if (err) {
		db_close(db);
		return err;
	}
	*out = db;
	return 0;
}

int db_open_temporary(const char *name, struct db **out)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;
	struct db *db = calloc(1, sizeof(*db));
	int err = 0;

	if (!db)
		return -ENOMEM;
	db->claim = -1;
	db->path = strdup(name);
	if (!db->path || sqlite3_open_v2("", &db->handle, flags, NULL))
		err = -ENOMEM;
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

void db_close(struct db *db)
{
	if (!db)
		return;
	sqlite3_close(db->handle);
	if (db->claim >= 0)
		close(db->claim);
	free(db->path);
	free(db);
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

const char *db_default_path(void)
{
	const char *path = getenv("CPI_DB");

	return path && *path ? path : DB_DEFAULT_PATH;
}
