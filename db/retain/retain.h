/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retain.h - enforces the limits of a database in age and size
 *
 * Epochs older than one limit are rolled up to hours (rollup.h), and those older than a
 * second limit to days. Epochs older than a third limit are removed (removal.h). While
 * the file is larger than the size limit, the oldest epoch is removed. Epochs with a
 * label are neither rolled up nor removed. The work is done in slices, so a collector
 * can write meanwhile.
 */
#ifndef CPI_DB_RETAIN_H
#define CPI_DB_RETAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/core/db.h"

/* 0: no such limit. */
struct retain_policy {
	uint64_t hourly_ns;   /* how long hours are kept; older ones become days */
	uint64_t daily_ns;    /* how long days are kept; older ones are removed */
	uint64_t bytes;       /* of the file and its WAL */
	uint64_t minutely_ns; /* how long minutes are kept; older ones become hours */
};

#define RETAIN_DEFAULT     "minutely:6h,hourly:7d,daily:90d,size:2G"
#define RETAIN_MINUTELY_NS (6 * 3600 * 1000000000ULL)

/*
 * Reads "minutely:6h,hourly:7d,daily:90d,size:2G", where any part may be missing, or
 * "all", which keeps everything. With hourly alone, minutely is RETAIN_MINUTELY_NS, or
 * hourly if that is less. 0, or -EINVAL with the reason in *why, a sentence without a
 * full stop.
 */
int retain_parse(const char *text, struct retain_policy *out, struct buf *why);

/* What has been done since retain_new(). */
struct retain_stats {
	uint64_t nr_hours;   /* made of several epochs */
	uint64_t nr_days;    /* the same for days */
	uint64_t nr_removed; /* epochs */
	uint64_t nr_pages;   /* pages that were given back to the file system */
	uint64_t longest_ns; /* longest slice, for which other writers waited */
	bool too_small;      /* epochs that must be kept are larger than the limit */
};

struct retain;

/*
 * db is a DB_WRITE handle that nothing else uses and that must outlive *out. ids is
 * NULL, or a JSON array of epochs, which is copied: then only these epochs are rolled
 * up, whatever their age. 0, -ENOMEM, or an error of SQLite.
 */
int retain_new(struct db *db, const struct retain_policy *policy, const char *ids,
	       struct retain **out);
void retain_free(struct retain *r); /* accepts NULL */

/* Marks an epoch for removal, like removal_begin(); retain_step() removes it. */
int retain_remove(struct retain *r, int64_t epoch);

/*
 * Does a slice of the work that is due at now_ns; interrupted work comes first. Returns
 * 1 if there may be more, 0 if nothing is due. After a negative error it can be called
 * again.
 */
int retain_step(struct retain *r, uint64_t now_ns);

struct retain_stats retain_stats(const struct retain *r);

#endif
