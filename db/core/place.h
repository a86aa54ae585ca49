/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - whether the open database is still the file at its path
 *
 * A file that was deleted or replaced still takes writes, but is lost when it is
 * closed. If only its WAL or shared memory was, other processes read an older state of
 * it, and locks no longer work between them.
 */
#ifndef CPI_DB_PLACE_H
#define CPI_DB_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

enum place_state {
	PLACE_KEPT,     /* all is as it was */
	PLACE_WAL_GONE, /* the -wal or -shm file was deleted or replaced */
	PLACE_GONE,     /* no file is at the path */
	PLACE_REPLACED, /* another one is */
};

/* The three files of an open database. */
struct db_place {
	struct stat file, wal, shm;
};

/* Notes the identity of the files at path; *file is that of the database. 0, -errno. */
int place_note(struct db_place *p, const char *path, const struct stat *file);

/* *nr_links: the file's names, if it is at its path. 0 or -errno; logs nothing. */
int place_look(const struct db_place *p, const char *path, enum place_state *state,
	       nlink_t *nr_links);

/*
 * Makes room at path for another database: deletes its -wal and -shm files if they are
 * p's, or with all in any case. SQLite would take them for those of the new file.
 * 0 or -errno.
 */
int place_clear(const struct db_place *p, const char *path, bool all);

#endif
