/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slice.h - short write transactions
 *
 * While retention holds the write lock, flushes wait. So retention reads and computes
 * without the lock, writes only until slice_is_full(), and leaves the rest to the next
 * slice.
 */
#ifndef CPI_DB_SLICE_H
#define CPI_DB_SLICE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct slice {
	sqlite3 *h;
	uint64_t begun_ns;   /* monotonic */
	uint64_t last_ns;    /* how long the last slice held the lock */
	uint64_t longest_ns; /* how long the longest slice held it */
};

/*
 * Begins a transaction. Returns 0, -EBUSY if another process writes for too long, or
 * SQLite's error.
 */
int slice_begin(struct slice *s);

/* Whether the slice has lasted long enough and should end. */
bool slice_is_full(const struct slice *s);

/* Commits, or rolls back if err is not 0. Returns err, or the error of the commit. */
int slice_end(struct slice *s, int err);

#endif
