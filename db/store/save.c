/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * save.c - copies a database page by page with SQLite's backup
 *
 * SQLite reads through its open descriptor, so this also works after the file was
 * deleted or replaced. The copy gets its name when it is complete and synced.
 */
#include "config.h"

#include "db/store/save.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/times.h"
#include "db/core/sql.h"

#define STEP_PAGES 256
/* the longest time for which the source may be locked */
#define BUSY_NS (2 * NSEC_PER_SEC)

static int copy_pages(sqlite3_backup *b)
{
	uint64_t busy_until_ns = 0;
	int rc;

	for (;;) {
		rc = sqlite3_backup_step(b, STEP_PAGES);
		if (rc == SQLITE_DONE)
			return 0;
		if (rc == SQLITE_OK) {
			busy_until_ns = 0;
			continue;
		}
		if (rc != SQLITE_BUSY && rc != SQLITE_LOCKED)
			return sql_error(rc);
		if (!busy_until_ns)
			busy_until_ns = time_mono_ns() + BUSY_NS;
		if (time_mono_ns() > busy_until_ns)
			return -EBUSY;
		sqlite3_sleep(10);
	}
}

static int copy_into(sqlite3 *source, sqlite3 *target)
{
	sqlite3_backup *b;
	int err;

	/* The copy is synced when it is complete, and gets its final name only then. */
	err = sqlite3_exec(target,
			   "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL,
			   NULL, NULL);
	b = err ? NULL : sqlite3_backup_init(target, "main", source, "main");
	if (!b)
		return sql_error(sqlite3_errcode(target));
	err = copy_pages(b);
	sqlite3_backup_finish(b);
	return err;
}

static int copy_file(struct db *db, const char *path)
{
	sqlite3 *target = NULL;
	int rc = sqlite3_open_v2(path, &target, SQLITE_OPEN_READWRITE, NULL);
	int err = rc ? sql_error(rc) : copy_into(db_handle(db), target);

	sqlite3_close(target);
	return err;
}

int save_copy(struct db *db, const char *path)
{
	char *part = NULL;
	int err;

	if (!db_handle(db))
		return -EBADF;
	if (asprintf(&part, "%s.part", path) < 0)
		return -ENOMEM;
	unlink(part); /* left over from a process that was killed */
	err = file_create(part, 0640);
	if (!err) {
		err = copy_file(db, part);
		if (!err)
			err = file_sync(part);
		if (!err && renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE))
			err = -errno;
		if (err)
			unlink(part);
	}
	if (!err)
		err = file_sync_folder(path);
	free(part);
	return err;
}
