/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * place.h - whether the open database is still the file at its path
 *
 * A file that was deleted or replaced still takes writes, but is lost when it is
 * closed. If only its WAL or shared memory file was deleted, other processes read an
 * older state, and locks between the processes do not work any more.
 */
#ifndef CPI_DB_PLACE_H
#define CPI_DB_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

enum place_state {
	PLACE_KEPT,     /* all files are unchanged */
	PLACE_WAL_GONE, /* the -wal or -shm file was deleted or replaced */
	PLACE_GONE,     /* no file is at the path */
	PLACE_REPLACED, /* another file is at the path */
};

/* The identities of the three files of an open database. */
struct db_place {
	struct stat file, wal, shm;
};

/* Looks at the file whose name is path with a suffix. Returns 0 or -errno. */
int place_stat_beside(const char *path, const char *suffix, struct stat *st);

/*
 * Notes the identities of the files at path; *file is the database's own. Returns 0 or
 * -errno.
 */
int place_note(struct db_place *p, const char *path, const struct stat *file);

/*
 * Compares the files at path with p. *nr_links is the number of the file's names, if it
 * is at its path. Returns 0 or -errno; logs nothing.
 */
int place_look(const struct db_place *p, const char *path, enum place_state *state,
	       nlink_t *nr_links);

/*
 * Prepares path for another database: deletes its -wal and -shm files if they belong to
 * p, or, with all, in any case. Otherwise SQLite would use them with the new file.
 * Returns 0 or -errno.
 */
int place_clear(const struct db_place *p, const char *path, bool all);

#endif
