/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export.c - a joined database of one part, written out without gaps
 *
 * It has no WAL, so that it is one file, and can be read where nobody may write.
 */
#include "config.h"

#include "db/export.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/newfile.h"
#include "db/join.h"
#include "db/sql.h"

static int check_place(const char *path, bool force)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISREG(st.st_mode))
		return -ENODEV;
	return force ? 0 : -EEXIST;
}

static int sync_path(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* Gives a finished file its name, for good. */
static int publish(const char *from, const char *path, bool force)
{
	char *copy;
	int err;

	if (chmod(from, 0640) < 0)
		return -errno;
	err = sync_path(from, O_RDONLY);
	if (err)
		return err;
	/* link() does not replace what came meanwhile. */
	if (force ? rename(from, path) : link(from, path))
		return -errno;
	copy = strdup(path);
	err = copy ? sync_path(dirname(copy), O_RDONLY | O_DIRECTORY) : -ENOMEM;
	free(copy);
	return err;
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
		log_err("%s: it is there already: name another file, or replace it "
			"with --force",
			path);
	else if (err == -ENODEV)
		log_err("%s: no regular file: name another", path);
	else if (err)
		log_err("%s: %s", path, err_str(err));
	return err;
}
