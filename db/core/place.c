/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.c - compares the files at a path with those that were opened
 *
 * Files are compared by device and inode with stat(). No file is opened, because
 * closing it would drop the locks of SQLite's connection.
 */
#include "config.h"

#include "db/core/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

int place_stat_beside(const char *path, const char *suffix, struct stat *st)
{
	char *name;
	int err;

	if (asprintf(&name, "%s%s", path, suffix) < 0)
		return -ENOMEM;
	err = stat(name, st) < 0 ? -errno : 0;
	free(name);
	return err;
}

static bool is_missing(int err)
{
	return err == -ENOENT || err == -ENOTDIR;
}

int place_note(struct db_place *p, const char *path, const struct stat *file)
{
	struct db_place now = { .file = *file };
	int err = place_stat_beside(path, "-wal", &now.wal);

	if (!err)
		err = place_stat_beside(path, "-shm", &now.shm);
	if (!err)
		*p = now;
	return err;
}

/* Returns 0 if the file is unchanged, 1 if it is missing or another file, or -errno. */
static int look_beside(const char *path, const char *suffix, const struct stat *want)
{
	struct stat st;
	int err = place_stat_beside(path, suffix, &st);

	if (err)
		return is_missing(err) ? 1 : err;
	return !file_same(&st, want);
}

int place_look(const struct db_place *p, const char *path, enum place_state *state,
	       nlink_t *nr_links)
{
	struct stat st;
	int err = place_stat_beside(path, "", &st), other;

	if (is_missing(err)) {
		*state = PLACE_GONE;
		return 0;
	}
	if (err)
		return err;
	if (!file_same(&st, &p->file)) {
		*state = PLACE_REPLACED;
		return 0;
	}
	err = look_beside(path, "-wal", &p->wal);
	other = err < 0 ? err : look_beside(path, "-shm", &p->shm);
	if (other < 0)
		return other;
	*state = err || other ? PLACE_WAL_GONE : PLACE_KEPT;
	*nr_links = st.st_nlink;
	return 0;
}

static int clear(const char *path, const char *suffix, const struct stat *ours,
		 bool all)
{
	char *name;
	int err = 0;

	if (!all && look_beside(path, suffix, ours))
		return 0;
	if (asprintf(&name, "%s%s", path, suffix) < 0)
		return -ENOMEM;
	if (unlink(name) < 0 && errno != ENOENT)
		err = -errno;
	free(name);
	return err;
}

int place_clear(const struct db_place *p, const char *path, bool all)
{
	int err = clear(path, "-wal", &p->wal, all);

	return err ? err : clear(path, "-shm", &p->shm, all);
}
