/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retain.h - how long what is kept, and the work of keeping to it
 *
 * Hours older than a limit become days (rollup.h), what is older than another one goes
 * (removal.h), and when the file is larger than a third, the oldest goes. What has a
 * label is neither rolled up nor removed. All of it is done in slices, beside a
 * collector or without one.
 */
#ifndef CPI_DB_RETAIN_H
#define CPI_DB_RETAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/db.h"

/* 0: no such limit. */
struct retain_policy {
	uint64_t hourly_ns; /* epochs of a day that is older are rolled up */
	uint64_t daily_ns;  /* older epochs are removed */
	uint64_t bytes;     /* of the file and its WAL */
};

#define RETAIN_DEFAULT "hourly:7d,daily:90d,size:2G"

/*
 * Reads "hourly:7d,daily:90d,size:2G", of which each part may be left out, or "all",
 * which keeps everything. -EINVAL, and why in one sentence without an end, in *why.
 */
int retain_parse(const char *text, struct retain_policy *out, struct buf *why);

/* What has been done since retain_new(). */
struct retain_stats {
	uint64_t nr_rolled;  /* days that hours were rolled up to */
	uint64_t nr_removed; /* epochs */
	uint64_t nr_pages;   /* that the file is shorter by */
	uint64_t longest_ns; /* for which others had to wait with writing */
	bool too_small;      /* what may not be removed is larger than the limit */
};

struct retain;

/*
 * For a DB_WRITE handle that is used for nothing else, and outlives it. ids is a JSON
 * array of the epochs that may be rolled up, or NULL for all; it is copied.
 * 0, -ENOMEM, or what SQLite reports.
 */
int retain_new(struct db *db, const struct retain_policy *policy, const char *ids,
	       struct retain **out);
void retain_free(struct retain *r); /* accepts NULL */

/* Marks an epoch for removal, as removal_begin(); retain_step() removes it. */
int retain_remove(struct retain *r, int64_t epoch);

/*
 * Does a slice of what is due at now_ns: of what was interrupted first. 1: there may be
 * more to do; 0: nothing is due; or a negative error, after which it may be tried
 * again.
 */
int retain_step(struct retain *r, uint64_t now_ns);

struct retain_stats retain_stats(const struct retain *r);

#endif
