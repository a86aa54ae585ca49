/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim.h - one collector for each database
 *
 * The claim has two locks, because a file may have several names, and a name may later
 * refer to another file:
 *
 *	of the path	a flock() on a separate file, DATABASE-lock, which only its
 *			owner can open, so readers of the database cannot lock it
 *	of the file	a write lock on a byte of the database itself that SQLite
 *			never locks, by a separate open file description
 *
 * A reader can hold a shared lock on that byte. Then the second lock cannot be taken,
 * but the collector starts nevertheless, because no collector holds a shared lock.
 */
#ifndef CPI_DB_CLAIM_H
#define CPI_DB_CLAIM_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct claim {
	int path_fd, file_fd; /* descriptors that hold the locks; -1: not held */
};

#define CLAIM_NONE ((struct claim){ -1, -1 })

/*
 * Claims the existing database at path for this process until claim_drop(). held may be
 * NULL; otherwise its claim of the same path is shared, and messages do not name the
 * process that holds a lock, because the search may take long. Returns 0, -CPI_EINUSE
 * or -errno (all logged).
 *
 * The path is locked first. A second claim of this process fails there, before it opens
 * the database: closing it again would drop SQLite's locks.
 */
int claim_take(const char *path, const struct claim *held, struct claim *out);

/*
 * Call this after SQLite has closed the database. This process must have no other
 * connection to it, because that connection would lose its locks.
 */
void claim_drop(struct claim *c);

/*
 * As claim_drop(), and deletes DATABASE-lock. A process that opened the file before and
 * locks it then notices that it is no longer at its path, and tries again.
 */
void claim_end(struct claim *c, const char *path);

/*
 * Returns a living process that has claimed the database at path; 0 if none was found
 * within max_ns. Neither locks nor opens the database.
 */
pid_t claim_holder(const char *path, uint64_t max_ns);

/*
 * Gets the status of the claimed file, even if it is no longer at its path. Returns 0
 * or -errno.
 */
int claim_stat(const struct claim *c, struct stat *st);

#endif
