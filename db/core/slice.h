/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slice.h - short write transactions
 *
 * Flushes wait for the lock of retention. So retention reads and computes without the
 * lock, writes until slice_is_full(), and leaves the rest to the next slice.
 */
#ifndef CPI_DB_SLICE_H
#define CPI_DB_SLICE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct slice {
	sqlite3 *h;
	uint64_t begun_ns;   /* monotonic */
	uint64_t last_ns;    /* how long the lock was held */
	uint64_t longest_ns; /* ... by the longest slice */
};

/* 0, -EBUSY when another process writes for too long, or what SQLite reports. */
int slice_begin(struct slice *s);

/* Whether it is time to end it. */
bool slice_is_full(const struct slice *s);

/* Commits, or rolls back if err is not 0. err, or what the commit fails with. */
int slice_end(struct slice *s, int err);

#endif
