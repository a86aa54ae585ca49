/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim.h - one collector for each database
 *
 * The claim has two parts, since a file may have several names and a name may come to
 * mean another file:
 *
 *	of the path	a flock() on a file of its own, DATABASE-lock, which only its
 *			owner can open: who may read the database cannot lock it
 *	of the file	a write lock on a byte of the database itself that SQLite
 *			never locks, by an open file description of its own
 *
 * A reader can hold a shared lock on that byte. It keeps the lock of the file from
 * being taken, not the collector from starting: no collector holds a shared one.
 */
#ifndef CPI_DB_CLAIM_H
#define CPI_DB_CLAIM_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct claim {
	int path_fd, file_fd; /* -1: not held */
};

#define CLAIM_NONE ((struct claim){ -1, -1 })

/*
 * Claims the database at path, which exists, for this process until claim_drop(). What
 * held, if not NULL, has of the same path is shared with it; then messages do not name
 * the process that has it, as the search may take long. Returns 0, -CPI_EINUSE or
 * -errno, all logged.
 *
 * The path comes first: a second claim of this process ends there, before the database
 * is opened, which would drop SQLite's locks when it is closed.
 */
int claim_take(const char *path, const struct claim *held, struct claim *out);

/*
 * To be called when SQLite has closed the database. With no other connection of this
 * process to it, as that one would lose its locks.
 */
void claim_drop(struct claim *c);

/*
 * As claim_drop(), and deletes DATABASE-lock. Who opened it before and waits to claim
 * it finds that the path has become another file, and opens that one.
 */
void claim_end(struct claim *c, const char *path);

/*
 * A living process that has claimed the database at path, or 0 where none can be told
 * apart in max_ns. Locks and opens nothing of the database.
 */
pid_t claim_holder(const char *path, uint64_t max_ns);

/* What the claimed file is, wherever it is by now. 0 or -errno. */
int claim_stat(const struct claim *c, struct stat *st);

#endif
