/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.c - a joined database of one part, written out without gaps
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
#include "db/core/sql.h"
#include "db/move/join.h"

static int check_place(const char *path, bool force)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return -ENODEV;
	return force ? 0 : -EEXIST;
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
	int err = check_place(path, force);

	if (!err) {
		err = join_open(path, &part, 1, &joined);
		if (err)
			return err;
		err = write_out(joined, path, force);
	}
	db_close(joined);
	if (err == -EEXIST)
		log_err("%s: it exists already: name another file, or replace it with "
			"--force",
			path);
	else if (err == -ENODEV)
		log_err("%s: not a regular file: name another file", path);
	else if (err)
		log_err("%s: %s", path, err_str(err));
	return err;
}
