/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.c - joins one database, and writes the result to a file by VACUUM
 *
 * The result has no WAL. So it is a single file, and can be read in a directory where
 * the reader cannot write.
 */
#include "config.h"

#include "db/move/export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/newfile.h"
#include "db/core/place.h"
#include "db/core/sql.h"
#include "db/move/join.h"

static const char exists[] =
	"it exists already: name another file, or replace it with --force";

static int refuse(const char *path, int err, const char *why)
{
	log_err("%s: %s", path, why);
	return err;
}

/* Whether there is a log for the path, which SQLite would apply to the new file. */
static bool has_log(const char *path)
{
	struct stat st;

	return !place_stat_beside(path, "-wal", &st) && st.st_size;
}

/* Whether a file may appear at path; source is the database that is exported. */
static int check_place(const char *path, const char *source, bool force)
{
	struct stat st, other;
	int err;

	if (lstat(path, &st) < 0) {
		err = -errno;
		if (err != -ENOENT)
			return refuse(path, err, err_str(err));
		if (has_log(path))
			return refuse(path, -EBUSY,
				      "the -wal file of a database that was removed or "
				      "renamed is beside it: remove or rename it, too, "
				      "or name another file");
		return 0;
	}
	if (!S_ISREG(st.st_mode))
		return refuse(path, -ENODEV, "not a regular file: name another file");
	if (!stat(source, &other) && file_same(&other, &st))
		return refuse(path, -EINVAL,
			      "this is the database itself: name another file");
	if (!force)
		return refuse(path, -EEXIST, exists);
	if (has_log(path))
		return refuse(path, -EBUSY,
			      "it is a database with a -wal file, as while cpid or cpi "
			      "record writes to it: name another file");
	return 0;
}

/* Gives a finished file its final name. */
static int publish(const char *from, const char *path, bool force)
{
	int err;

	if (chmod(from, 0640) < 0)
		return -errno;
	err = file_sync(from);
	if (err)
		return err;
	/* link() does not replace what came meanwhile. */
	if (force ? rename(from, path) : link(from, path))
		return -errno;
	return file_sync_folder(path);
}

static int write_out(struct db *joined, const char *path, bool force)
{
	char *beside;
	int fd = newfile_beside(path, &beside), err;

	if (fd < 0)
		return fd;
	close(fd);
	err = sql_do(db_handle(joined), "VACUUM INTO ?1", "s", beside);
	if (!err)
		err = publish(beside, path, force);
	unlink(beside);
	free(beside);
	return err;
}

int export_epochs(struct db *db, const struct query_epochs *e, const char *path,
		  bool force)
{
	const struct join_part part = { db_path(db), e };
	struct db *joined = NULL;
	int err = check_place(path, db_path(db), force);

	if (!err)
		err = join_open(path, &part, 1, &joined);
	if (err) /* it was logged */
		return err;
	err = write_out(joined, path, force);
	db_close(joined);
	if (err)
		log_err("%s: %s", path, err == -EEXIST ? exists : err_str(err));
	return err;
}
