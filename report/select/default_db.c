/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * default_db.c - chooses between the daemon's database and the current folder's
 */
#include "config.h"

#include "report/select/default_db.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/times.h"
#include "db/core/db.h"

static uint64_t file_changed_ns(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return 0;
	return (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
	       (uint64_t)st.st_mtim.tv_nsec;
}

/* The newest data may be only in the WAL. 0: there is no such database. */
static uint64_t changed_ns(const char *path)
{
	uint64_t ns = file_changed_ns(path), wal_ns;
	char *wal;

	if (!ns || asprintf(&wal, "%s-wal", path) < 0)
		return ns;
	wal_ns = file_changed_ns(wal);
	free(wal);
	return wal_ns > ns ? wal_ns : ns;
}

const char *select_newer_db(const char *local, const char *daemons)
{
	const uint64_t local_ns = changed_ns(local);

	return local_ns && local_ns >= changed_ns(daemons) ? local : daemons;
}

const char *select_default_db(void)
{
	const char *path;

	if (db_env_path() || access(SELECT_LOCAL_DB, F_OK))
		return db_default_path();
	path = select_newer_db(SELECT_LOCAL_DB, DB_DEFAULT_PATH);
	if (!strcmp(path, SELECT_LOCAL_DB))
		log_info_once("reading ./%s", path);
	else
		log_info_once("reading %s: it is newer than ./%s (--db chooses)", path,
			      SELECT_LOCAL_DB);
	return path;
}
